// Ratios of step times: errors that two plans share cancel, others do not.
#include <doctest/doctest.h>

#include "gpu/examples.h"
#include "isoloop/gpu.h"

using namespace isoloop;
using namespace isoloop::gpu;

TEST_CASE("a plan against itself has the ratio one, whatever the error of its kernels") {
  PlanOptions o;
  o.sequence = 2048;
  const Plan p = plan(gpu_test::plain(), find_device("h100-sxm5", "--gpu"), o);
  const StepRatio r = step_ratio(p, p);
  for (const double value : {r.low, r.mid, r.high}) CHECK(value == doctest::Approx(1));
  CHECK(r.unshared_low < 1);
  CHECK(r.unshared_high > 1);
}

TEST_CASE("times by kind add up to the step, pipeline bubble and update included") {
  PlanOptions o;
  o.sequence = 2048;
  o.pp = 2;
  o.dp = 2;
  o.microbatches = 4;
  const Plan p = plan(gpu_test::plain(), find_device("h100-sxm5", "--gpu"), o);
  Time sum;
  for (const Time& t : time_by_kind(p)) sum += t;
  CHECK(sum.low == doctest::Approx(p.step_ms.low));
  CHECK(sum.mid == doctest::Approx(p.step_ms.mid));
  CHECK(sum.high == doctest::Approx(p.step_ms.high));
}
