// Step times of two plans set side by side.
//
// Times of one kind of kernel come from the same constants, so an error moves both plans together;
// kinds err independently. Each kind is therefore put at its low or at its high end in both plans
// at once, and the extremes of the ratio are taken: it is linear-fractional in each, so they lie at
// ends. The bounds where no error is shared are given, too.
//
// Held by tests/gpu/compare_test.cpp.
#include <algorithm>

#include "gpu/totals.h"

namespace isoloop::gpu {

double step_repeats(const Plan& plan, const Kernel& kernel) {
  if (kernel.per_step) return 1;
  return static_cast<double>(plan.options.microbatches + plan.options.pp - 1);
}

StepTime step_time(const Plan& plan) {
  StepSum sum(plan.options);
  for (const Kernel& k : plan.kernels) sum.add(k.kind, k.per_step, k.total_us());
  return sum.total();
}

std::array<Time, kernel_kind_count> time_by_kind(const Plan& plan) {
  return step_time(plan).by_kind_ms;
}

StepRatio step_ratio(const StepTime& time, const StepTime& baseline) {
  StepRatio r;
  r.mid = r.low = r.high = time.step_ms.mid / baseline.step_ms.mid;
  r.unshared_low = time.step_ms.low / baseline.step_ms.high;
  r.unshared_high = time.step_ms.high / baseline.step_ms.low;
  const auto &ours = time.by_kind_ms, &theirs = baseline.by_kind_ms;
  for (unsigned ends = 0; ends < 1u << kernel_kind_count; ++ends) {
    double a = 0, b = 0;
    for (std::size_t i = 0; i < kernel_kind_count; ++i) {
      const bool high = (ends >> i & 1) != 0;
      a += high ? ours[i].high : ours[i].low;
      b += high ? theirs[i].high : theirs[i].low;
    }
    r.low = std::min(r.low, a / b);
    r.high = std::max(r.high, a / b);
  }
  return r;
}

StepRatio step_ratio(const Plan& plan, const Plan& baseline) {
  return step_ratio(step_time(plan), step_time(baseline));
}

}  // namespace isoloop::gpu
