// What is left of a gain: by hand, at the printed points, and at the break-even.
#include "cli/plan_gain.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace isoloop;
using namespace isoloop::cli;

namespace {

gpu::StepRatio step(double low, double mid, double high) {
  gpu::StepRatio r;
  r.low = low;
  r.mid = mid;
  r.high = high;
  return r;
}

}  // namespace

TEST_CASE("gain left: by hand") {
  // 20 % less compute, a step of 1.15 times the time for 1.02 times the FLOPs: 0.8 x 1.15 / 1.02.
  const Share gain{0.20, law::Interval{0.10, 0.30}};
  const Share left = gain_left(gain, step(1.10, 1.15, 1.25), 1.02);
  CHECK(left.mid == doctest::Approx(1 - 0.92 / 1.02));
  REQUIRE(left.range);
  CHECK(left.range->low == doctest::Approx(1 - 0.9 * 1.25 / 1.02));
  CHECK(left.range->high == doctest::Approx(1 - 0.7 * 1.10 / 1.02));
  CHECK(!gain_left({0.2, std::nullopt}, step(1.1, 1.15, 1.25), 1).range);
}

TEST_CASE("gain left: nothing at the gain that is needed, all of it on equal steps") {
  const gpu::StepRatio r = step(1.05, 1.2, 1.3);
  const Share needed = gain_needed(r, 1.03);
  CHECK(gain_left({needed.mid, std::nullopt}, r, 1.03).mid == doctest::Approx(0));
  CHECK(gain_needed(step(1, 1, 1), 1).mid == doctest::Approx(0));
  CHECK(gain_left({0.17, std::nullopt}, step(1, 1, 1), 1).mid == doctest::Approx(0.17));
}

TEST_CASE("gain: the paper's laws with its printed intervals") {
  // Laws: known answers from the printed coefficients; intervals: the table of the paper.
  const auto known = published_gain(1e21, 0.95);
  REQUIRE(known);
  CHECK(known->mid == doctest::Approx(0.15676).epsilon(1e-4));
  REQUIRE(known->range);
  CHECK(known->range->low == doctest::Approx(0.10));
  CHECK(known->range->high == doctest::Approx(0.25));
  // Half way on log C between 1e20 (0.01 to 0.22) and 1e21 (0.08 to 0.28).
  const auto between = published_gain(1e20 * std::sqrt(10.0), 0.86);
  REQUIRE(between);
  REQUIRE(between->range);
  CHECK(between->range->low == doctest::Approx(0.045));
  CHECK(between->range->high == doctest::Approx(0.25));
  CHECK(!published_gain(1e21, 0));            // no law
  CHECK(!published_gain(5e22, 0.95)->range);  // beyond the table
  CHECK(!published_gain(1e21, 0.5)->range);   // no row of this sparsity
}
