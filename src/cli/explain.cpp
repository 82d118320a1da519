// isoloop explain: every formula, with letters and with numbers.
//
// Held by tests/cli/explain_test.cpp.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string model, loop;
  CountFlags count;
};

report::Table letters_table(const arch::Architecture& model, const cost::Options& options) {
  report::Table table;
  table.title = "Letters";
  table.columns = {{"letter", "", report::Align::left}, {"meaning", "", report::Align::left},
                   {"value"}, {"first segment", "", report::Align::left}};
  for (const cost::LetterValue& l : cost::letters(model, options))
    table.rows.push_back({std::string(cost::name(l.letter).symbol),
                          std::string(cost::name(l.letter).meaning), grouped(l.value), l.segment});
  return table;
}

/// One formula of a row and what it amounts to over all layers; a linear map's parameters and
/// MACs share theirs.
struct Line {
  std::string letters, numbers;
  Ratio each;
  std::optional<Ratio> params, macs, cache;
};

std::vector<Line> lines(const cost::Explanation& e, const cost::Options& options) {
  std::vector<Line> result;
  const bool counted = e.part != convention::Part::softmax ||
                       options.convention.mac_weight[static_cast<std::size_t>(e.part)] != Ratio(0);
  const Ratio params = e.row.copies() * e.row.params, macs = e.row.layers * e.row.visits * e.row.macs;
  const bool one_map = e.params_letters == e.macs_letters;
  if (!e.params_letters.empty()) {
    result.push_back({e.params_letters, e.params_numbers, e.row.params, params, {}, {}});
    if (one_map) result.back().macs = macs;
  }
  if (!e.macs_letters.empty() && !one_map && counted)
    result.push_back({e.macs_letters, e.macs_numbers, e.row.macs, {}, macs, {}});
  if (!e.cache_letters.empty())
    result.push_back({e.cache_letters, e.cache_numbers, e.row.cache, {}, {},
                      cost::contribution(e.row, cost::Budget::kv, options) /
                          Ratio(bytes_per_element(options.kv_dtype))});
  return result;
}

std::string segment_title(const cost::Explanation& e) {
  if (e.segment.empty()) return "Whole model";
  const std::string visits = e.visits == Ratio(1) ? "once" : e.visits.str() + " times";
  return fmt::format("Segment '{}': formulas per layer, executed {}", e.segment, visits);
}

report::Table formulas_table(const std::vector<cost::Explanation>& rows, const std::string& segment,
                             const cost::Options& options) {
  report::Table table;
  table.columns = {{"row", "", report::Align::left},          {"formula", "", report::Align::left},
                   {"with numbers", "", report::Align::left}, {"each"},
                   {"layers"},                                {"parameters", "all layers"},
                   {"MACs", "per token, all visits"},         {"KV entries", "per token, all slots"}};
  const auto text = [](const std::optional<Ratio>& value) {
    return value ? grouped(*value) : std::string();
  };
  for (const cost::Explanation& e : rows) {
    if (e.segment != segment) continue;
    table.title = segment_title(e);
    for (const Line& line : lines(e, options))
      table.rows.push_back({e.name, line.letters, line.numbers, grouped(line.each), e.layers.str(),
                            text(line.params), text(line.macs), text(line.cache)});
  }
  return table;
}

std::string flops_rule(const convention::Convention& c) {
  std::string text = fmt::format(
      "FLOPs under '{}' ({}; {}): 2 per MAC forward; backward twice the forward", c.name, c.title,
      c.source);
  if (c.core_backward != Ratio(2))
    text += fmt::format(", {} times for scores and values", c.core_backward.str());
  std::string out, in;
  for (std::size_t i = 0; i < convention::part_count; ++i) {
    const auto part = static_cast<convention::Part>(i);
    if (c.mac_weight[i] == Ratio(0) && part != convention::Part::softmax)
      out += (out.empty() ? "" : ", ") + std::string(convention::name(part));
    if (c.param_weight[i] != Ratio(0))
      in += (in.empty() ? "" : ", ") + std::string(convention::name(part));
  }
  if (!out.empty()) text += "; not counted: " + out;
  if (!in.empty()) text += "; parameters counted as one MAC each: " + in;
  return text + ".";
}

Json explanation_json(const cost::Explanation& e, const cost::Options& options) {
  Json j;
  j["name"] = e.name;
  if (!e.segment.empty()) j["segment"] = e.segment;
  j["layers"] = number(e.layers);
  j["visits"] = number(e.visits);
  Json formulas = Json::array();
  for (const Line& line : lines(e, options)) {
    Json f;
    f["formula"] = line.letters;
    f["numbers"] = line.numbers;
    f["each"] = number(line.each);
    if (line.params) f["params"] = number(*line.params);
    if (line.macs) f["macs_per_token"] = number(*line.macs);
    if (line.cache) f["kv_elements_per_token"] = number(*line.cache);
    formulas.push_back(std::move(f));
  }
  j["formulas"] = std::move(formulas);
  return j;
}

}  // namespace

Action declare_explain(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("ARCH", flags->model, "File, - for stdin, or a built-in name")->required();
  flags->count.declare(app, "causal");
  app.add_option("--loop", flags->loop, "Loop its layers first, e.g. middle or 3+6x2+3")
      ->type_name("LOOP");
  return [flags](Context& context) {
    cost::Options options = flags->count.options();
    const arch::Architecture model = looped(load(flags->model, context).architecture, flags->loop);
    if (options.context == 0) options.context = model.context;
    const cost::Count c = about(flags->model, [&] { return cost::count(model, options); });
    const std::vector<cost::Explanation> rows = cost::explain(model, options);
    Answer answer;
    auto& blocks = answer.document.blocks;
    blocks.emplace_back(report::Heading{model.name});
    blocks.emplace_back(report::Paragraph{shape_text(model)});
    blocks.emplace_back(letters_table(model, options));
    std::vector<std::string> seen;
    for (const cost::Explanation& e : rows)
      if (std::find(seen.begin(), seen.end(), e.segment) == seen.end()) {
        seen.push_back(e.segment);
        blocks.emplace_back(formulas_table(rows, e.segment, options));
      }
    blocks.emplace_back(report::Paragraph{flops_rule(options.convention)});
    blocks.emplace_back(report::Facts{{{"parameters", grouped(c.params_total.value())},
                                       {"forward FLOPs per token", grouped(c.forward.value())},
                                       {"training FLOPs per token", grouped(c.train.value())},
                                       {"KV cache bytes per token", grouped(c.kv_bytes_per_token.value())}}});
    Json j;
    j["schema"] = "isoloop/explain/v1";
    j["name"] = model.name;
    j["convention"] = options.convention.name;
    for (const cost::LetterValue& l : cost::letters(model, options))
      j["letters"].push_back({{"symbol", cost::name(l.letter).symbol},
                              {"meaning", cost::name(l.letter).meaning},
                              {"segment", l.segment},
                              {"value", number(l.value)}});
    for (const cost::Explanation& e : rows) j["rows"].push_back(explanation_json(e, options));
    j["train_flops_per_token"] = number(c.train.value());
    answer.json = json::pretty(j);
    return answer;
  };
}

}  // namespace isoloop::cli
