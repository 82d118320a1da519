// Constants of the time model, with their provenance (data/gpus/efficiency.json).
//
// Times are the slower of bytes over sustained bandwidth and arithmetic over sustained rate, plus a
// launch. What is sustained is fitted per generation of devices on published measurements by
// scripts/fit_gpu; generations without points take the prior and a wider range.
//
// Held by tests/gpu/accuracy_test.cpp.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/gpu.h"

namespace isoloop::gpu {

/// Number formats that share constants: width of the operands.
enum class Width { bits32, bits16, bits8, bits4 };
inline constexpr std::size_t width_count = 4;
std::string_view name(Width width);
Width width_of(Precision precision);

struct GemmRate {
  double share = 0;  // sustained over peak rate inside the main loop
  double fill = 0;   // prologue and epilogue of a tile, in main-loop steps of 128 bytes of k
  int points = 0;    // measured points behind it; 0 = prior
};
struct MemoryRate {
  double launch_us = 0;  // launch, ramp and drain of a kernel
  double share = 0;      // sustained over peak bandwidth
  int points = 0;
};
struct AttentionRate {
  double share = 0;           // sustained over peak rate of the products
  double softmax_clocks = 0;  // per score and SM, not hidden behind the products
  double fill = 0;            // of a query tile, in key blocks
  int points = 0;
};
/// Truth over mid: the band the fit's own residuals give.
struct Range {
  double low = 1, high = 1;
};
struct Ranges {
  Range compute, memory, attention;  // from cross-validated residuals
  Range elementwise, link;           // assumed: no measured points
  double unmeasured = 1;             // factor on both ends where a generation has no points
};

inline constexpr std::size_t attention_kernel_count = 3;
/// Constants of one generation: devices of one compute capability, 10.0 and 10.3 together.
struct GenerationRates {
  std::string name;  // "9.0"
  std::array<GemmRate, width_count> gemm;
  MemoryRate memory;
  // By kernel, then forward and backward, then width (16 bit, 8 bit).
  std::array<std::array<std::array<AttentionRate, 2>, 2>, attention_kernel_count> attention;
};

struct Efficiency {
  std::vector<GenerationRates> generations;
  double misaligned = 1;   // rate of kernels below 16-byte alignment
  double narrow_warp = 0;  // cost of 16-row warps in FlashAttention-2, of the products
  double small_tile = 0;   // cost of narrow warp tiles: 64x32 instead of 64x64 takes 1 + this
  double grouped = 1;      // rate of grouped GEMMs, of dense ones
  double l2_bytes_per_clock_per_sm = 0, l2_bytes_per_clock = 0;
  double elementwise_share = 0;  // sustained bandwidth of elementwise kernels
  double link_share = 0, link_latency_us = 0;
  Ranges ranges;
};

/// "10.0" for 10.3, else the compute capability.
std::string generation_of(const Limits& limits);
const GenerationRates& rates_of(const Efficiency& efficiency, const Limits& limits);

/// The constants before any fit; every generation in data/compute_capabilities.json.
Efficiency prior_efficiency();
/// data/gpus/efficiency.json.
const Efficiency& efficiency();
Efficiency efficiency_from_json(std::string_view text, std::string_view file);
std::string to_json(const Efficiency& efficiency);

}  // namespace isoloop::gpu
