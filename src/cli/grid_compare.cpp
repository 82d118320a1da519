// isoloop grid --compare: the provable optimum of every cell under every named alignment, and what
// freeing the span or the depth of the loop gains.
//
// Held by tests/cli/grid_test.cpp; docs/grid.md shows its output.
#include "cli/grid_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/output.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using solve::Unknown;

struct Freedom {
  std::string title, key;
  std::vector<Unknown> freed;
};

const std::vector<Freedom>& freedoms() {
  static const std::vector<Freedom> table = {{"loop as given", "as_given", {}},
                                             {"span free", "span_free", {Unknown::loop_span}},
                                             {"depth free", "depth_free", {Unknown::depth}}};
  return table;
}

/// The optimum whatever the tolerance; nothing where no architecture satisfies the rules.
std::optional<solve::MatchAnswer> optimum(solve::MatchRequest request, const Freedom& freedom) {
  for (const Unknown unknown : freedom.freed) request.freed.try_emplace(unknown, std::nullopt);
  solve::MatchResult result = solve::match(request);
  if (!result.answers.empty()) return std::move(result.answers.front());
  return std::move(result.nearest);
}

Cell mismatch_cell(const std::optional<solve::MatchAnswer>& a) {
  return a ? Cell(decimal(a->largest * Ratio(100), 3) + " %") : Cell("none");
}

Cell loop_cell(const std::optional<solve::MatchAnswer>& a) {
  return a ? Cell(arch::loop_text(a->loop, a->depth)) : Cell("");
}

}  // namespace

Answer compare_grid(const grid::Grid& grid, const RequestOf& request_of) {
  Answer answer;
  answer.document.blocks.emplace_back(report::Heading{"Provable optimum per cell: " + grid.title});
  Json j;
  j["schema"] = "isoloop/grid-compare/v1";
  for (const solve::Alignment& alignment : solve::alignments()) {
    report::Table table;
    table.title = fmt::format("Alignment {} ({})", alignment.name, solve::alignment_text(alignment));
    table.columns = {{"cell", "", Align::left}};
    for (const Freedom& freedom : freedoms()) {
      table.columns.push_back({freedom.title, "largest mismatch"});
      table.columns.push_back({"loop", "", Align::left});
    }
    for (const grid::Cell& cell : grid.cells) {
      std::vector<Cell> row = {cell.name};
      for (const Freedom& freedom : freedoms()) {
        const auto a = optimum(request_of(cell, alignment), freedom);
        row.push_back(mismatch_cell(a));
        row.push_back(loop_cell(a));
        j["alignments"][alignment.name][cell.name][freedom.key] =
            a ? Json{{"max_mismatch", fraction(a->largest)}, {"loop", loop_cell(a).text}} : Json(nullptr);
      }
      table.rows.push_back(std::move(row));
    }
    answer.document.blocks.emplace_back(std::move(table));
  }
  answer.json = json::pretty(j);
  return answer;
}

}  // namespace isoloop::cli
