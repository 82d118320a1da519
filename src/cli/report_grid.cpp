// A grid as sections of the page: cells, where matches lie, ours against the printed ones, and the
// pair of the selected cell.
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

struct GridCell {
  std::string name, scale;
  Named baseline;
  std::optional<Named> match;
  Values mismatch;
};

std::vector<std::string> budgets_in(const std::vector<GridCell>& cells) {
  std::vector<std::string> names;
  for (const GridCell& c : cells)
    for (const auto& [name, value] : c.mismatch)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

report::Table cells_table(std::vector<json::Fields>& fields, const std::vector<GridCell>& cells,
                          const std::string& id) {
  report::Table table;
  table.id = id;
  table.columns = {{"cell", "", Align::left}, {"sparsity"}};
  for (const report::Column& c : shape_columns()) table.columns.push_back(c);
  const std::vector<std::string> budgets = budgets_in(cells);
  for (const std::string& name : budgets) table.columns.push_back({name, "% off"});
  table.columns.push_back({"largest", "%"});
  table.columns.push_back({"printed", "largest, %"});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::vector<Cell> row = {cells[i].name, number_text(fields[i], "sparsity")};
    if (cells[i].match)
      add_shape(cells[i].match->model, row);
    else
      row.resize(row.size() + shape_columns().size());
    for (const std::string& name : budgets) {
      const double value = value_or(cells[i].mismatch, name, NAN);
      row.emplace_back(value != value ? "" : signed_percent(value));
    }
    const auto largest = fields[i].optional_number("max_mismatch"),
               printed = fields[i].optional_number("paper_max_mismatch");
    row.emplace_back(
        largest ? fixed(*largest * 100, 3) : "none",
        fields[i].optional_boolean("within_tolerance").value_or(false) ? Tone::good : Tone::bad);
    row.emplace_back(printed ? fixed(*printed * 100, 3) : "");
    table.rows.push_back(std::move(row));
  }
  table.note = "Shape of the match; mismatch is match over baseline.";
  return table;
}

/// The largest mismatch as printed, and of the proven optimum, cell by cell.
report::Chart against_print(std::vector<json::Fields>& fields, const std::vector<GridCell>& cells,
                            const Page& page, const std::string& table) {
  report::Plot plot;
  plot.x = {"largest mismatch of the printed model", "%", false, true};
  plot.y = {"largest mismatch of the match", "%", false, true};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto ours = fields[i].optional_number("max_mismatch"),
               printed = fields[i].optional_number("paper_max_mismatch");
    if (ours && printed)
      series_of(plot, cells[i].scale)
          .points.push_back({*printed * 100, *ours * 100, {}, cells[i].name, i});
  }
  return {page.name("printed"), "The match against the printed model", "", std::move(plot), table};
}

/// Step times of a grid's cells: plan --grid.
std::optional<double> mid(json::Fields& cell, std::string_view side, std::string_view key) {
  auto fields = cell.optional_object(side);
  if (!fields) return std::nullopt;
  auto time = fields->optional_object(key);
  return time ? time->optional_number("mid") : std::nullopt;
}

}  // namespace

void add_grid(json::Fields& result, Page& page) {
  std::vector<json::Fields> fields = result.optional_objects("cells");
  if (!result.has("cells")) throw result.missing("cells");
  std::vector<GridCell> cells;
  for (json::Fields& f : fields) {
    GridCell c{f.text("name"),
               f.text("scale"),
               {"baseline", architecture(f, "baseline")},
               {},
               values_of(f, "mismatch")};
    if (auto match = optional_architecture(f, "match")) c.match = Named{c.name, *std::move(match)};
    cells.push_back(std::move(c));
  }
  page.add(report::Heading{"Grid: " + result.text("name")});
  if (const auto source = result.optional_text("source"))
    page.add(report::Paragraph{*source, Tone::dim});
  const std::string table = page.name("cells");
  page.add(cells_table(fields, cells, table));
  std::vector<MismatchPoint> points;
  for (std::size_t i = 0; i < cells.size(); ++i)
    points.push_back({cells[i].name, cells[i].scale, cells[i].mismatch, i});
  page.add(mismatch_plot(page.name("mismatch"), table, points, values_of(result, "tolerance")));
  page.add(against_print(fields, cells, page, table));
  const cost::Options options = counting(result);
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (cells[i].match &&
        !add_pair(page, table, i, cells[i].baseline, *cells[i].match, cells[i].mismatch, options))
      left_out.push_back(cells[i].name);
  say_left_out(page, left_out);
}

void add_planned_grid(json::Fields& result, Page& page) {
  page.add(report::Heading{
      fmt::format("Step times: {} on {}", result.text("grid"), result.text("gpu"))});
  report::Table table;
  table.id = page.name("cells");
  table.columns = {{"cell", "", Align::left},
                   {"scale", "", Align::left},
                   {"baseline", "ms"},
                   {"match", "ms"},
                   {"ratio"},
                   {"ratio, low"},
                   {"ratio, high"}};
  report::Plot plot;
  plot.x = {"step time of the baseline", "ms", true};
  plot.y = {"step time of the match over the baseline's"};
  for (json::Fields& cell : result.optional_objects("cells")) {
    const auto base = mid(cell, "baseline", "step_time_ms"),
               match = mid(cell, "match", "step_time_ms");
    auto side = cell.optional_object("match");
    auto ratio = side ? side->optional_object("step_time_ratio") : std::nullopt;
    const auto text = [](const std::optional<double>& v) {
      return v ? fmt::format("{:.3f}", *v) : std::string();
    };
    const auto of = [&](std::string_view key) {
      return ratio ? ratio->optional_number(key) : std::nullopt;
    };
    if (base && *base > 0 && of("mid"))
      series_of(plot, cell.text("scale"))
          .points.push_back(
              {*base, *of("mid"),
               report::Range{of("low").value_or(*of("mid")), of("high").value_or(*of("mid"))},
               cell.text("name"), table.rows.size()});
    table.rows.push_back({cell.text("name"), cell.text("scale"), text(base), text(match),
                          text(of("mid")), text(of("low")), text(of("high"))});
  }
  plot.guides.push_back({false, 1, "equal"});
  const std::string id = table.id;
  page.add(std::move(table));
  page.add(report::Chart{page.name("ratio"), "Step time at equal cost",
                         "Bars: low to high estimate.", std::move(plot), id});
}

}  // namespace isoloop::cli
