// isoloop plan --grid: step times of every cell of a grid, the published pair beside the match.
//
// Held by tests/cli/plan_test.cpp; docs/plans.md holds its output.
#include "cli/plan_grid.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/law_view.h"
#include "cli/plan_gain.h"
#include "cli/plan_view.h"
#include "isoloop/grid.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

/// A looped model beside its baseline.
struct Side {
  gpu::Plan plan;
  double flops_ratio = 1;  // training FLOPs per token over the baseline's
};

struct PlannedCell {
  const grid::Cell* cell = nullptr;
  gpu::Plan baseline;
  std::optional<Side> paper, match;
  double compute = 0;  // training FLOPs of the looped model; 0 = none known
  std::optional<Share> gain;
};

std::string ratio_text(const gpu::StepRatio& r) {
  return fmt::format("{:.3f} ({:.3f}–{:.3f})", r.mid, r.low, r.high);
}

std::string share_text(const Share& share) {
  if (!share.range) return fmt::format("{:.1f} %", 100 * share.mid);
  return fmt::format("{:.1f} % ({:.1f} to {:.1f})", 100 * share.mid, 100 * share.range->low,
                     100 * share.range->high);
}

void add_times(std::vector<Cell>& row, const std::optional<Side>& side, const gpu::Plan& baseline,
               const std::string& none) {
  if (!side) {
    row.push_back({none, Tone::dim});
    row.emplace_back("");
    return;
  }
  row.emplace_back(range_text(side->plan.step_ms));
  row.emplace_back(ratio_text(gpu::step_ratio(side->plan, baseline)));
}

/// A rule between scales.
void add_rule(report::Table& table, std::string& scale, const PlannedCell& c) {
  if (c.cell->scale != scale && !scale.empty()) table.rules.push_back(table.rows.size());
  scale = c.cell->scale;
}

report::Table time_table(const std::vector<PlannedCell>& cells) {
  report::Table table;
  table.title = "Step times";
  table.columns = {
      {"cell", "", Align::left}, {"S"},
      {"baseline", "ms"},        {"paper's looped", "ms"},
      {"paper / baseline"},      {"our match", "ms"},
      {"match / baseline"},
  };
  std::string scale;
  for (const PlannedCell& c : cells) {
    add_rule(table, scale, c);
    std::vector<Cell> row = {c.cell->name, c.cell->baseline.published.sparsity,
                             range_text(c.baseline.step_ms)};
    add_times(row, c.paper, c.baseline, "not reproducible");
    add_times(row, c.match, c.baseline, "no match");
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Green where the whole range is a saving, red where none of it is.
Cell left_cell(const std::optional<Share>& gain, const std::optional<Side>& side,
               const gpu::Plan& baseline) {
  if (!gain || !side) return {"", Tone::dim};
  const Share left = gain_left(*gain, gpu::step_ratio(side->plan, baseline), side->flops_ratio);
  const double low = left.range ? left.range->low : left.mid,
               high = left.range ? left.range->high : left.mid;
  return {share_text(left), low > 0 ? Tone::good : high < 0 ? Tone::bad : Tone::plain};
}

Cell needed_cell(const std::optional<Side>& side, const gpu::Plan& baseline) {
  if (!side) return {"", Tone::dim};
  return percent_text(gain_needed(gpu::step_ratio(side->plan, baseline), side->flops_ratio).mid);
}

report::Table gain_table(const std::vector<PlannedCell>& cells) {
  report::Table table;
  table.title = "Compute-efficiency gain, and what the device leaves of it in time";
  table.columns = {
      {"cell", "", Align::left}, {"C", "training FLOPs"}, {"gain of the laws"}, {"paper's: needed"},
      {"paper's: left"},         {"match: needed"},       {"match: left"}};
  std::string scale;
  for (const PlannedCell& c : cells) {
    add_rule(table, scale, c);
    table.rows.push_back({c.cell->name, c.compute > 0 ? fmt::format("{:.2e}", c.compute) : "",
                          c.gain ? Cell(share_text(*c.gain)) : Cell("no law", Tone::dim),
                          needed_cell(c.paper, c.baseline), left_cell(c.gain, c.paper, c.baseline),
                          needed_cell(c.match, c.baseline),
                          left_cell(c.gain, c.match, c.baseline)});
  }
  return table;
}

Json share_json(const Share& share) {
  Json j = {{"low", nullptr}, {"mid", share.mid}, {"high", nullptr}};
  if (share.range) {
    j["low"] = share.range->low;
    j["high"] = share.range->high;
  }
  return j;
}

Json side_json(const std::optional<Side>& side, const PlannedCell& c) {
  if (!side) return nullptr;
  const gpu::StepRatio ratio = gpu::step_ratio(side->plan, c.baseline);
  return {{"step_time_ms", time_json(side->plan.step_ms)},
          {"mfu", side->plan.mfu},
          {"step_time_ratio", ratio_json(ratio)},
          {"flops_ratio", side->flops_ratio},
          {"gain_needed", share_json(gain_needed(ratio, side->flops_ratio))},
          {"gain_left",
           c.gain ? share_json(gain_left(*c.gain, ratio, side->flops_ratio)) : Json(nullptr)}};
}

Json cell_json(const PlannedCell& c) {
  return {{"name", c.cell->name},
          {"scale", c.cell->scale},
          {"sparsity", c.cell->baseline.published.sparsity},
          {"compute_flops", c.compute > 0 ? Json(c.compute) : Json(nullptr)},
          {"gain", c.gain ? share_json(*c.gain) : Json(nullptr)},
          {"baseline", {{"step_time_ms", time_json(c.baseline.step_ms)}, {"mfu", c.baseline.mfu}}},
          {"paper_looped", side_json(c.paper, c)},
          {"match", side_json(c.match, c)}};
}

double train_flops(const arch::Architecture& model, const cost::Options& options) {
  return cost::total(cost::ledger(model, options), cost::Budget::flops, options).to_double();
}

/// Baseline, the paper's looped model and our match of a cell.
PlannedCell planned(const grid::Grid& grid, const grid::Cell& cell, const gpu::Planner& planner,
                    double compute) {
  PlannedCell c;
  c.cell = &cell;
  c.baseline = planner.plan(*cell.baseline.architecture);
  const double flops = train_flops(*cell.baseline.architecture, grid.options);
  double looped_flops = 0;  // of the paper's model, or of the match where there is none
  const auto side = [&](const arch::Architecture& looped) {
    const double own = train_flops(looped, grid.options);
    if (looped_flops == 0) looped_flops = own;
    return Side{planner.plan(looped), own / flops};
  };
  if (cell.looped.architecture) c.paper = side(*cell.looped.architecture);
  solve::MatchRequest request = grid::request(grid, cell);
  request.remedies = false;
  const solve::MatchResult result = solve::match(request);
  if (!result.answers.empty()) c.match = side(result.answers.front().architecture);
  if (c.baseline.options.phase != gpu::Phase::training) return c;  // the laws are of training
  c.compute = compute > 0 ? compute : looped_flops * static_cast<double>(grid.train_tokens);
  const double sparsity = parse_ratio(cell.baseline.published.sparsity, "data/grids").to_double();
  if (c.compute > 0) c.gain = published_gain(c.compute, sparsity);
  return c;
}

/// The lowest and highest mid ratio of the matches, where there is one.
std::string summary(const std::vector<PlannedCell>& cells) {
  double low = 0, high = 0;
  for (const PlannedCell& c : cells) {
    if (!c.match) continue;
    const double mid = gpu::step_ratio(c.match->plan, c.baseline).mid;
    low = low == 0 ? mid : std::min(low, mid);
    high = std::max(high, mid);
  }
  if (low == 0) return "No cell has a match within tolerance.";
  return fmt::format("At equal cost our matches take {:.3f} to {:.3f} times the baseline's step.",
                     low, high);
}

/// What the columns mean, and where the budget comes from.
std::string meaning(const grid::Grid& grid, double compute, bool training) {
  const std::string times =
      "Times are estimates: mid (low–high). Range of a ratio: each kind of kernel at its low or "
      "high end in both plans at once.";
  if (!training) return times;
  const std::string budget = compute > 0
                                 ? "as given"
                                 : fmt::format("the looped model's over the published {} tokens",
                                               grouped(Ratio(grid.train_tokens)));
  return fmt::format(
      "{} C: training FLOPs, {}. Gain of the laws: the share of compute that the published looped "
      "law saves at equal loss, with the printed 95 % interval (the laws leave S = 0 out). r: "
      "ratio "
      "of the steps, f: ratio of their FLOPs. Needed: 1 - f/r, what the step costs. Left: 1 - (1 - "
      "gain) r/f, the share of the baseline's time saved at equal loss; its range joins the lowest "
      "gain with the highest r and the reverse.",
      times, budget);
}

}  // namespace

Answer plan_grid(const std::string& name, const gpu::Device& device,
                 const gpu::PlanOptions& options, double compute) {
  const grid::Grid grid = grid::load(name, "--grid");
  const gpu::Planner planner(device, options);
  std::vector<PlannedCell> cells;
  for (const grid::Cell& cell : grid.cells) cells.push_back(planned(grid, cell, planner, compute));
  Answer answer;
  auto& blocks = answer.document.blocks;
  blocks.emplace_back(
      report::Heading{fmt::format("{} on {}: {}", grid.title, device.name, options_text(options))});
  blocks.emplace_back(time_table(cells));
  blocks.emplace_back(report::Paragraph{summary(cells), Tone::strong});
  const bool training = options.phase == gpu::Phase::training;
  if (training) blocks.emplace_back(gain_table(cells));
  blocks.emplace_back(report::Paragraph{meaning(grid, compute, training), Tone::dim});
  Json j;
  j["schema"] = "isoloop/plan/v1";
  j["grid"] = grid.name;
  j["gpu"] = device.id;
  j["gpu_name"] = device.name;
  j["options"] = options_json(resolved(options, grid.options.context));
  for (const PlannedCell& c : cells) j["cells"].push_back(cell_json(c));
  answer.json = json::pretty(j);
  return answer;
}

}  // namespace isoloop::cli
