// An exploration as sections of the page: the front as a table and as scatters of its measures, each
// linked to the other, and the selected point's pair.
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

struct Measured {
  double value = 0;
  std::optional<report::Range> range;
};
struct FrontPoint {
  std::string name, loop;
  std::optional<arch::Architecture> model;
  std::vector<std::optional<Measured>> measures;  // by name of measure
  Values mismatch;
};

/// A plain number, or {low, mid, high}.
std::optional<Measured> measured(json::Fields& measures, const std::string& name) {
  const json::Value* value = measures.find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) return Measured{measures.number(name), {}};
  json::Fields estimate = measures.object(name);
  const double mid = estimate.number("mid");
  return Measured{mid, report::Range{estimate.optional_number("low").value_or(mid), estimate.optional_number("high").value_or(mid)}};
}

/// Names of measures in the order of the result, where it gives one.
std::vector<std::string> measure_names(json::Fields& result, std::vector<json::Fields>& front) {
  std::vector<std::string> names;
  if (const json::Value* list = result.find("measures"); list != nullptr && list->is_array())
    for (const json::Value& item : *list) {
      if (item.is_string()) names.push_back(item.get<std::string>());
      else if (item.is_object() && item.contains("name") && item["name"].is_string()) names.push_back(item["name"].get<std::string>());
      else if (item.is_object() && item.contains("key") && item["key"].is_string()) names.push_back(item["key"].get<std::string>());
    }
  for (json::Fields& point : front)
    if (const json::Value* measures = point.find("measures"); measures != nullptr && measures->is_object())
      for (const auto& item : measures->items())
        if (std::find(names.begin(), names.end(), item.key()) == names.end()) names.push_back(item.key());
  return names;
}

/// Where values span more than a decade, a log axis.
report::Axis axis_of(const std::vector<FrontPoint>& points, std::size_t measure, const std::string& name) {
  double least = INFINITY, most = 0;
  for (const FrontPoint& p : points)
    if (p.measures[measure]) {
      least = std::min(least, p.measures[measure]->range ? p.measures[measure]->range->low : p.measures[measure]->value);
      most = std::max(most, p.measures[measure]->value);
    }
  return {name, "", least > 0 && most > 10 * least};
}

report::Chart scatter(const std::vector<FrontPoint>& points, const std::vector<std::string>& names, std::size_t x, std::size_t y,
                      const Page& page, const std::string& table) {
  report::Plot plot;
  plot.x = axis_of(points, x, names[x]);
  plot.y = axis_of(points, y, names[y]);
  report::Series front{"front", report::Mark::dots, 0, false, {}};
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].measures[x] && points[i].measures[y])
      front.points.push_back({points[i].measures[x]->value, points[i].measures[y]->value, points[i].measures[y]->range, points[i].name, i});
  plot.series.push_back(std::move(front));
  return {page.name(fmt::format("{}-{}", chart_word(names[x]), chart_word(names[y]))), fmt::format("The front: {} and {}", names[x], names[y]),
          "Nothing in the space is better in every measure than a point of the front.", std::move(plot), table};
}

report::Table front_table(const std::vector<FrontPoint>& points, const std::vector<std::string>& names, const std::string& id) {
  report::Table table;
  table.id = id;
  table.columns = {{"point", "", Align::left}, {"loop", "", Align::left}};
  for (const report::Column& c : shape_columns()) table.columns.push_back(c);
  for (const std::string& name : names) table.columns.push_back({name});
  std::vector<std::string> budgets;
  for (const FrontPoint& p : points)
    for (const auto& [name, value] : p.mismatch)
      if (std::find(budgets.begin(), budgets.end(), name) == budgets.end()) budgets.push_back(name);
  for (const std::string& name : budgets) table.columns.push_back({name, "% off"});
  for (const FrontPoint& p : points) {
    std::vector<Cell> row = {p.name, p.loop};
    if (p.model) add_shape(*p.model, row);
    else row.resize(row.size() + shape_columns().size());
    for (const auto& m : p.measures) row.emplace_back(m ? fmt::format("{:.6g}", m->value) : "");
    for (const std::string& name : budgets) {
      const double value = value_or(p.mismatch, name, NAN);
      row.emplace_back(value != value ? "" : signed_percent(value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void add_explore(json::Fields& result, Page& page) {
  std::vector<json::Fields> front = result.optional_objects("front");
  if (!result.has("front")) throw result.missing("front");
  const std::vector<std::string> names = measure_names(result, front);
  std::vector<FrontPoint> points;
  for (json::Fields& f : front) {
    FrontPoint p;
    p.name = fmt::format("#{}", points.size() + 1);
    p.loop = f.optional_text("loop").value_or("");
    p.model = optional_architecture(f, "arch");
    json::Fields measures = f.object("measures");
    for (const std::string& name : names) p.measures.push_back(measured(measures, name));
    p.mismatch = values_of(f, "mismatch");
    points.push_back(std::move(p));
  }
  const auto baseline = optional_architecture(result, "baseline");
  page.add(report::Heading{baseline ? "Exploration around " + baseline->name : "Exploration"});
  if (points.empty()) return page.add(report::Paragraph{"The front is empty: nothing in the space is within tolerance.", report::Tone::bad});
  const std::string table = page.name("front");
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // the first measure against each other one
  for (std::size_t i = 1; i < names.size() && i < 4; ++i) pairs.emplace_back(0, i);
  for (const auto& [x, y] : pairs) page.add(scatter(points, names, x, y, page, table));
  page.add(front_table(points, names, table));
  if (!baseline) return;
  const cost::Options options = counting(result);
  constexpr std::size_t most = 200;  // pairs of a larger front would make a page of many megabytes
  for (std::size_t i = 0; i < points.size() && i < most; ++i)
    if (points[i].model) (void)add_pair(page, table, i, {"baseline", *baseline}, {points[i].name, *points[i].model}, points[i].mismatch, options);
}

}  // namespace isoloop::cli
