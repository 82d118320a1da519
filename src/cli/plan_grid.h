// The cells of a published grid planned on one GPU.
#pragma once

#include "cli/command.h"
#include "isoloop/gpu.h"

namespace isoloop::cli {

/// Baseline, the published looped model and our match of every cell, with ratios of step times.
Answer plan_grid(const std::string& name, const gpu::Device& device,
                 const gpu::PlanOptions& options);

}  // namespace isoloop::cli
