// The cells of a published grid planned on one GPU.
#pragma once

#include "cli/command.h"
#include "isoloop/gpu.h"

namespace isoloop::cli {

/// Baseline, the published looped model and our match of every cell, with ratios of step times and
/// what they leave of the published gain at `compute` training FLOPs; 0 = each cell's own.
Answer plan_grid(const std::string& name, const gpu::Device& device,
                 const gpu::PlanOptions& options, double compute);

}  // namespace isoloop::cli
