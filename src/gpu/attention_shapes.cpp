// Launch shapes of FlashAttention by head size, direction and masking.
//
// Right by Dao-AILab/flash-attention 0251105: csrc (FA2), hopper (FA3) and flash_attn/cute (FA4). A
// head is padded to a multiple of 8, then to the template of the kernel: FA2 32, 64, 96, 128, 192,
// 256; FA3 the same without 32; FA4 any multiple of 16. A head of 42 in FA2 thus multiplies 64
// wide, and a third of the arithmetic is padding.
//
// Held by tests/gpu/attention_test.cpp.
#include "gpu/attention_shapes.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace isoloop::gpu {
namespace {

constexpr std::array<int, 6> flash2_sizes = {32, 64, 96, 128, 192, 256};
constexpr std::array<int, 5> flash3_sizes = {64, 96, 128, 192, 256};
constexpr int flash4_step = 16, flash4_largest = 128;

Error no_template(AttentionKernel kernel, std::int64_t size, std::string_view has) {
  return input_error(fmt::format("no {} kernel supports a head size of {}", name(kernel), size),
                     "attention.head_size", std::string(has));
}

int padded(std::span<const int> sizes, std::int64_t size, AttentionKernel kernel) {
  for (const int known : sizes)
    if (size <= known) return known;
  throw no_template(kernel, size, fmt::format("templates go up to {}", sizes.back()));
}

bool has_99_kib(const Device& device) { return device.limits.smem_per_block_optin < 144 * 1024; }

// ---- FlashAttention-2 ----

struct Tile {
  int m, n, warps;
};

Tile flash2_forward(const Device& device, int d, bool causal) {
  const std::string& cc = device.limits.compute_capability;
  const bool small = has_99_kib(device);
  if (cc == "12.0")
    return d <= 64 ? Tile{128, 128, 4} : d <= 128 ? Tile{128, 64, 4} : Tile{64, 64, 4};
  if (d <= 64) return {128, 128, 4};
  if (d == 96) return small && causal ? Tile{64, 64, 4} : Tile{128, 64, 4};
  if (d == 128) return !small ? Tile{128, 64, 4} : causal ? Tile{64, 64, 4} : Tile{128, 32, 4};
  if (d == 192) return small ? Tile{64, 64, 4} : Tile{128, 64, 8};
  return cc == "8.0" ? Tile{128, 64, 8} : Tile{64, 64, 4};
}

Tile flash2_backward(const Device& device, int d) {
  const bool small = has_99_kib(device);
  if (d == 32) return {128, 128, 8};
  if (d == 64) return small ? Tile{64, 128, 8} : Tile{128, 128, 8};
  if (d == 96) return {64, small ? 64 : 128, 8};
  if (d == 128) return small ? Tile{64, 64, 8} : Tile{64, 128, 8};
  if (d == 192) return small ? Tile{64, 32, 8} : Tile{64, 64, 8};
  return small ? Tile{64, 32, 8} : Tile{64, 64, 8};
}

AttentionShape flash2(const Device& device, const AttentionProblem& p) {
  AttentionShape s;
  const std::int64_t largest = std::max(p.head_size, p.value_size);  // one template for both
  s.head_size = s.value_size = padded(flash2_sizes, largest, AttentionKernel::flash2);
  const Tile t = p.backward ? flash2_backward(device, s.head_size)
                            : flash2_forward(device, s.head_size, p.causal);
  s.m = t.m;
  s.n = t.n;
  s.threads = 32 * t.warps;
  s.rows_per_warp = p.backward ? 32 : t.m / t.warps;
  s.registers = 255;
  const std::int64_t d = s.head_size, m = t.m, n = t.n;
  // Forward holds Q, K and V; backward Q, dO, K, V and the score tiles P and dS.
  s.smem_bytes = p.backward ? 2 * (d * (2 * m + n) + 2 * m * n) : 2 * d * (m + 2 * n);
  s.smem_bytes = std::min<std::int64_t>(s.smem_bytes, device.limits.smem_per_block_optin);
  return s;
}

// ---- FlashAttention-3 ----

Tile flash3_forward_16(int d, int dv, bool causal, bool window) {
  if (d == 64) return causal || window ? Tile{192, 128, 12} : Tile{192, 192, 12};
  if (d == 96) return window ? Tile{192, 128, 12} : Tile{192, 144, 12};
  if (d == 128) return causal || window ? Tile{128, 128, 8} : Tile{128, 176, 8};
  if (d == 192)
    return window ? Tile{128, 96, 8} : dv <= 128 ? Tile{128, 128, 8} : Tile{128, 112, 8};
  return window ? Tile{128, 64, 8} : Tile{128, 80, 8};
}

Tile flash3_forward_8(int d) {
  if (d == 64) return {192, 160, 12};
  if (d == 96) return {192, 128, 12};
  if (d == 128) return {128, 224, 8};
  if (d == 192) return {128, 160, 8};
  return {128, 128, 8};
}

Tile flash3_backward(int d, bool causal) {
  if (d == 64) return {128, 128, 8};
  if (d == 96) return {64, 128, 8};
  if (d == 128) return {causal ? 64 : 80, 128, 8};
  if (d == 192) return {64, 96, 12};
  return {64, 80, 8};
}

AttentionShape flash3(const Device& device, const AttentionProblem& p) {
  AttentionShape s;
  s.head_size = padded(flash3_sizes, p.head_size, AttentionKernel::flash3);
  s.value_size = padded(flash3_sizes, p.value_size, AttentionKernel::flash3);
  if (s.head_size != 192) s.head_size = s.value_size = std::max(s.head_size, s.value_size);
  const bool eight = bytes_per_element(p.precision) == 1;
  if (eight && p.backward)
    throw input_error("no fp8 kernel of FlashAttention-3 runs backward", "dtype");
  const Tile t = p.backward ? flash3_backward(s.head_size, p.causal)
                 : eight    ? flash3_forward_8(s.head_size)
                            : flash3_forward_16(s.head_size, s.value_size, p.causal, p.window > 0);
  s.m = t.m;
  s.n = t.n;
  s.stages = 2;
  s.threads = 32 * t.warps + 128;  // and a producer warpgroup
  s.registers = s.threads <= 384 ? 168 : 128;
  s.persistent = !p.backward;
  const std::int64_t element = eight ? 1 : 2, d = s.head_size, dv = s.value_size;
  const std::int64_t q_or_o = std::max(d * element, dv * 2) * s.m;
  s.smem_bytes = p.backward ? 2 * (d * (2 * s.m * 2 + s.n * 2)) + 2 * 2 * s.m * s.n
                            : q_or_o + 2 * element * s.n * (d + dv);
  s.smem_bytes = std::min<std::int64_t>(s.smem_bytes, device.limits.smem_per_block_optin);
  return s;
}

// ---- FlashAttention-4 ----

AttentionShape flash4(const Device& device, const AttentionProblem& p) {
  AttentionShape s;
  const auto up = [](std::int64_t size) {
    return static_cast<int>((size + flash4_step - 1) / flash4_step * flash4_step);
  };
  s.head_size = up(p.head_size);
  s.value_size = up(p.value_size);
  const bool special = (s.head_size <= 192 && s.head_size > 128 && s.value_size <= 128) ||
                       (s.head_size <= 256 && s.head_size > 192 && s.value_size > 192);
  if (special && s.head_size <= 192)
    s.head_size = 192, s.value_size = 128;
  else if (special)
    s.head_size = s.value_size = 256;
  else if (std::max(s.head_size, s.value_size) > flash4_largest)
    throw no_template(AttentionKernel::flash4, std::max(p.head_size, p.value_size),
                      "it has multiples of 16 up to 128, keys of 192 with values of 128, and 256");
  s.m = s.n = 128;
  s.threads = 512;  // two softmax warpgroups, a correction warpgroup, one for loads and MMA
  s.registers = 128;
  s.persistent = !p.backward;
  s.sms = !p.causal && s.head_size >= 128 ? 2 : 1;
  const std::int64_t pool = 224 * 1024;
  const std::int64_t q = std::int64_t{2} * 2 * s.m * s.head_size;  // two query tiles
  const std::int64_t tile = std::int64_t{2} * s.n * std::max(s.head_size, s.value_size);
  s.stages = static_cast<int>(std::clamp<std::int64_t>((pool - q) / tile, 1, 8));
  s.smem_bytes = std::min<std::int64_t>(q + s.stages * tile, device.limits.smem_per_block_optin);
  if (!p.backward && p.queries > s.m) s.m = 256;  // both query tiles belong to one CTA
  return s;
}

bool runs_on(AttentionKernel kernel, const Device& device) {
  const std::string& cc = device.limits.compute_capability;
  switch (kernel) {
    case AttentionKernel::flash2:
      return !cc.starts_with("7.");
    case AttentionKernel::flash3:
      return cc == "9.0";
    default:
      return cc.starts_with("10.");
  }
}

}  // namespace

AttentionKernel newest_attention(const Device& device) {
  for (const AttentionKernel kernel :
       {AttentionKernel::flash4, AttentionKernel::flash3, AttentionKernel::flash2})
    if (runs_on(kernel, device)) return kernel;
  throw input_error(fmt::format("no FlashAttention kernel runs on {} (compute capability {})",
                                device.name, device.limits.compute_capability),
                    "gpu", "compute capability 8.0 or newer");
}

AttentionShape attention_shape(const Device& device, const AttentionProblem& problem,
                               AttentionKernel kernel) {
  if (!runs_on(kernel, device))
    throw input_error(fmt::format("{} does not run on {}", name(kernel), device.name), "gpu",
                      fmt::format("{} does", name(newest_attention(device))));
  AttentionShape shape = kernel == AttentionKernel::flash2   ? flash2(device, problem)
                         : kernel == AttentionKernel::flash3 ? flash3(device, problem)
                                                             : flash4(device, problem);
  shape.kernel = kernel;
  return shape;
}

}  // namespace isoloop::gpu
