// A match as sections of the page: answers, the proof, budgets by row, layers, other conventions.
//
// Held by tests/cli/report_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/report_parts.h"

namespace isoloop::cli {
namespace {

using report::Align;
using report::Cell;
using report::Tone;

report::Facts facts(json::Fields& result) {
  report::Facts f;
  const std::string context = number_text(result, "context_tokens");
  f.lines.emplace_back(
      "counted", fmt::format("convention {}, context {}", result.text("convention"), context));
  std::string tolerance;
  for (const auto& [name, value] : values_of(result, "tolerance"))
    tolerance += fmt::format("{}{} {:g} %", tolerance.empty() ? "" : ", ", name, value * 100);
  f.lines.emplace_back("tolerance", tolerance);
  if (const auto alignment = result.optional_text("alignment"))
    f.lines.emplace_back("alignment", *alignment);
  for (const std::string& assumption : result.optional_texts("assumptions"))
    f.lines.emplace_back("assumed", assumption);
  json::Fields space = result.object("space");
  const auto big = [&](json::Fields& fields, const std::string& key) {
    return grouped(fields.ratio(key));
  };
  std::string proof =
      fmt::format("{} points, {} counted", big(space, "points"), big(space, "visited"));
  if (auto pruned = space.optional_object("pruned"))
    for (const auto& item : space.find("pruned")->items())
      proof += fmt::format(" · {} cut off by {}", scaled(pruned->ratio(item.key())), item.key());
  f.lines.emplace_back("proof", proof);
  return f;
}

struct Answers {
  std::vector<json::Fields> fields;
  std::vector<Named> models;
};

report::Table answers_table(Answers& answers, const std::string& id) {
  report::Table table;
  table.id = id;
  table.columns = {{"answer", "", Align::left}, {"loop", "", Align::left}};
  for (const report::Column& c : shape_columns()) table.columns.push_back(c);
  const Values first = values_of(answers.fields.front(), "mismatch");
  for (const auto& [name, value] : first) table.columns.push_back({name, "% off"});
  table.columns.push_back({"largest", "%"});
  for (std::size_t i = 0; i < answers.fields.size(); ++i) {
    json::Fields& a = answers.fields[i];
    std::vector<Cell> row = {std::to_string(i + 1), a.text("loop")};
    add_shape(answers.models[i].model, row);
    const Values mismatch = values_of(a, "mismatch");
    for (const auto& [name, value] : first)
      row.emplace_back(signed_percent(value_or(mismatch, name, 0)));
    row.emplace_back(
        fixed(a.number("max_mismatch") * 100, 3),
        a.optional_boolean("within_tolerance").value_or(true) ? Tone::good : Tone::bad);
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// What stays equal under one convention differs under others.
report::Chart convention_bars(Answers& answers, const Page& page) {
  report::Bars bars;
  bars.panels = {{"training FLOPs, answer over baseline", "%", {}}};
  for (std::size_t i = 0; i < answers.fields.size() && i < 3; ++i) {
    const Values residual = values_of(answers.fields[i], "residual_by_convention");
    if (bars.categories.empty())
      for (const auto& [name, value] : residual) bars.categories.push_back(name);
    bars.series.push_back(answers.models[i].name);
    auto& series = bars.panels.front().bars.emplace_back();
    for (const std::string& name : bars.categories)
      series.push_back({value_or(residual, name, 0) * 100});
  }
  return {page.name("conventions"), "The same pair under other conventions", "", std::move(bars)};
}

void add_answers(json::Fields& result, std::vector<json::Fields> found, const Named& baseline,
                 Page& page) {
  Answers answers{std::move(found), {}};
  for (std::size_t i = 0; i < answers.fields.size(); ++i)
    answers.models.push_back(
        {fmt::format("answer {}", i + 1), architecture(answers.fields[i], "arch")});
  const std::string table = page.name("answers");
  page.add(answers_table(answers, table));
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < answers.models.size(); ++i)
    if (!add_pair(page, table, i, baseline, answers.models[i],
                  values_of(answers.fields[i], "mismatch"), counting(result)))
      left_out.push_back(answers.models[i].name);
  say_left_out(page, left_out);
  if (answers.fields.front().has("residual_by_convention"))
    page.add(convention_bars(answers, page));
}

}  // namespace

void add_match(json::Fields& result, Page& page) {
  const Named baseline{"baseline", architecture(result, "baseline")};
  page.add(report::Heading{"Match: " + baseline.model.name});
  std::vector<json::Fields> found = result.optional_objects("answers");
  if (!result.has("answers")) throw result.missing("answers");
  if (found.empty()) {
    page.add(report::Paragraph{"No architecture within tolerance.", Tone::bad});
    if (auto nearest = result.optional_object("nearest")) found.push_back(std::move(*nearest));
  }
  page.add(facts(result));
  if (!found.empty()) add_answers(result, std::move(found), baseline, page);
  report::Table remedies;
  remedies.title = "What would help";
  remedies.columns = {{"change", "", Align::left}, {"largest mismatch", "%"}};
  for (json::Fields& r : result.optional_objects("remedies"))
    remedies.rows.push_back(
        {r.text("option"), fixed(r.object("answer").number("max_mismatch") * 100, 3)});
  if (!remedies.rows.empty()) page.add(std::move(remedies));
}

void add_check(json::Fields& result, Page& page) {
  std::vector<json::Fields> pairs = result.optional_objects("pairs");
  if (!result.has("pairs")) throw result.missing("pairs");
  page.add(report::Heading{
      fmt::format("Check of {} pair{}", pairs.size(), pairs.size() == 1 ? "" : "s")});
  report::Table table;
  table.id = page.name("pairs");
  table.columns = {{"pair", "", Align::left}, {"result", "", Align::left}};
  std::vector<std::string> names;
  for (json::Fields& p : pairs)
    for (const auto& [name, value] : values_of(p, "mismatch"))
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const std::string& name : names) table.columns.push_back({name, "% off"});
  std::vector<MismatchPoint> points;
  for (json::Fields& p : pairs) {
    const bool ok = p.optional_boolean("ok").value_or(false);
    const Values mismatch = values_of(p, "mismatch");
    std::vector<Cell> row = {p.text("name"), ok ? Cell("ok", Tone::good) : Cell("FAIL", Tone::bad)};
    for (const std::string& name : names) {
      const double value = value_or(mismatch, name, NAN);
      row.emplace_back(value != value ? "" : signed_percent(value));
    }
    points.push_back(
        {p.text("name"), ok ? "within tolerance" : "out of budget", mismatch, table.rows.size()});
    table.rows.push_back(std::move(row));
  }
  const std::string id = table.id;
  page.add(std::move(table));
  if (points.empty()) return;
  page.add(mismatch_plot(page.name("mismatch"), id, points, values_of(pairs.front(), "tolerance")));
}

}  // namespace isoloop::cli
