// An allocation as text: the optimum, what it takes on GPUs, and other sizes.
//
// Held by tests/cli/allocate_test.cpp.
#include "cli/allocate_view.h"

#include <fmt/format.h>

#include "cli/law_view.h"
#include "cli/plan_view.h"

namespace isoloop::cli {
namespace {

using report::Align;
using report::Cell;
using report::Tone;

std::string with_interval(double value, const std::optional<law::Interval>& interval) {
  if (!interval) return significant(value, 4);
  return fmt::format("{} ({} to {})", significant(value, 4), significant(interval->low, 3),
                     significant(interval->high, 3));
}

std::string window_text(const law::FrontierPoint& p) {
  if (!p.extrapolated) return "";
  return p.over_window > 1 ? fmt::format("extrapolated, {:.3g} x C_max", p.over_window)
                           : "extrapolated, below the fitted window";
}

report::Table best_table(const AllocateView& view) {
  const bool chinchilla = view.law.form.family == law::Family::chinchilla;
  const bool rounded = law::is_rounded(view.law);
  report::Table table;
  table.title = "Compute-optimal under " + view.law.name;
  table.columns = {{"C", "training FLOPs"}};
  if (has_sparsity(view.law)) table.columns.push_back({"S"});
  table.columns.push_back({"F*", "FLOPs per token"});
  table.columns.push_back({chinchilla ? "N*" : "F*/6", "parameters"});
  table.columns.push_back({"D*", "tokens"});
  table.columns.push_back({"TPP", "D* / N"});
  table.columns.push_back({"loss", "nats"});
  if (rounded) table.columns.push_back({"rounding", "of F*, of loss", Align::left});
  table.columns.push_back({"", "", Align::left});
  for (const AllocateRow& row : view.rows) {
    const law::FrontierPoint& p = row.allocation.best;
    std::vector<Cell> cells = {significant(p.compute)};
    if (has_sparsity(view.law)) cells.emplace_back(significant(p.sparsity));
    cells.emplace_back(with_interval(p.flops_per_token, p.flops_interval));
    cells.emplace_back(significant(p.params, 4));
    cells.emplace_back(with_interval(p.tokens, p.tokens_interval));
    cells.emplace_back(with_interval(p.tokens_per_param, p.tokens_per_param_interval));
    cells.emplace_back(with_interval(p.loss, p.loss_interval));
    if (rounded)
      cells.emplace_back(fmt::format("± {}, ± {}", percent_text(row.flops_rounding),
                                     significant(row.loss_rounding, 1)));
    cells.push_back({window_text(p), Tone::warn});
    table.rows.push_back(std::move(cells));
  }
  if (view.law.draws) table.note = "In parentheses: 95 % intervals from the draws of the law.";
  return table;
}

/// "702 (562–936)", or "702" where nothing is left open.
std::string estimate_text(const Estimate& e, double scale) {
  const std::string text = range_text(e.mid * scale, e.low * scale, e.high * scale);
  return e.low == e.high ? text.substr(0, text.find(" (")) : text;
}

std::string wall_text(const Estimate& gpu_hours, std::int64_t gpus) {
  const double hours = 1 / static_cast<double>(gpus);
  const bool days = gpu_hours.mid * hours >= 48;
  return estimate_text(gpu_hours, days ? hours / 24 : hours) + (days ? " days" : " hours");
}

/// The time of a budget does not depend on S: a line for every C.
report::Table time_table(const AllocateView& view) {
  const Machine& m = *view.machine;
  report::Table table;
  table.title = fmt::format("On {} x {}", m.gpus, m.device.name);
  table.columns = {{"C", "training FLOPs"}, {"GPU-hours"}, {"GPU-days"}, {"wall time"}};
  double last = 0;
  for (const AllocateRow& row : view.rows) {
    const double compute = row.allocation.best.compute;
    if (compute == last) continue;
    last = compute;
    table.rows.push_back({significant(compute), estimate_text(*row.gpu_hours, 1),
                          estimate_text(*row.gpu_hours, 1.0 / 24),
                          wall_text(*row.gpu_hours, m.gpus)});
  }
  return table;
}

report::Facts machine_facts(const Machine& m) {
  report::Facts facts;
  facts.lines.emplace_back(
      "MFU", fmt::format("{}; {}",
                         m.basis == "given"
                             ? percent_text(m.mfu.mid)
                             : fmt::format("{} ({} to {})", percent_text(m.mfu.mid),
                                           percent_text(m.mfu.low), percent_text(m.mfu.high)),
                         m.meaning));
  facts.lines.emplace_back("peak", fmt::format("{:.4g} dense TFLOP/s a GPU", m.peak / 1e12));
  if (!m.plan) return facts;
  facts.lines.emplace_back("planned", options_text(m.plan->options));
  facts.lines.emplace_back("step", range_text(m.plan->step_ms) + " ms");
  for (const std::string& note : m.plan->notes) facts.lines.emplace_back("note", note);
  return facts;
}

report::Table sizes_table(const std::vector<const law::AllocationRow*>& rows,
                          const std::string& title) {
  report::Table table;
  table.title = title;
  table.columns = {{"F / F*"},       {"F", "FLOPs per token"}, {"D", "tokens"}, {"TPP"},
                   {"loss", "nats"}, {"over L*", "nats"},      {"compute lost"}};
  for (const law::AllocationRow* row : rows)
    table.rows.push_back({significant(row->size_factor, 4), significant(row->flops_per_token, 4),
                          significant(row->tokens, 4), significant(row->tokens_per_param, 4),
                          significant(row->loss, 5), fmt::format("{:+.4f}", row->extra_loss),
                          percent_text(row->extra_compute)});
  return table;
}

void add_sizes(const AllocateView& view, report::Document& document) {
  if (view.rows.size() == 1) {
    std::vector<const law::AllocationRow*> rows;
    for (const law::AllocationRow& row : view.rows[0].allocation.rows) rows.push_back(&row);
    if (!rows.empty())
      document.blocks.emplace_back(sizes_table(rows, "Other sizes on the same budget"));
  }
  if (!view.trained) return;
  std::vector<const law::AllocationRow*> rows;
  for (const AllocateRow& row : view.rows) rows.push_back(&*row.trained);
  report::Table sizes =
      sizes_table(rows, fmt::format("{} on the same budgets", view.trained->architecture.name));
  sizes.columns.insert(sizes.columns.begin(), {{"C", "training FLOPs"}, {"S"}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const law::FrontierPoint& p = view.rows[i].allocation.best;
    sizes.rows[i].insert(sizes.rows[i].begin(), {significant(p.compute), significant(p.sparsity)});
  }
  const std::string& meaning = view.law.size_meaning;
  sizes.note = fmt::format("Its F: {}. The law's F: {}.", view.trained->counted,
                           meaning.empty()              ? "not said"
                           : meaning.starts_with("F: ") ? meaning.substr(3)
                                                        : meaning);
  document.blocks.emplace_back(std::move(sizes));
}

report::Facts law_facts(const AllocateView& view) {
  report::Facts facts;
  facts.lines.emplace_back("law", law::equation(view.law.form));
  const AllocateRow& first = view.rows.front();
  facts.lines.emplace_back(
      "gamma", fmt::format("{}: L* - E falls as C^-gamma", significant(first.allocation.gamma, 8)));
  if (view.law.window.compute.high > 0)
    facts.lines.emplace_back("fitted on",
                             fmt::format("C {:.2g} to {:.2g}", view.law.window.compute.low,
                                         view.law.window.compute.high));
  facts.lines.emplace_back("knows",
                           fmt::format("{} only; nothing else of a model moves the answer",
                                       view.law.form.family == law::Family::chinchilla ? "N and D"
                                       : has_sparsity(view.law) ? "F, S and D"
                                                                : "F and D"));
  return facts;
}

}  // namespace

report::Document allocate_document(const AllocateView& view) {
  report::Document document;
  auto& blocks = document.blocks;
  blocks.emplace_back(best_table(view));
  blocks.emplace_back(law_facts(view));
  if (view.machine) {
    blocks.emplace_back(time_table(view));
    blocks.emplace_back(machine_facts(*view.machine));
  }
  add_sizes(view, document);
  add_warnings(view.warnings, document);
  if (!view.machine)
    blocks.emplace_back(report::Paragraph{
        "Next: --gpu h100-sxm5 --gpus 256 adds GPU-hours, --arch ARCH a planned step time."});
  return document;
}

}  // namespace isoloop::cli
