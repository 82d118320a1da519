// isoloop sweep: an ablation series, every member matched to the same baseline.
//
// Held by tests/cli/sweep_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/counting.h"
#include "cli/input.h"
#include "cli/match_view.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pair_folder.h"
#include "cli/sweep_view.h"
#include "cli/views.h"
#include "isoloop/grid.h"
#include "isoloop/space.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Tone;

struct Flags {
  std::string what, directory, spans, visits, depths, starts;
  CountFlags count;
  MatchFlags match;
  bool controls = false;
};

/// "0:12:2", "0:12" or "1,2,4".
std::vector<std::int64_t> axis(const std::string& text, const std::string& option, std::int64_t least) {
  std::vector<std::int64_t> values;
  if (text.empty()) return values;
  const std::vector<std::string> range = split(text, ':');
  const auto whole = [&](const std::string& word) {
    const Ratio value = parse_ratio(word, option);
    constexpr std::int64_t most = 100'000;
    if (!value.is_integer() || value < Ratio(least) || value > Ratio(most))
      throw usage_error(fmt::format("'{}' is not a whole number from {} to {}", word, least, most), option,
                        "write low:high, low:high:step or a list, e.g. 0:12:2 or 2,4,8");
    return value.num().to_int64();
  };
  if (range.size() == 1) {
    for (const std::string& word : split(text, ',')) values.push_back(whole(word));
    return values;
  }
  const std::int64_t low = whole(range[0]), high = whole(range[1]);
  const std::int64_t step = range.size() > 2 ? whole(range[2]) : 1;
  if (range.size() > 3 || step < 1 || low > high)
    throw usage_error(fmt::format("'{}' is not a range", text), option,
                      "write low:high or low:high:step, e.g. 0:12:2");
  for (std::int64_t v = low; v <= high; v += step) values.push_back(v);
  return values;
}

bool is_named(const std::string& what) {
  const std::vector<std::string> names = space::sweep_names();
  return std::find(names.begin(), names.end(), what) != names.end();
}

/// The grid's own request for a built-in baseline: named sweeps are asked as the paper did.
solve::MatchRequest grid_request(const std::string& baseline) {
  for (const std::string& name : grid::names()) {
    const grid::Grid g = grid::load(name, "sweep");
    for (const grid::Cell& cell : g.cells)
      if (cell.baseline.architecture->name == baseline) return grid::request(g, cell);
  }
  throw internal_error("a named sweep without its baseline");
}

/// A sweep sets depth and loop of every member, and loops whole blocks: nothing else may move them.
void check_axes_free(const solve::MatchRequest& request) {
  using U = solve::Unknown;
  for (const U axis : {U::depth, U::loop_span, U::loop_visits, U::loop_start})
    if (const bool fixed = request.fixed.contains(axis); fixed || request.freed.contains(axis))
      throw usage_error(fmt::format("{} is an axis of the sweep", solve::name(axis)),
                        fixed ? "--fix" : "--free",
                        fmt::format("name its values: --{}", solve::name(axis)));
  const std::int64_t depth = arch::depth(request.baseline);
  if (arch::parse_loop(request.loop, depth, "--loop").order == arch::Order::layer)
    throw usage_error("a sweep repeats blocks of layers, not layer by layer", "--loop",
                      "isoloop match takes this loop");
}

std::vector<Swept> named(const Flags& flags) {
  if (!flags.spans.empty() || !flags.visits.empty() || !flags.depths.empty() ||
      !flags.starts.empty())
    throw usage_error(fmt::format("'{}' has its own shapes", flags.what),
                      "--span, --visits, --depth, --start",
                      "give a baseline instead to choose shapes");
  const space::NamedSweep sweep = space::load_sweep(flags.what, "sweep");
  std::vector<Swept> result;
  for (const space::Series& series : sweep.series) {
    solve::MatchRequest request = grid_request(series.baseline);
    flags.match.apply(request);
    check_axes_free(request);
    request.options = flags.count.over(request.options);
    Swept swept{series.sparsity, {}};
    for (const auto& [shape, published] : series.members)
      swept.members.push_back(space::member(request, shape, published));
    result.push_back(std::move(swept));
  }
  return result;
}

std::vector<Swept> crossed(const Flags& flags, const Context& context) {
  solve::MatchRequest request;
  request.baseline = load(flags.what, context).architecture;
  request.options = flags.count.options();
  if (request.options.context == 0) request.options.context = request.baseline.context;
  request.alignment = solve::parse_alignment("loose", "--align");
  flags.match.apply(request);
  check_axes_free(request);
  space::Axes axes{axis(flags.depths, "--depth", 1),
                   axis(flags.spans, "--span", 0),
                   axis(flags.visits, "--visits", 1),
                   {},
                   flags.starts == "all"};
  if (!axes.all_starts) axes.starts = axis(flags.starts, "--start", 1);
  return {{"", space::members(request, axes)}};
}

void run_all(std::vector<Swept>& all, const Context& context) {
  for (Swept& swept : all) {
    const std::size_t n = swept.members.size();
    space::run(swept.members, [&](std::size_t i) {
      if (context.streams.err_is_terminal)
        context.streams.err << fmt::format("\rmatching {} of {} ", i + 1, n) << std::flush;
    });
    if (context.streams.err_is_terminal) context.streams.err << "\r\033[K" << std::flush;
  }
}

/// The member that controls speak of: the loop the request names, else the first one.
const space::Member* controlled(const std::vector<space::Member>& members) {
  const space::Member* first = nullptr;
  for (const space::Member& m : members) {
    if (m.shape.span == 0 || m.best() == nullptr) continue;
    if (first == nullptr) first = &m;
    const arch::Loop middle = arch::parse_loop("middle", m.shape.depth, "--controls");
    if (m.shape.depth == arch::depth(m.request.baseline) && m.shape.start == 0 &&
        m.shape.span == middle.span && m.shape.visits == middle.visits)
      return &m;
  }
  return first;
}

void add_controls(std::vector<Swept>& all) {
  for (Swept& swept : all) {
    std::vector<space::Member> controls;
    if (const space::Member* looped = controlled(swept.members))
      for (const space::Control kind : {space::Control::experts, space::Control::params})
        if (std::optional<space::Member> m = space::control(*looped, kind))
          controls.push_back(*std::move(m));
    if (controls.empty())
      throw usage_error(
          fmt::format("'{}' has no looped member with experts to control", swept.baseline().name),
          "--controls", "controls need experts and a budget of params");
    space::run(controls);
    swept.members.insert(swept.members.end(), controls.begin(), controls.end());
  }
}

/// The budgets a pair keeps: a control's own target is not the baseline's.
std::vector<solve::BudgetTolerance> kept_equal(const space::Member& m) {
  std::vector<solve::BudgetTolerance> kept = m.request.budgets;
  const auto moved = std::erase_if(
      kept, [](const solve::BudgetTolerance& b) { return b.of_baseline != Ratio(1); });
  if (moved == 0) kept.clear();  // the manifest's
  return kept;
}

/// Configs, pairs.json, and one line per run for a launcher.
std::map<std::string, std::string> files(const std::vector<Swept>& all,
                                         const std::string& markdown) {
  PairFolder folder(all.front().members.front().request.options,
                    all.front().members.front().request.budgets);
  std::string runs;
  const auto add = [&](const std::string& name, const arch::Architecture& model,
                       const Json& extra) {
    const std::string file = folder.add(fmt::format("configs/{}.json", name), model);
    Json line = {{"name", name}, {"config", file}};
    line.update(extra);
    runs += line.dump() + '\n';
    return file;
  };
  for (const Swept& swept : all) {
    const std::string base = swept.baseline().name;
    const std::string baseline = add(base, swept.baseline(), {{"role", "baseline"}});
    for (const space::Member& m : swept.members)
      if (m.within()) {
        const std::string name = fmt::format("{}-{}", base, m.name());
        const std::string file = add(name, m.best()->architecture,
                                     {{"role", m.control ? "control" : "member"},
                                      {"depth", m.shape.depth},
                                      {"span", m.shape.span},
                                      {"visits", m.shape.visits}});
        folder.pair(name, baseline, file, kept_equal(m));
      }
  }
  folder.text("runs.jsonl", runs);
  folder.text("README.md", markdown);
  return folder.files();
}

bool any_within(const std::vector<Swept>& all) {
  return std::any_of(all.begin(), all.end(), [](const Swept& swept) {
    return std::any_of(swept.members.begin(), swept.members.end(),
                       [](const space::Member& m) { return m.within(); });
  });
}

}  // namespace

Action declare_sweep(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("BASELINE", flags->what, "Model, or a published sweep: isoloop list sweeps")
      ->required();
  app.add_option("--span", flags->spans, "Spans, e.g. 0:12:2 or 2,6")->type_name("LIST");
  app.add_option("--visits", flags->visits, "Visits, e.g. 1:4")->type_name("LIST");
  app.add_option("--depth", flags->depths, "Physical depths, e.g. 8,10,12")->type_name("LIST");
  app.add_option("--start", flags->starts, "First looped layers, or all (default: centred)")
      ->type_name("LIST|all");
  app.add_option("-o,--directory", flags->directory,
                 "Write configs, pairs.json and runs.jsonl into this new folder")
      ->type_name("DIR");
  app.add_flag("--controls", flags->controls,
               "Add unlooped members: as many experts, finer; as many parameters, unshared");
  flags->count.declare(app, "causal; published: smelt");
  flags->match.declare(app, " (default 1%, 1%, kv 2%; published: 2%)");
  return [flags](Context& context) {
    std::vector<Swept> all = is_named(flags->what) ? named(*flags) : crossed(*flags, context);
    run_all(all, context);
    if (flags->controls) add_controls(all);
    Answer answer;
    auto& blocks = answer.document.blocks;
    blocks.emplace_back(report::Heading{"Sweep: " + flags->what});
    for (const Swept& swept : all) blocks.emplace_back(members_table(swept));
    const bool written = !flags->directory.empty();
    for (report::Paragraph& remark : sweep_remarks(all, written))
      blocks.emplace_back(std::move(remark));
    const solve::MatchRequest& r = all.front().members.front().request;
    blocks.emplace_back(report::Paragraph{fmt::format(
        "Every member is matched to its baseline under convention '{}', alignment {} ({}), and "
        "proven optimal.",
        r.options.convention.name, r.alignment.name, solve::alignment_text(r.alignment))});
    if (is_named(flags->what))
      blocks.emplace_back(
          report::Paragraph{"Losses: " + space::load_sweep(flags->what, "sweep").source + "."});
    Json j;
    j["schema"] = "isoloop/sweep/v1";
    j["name"] = flags->what;
    add_counting(j, r.options);
    for (const solve::BudgetTolerance& b : r.budgets)
      j["tolerance"][std::string(cost::name(b.budget).name)] = fraction(b.tolerance);
    for (const Swept& swept : all) j["series"].push_back(series_json(swept));
    if (written) j["not_written"] = missing_json(all);
    answer.json = json::pretty(j);
    if (written)
      write_folder(flags->directory,
                   files(all, report::write(answer.document, report::Format::markdown)),
                   context.common.force);
    std::string next = fmt::format("Next: isoloop check {}/pairs.json", flags->directory);
    if (!written)
      next = fmt::format("Next: isoloop sweep {} -o DIR writes configs, pairs.json and runs.jsonl.",
                         flags->what);
    else if (!any_within(all))
      next = fmt::format("No pair to check: {} holds the baseline alone.", flags->directory);
    blocks.emplace_back(report::Paragraph{next, Tone::dim});
    return answer;
  };
}

}  // namespace isoloop::cli
