// Fits the constants of the time model and prints data/gpus/efficiency.json; with an argument, the
// errors of a cross-validation and every held-out row instead: five parts, or source by source.
//
//   ninja -C build fit_gpu
//   build/fit_gpu > data/gpus/efficiency.json
//   build/fit_gpu errors
//   build/fit_gpu sources
//
// Source of the points: tests/gpu/data. Held by tests/gpu/accuracy_test.cpp.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "support/gpu_points.h"

using namespace isoloop;

namespace {

constexpr int folds = 5;

void print_rows(std::vector<gpu::HeldOut> rows) {
  std::ranges::stable_sort(rows, {}, [](const gpu::HeldOut& r) { return r.prediction.kind; });
  for (const gpu::HeldOut& r : rows) {
    const bool inside =
        r.point->us >= r.prediction.time.low && r.point->us <= r.prediction.time.high;
    std::printf("%d %9.2f us  predicted %9.2f  truth/mid %.3f %s  %s\n",
                static_cast<int>(r.prediction.kind), r.point->us, r.prediction.time.mid, r.ratio,
                inside ? "  " : "!!", r.point->label.c_str());
  }
}

void print_summary(const std::vector<gpu::HeldOut>& rows) {
  for (const auto kind :
       {gpu::PointClass::compute_gemm, gpu::PointClass::memory_gemm, gpu::PointClass::attention}) {
    std::vector<double> errors;
    double inside = 0;
    for (const gpu::HeldOut& r : rows) {
      if (r.prediction.kind != kind) continue;
      errors.push_back(std::abs(r.prediction.time.mid / r.point->us - 1));
      inside += r.point->us >= r.prediction.time.low && r.point->us <= r.prediction.time.high;
    }
    std::ranges::sort(errors);
    if (errors.empty()) continue;
    std::printf(
        "class %d: %zu rows, median error %.1f %%, 90th percentile %.1f %%, inside %.1f %%\n",
        static_cast<int>(kind), errors.size(), 100 * errors[errors.size() / 2],
        100 * errors[errors.size() * 9 / 10], 100 * inside / static_cast<double>(errors.size()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Points points = test::measured_points();
  if (argc == 1) {
    std::fputs(gpu::to_json(gpu::fit(points.used, gpu::prior_efficiency(), folds)).c_str(), stdout);
    return 0;
  }
  const bool by_source = std::string(argv[1]) == "sources";
  const gpu::Efficiency prior = gpu::prior_efficiency();
  const auto rows = by_source ? gpu::cross_validate_sources(points.used, prior, folds)
                              : gpu::cross_validate(points.used, prior, folds);
  print_rows(rows);
  for (const auto& [row, reason] : points.left_out)
    std::printf("left out: %s (%s)\n", row.c_str(), reason.c_str());
  print_summary(rows);
  return 0;
}
