// An exploration as sections of the page: the front as a table and as scatters of its measures,
// each linked to the other, and the selected point's pair.
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

struct Measure {
  std::string key, unit, meaning;
  std::optional<Measured> baseline;
};

/// A plain number, {value} with an exact fraction beside it, or an estimate {low, value or mid,
/// high}.
std::optional<Measured> measured(json::Fields& measures, std::string_view name) {
  const json::Value* value = measures.find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) return Measured{measures.number(name), {}};
  json::Fields estimate = measures.object(name);
  const double mid = estimate.number(estimate.has("mid") ? "mid" : "value");
  const auto low = estimate.optional_number("low"), high = estimate.optional_number("high");
  return Measured{mid, low && high ? std::optional(report::Range{*low, *high}) : std::nullopt};
}

/// As the question lists them; without a list, by the names of the points' measures.
std::vector<Measure> measures_of(json::Fields& question, std::vector<json::Fields>& front) {
  std::vector<Measure> measures;
  for (json::Fields& m : question.optional_objects("measures"))
    measures.push_back({m.text("key"), m.optional_text("unit").value_or(""),
                        m.optional_text("meaning").value_or(""), measured(m, "baseline")});
  for (json::Fields& point : front)
    if (const json::Value* of = point.find("measures"); of != nullptr && of->is_object())
      for (const auto& item : of->items())
        if (std::none_of(measures.begin(), measures.end(),
                         [&](const Measure& m) { return m.key == item.key(); }))
          measures.push_back({item.key(), "", "", {}});
  return measures;
}

/// Where values span more than a decade, a log axis.
report::Axis axis_of(const std::vector<FrontPoint>& points, std::size_t measure, const Measure& m) {
  double least = m.baseline ? m.baseline->value : INFINITY, most = 0;
  for (const FrontPoint& p : points)
    if (const auto& value = p.measures[measure]) {
      least = std::min(least, value->range ? value->range->low : value->value);
      most = std::max(most, value->value);
    }
  return {m.key, m.unit, least > 0 && most > 10 * least};
}

report::Chart scatter(const std::vector<FrontPoint>& points, const std::vector<Measure>& measures,
                      std::size_t x, std::size_t y, const Page& page, const std::string& table) {
  report::Plot plot;
  plot.x = axis_of(points, x, measures[x]);
  plot.y = axis_of(points, y, measures[y]);
  report::Series front{"front", report::Mark::dots, 0, false, {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto &px = points[i].measures[x], &py = points[i].measures[y];
    if (px && py)
      front.points.push_back(
          {px->value, py->value, py->range,
           points[i].name + (points[i].loop.empty() ? "" : ", " + points[i].loop), i});
  }
  plot.series.push_back(std::move(front));
  for (const bool vertical : {true, false})
    if (const auto& base = measures[vertical ? x : y].baseline)
      plot.guides.push_back({vertical, base->value, "baseline"});
  return {page.name(fmt::format("{}-{}", chart_word(measures[x].key), chart_word(measures[y].key))),
          fmt::format("The front: {} and {}", measures[x].key, measures[y].key),
          "Every other point is matched or beaten in all measures by one of these. Bars: low to "
          "high estimate.",
          std::move(plot), table};
}

/// As the command prints it: an estimate with its range, three decimals.
std::string measured_text(const Measured& m) {
  if (m.range && m.range->low != m.range->high)
    return fmt::format("{:.3f} ({:.3f} to {:.3f})", m.value, m.range->low, m.range->high);
  if (std::abs(m.value) < 9e15 && m.value == std::floor(m.value))
    return grouped(Ratio(static_cast<std::int64_t>(m.value)));
  return fixed(m.value, 3);
}

report::Table front_table(const std::vector<FrontPoint>& points,
                          const std::vector<Measure>& measures, const std::string& id) {
  report::Table table;
  table.id = id;
  table.columns = {{"point", "", Align::left}, {"loop", "", Align::left}};
  for (const report::Column& c : shape_columns()) table.columns.push_back(c);
  for (const Measure& m : measures) table.columns.push_back({m.key, m.unit});
  std::vector<std::string> budgets;
  for (const FrontPoint& p : points)
    for (const auto& [name, value] : p.mismatch)
      if (std::find(budgets.begin(), budgets.end(), name) == budgets.end()) budgets.push_back(name);
  for (const std::string& name : budgets) table.columns.push_back({name, "% off"});
  for (const FrontPoint& p : points) {
    std::vector<Cell> row = {p.name, p.loop};
    if (p.model)
      add_shape(*p.model, row);
    else
      row.resize(row.size() + shape_columns().size());
    for (const auto& m : p.measures) row.emplace_back(m ? measured_text(*m) : "");
    for (const std::string& name : budgets) {
      const double value = value_or(p.mismatch, name, NAN);
      row.emplace_back(value != value ? "" : signed_percent(value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Facts facts(json::Fields& result, const std::vector<Measure>& measures) {
  report::Facts f;
  if (auto space = result.optional_object("space"))
    f.lines.emplace_back("space",
                         fmt::format("{} points, {} counted", grouped(space->ratio("points")),
                                     grouped(space->ratio("visited"))));
  for (const Measure& m : measures)
    if (!m.meaning.empty()) f.lines.emplace_back(m.key, m.meaning);
  return f;
}

/// Tolerances, ranges and rules: what the front is the front of.
void add_question(json::Fields& question, Page& page) {
  report::Facts f;
  std::string tolerances;
  for (const auto& [budget, tolerance] : values_of(question, "tolerance"))
    tolerances +=
        fmt::format("{}{} {:g} %", tolerances.empty() ? "" : ", ", budget, tolerance * 100);
  if (!tolerances.empty()) f.lines.emplace_back("tolerance", "± " + tolerances);
  if (const auto alignment = question.optional_text("alignment"))
    f.lines.emplace_back("alignment", *alignment);
  if (auto domains = question.optional_object("domains"))
    for (const auto& item : question.find("domains")->items())
      f.lines.emplace_back(item.key(), domains->text(item.key()));
  for (const std::string& rule : question.optional_texts("assumptions"))
    f.lines.emplace_back("rule", rule);
  if (f.lines.empty()) return;
  page.add(report::Heading{"Explored"});
  page.add(std::move(f));
}

}  // namespace

void add_explore(json::Fields& result, Page& page) {
  std::vector<json::Fields> front = result.optional_objects("front");
  if (!result.has("front")) throw result.missing("front");
  json::Fields question = result.has("question") ? result.object("question") : result;
  const std::vector<Measure> measures = measures_of(question, front);
  std::vector<FrontPoint> points;
  for (json::Fields& f : front) {
    FrontPoint p;
    p.name = fmt::format("#{}", points.size() + 1);
    p.loop = f.optional_text("loop").value_or("");
    p.model = optional_architecture(f, "arch");
    json::Fields values = f.object("measures");
    for (const Measure& m : measures) p.measures.push_back(measured(values, m.key));
    p.mismatch = values_of(f, "mismatch");
    points.push_back(std::move(p));
  }
  const auto baseline = optional_architecture(question, "baseline");
  page.add(report::Heading{baseline ? "Exploration around " + baseline->name : "Exploration"});
  if (!result.optional_boolean("complete").value_or(true))
    page.add(report::Paragraph{
        "A partial result: the search is not done, and the front may change.", report::Tone::warn});
  page.add(facts(result, measures));
  if (points.empty())
    return page.add(
        report::Paragraph{"The front is empty: nothing is within tolerance.", report::Tone::bad});
  const std::string table = page.name("front");
  for (std::size_t i = 1; i < measures.size() && i < 4; ++i)
    page.add(scatter(points, measures, 0, i, page, table));
  page.add(front_table(points, measures, table));
  add_question(question, page);
  if (!baseline) return;
  json::Fields counted = question.has("counting") ? question.object("counting") : question;
  const cost::Options options = counting(counted);
  constexpr std::size_t most = 200;  // pairs of a larger front would make a page of many megabytes
  for (std::size_t i = 0; i < points.size() && i < most; ++i)
    if (points[i].model)
      (void)add_pair(page, table, i, {"baseline", *baseline}, {points[i].name, *points[i].model},
                     points[i].mismatch, options);
}

}  // namespace isoloop::cli
