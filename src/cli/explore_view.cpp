// How an exploration is shown: from its JSON alone, so that a merge shows what one run would.
//
// Held by tests/cli/explore_test.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/json_writer.h"
#include "cli/explore_result.h"
#include "cli/match_view.h"
#include "cli/output.h"
#include "cli/pair_folder.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

arch::Architecture model_of(const Json& j) { return arch::from_json(j.dump(), "result"); }

bool is_loop(const std::string& dimension) {
  return dimension == "start" || dimension == "span" || dimension == "visits";
}

/// Shown as KiB, MiB, GiB in its cells.
bool in_bytes(const Json& measure) {
  return measure.at("unit").get<std::string>().starts_with("B");
}

Cell measure_cell(const Json& measure, const space::Score& score) {
  if (!score.exact) return price_text(score.predicted);
  if (in_bytes(measure)) return byte_text(*score.exact);
  return score.exact->is_integer() ? grouped(*score.exact) : decimal(*score.exact, 3);
}

std::string unit_of(const Json& measure) {
  const std::string unit = measure.at("unit");
  if (!in_bytes(measure)) return unit;
  return unit.size() > 1 ? "per" + unit.substr(1 + (unit[1] == '/' ? 1 : 0)).insert(0, " ") : "";
}

std::string baseline_cell(const Json& measure) {
  if (!measure.contains("baseline")) return measure.at("key") == "distance" ? "1.000" : "";
  const Json& b = measure.at("baseline");
  if (b.is_object()) return fmt::format("{:.4f}", b.at("mid").get<double>());
  const Ratio value = b.is_number_integer() ? Ratio(b.get<std::int64_t>())
                                            : parse_ratio(fmt::format("{}", b.get<double>()), "result");
  return std::string(measure_cell(measure, {value, {}}).text);
}

/// A person reads so many rows; JSON, CSV and Markdown hold all.
constexpr std::size_t rows_shown = 40;

report::Table front_table(const ExploreResult& result, bool all) {
  report::Table table;
  const Json& question = result.question;
  table.columns = {{""}, {"loop", "", Align::left}};
  const auto& points = result.state.front.points();
  const Json& first = result.entries.at(points.front().index.str());
  std::vector<std::string> dimensions;
  for (const auto& [name, value] : first.at("dimensions").items())
    if (!is_loop(name)) dimensions.push_back(name);
  for (std::string name : dimensions) {
    std::replace(name.begin(), name.end(), '-', ' ');
    table.columns.push_back({name});
  }
  for (const auto& [budget, tolerance] : question.at("tolerance").items())
    table.columns.push_back({budget});
  for (const Json& m : question.at("measures")) table.columns.push_back({m.at("key"), unit_of(m)});
  std::vector<Cell> base = {"", "baseline"};
  for (const std::string& name : dimensions)
    base.emplace_back(std::to_string(question.at("dimensions").at(name).get<std::int64_t>()));
  base.resize(base.size() + question.at("tolerance").size());
  for (const Json& m : question.at("measures")) base.emplace_back(baseline_cell(m));
  table.rows.push_back(std::move(base));
  const std::size_t shown = all ? points.size() : std::min(points.size(), rows_shown);
  if (shown < points.size())
    table.note = fmt::format("The first {} of {} on the front; --format csv, md and json show all.",
                             shown, points.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Json& entry = result.entries.at(points[i].index.str());
    std::vector<Cell> row = {Cell(std::to_string(i + 1), Tone::strong), entry.at("loop").get<std::string>()};
    for (const std::string& name : dimensions)
      row.emplace_back(std::to_string(entry.at("dimensions").at(name).get<std::int64_t>()));
    for (const auto& [budget, text] : entry.at("mismatch_exact").items())
      row.emplace_back(percent(parse_ratio(text.get<std::string>(), "result"), 3));
    for (std::size_t m = 0; m < points[i].scores.size(); ++m)
      row.push_back(measure_cell(question.at("measures")[m], points[i].scores[m]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string done_text(const ExploreResult& result) {
  std::size_t mine = 0, done = 0;
  for (std::size_t unit = 0; unit < result.state.done.size(); ++unit) {
    mine += result.mine(unit) ? 1 : 0;
    done += result.mine(unit) && result.state.done[unit] ? 1 : 0;
  }
  return fmt::format("{} of {} units of work are done", done, mine);
}

std::string proof_text(const ExploreResult& result) {
  if (!result.complete()) return "not complete: " + done_text(result);
  const std::string where =
      result.shard ? fmt::format("shard {}/{}", result.shard->first, result.shard->second) : "space";
  return fmt::format("every other point of the {} is matched or beaten in all measures, or breaks a "
                     "tolerance or rule: {}", where, certificate_text(result.state.certificate));
}

/// "head-size 128, depth 6 or 24": what of the front a wider range might change.
std::string edges_of(const ExploreResult& result) {
  std::vector<std::pair<std::string, std::set<std::int64_t>>> edges;
  for (const space::FrontPoint& point : result.state.front.points()) {
    const Json& entry = result.entries.at(point.index.str());
    for (const std::string name : entry.value("at_edge", Json::array())) {
      auto at = std::find_if(edges.begin(), edges.end(), [&](const auto& e) { return e.first == name; });
      if (at == edges.end()) at = edges.insert(edges.end(), {name, {}});
      at->second.insert(entry.at("dimensions").at(name).get<std::int64_t>());
    }
  }
  std::string text;
  for (const auto& [name, values] : edges)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, fmt::join(values, " and "));
  return text;
}

report::Facts facts(const ExploreResult& result) {
  report::Facts f{{{"proof", proof_text(result)}}};
  std::string candidates = fmt::format("{} within tolerance, shapes of equal cost once",
                                       grouped(Ratio(Int(result.state.priced))));
  if (result.state.without > 0)
    candidates += fmt::format("; {} of them left out, no prediction", grouped(Ratio(Int(result.state.without))));
  f.lines.emplace_back("candidates", candidates);
  for (const Json& m : result.question.at("measures"))
    f.lines.emplace_back(m.at("key").get<std::string>(), m.at("meaning").get<std::string>());
  return f;
}

report::Facts space_facts(const Json& question, const std::string& edges) {
  report::Facts f{{{"loop shapes", fmt::format("{}, of different cost",
                                               question.at("loop_shapes").get<std::size_t>())}}};
  f.lines.emplace_back("alignment", question.at("alignment").get<std::string>());
  for (const auto& [name, domain] : question.at("domains").items())
    f.lines.emplace_back(name, domain.get<std::string>());
  if (!edges.empty()) f.lines.emplace_back("front", "at the edge of the range: " + edges);
  for (const Json& rule : question.at("assumptions")) f.lines.emplace_back("rule", rule.get<std::string>());
  return f;
}

report::Document document_of(const ExploreResult& result, bool written, bool all) {
  report::Document d;
  const arch::Architecture baseline = model_of(result.question.at("baseline"));
  const auto& points = result.state.front.points();
  d.blocks.emplace_back(report::Heading{fmt::format("{}: {}", baseline.name, shape_text(baseline))});
  if (!result.complete())
    d.blocks.emplace_back(report::Paragraph{
        fmt::format("Interrupted: {}. What follows is the front of what was done.", done_text(result)), Tone::warn});
  if (points.empty())
    d.blocks.emplace_back(report::Paragraph{
        "No architecture is within tolerance; isoloop match says what comes nearest.", Tone::bad});
  else
    d.blocks.emplace_back(front_table(result, all));
  d.blocks.emplace_back(facts(result));
  d.blocks.emplace_back(report::Heading{"Explored (change with --fix, --free, --loop, --align, --gqa, --square)"});
  d.blocks.emplace_back(space_facts(result.question, edges_of(result)));
  std::string next = written ? "Next: isoloop check pairs.json in the folder written."
                             : "Next: -o DIR writes the configs and a pairs.json for isoloop check.";
  if (result.shard && result.complete())
    next = fmt::format("Next: isoloop merge with the other {} shards.", result.shard->second - 1);
  if (!result.complete())
    next = "Next: the same command with --resume FILE, where FILE is this result as JSON "
           "(--format json --output FILE).";
  d.blocks.emplace_back(report::Paragraph{next, Tone::dim});
  return d;
}

std::map<std::string, std::string> files_of(const ExploreResult& result) {
  Json manifest = result.question.at("counting");
  manifest["pairs"] = {{{"name", "none"}, {"baseline", "a.json"}, {"match", "b.json"}}};
  const pairs::Manifest counting = pairs::from_json(manifest.dump(), "result");
  PairFolder folder(counting.options, counting.tolerance);
  const std::string baseline = folder.add("configs/baseline.json", model_of(result.question.at("baseline")));
  std::size_t i = 0;
  for (const space::FrontPoint& point : result.state.front.points()) {
    const std::string name = fmt::format("front-{:03}", ++i);
    const arch::Architecture model = model_of(result.entries.at(point.index.str()).at("arch"));
    folder.pair(name, baseline, folder.add(fmt::format("configs/{}.json", name), model));
  }
  folder.text("explore.json", json::pretty(explore_json(result)));
  return folder.files();
}

}  // namespace

Answer explore_answer(const ExploreResult& result, const std::string& directory,
                      const Context& context) {
  Answer answer;
  const bool any = !result.state.front.points().empty();
  answer.exit = result.complete() && (any || result.shard) ? ExitCode::done : ExitCode::no;
  answer.document = document_of(result, !directory.empty(),
                                context.common.format != OutputFormat::text);
  answer.json = json::pretty(explore_json(result));
  if (!directory.empty() && any) write_folder(directory, files_of(result), context.common.force);
  return answer;
}

}  // namespace isoloop::cli
