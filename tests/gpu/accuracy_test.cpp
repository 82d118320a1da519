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
  const test::Points points = test::measured_points();
  const Efficiency fitted = fit(points.used, prior_efficiency(), 5);
  CHECK(to_json(fitted) == std::string(data_file("gpus/efficiency.json")));
  CHECK(to_json(efficiency()) == to_json(fitted));
}
