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
  CHECK(advises(list, "vocabulary 50257 -> 50304, a multiple of 128: "));
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

TEST_CASE("advice: sizes that are slow only because they are small get none") {
  // Every template and multiple here is a good one; larger would be faster, but another model.
  arch::Architecture a = gpu_test::plain();
  a.segments[0].attention.head_size = 64;
  a.segments[0].ffn.expert_size = 512;
  for (const char* id : {"a100-sxm4-80gb", "rtx4090", "h100-sxm5", "b200"}) {
    const auto list = advice(a, find_device(id, ""), options());
    CHECK(!advises(list, "head size"));
    CHECK(!advises(list, "expert size"));
  }
}

TEST_CASE("advice: a head size goes only to what its kernel does not pad") {
  arch::Architecture a = gpu_test::plain();
  a.segments[0].attention.head_size = 72;
  for (const Advice& one : advice(a, find_device("a100-sxm4-80gb", ""), options())) {
    if (!one.text.starts_with("head size")) continue;
    CHECK((one.text.starts_with("head size 72 -> 64,") ||
           one.text.starts_with("head size 72 -> 96,")));
    CHECK(one.text.ends_with("Why: FlashAttention-2 pads it to 96"));
  }
  CHECK(advises(advice(a, find_device("a100-sxm4-80gb", ""), options()), "head size 72 -> "));
}

TEST_CASE("advice: no move is further than a quarter") {
  arch::Architecture a = gpu_test::plain();
  for (const std::int64_t size : {136, 200, 516, 1000, 1100})
    for (const char* id : {"a100-sxm4-80gb", "h100-sxm5"}) {
      a.segments[0].ffn.expert_size = size;
      for (const Advice& one : advice(a, find_device(id, ""), options())) {
        const std::string start = "expert size " + std::to_string(size) + " -> ";
        if (!one.text.starts_with(start)) continue;
        const double to = std::stod(one.text.substr(start.size()));
        CHECK(to >= 0.75 * static_cast<double>(size));
        CHECK(to <= 1.25 * static_cast<double>(size));
      }
    }
}

TEST_CASE("advice: dimensions already on the multiples get none of their own") {
  const auto list = advice(gpu_test::large(), find_device("h100-sxm5", ""), options());
  CHECK(!advises(list, "hidden size"));
  CHECK(!advises(list, "vocabulary"));
}
