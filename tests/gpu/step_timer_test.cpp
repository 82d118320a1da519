// Step times alone: the same as whole plans, bit by bit, whatever was remembered before.
#include <doctest/doctest.h>

#include <bit>
#include <cstdint>

#include "gpu/examples.h"
#include "isoloop/gpu.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

bool same_bits(const Time& a, const Time& b) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return bits(a.low) == bits(b.low) && bits(a.mid) == bits(b.mid) && bits(a.high) == bits(b.high);
}

void check_same(StepTimer& timer, const Planner& planner, const arch::Architecture& a) {
  CAPTURE(arch::to_json(a));
  const Plan whole = planner.plan(a);
  const StepTime alone = timer.time(a);
  CHECK(same_bits(alone.step_ms, whole.step_ms));
  const auto kinds = time_by_kind(whole);
  for (std::size_t i = 0; i < kernel_kind_count; ++i)
    CHECK(same_bits(alone.by_kind_ms[i], kinds[i]));
}

PlanOptions sharded() {
  PlanOptions o;
  o.sequence = 2048;
  o.tp = 2;
  o.ep = 4;
  o.pp = 2;
  o.dp = 4;
  o.microbatches = 4;
  o.recompute = Recompute::full;
  return o;
}

}  // namespace

TEST_CASE("step timer: equals plans bit by bit, on every device family and phase") {
  for (const char* id : {"a100-sxm4-80gb", "rtx4090", "h100-sxm5", "b200"})
    for (const Phase phase : {Phase::training, Phase::prefill, Phase::decode}) {
      PlanOptions o;
      o.phase = phase;
      o.tokens = phase == Phase::decode ? 64 : 4096;
      o.sequence = 1024;
      const Planner planner(find_device(id, ""), o);
      StepTimer timer(planner);
      gpu_test::RandomArchitectures random(7);
      for (int i = 0; i < 25; ++i) {
        const arch::Architecture a = random.next();
        check_same(timer, planner, a);
        if (i % 5 == 0) check_same(timer, planner, a);  // now remembered
      }
    }
}

TEST_CASE("step timer: equals plans when sharded, with microbatches and recomputation") {
  const Planner planner(find_device("h100-sxm5", ""), sharded());
  StepTimer timer(planner);
  check_same(timer, planner, gpu_test::plain());
  arch::Architecture wider = gpu_test::plain();
  wider.hidden += 64;
  check_same(timer, planner, wider);
  check_same(timer, planner, gpu_test::plain());
}

TEST_CASE("step timer: ratios equal those of plans") {
  PlanOptions o;
  o.sequence = 2048;
  const Planner planner(find_device("h200-sxm", ""), o);
  StepTimer timer(planner);
  arch::Architecture wider = gpu_test::plain();
  wider.hidden *= 2;
  const StepRatio plans = step_ratio(planner.plan(wider), planner.plan(gpu_test::plain()));
  const StepRatio times = step_ratio(timer.time(wider), timer.time(gpu_test::plain()));
  CHECK(plans.low == times.low);
  CHECK(plans.mid == times.mid);
  CHECK(plans.high == times.high);
  CHECK(plans.unshared_low == times.unshared_low);
  CHECK(plans.unshared_high == times.unshared_high);
}
