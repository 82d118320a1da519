// How a plan is shown: text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "isoloop/gpu.h"
#include "isoloop/report.h"

namespace isoloop::cli {

struct PlanView {
  const gpu::Device& device;
  arch::Architecture architecture;
  gpu::Plan plan;
  std::optional<arch::Architecture> other;  // --against
  std::optional<gpu::Plan> baseline;
  std::vector<gpu::Advice> advice;
  std::optional<gpu::ShapeList> shapes;                  // --why
  std::vector<gpu::RejectedAttention> attention_shapes;  // likewise
  std::string next;                                      // the closing line
};

report::Document plan_document(const PlanView& view);
/// The schema's own keys; `view.baseline` under "baseline".
nlohmann::ordered_json plan_json(const PlanView& view);
nlohmann::ordered_json options_json(const gpu::PlanOptions& options);

report::Document occupancy_document(const gpu::Device& device, const gpu::BlockNeeds& needs,
                                    const gpu::Occupancy& occupancy);
nlohmann::ordered_json occupancy_json(const gpu::Device& device, const gpu::BlockNeeds& needs,
                                      const gpu::Occupancy& occupancy);

struct LaunchText {
  std::string tile, stages, cluster;
};
/// Empty where a kernel has none.
LaunchText launch_text(const gpu::Kernel& kernel);
bool has_tiles(const gpu::Kernel& kernel);
/// Three digits: what an estimate is worth.
std::string short_number(double value);
/// "weight gradient".
std::string pass_text(gpu::Pass pass);
/// "grouped gemm".
std::string kind_text(gpu::KernelKind kind);
/// Marked where it is low.
report::Cell efficiency_cell(double value);
/// All that a step launches of a kernel.
gpu::Time step_ms(const gpu::Plan& plan, const gpu::Kernel& kernel);
/// The sequence that is planned where none was given: the context, or all tokens if they are fewer.
gpu::PlanOptions resolved(gpu::PlanOptions options, std::int64_t context);

/// "training, 8,192 tokens, sequence 4,096, bf16, TP 2": what was planned.
std::string options_text(const gpu::PlanOptions& options);
/// "12.3 (10.1–15.0)".
std::string range_text(double mid, double low, double high);
inline std::string range_text(const gpu::Time& t) { return range_text(t.mid, t.low, t.high); }
nlohmann::ordered_json time_json(const gpu::Time& time);
nlohmann::ordered_json ratio_json(const gpu::StepRatio& ratio);

}  // namespace isoloop::cli
