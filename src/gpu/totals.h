// Sums over the kernels of a plan, and the notes that go with them.
//
// Held by tests/gpu/plan_test.cpp.
#pragma once

#include "gpu/ops.h"

namespace isoloop::gpu {

/// GPUs that keep the same experts.
double expert_replicas(const Sharding& sharding);
/// Parameters whose optimizer state this GPU keeps: it is split over replicas.
double owned_params(const LocalParams& params, const Sharding& sharding);

/// Times of a step, kernel by kernel in the order of the plan.
class StepSum {
 public:
  explicit StepSum(const PlanOptions& options)
      : repeats_(static_cast<double>(options.microbatches + options.pp - 1)) {}
  void add(KernelKind kind, bool per_step, Time us) {
    const double repeats = per_step ? 1 : repeats_;
    (per_step ? once_ : microbatch_) += us;
    time_.by_kind_ms[static_cast<std::size_t>(kind)] += (1e-3 * repeats) * us;
  }
  StepTime total() {
    time_.step_ms = 1e-3 * (repeats_ * microbatch_ + once_);
    return time_;
  }

 private:
  double repeats_;
  Time microbatch_, once_;
  StepTime time_;
};

void add_totals(Plan& plan, const Sharding& sharding, const DeviceModel& model);
void add_notes(Plan& plan, const arch::Architecture& architecture, const LocalParams& params,
               const Sharding& sharding, const DeviceModel& model);

}  // namespace isoloop::gpu
