// isoloop plan --grid: step times of every cell of a grid, the published pair beside the match.
//
// Held by tests/cli/plan_test.cpp; docs/plans.md holds its output.
#include "cli/plan_grid.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/plan_view.h"
#include "isoloop/grid.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

struct PlannedCell {
  const grid::Cell* cell = nullptr;
  gpu::Plan baseline;
  std::optional<gpu::Plan> paper, match;
};

std::string ratio_text(const gpu::StepRatio& r) {
  return fmt::format("{:.3f} ({:.3f}–{:.3f})", r.mid, r.low, r.high);
}

/// The share of compute a looped model must save to be ahead in time: 1 - 1 / ratio.
double gain_needed(double ratio) { return 1 - 1 / ratio; }

std::string gain_text(const gpu::StepRatio& r) {
  return fmt::format("{:.1f} % ({:.1f}–{:.1f})", 100 * gain_needed(r.mid), 100 * gain_needed(r.low),
                     100 * gain_needed(r.high));
}

void add_side(std::vector<Cell>& row, const std::optional<gpu::Plan>& plan,
              const gpu::Plan& baseline, const std::string& none) {
  if (!plan) {
    row.push_back({none, Tone::dim});
    row.emplace_back("");
    return;
  }
  row.emplace_back(range_text(plan->step_ms));
  row.emplace_back(ratio_text(gpu::step_ratio(*plan, baseline)));
}

report::Table table_of(const std::vector<PlannedCell>& cells) {
  report::Table table;
  table.columns = {{"cell", "", Align::left}, {"S"},
                   {"baseline", "ms"},        {"paper's looped", "ms"},
                   {"paper / baseline"},      {"our match", "ms"},
                   {"match / baseline"},      {"gain it must exceed"}};
  std::string scale;
  for (const PlannedCell& c : cells) {
    if (c.cell->scale != scale && !scale.empty()) table.rules.push_back(table.rows.size());
    scale = c.cell->scale;
    std::vector<Cell> row = {c.cell->name, c.cell->baseline.published.sparsity,
                             range_text(c.baseline.step_ms)};
    add_side(row, c.paper, c.baseline, "not reproducible");
    add_side(row, c.match, c.baseline, "no match");
    row.emplace_back(c.match ? gain_text(gpu::step_ratio(*c.match, c.baseline)) : "");
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json side_json(const std::optional<gpu::Plan>& plan, const gpu::Plan& baseline) {
  if (!plan) return nullptr;
  const gpu::StepRatio ratio = gpu::step_ratio(*plan, baseline);
  return {{"step_time_ms", time_json(plan->step_ms)},
          {"mfu", plan->mfu},
          {"step_time_ratio", ratio_json(ratio)},
          {"gain_needed",
           {{"low", gain_needed(ratio.low)},
            {"mid", gain_needed(ratio.mid)},
            {"high", gain_needed(ratio.high)}}}};
}

Json cell_json(const PlannedCell& c) {
  return {{"name", c.cell->name},
          {"scale", c.cell->scale},
          {"sparsity", c.cell->baseline.published.sparsity},
          {"baseline", {{"step_time_ms", time_json(c.baseline.step_ms)}, {"mfu", c.baseline.mfu}}},
          {"paper_looped", side_json(c.paper, c.baseline)},
          {"match", side_json(c.match, c.baseline)}};
}

std::vector<PlannedCell> planned(const grid::Grid& grid, const gpu::Planner& planner) {
  std::vector<PlannedCell> cells;
  for (const grid::Cell& cell : grid.cells) {
    PlannedCell c;
    c.cell = &cell;
    c.baseline = planner.plan(*cell.baseline.architecture);
    if (cell.looped.architecture) c.paper = planner.plan(*cell.looped.architecture);
    solve::MatchRequest request = grid::request(grid, cell);
    request.remedies = false;
    const solve::MatchResult result = solve::match(request);
    if (!result.answers.empty()) c.match = planner.plan(result.answers.front().architecture);
    cells.push_back(std::move(c));
  }
  return cells;
}

/// The lowest and highest mid ratio of the matches.
std::string summary(const std::vector<PlannedCell>& cells) {
  double low = 0, high = 0;
  for (const PlannedCell& c : cells) {
    if (!c.match) continue;
    const double mid = gpu::step_ratio(*c.match, c.baseline).mid;
    low = low == 0 ? mid : std::min(low, mid);
    high = std::max(high, mid);
  }
  return fmt::format("At equal cost our matches take {:.3f} to {:.3f} times the baseline's step.",
                     low, high);
}

}  // namespace

Answer plan_grid(const std::string& name, const gpu::Device& device,
                 const gpu::PlanOptions& options) {
  const grid::Grid grid = grid::load(name, "--grid");
  const std::vector<PlannedCell> cells = planned(grid, gpu::Planner(device, options));
  Answer answer;
  auto& blocks = answer.document.blocks;
  blocks.emplace_back(
      report::Heading{fmt::format("{} on {}: {}", grid.title, device.name, options_text(options))});
  blocks.emplace_back(table_of(cells));
  blocks.emplace_back(report::Paragraph{summary(cells), Tone::strong});
  blocks.emplace_back(report::Paragraph{
      "Times are estimates: mid (low–high). Range of a ratio: each kind of kernel at its low or "
      "high "
      "end in both plans at once. The gain is the share of compute saved at equal loss; above "
      "1 - 1 / ratio it also saves time.",
      Tone::dim});
  Json j;
  j["schema"] = "isoloop/plan/v1";
  j["grid"] = grid.name;
  j["gpu"] = device.id;
  j["options"] = options_json(options);
  for (const PlannedCell& c : cells) j["cells"].push_back(cell_json(c));
  answer.json = json::pretty(j);
  return answer;
}

}  // namespace isoloop::cli
