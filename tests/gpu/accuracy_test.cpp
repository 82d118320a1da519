// The time model against published measurements it was not fitted to.
//
// Five-fold: the constants and the ranges are fitted on four fifths and judged on the rest; the
// ranges come from an inner cross-validation, so the held-out rows take no part in them either.
// Rows left out beforehand, with reasons: tests/support/gpu_points.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "gpu/fit.h"
#include "support/gpu_points.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

struct Errors {
  std::vector<double> errors;  // |mid / truth - 1|
  double inside = 0;
  double median() {
    std::ranges::sort(errors);
    return errors[errors.size() / 2];
  }
  double share_inside() const { return inside / static_cast<double>(errors.size()); }
};

Errors errors_of(const std::vector<HeldOut>& rows, PointClass kind) {
  Errors e;
  for (const HeldOut& r : rows) {
    if (r.prediction.kind != kind) continue;
    e.errors.push_back(std::abs(r.prediction.time.mid / r.point->us - 1));
    e.inside += r.point->us >= r.prediction.time.low && r.point->us <= r.prediction.time.high;
  }
  return e;
}

}  // namespace

TEST_CASE("accuracy: held-out measurements lie within the promised errors") {
  const test::Points points = test::measured_points();
  CHECK(points.used.size() == 191);
  CHECK(points.left_out.size() == 25);
  const auto rows = cross_validate(points.used, prior_efficiency(), 5);
  Errors compute = errors_of(rows, PointClass::compute_gemm);
  Errors memory = errors_of(rows, PointClass::memory_gemm);
  Errors attention = errors_of(rows, PointClass::attention);
  CHECK(compute.errors.size() >= 50);
  CHECK(memory.errors.size() >= 20);
  CHECK(attention.errors.size() >= 100);
  CHECK(compute.median() <= 0.20);
  CHECK(memory.median() <= 0.15);
  CHECK(attention.median() <= 0.20);
  CHECK(compute.share_inside() >= 0.85);
  CHECK(memory.share_inside() >= 0.85);
  CHECK(attention.share_inside() >= 0.85);
}

TEST_CASE("accuracy: data/gpus/efficiency.json is what the fit gives") {
  // Compilers may round differently, and the search then stops a step apart.
  const test::Points points = test::measured_points();
  const Efficiency fitted = fit(points.used, prior_efficiency(), 5);
  const auto near = [](double a, double b) { return std::abs(a / b - 1) < 0.03; };
  REQUIRE(fitted.generations.size() == efficiency().generations.size());
  for (std::size_t i = 0; i < fitted.generations.size(); ++i) {
    const GenerationRates &now = fitted.generations[i], &kept = efficiency().generations[i];
    CAPTURE(now.name);
    CHECK(now.name == kept.name);
    CHECK(near(now.memory.launch_us, kept.memory.launch_us));
    CHECK(near(now.memory.share, kept.memory.share));
    for (std::size_t w = 0; w < width_count; ++w) {
      CHECK(near(now.gemm[w].share, kept.gemm[w].share));
      CHECK(now.gemm[w].points == kept.gemm[w].points);
    }
  }
  CHECK(near(fitted.ranges.compute.high, efficiency().ranges.compute.high));
  CHECK(near(fitted.ranges.attention.low, efficiency().ranges.attention.low));
  const std::string text = to_json(efficiency());
  CHECK(text == data_file("gpus/efficiency.json"));
}
