// Checks of charts, and charts as JSON.
//
// Held by tests/report/chart_test.cpp.
#include "report/chart.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "isoloop/base.h"
#include "report/axis.h"
#include "report/layout.h"

namespace isoloop::report {
namespace {

using Json = nlohmann::ordered_json;

Json scale_json(const Scale& scale, const Axis& axis) {
  Json ticks = Json::array();
  for (const Tick& t : scale.ticks) ticks.push_back(Json::array({t.at, t.text}));
  return {{"title", axis_title(axis)},
          {"low", scale.low},
          {"high", scale.high},
          {"log", scale.log},
          {"ticks", ticks}};
}

Json range_json(const std::optional<Range>& range) {
  return range ? Json::array({range->low, range->high}) : Json(nullptr);
}

Json point_json(const Point& p) {
  Json j = {{"x", p.x}, {"y", p.y}};
  if (p.y_range) j["range"] = range_json(p.y_range);
  if (!p.label.empty()) j["label"] = p.label;
  if (p.row) j["row"] = *p.row;
  return j;
}

Json body_json(const Plot& plot) {
  Json j = {{"kind", "plot"},
            {"x", scale_json(x_scale(plot), plot.x)},
            {"y", scale_json(y_scale(plot), plot.y)}};
  j["series"] = Json::array();
  for (const Series& s : plot.series) {
    Json points = Json::array();
    for (const Point& p : s.points) points.push_back(point_json(p));
    j["series"].push_back({{"name", s.name},
                           {"mark", s.mark == Mark::dots ? "dots" : "line"},
                           {"colour", s.colour},
                           {"dashed", s.dashed},
                           {"points", points}});
  }
  j["guides"] = Json::array();
  for (const Guide& g : plot.guides)
    j["guides"].push_back({{"vertical", g.vertical}, {"at", g.at}, {"text", g.text}});
  return j;
}

Json body_json(const Bars& bars) {
  Json j = {{"kind", "bars"}, {"categories", bars.categories}, {"series", bars.series}};
  j["panels"] = Json::array();
  for (const Panel& p : bars.panels) {
    Json values = Json::array();
    for (const auto& series : p.bars) {
      Json row = Json::array();
      for (const Bar& b : series) {
        Json bar = {{"value", b.value}};
        if (b.range) bar["range"] = range_json(b.range);
        row.push_back(bar);
      }
      values.push_back(row);
    }
    j["panels"].push_back(
        {{"axis", scale_json(panel_scale(p), {p.title, p.unit})}, {"bars", values}});
  }
  return j;
}

Json body_json(const Stacks& stacks) {
  Json j = {{"kind", "stacks"}};
  j["stacks"] = Json::array();
  for (const Stack& s : stacks.stacks) {
    Json blocks = Json::array(), repeats = Json::array();
    for (const Layers& b : s.blocks)
      blocks.push_back({{"name", b.name}, {"count", b.count}, {"text", b.text}});
    for (const Repeat& r : s.repeats)
      repeats.push_back({{"first", r.first}, {"last", r.last}, {"times", r.times}});
    j["stacks"].push_back(
        {{"name", s.name}, {"text", s.text}, {"blocks", blocks}, {"repeats", repeats}});
  }
  return j;
}

[[noreturn]] void fault(const Chart& chart, const std::string& what) {
  throw internal_error("chart '" + chart.name + "' " + what);
}

void check_body(const Chart& chart, const Plot& plot) {
  for (const Series& s : plot.series)
    for (const Point& p : s.points)
      if (p.row && chart.table.empty()) fault(chart, "has a point of a row but no table");
  (void)x_scale(plot);
  (void)y_scale(plot);
}

void check_body(const Chart& chart, const Bars& bars) {
  for (const Panel& p : bars.panels) {
    if (p.bars.size() != bars.series.size()) fault(chart, "has a panel without all series");
    for (const auto& series : p.bars)
      if (series.size() != bars.categories.size())
        fault(chart, "has a series without all categories");
    (void)panel_scale(p);
  }
}

void check_body(const Chart& chart, const Stacks& stacks) {
  for (const Stack& s : stacks.stacks)
    for (const Repeat& r : s.repeats)
      if (r.first > r.last || r.last >= s.blocks.size())
        fault(chart, "repeats blocks it does not have");
}

}  // namespace

nlohmann::ordered_json chart_json(const Chart& chart) {
  Json j = {{"name", chart.name}, {"title", chart.title}, {"note", chart.note}};
  if (!chart.table.empty()) j["table"] = chart.table;
  if (chart.row) j["row"] = *chart.row;
  j.update(std::visit([](const auto& body) { return body_json(body); }, chart.body));
  return j;
}

void check(const Chart& chart) {
  const bool named = !chart.name.empty() && std::ranges::all_of(chart.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!named) fault(chart, "needs a name of small letters, digits and hyphens");
  if (chart.row && chart.table.empty()) fault(chart, "is about a row of no table");
  std::visit([&](const auto& body) { check_body(chart, body); }, chart.body);
}

void check_links(const Document& document) {
  std::map<std::string, std::size_t> rows;
  std::set<std::string> names;
  for (const Block& block : document.blocks) {
    const Table* table = std::get_if<Table>(&block);
    if (table == nullptr || table->id.empty()) continue;
    if (!rows.emplace(table->id, table->rows.size()).second)
      throw internal_error("two tables have the id '" + table->id + "'");
  }
  for (const Block& block : document.blocks) {
    const Chart* chart = std::get_if<Chart>(&block);
    if (chart == nullptr) continue;
    if (!names.insert(chart->name).second) fault(*chart, "is there twice");
    if (chart->table.empty()) continue;
    const auto table = rows.find(chart->table);
    if (table == rows.end()) fault(*chart, "belongs to a table that is not there");
    if (chart->row && *chart->row >= table->second)
      fault(*chart, "is about a row that is not there");
    const Plot* plot = std::get_if<Plot>(&chart->body);
    if (plot == nullptr) continue;
    for (const Series& s : plot->series)
      for (const Point& p : s.points)
        if (p.row && *p.row >= table->second)
          fault(*chart, "has a point of a row that is not there");
  }
}

std::vector<std::string> chart_names(const Document& document) {
  std::vector<std::string> names;
  for (const Block& block : document.blocks)
    if (const Chart* chart = std::get_if<Chart>(&block)) names.push_back(chart->name);
  return names;
}

}  // namespace isoloop::report
