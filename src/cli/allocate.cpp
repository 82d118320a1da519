// isoloop allocate: the best size and token count for a budget under a law, and what it takes on
// GPUs.
//
// Held by tests/cli/allocate_test.cpp; the numbers by tests/law/frontier_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/allocate_cost.h"
#include "cli/law_view.h"
#include "cli/plan_view.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

struct Flags {
  std::string law, budgets = "1e21", sparsities, sizes = "0.25,0.5,2,4";
  MachineFlags machine;
};

/// One budget at one sparsity.
struct Row {
  law::Allocation allocation;
  double loss_rounding = 0, flops_rounding = 0;  // 0 if the law is exact; flops: relative
  std::optional<law::AllocationRow> trained;     // --arch on the same budget
  std::optional<Estimate> gpu_hours;
};

struct View {
  law::Law law;
  std::vector<Row> rows;
  std::optional<Trained> trained;
  std::optional<Machine> machine;
  std::vector<law::Warning> warnings;
};

bool has_sparsity(const law::Law& law) {
  const auto all = law::coefficients_of(law.form);
  return std::find(all.begin(), all.end(), law::Coefficient::b) != all.end();
}

/// How far rounded coefficients may move the answer.
void add_rounding(const law::Law& law, Row& row) {
  if (!law::is_rounded(law)) return;
  const law::FrontierPoint& best = row.allocation.best;
  const auto moved = [&](double law::FrontierPoint::*value) {
    return law::rounding(std::span(&law, 1),
                         [&](std::span<const law::Law> laws) {
                           return law::frontier(laws[0], best.sparsity, std::span(&best.compute, 1))
                                      .points.front().*
                                  value;
                         })
        .total;
  };
  row.loss_rounding = moved(&law::FrontierPoint::loss);
  row.flops_rounding = moved(&law::FrontierPoint::flops_per_token) / best.flops_per_token;
}

Row row_of(const View& view, double sparsity, double compute, const std::vector<double>& sizes) {
  Row row;
  row.allocation = law::allocate(view.law, sparsity, compute, sizes);
  add_rounding(view.law, row);
  if (view.trained) {
    const double factor = view.trained->flops_per_token / row.allocation.best.flops_per_token;
    row.trained = law::allocate(view.law, sparsity, compute, std::span(&factor, 1)).rows.front();
  }
  if (view.machine) row.gpu_hours = view.machine->gpu_hours(compute);
  return row;
}

// ---- Text --------------------------------------------------------------------------------------

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

report::Table best_table(const View& view) {
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
  for (const Row& row : view.rows) {
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
report::Table time_table(const View& view) {
  const Machine& m = *view.machine;
  report::Table table;
  table.title = fmt::format("On {} x {}", m.gpus, m.device.name);
  table.columns = {{"C", "training FLOPs"}, {"GPU-hours"}, {"GPU-days"}, {"wall time"}};
  double last = 0;
  for (const Row& row : view.rows) {
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

void add_sizes(const View& view, report::Document& document) {
  if (view.rows.size() == 1) {
    std::vector<const law::AllocationRow*> rows;
    for (const law::AllocationRow& row : view.rows[0].allocation.rows) rows.push_back(&row);
    if (!rows.empty())
      document.blocks.emplace_back(sizes_table(rows, "Other sizes on the same budget"));
  }
  if (!view.trained) return;
  std::vector<const law::AllocationRow*> rows;
  for (const Row& row : view.rows) rows.push_back(&*row.trained);
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

report::Facts law_facts(const View& view) {
  report::Facts facts;
  facts.lines.emplace_back("law", law::equation(view.law.form));
  const Row& first = view.rows.front();
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

// ---- JSON --------------------------------------------------------------------------------------

Json size_json(const law::AllocationRow& row) {
  return {{"size_factor", row.size_factor},
          {"flops_per_token", row.flops_per_token},
          {"params", row.params},
          {"tokens", row.tokens},
          {"tokens_per_param", row.tokens_per_param},
          {"loss_nats", row.loss},
          {"extra_loss_nats", row.extra_loss},
          {"extra_compute", row.extra_compute}};
}

Json estimate_json(const Estimate& e, double scale = 1) {
  return {{"low", e.low * scale}, {"mid", e.mid * scale}, {"high", e.high * scale}};
}

Json row_json(const View& view, const Row& row) {
  const law::FrontierPoint& p = row.allocation.best;
  Json j = {{"compute", p.compute},
            {"sparsity", p.sparsity},
            {"flops_per_token", p.flops_per_token},
            {"params", p.params},
            {"tokens", p.tokens},
            {"tokens_per_param", p.tokens_per_param},
            {"loss_nats", p.loss},
            {"flops_per_token_interval", interval_json(p.flops_interval)},
            {"tokens_interval", interval_json(p.tokens_interval)},
            {"tokens_per_param_interval", interval_json(p.tokens_per_param_interval)},
            {"loss_interval", interval_json(p.loss_interval)},
            {"flops_per_token_rounding", row.flops_rounding * p.flops_per_token},
            {"loss_rounding", row.loss_rounding},
            {"over_window", p.over_window},
            {"extrapolated", p.extrapolated}};
  j["sizes"] = Json::array();
  for (const law::AllocationRow& size : row.allocation.rows) j["sizes"].push_back(size_json(size));
  j["arch"] = row.trained ? size_json(*row.trained) : Json(nullptr);
  j["gpu_hours"] = row.gpu_hours ? estimate_json(*row.gpu_hours) : Json(nullptr);
  j["wall_hours"] = row.gpu_hours
                        ? estimate_json(*row.gpu_hours, 1 / static_cast<double>(view.machine->gpus))
                        : Json(nullptr);
  return j;
}

Json machine_json(const Machine& m) {
  Json j = {{"gpu", m.device.id},          {"gpus", m.gpus},       {"peak_flops_per_s", m.peak},
            {"mfu", estimate_json(m.mfu)}, {"mfu_basis", m.basis}, {"mfu_meaning", m.meaning}};
  j["plan"] = nullptr;
  if (m.plan)
    j["plan"] = {{"arch", m.plan->arch},
                 {"options", options_json(m.plan->options)},
                 {"step_time_ms", time_json(m.plan->step_ms)},
                 {"tokens_per_s_per_gpu", m.plan->tokens_per_s},
                 {"notes", m.plan->notes}};
  return j;
}

Json allocate_json(const View& view) {
  Json j;
  j["schema"] = "isoloop/allocate/v1";
  j["law"] = view.law.name;
  j["equation"] = law::equation(view.law.form);
  j["gamma"] = view.rows.front().allocation.gamma;
  j["rows"] = Json::array();
  std::vector<double> sparsities;
  for (const Row& row : view.rows) {
    j["rows"].push_back(row_json(view, row));
    const double s = row.allocation.best.sparsity;
    if (std::find(sparsities.begin(), sparsities.end(), s) == sparsities.end())
      sparsities.push_back(s);
  }
  j["machine"] = view.machine ? machine_json(*view.machine) : Json(nullptr);
  j["frontiers"] = frontiers_json(view.law, sparsities, picture_budgets(view.law));
  j["warnings"] = warnings_json(view.warnings);
  return j;
}

// ---- The question ------------------------------------------------------------------------------

std::vector<double> sparsities_of(const Flags& flags, const law::Law& law) {
  if (has_sparsity(law))
    return numbers(flags.sparsities.empty() ? "0.85,0.95,0.97" : flags.sparsities, "--sparsity", 1);
  if (!flags.sparsities.empty())
    throw usage_error(fmt::format("{} knows no sparsity", law.name), "--sparsity", "leave it out");
  return {0};
}

void add_warnings_of(const law::Law& law, const Flags& flags, double sparsity, View& view) {
  // Once for all budgets; every row would repeat them.
  view.warnings = law::frontier(law, sparsity, numbers(flags.budgets, "--compute", 1e40)).warnings;
}

View view_of(const Flags& flags, const Context& context) {
  View view;
  view.law = load_law(flags.law, context);
  view.trained = flags.machine.trained(context);
  if (view.trained && view.law.form.family == law::Family::chinchilla)
    throw usage_error("has F, but a law of the form chinchilla asks for N", "--arch",
                      "leave it out, or take a law of the form smelt");
  view.machine = flags.machine.machine(view.trained, context);
  const std::vector<double> sizes = numbers(flags.sizes, "--sizes", 1e6);
  const std::vector<double> sparsities = sparsities_of(flags, view.law);
  for (const double compute : numbers(flags.budgets, "--compute", 1e40))
    for (const double sparsity : sparsities)
      view.rows.push_back(row_of(view, sparsity, compute, sizes));
  add_warnings_of(view.law, flags, sparsities.front(), view);
  return view;
}

}  // namespace

Action declare_allocate(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("LAW", flags->law, "Built-in name, file of fit --law, or E=...,A=...,...")
      ->required();
  app.add_option("--compute", flags->budgets, "Budgets C in training FLOPs (default 1e21)")
      ->type_name("C,...");
  app.add_option("--sparsity", flags->sparsities, "Sparsities S (default 0.85,0.95,0.97)")
      ->type_name("S,...");
  app.add_option("--sizes", flags->sizes, "Other sizes on a budget, as F / F* (0.25,0.5,2,4)")
      ->type_name("X,...");
  flags->machine.declare(app);
  return [flags](Context& context) {
    const View view = view_of(*flags, context);
    Answer answer;
    auto& blocks = answer.document.blocks;
    blocks.emplace_back(best_table(view));
    blocks.emplace_back(law_facts(view));
    if (view.machine) {
      blocks.emplace_back(time_table(view));
      blocks.emplace_back(machine_facts(*view.machine));
    }
    add_sizes(view, answer.document);
    add_warnings(view.warnings, answer.document);
    if (!view.machine)
      blocks.emplace_back(report::Paragraph{
          "Next: --gpu h100-sxm5 --gpus 256 adds GPU-hours, --arch ARCH a planned step time."});
    answer.json = json::pretty(allocate_json(view));
    return answer;
  };
}

}  // namespace isoloop::cli
