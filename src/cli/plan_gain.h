// What a device leaves of a compute-efficiency gain.
//
// A looped model that saves the share g of the compute at equal loss needs 1 - g of the baseline's
// FLOPs. If its step takes r times the baseline's for f times its FLOPs, a FLOP takes r / f times
// as long, and it reaches the loss in (1 - g) r / f of the baseline's time. Left is 1 - (1 - g) r /
// f, and something is left only where g is above 1 - f / r.
//
// Held by tests/cli/plan_gain_test.cpp.
#pragma once

#include <optional>

#include "isoloop/gpu.h"
#include "isoloop/law.h"

namespace isoloop::cli {

/// A fraction with its range, if that is known.
struct Share {
  double mid = 0;
  std::optional<law::Interval> range;
};

/// The gain of the paper's looped law over its baseline law at the looped model's budget `compute`
/// in training FLOPs, both at their best split into size and tokens. The range is the 95 % interval
/// printed for the sparsity nearest to `sparsity`, between the printed budgets on log C; none
/// beyond them. Nothing at sparsity 0, which the laws were not fitted on.
std::optional<Share> published_gain(double compute, double sparsity);

/// `flops_ratio`: training FLOPs per token over the baseline's, as the law counts them.
Share gain_needed(const gpu::StepRatio& step, double flops_ratio);
/// Range: lowest gain with the highest step ratio, and the reverse.
Share gain_left(const Share& gain, const gpu::StepRatio& step, double flops_ratio);

}  // namespace isoloop::cli
