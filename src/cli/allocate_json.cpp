// An allocation as JSON.
//
// Held by tests/cli/allocate_test.cpp; docs/laws.md lists the keys.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/allocate_view.h"
#include "cli/law_view.h"
#include "cli/plan_view.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;

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

Json row_json(const AllocateView& view, const AllocateRow& row) {
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

}  // namespace

Json allocate_json(const AllocateView& view) {
  Json j;
  j["schema"] = "isoloop/allocate/v1";
  j["law"] = view.law.name;
  j["equation"] = law::equation(view.law.form);
  j["gamma"] = view.rows.front().allocation.gamma;
  j["rows"] = Json::array();
  std::vector<double> sparsities;
  for (const AllocateRow& row : view.rows) {
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

}  // namespace isoloop::cli
