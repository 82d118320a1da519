// Advice: misaligned and padded dimensions are found, good ones are left alone, gains are real.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "gpu/examples.h"
#include "isoloop/gpu.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

PlanOptions options() {
  PlanOptions o;
  o.tokens = 8192;
  o.sequence = 2048;
  return o;
}

bool advises(const std::vector<Advice>& list, const std::string& start) {
  return std::ranges::any_of(list, [&](const Advice& a) { return a.text.starts_with(start); });
}

}  // namespace

TEST_CASE("advice: an odd vocabulary is padded") {
  arch::Architecture a = gpu_test::plain();
  a.vocab = 50257;
  const auto list = advice(a, find_device("h100-sxm5", ""), options());
  CHECK(advises(list, "vocabulary 50257 -> 50304 (a multiple of 128): "));
}

TEST_CASE("advice: a head size of 42 moves to a template") {
  arch::Architecture a = gpu_test::plain();
  a.segments[0].attention.head_size = 42;
  const auto list = advice(a, find_device("a100-sxm4-80gb", ""), options());
  CHECK(advises(list, "head size 42 -> "));
}

TEST_CASE("advice: gains are what planning again gives, most first") {
  arch::Architecture a = gpu_test::plain();
  a.segments[0].ffn.expert_size = 516;  // rows of 1032 bytes
  const Device& device = find_device("h100-sxm5", "");
  const auto list = advice(a, device, options());
  REQUIRE(!list.empty());
  CHECK(list.front().text.starts_with("expert size 516 -> "));
  CHECK(std::ranges::is_sorted(list, std::greater<>(), &Advice::gain));
  for (const Advice& one : list) {
    CHECK(one.gain > 0);
    CHECK(one.gain < 1);
    CHECK(one.text.find("less time for the same work") != std::string::npos);
  }
  arch::Architecture moved = a;
  moved.segments[0].ffn.expert_size = 512;
  const Plan before = plan(a, device, options()), after = plan(moved, device, options());
  const double gain = 1 - after.step_ms.mid / before.step_ms.mid * before.useful_macs.to_double() /
                              after.useful_macs.to_double();
  CHECK(list.front().gain >= gain - 1e-12);
}

TEST_CASE("advice: dimensions already on the multiples get none of their own") {
  const auto list = advice(gpu_test::large(), find_device("h100-sxm5", ""), options());
  CHECK(!advises(list, "hidden size"));
  CHECK(!advises(list, "vocabulary"));
}
