// The document as JSON, for programs that lay it out themselves.
//
// Held by tests/report/chart_test.cpp.
#include <nlohmann/json.hpp>
#include <variant>

#include "base/json_writer.h"
#include "report/chart.h"
#include "report/layout.h"

namespace isoloop::report {
namespace {

using Json = nlohmann::ordered_json;

Json block_json(const Heading& heading) { return {{"heading", heading.text}}; }
Json block_json(const Paragraph& paragraph) { return {{"paragraph", paragraph.text}}; }
Json block_json(const Code& code) { return {{"code", code.text}}; }
Json block_json(const Chart& chart) { return {{"chart", chart_json(chart)}}; }

Json block_json(const Facts& facts) {
  Json lines = Json::array();
  for (const auto& [name, value] : facts.lines)
    lines.push_back({{"name", name}, {"value", value.text}});
  return {{"facts", lines}};
}

Json block_json(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const Column& c : table.columns) columns.push_back({{"title", c.title}, {"unit", c.unit}});
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (std::size_t i = 0; i < table.columns.size(); ++i) cells.push_back(cell_at(row, i).text);
    rows.push_back(cells);
  }
  return {{"table",
           {{"id", table.id},
            {"title", table.title},
            {"columns", columns},
            {"rows", rows},
            {"note", table.note}}}};
}

}  // namespace

std::string write_json(const Document& document) {
  check(document);
  Json j;
  j["schema"] = "isoloop/report/v1";
  j["title"] = document.title;
  j["blocks"] = Json::array();
  for (const Block& block : document.blocks)
    j["blocks"].push_back(std::visit([](const auto& each) { return block_json(each); }, block));
  return json::pretty(j);
}

}  // namespace isoloop::report
