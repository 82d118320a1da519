// A pair of plans side by side: by kind, and kernel by kernel.
//
// Held by tests/cli/plan_test.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "isoloop/gpu.h"
#include "isoloop/report.h"

namespace isoloop::cli {

/// Times by kind, the step, MFU and throughput, with ratios.
report::Table pair_table(const gpu::Plan& baseline, const gpu::Plan& plan);
/// Shapes, efficiencies and times of every kernel of both.
report::Table side_by_side(const gpu::Plan& baseline, const gpu::Plan& plan);
/// {by_kind: {gemm: {baseline_ms, ms, ratio}}, kernels: [{name, pass, baseline_ms, ms, ratio}]};
/// a ratio is null where one side has no such kernel.
nlohmann::ordered_json pair_json(const gpu::Plan& baseline, const gpu::Plan& plan);

}  // namespace isoloop::cli
