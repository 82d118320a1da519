// Fits the constants of the time model on measured points. Used by scripts/fit_gpu and the tests;
// planning never fits.
//
// Held by tests/gpu/accuracy_test.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/model.h"

namespace isoloop::gpu {

/// One measurement. Attention rows may time several passes together.
struct Point {
  const Device* device = nullptr;
  std::optional<GemmProblem> gemm;
  std::vector<AttentionProblem> attention;  // their times add up
  AttentionKernel kernel{};
  double us = 0;
  std::string label;   // for messages
  std::string source;  // where it was published
};

enum class PointClass { compute_gemm, memory_gemm, attention };

struct Prediction {
  Time time;
  PointClass kind{};
};
Prediction predict(const DeviceModel& model, const Point& point);

/// Constants that minimise the sum of absolute log errors, drawn to `prior`. Ranges are set from
/// the residuals of an inner cross-validation over `folds` parts.
Efficiency fit(std::span<const Point> points, const Efficiency& prior, int folds);

/// Truth over prediction of a point under constants fitted without it.
struct HeldOut {
  const Point* point = nullptr;
  Prediction prediction;
  double ratio = 0;  // truth / mid
};
/// Point i is left out with all points j where j % folds == i % folds.
std::vector<HeldOut> cross_validate(std::span<const Point> points, const Efficiency& prior,
                                    int folds);
/// A point is left out with all points of its source: harder, since sources differ in method.
std::vector<HeldOut> cross_validate_sources(std::span<const Point> points, const Efficiency& prior,
                                            int inner_folds);

}  // namespace isoloop::gpu
