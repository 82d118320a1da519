// Charts are checked before they are written, and their JSON holds scales and ticks.
//
// Holds src/report/chart.cpp and json.cpp.
#include "report/chart.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/charts.h"
#include "report/layout.h"

namespace isoloop::report {
namespace {

using namespace isoloop::test;

std::string fault_of(const Document& document) {
  try {
    check(document);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::internal);
    return error.what();
  }
  return "";
}

Table table_of(const std::string& id, std::size_t rows) {
  Table table;
  table.id = id;
  table.columns = {{"name"}};
  table.rows.resize(rows, {Cell("x")});
  return table;
}

Chart linked(const std::string& table, std::size_t row) {
  Chart chart = plot_of({{1, 1, {}, "", row}});
  chart.table = table;
  return chart;
}

}  // namespace

TEST_CASE("a document of charts that fit") {
  CHECK(fault_of({{table_of("t", 2), linked("t", 1), bars_of(), stacks_of()}, ""}) == "");
}

TEST_CASE("charts that do not fit are refused by name") {
  CHECK(fault_of({{bars_of(), bars_of()}, ""}) == "chart 'bars' is there twice");
  CHECK(fault_of({{table_of("t", 1), table_of("t", 1)}, ""}) == "two tables have the id 't'");
  CHECK(fault_of({{linked("t", 0)}, ""}) == "chart 'plot' belongs to a table that is not there");
  CHECK(fault_of({{table_of("t", 2), linked("t", 2)}, ""}) ==
        "chart 'plot' has a point of a row that is not there");
  CHECK(fault_of({{linked("", 0)}, ""}) == "chart 'plot' has a point of a row but no table");
  Chart about = bars_of();
  about.row = 3;
  CHECK(fault_of({{about}, ""}) == "chart 'bars' is about a row of no table");
  about.table = "t";
  CHECK(fault_of({{table_of("t", 2), about}, ""}) ==
        "chart 'bars' is about a row that is not there");
  CHECK(fault_of({{plot_of({}, "Bad name")}, ""}) ==
        "chart 'Bad name' needs a name of small letters, digits and hyphens");
  Chart bars = bars_of();
  std::get<Bars>(bars.body).panels[0].bars.pop_back();
  CHECK(fault_of({{bars}, ""}) == "chart 'bars' has a panel without all series");
  bars = bars_of();
  std::get<Bars>(bars.body).panels[1].bars[0].pop_back();
  CHECK(fault_of({{bars}, ""}) == "chart 'bars' has a series without all categories");
  Chart stacks = stacks_of();
  std::get<Stacks>(stacks.body).stacks[1].repeats[0].last = 3;
  CHECK(fault_of({{stacks}, ""}) == "chart 'stacks' repeats blocks it does not have");
  CHECK(fault_of({{plot_of({{NAN, 1}})}, ""}) == "nan cannot stand on the axis 'compute'");
}

TEST_CASE("text, Markdown and CSV leave charts out") {
  const Document document{{Heading{"A"}, bars_of(), table_of("t", 1)}, ""},
      without{{Heading{"A"}, table_of("t", 1)}, ""};
  for (const Format format : {Format::text, Format::markdown, Format::csv})
    CHECK(write(document, format) == write(without, format));
}

TEST_CASE("the document as JSON") {
  Document document{{Heading{"A"}, Paragraph{"p"}, Facts{{{"n", Cell("v")}}}, Code{"c"},
                     table_of("t", 1), linked("t", 0), bars_of(), stacks_of()},
                    "Title"};
  const auto j = nlohmann::ordered_json::parse(write_json(document));
  CHECK(j.begin().key() == "schema");
  CHECK(j.at("schema") == "isoloop/report/v1");
  CHECK(j.at("title") == "Title");
  REQUIRE(j.at("blocks").size() == 8);
  const auto& plot = j.at("blocks")[5].at("chart");
  CHECK(plot.at("kind") == "plot");
  CHECK(plot.at("table") == "t");
  CHECK(plot.at("series")[0].at("points")[0].at("row") == 0);
  CHECK(plot.at("x").at("title") == "compute (FLOPs)");
  CHECK(plot.at("x").at("ticks").size() >= 2);
  CHECK(chart_names(document) == std::vector<std::string>{"plot", "bars", "stacks"});
}

}  // namespace isoloop::report
