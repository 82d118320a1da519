// The device as the time model sees it: sustained rates, and the tile shapes that fit.
//
// Built once per device and constants; the predictors below only read it.
// Held by tests/gpu/gemm_test.cpp, attention_test.cpp and accuracy_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "gpu/efficiency.h"

namespace isoloop::gpu {

struct DeviceModel {
  DeviceModel(const Device& device, const Efficiency& constants);

  Device device;
  Family family{};
  GenerationRates rates;
  Efficiency constants;           // without the other generations
  double memory_us_per_byte = 0;  // sustained
  double l2_us_per_byte = 0;
  /// Fitting shapes by width; mma_sync shapes too, for operands that TMA cannot read.
  std::array<std::vector<TileShape>, width_count> shapes, fallback;

  /// Microseconds one SM needs per FLOP at the sustained rate.
  double sm_us_per_flop(Precision precision, double share) const;
};

class RoutingTables;
/// `tables`: routing statistics shared with other calls; the result does not depend on it.
GemmLaunch predict_gemm(const DeviceModel& model, const GemmProblem& problem,
                        std::optional<Family> family = {}, RoutingTables* tables = nullptr);
/// The time of one shape, without looking for a better one.
GemmLaunch predict_gemm_shape(const DeviceModel& model, const GemmProblem& problem,
                              const TileShape& shape, int split_k);
AttentionLaunch predict_attention(const DeviceModel& model, const AttentionProblem& problem,
                                  std::optional<AttentionKernel> kernel = {});
/// A kernel that only moves bytes.
Launch predict_elementwise(const DeviceModel& model, double bytes);
/// `bytes` leave (and as many enter) this GPU over a link of `gbs_both_ways`.
Launch predict_link(const DeviceModel& model, double bytes, double gbs_both_ways, double steps);

/// The band around `mid`; wider where nothing was measured.
Time banded(double mid, const Range& range, double unmeasured, bool measured);

}  // namespace isoloop::gpu
