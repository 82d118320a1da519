// Launch shapes of FlashAttention by head size, direction and masking.
//
// Right by Dao-AILab/flash-attention 0251105: csrc (FA2), hopper (FA3) and flash_attn/cute (FA4). A
// head is padded to a multiple of 8, then to the template of the kernel: FA2 32, 64, 96, 128, 192,
// 256; FA3 the same without 32; FA4 any multiple of 16. A head of 42 in FA2 thus multiplies 64
// wide, and a third of the arithmetic is padding.
//
// A kernel may have several shapes for a head; its launchers take the first that fits the device's
// shared memory. Listing them in that order, with the bytes their buffers take, is the whole rule.
//
// Held by tests/gpu/attention_test.cpp and tests/gpu/attention_shapes_test.cpp.
#include "gpu/attention_shapes.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace isoloop::gpu {
namespace {

using Shapes = std::vector<AttentionShape>;

constexpr std::array<int, 6> flash2_sizes = {32, 64, 96, 128, 192, 256};
constexpr std::array<int, 5> flash3_sizes = {64, 96, 128, 192, 256};
constexpr int flash4_step = 16, flash4_largest = 128;

/// The template that holds `size`; 0 if none does.
int padded(std::span<const int> sizes, std::int64_t size) {
  for (const int known : sizes)
    if (size <= known) return known;
  return 0;
}

// ---- FlashAttention-2 ----

struct Tile {
  int m, n, warps;
};

Tile flash2_forward(const Device& device, int d, bool causal) {
  const std::string& cc = device.limits.compute_capability;
  const bool sm8x = cc == "8.6" || cc == "8.9";
  if (cc == "12.0")
    return d <= 64 ? Tile{128, 128, 4} : d <= 128 ? Tile{128, 64, 4} : Tile{64, 64, 4};
  if (d <= 64) return {128, 128, 4};
  if (d == 96) return sm8x && causal ? Tile{64, 64, 4} : Tile{128, 64, 4};
  if (d == 128) return !sm8x ? Tile{128, 64, 4} : causal ? Tile{64, 64, 4} : Tile{128, 32, 4};
  if (d == 192) return {128, 64, 8};
  return cc == "8.0" ? Tile{128, 64, 8} : Tile{64, 64, 4};
}

/// V in registers and a single Q buffer save shared memory.
struct Backward2 {
  int m, n;
  bool v_in_registers, single_buffer;
};

std::vector<Backward2> flash2_backward(int d) {
  switch (d) {
    case 32:
      return {{128, 128, true, false}};
    case 64:
      return {{128, 128, false, false}, {64, 128, true, false}};
    case 96:
      return {{64, 128, true, false}};
    case 128:
      return {{64, 128, false, false}, {64, 64, true, false}};
    case 192:
      return {{64, 64, false, false}, {64, 64, true, true}};
    default:
      return {{64, 64, false, false}, {64, 64, false, true}, {64, 32, true, true}};
  }
}

/// Q (twice, unless single) and dO, K, V, and the score tiles P and dS.
std::int64_t flash2_backward_bytes(const Backward2& b, std::int64_t d) {
  const std::int64_t rows = 2 * b.m * d, keys = 2 * b.n * d, scores = 2 * 2 * b.m * b.n;
  const std::int64_t held =
      b.v_in_registers ? std::max(2 * keys, keys + scores) : 2 * keys + scores;
  return rows * (b.single_buffer ? 2 : 3) + held;
}

Shapes flash2(const Device& device, const AttentionProblem& p) {
  const std::int64_t largest = std::max(p.head_size, p.value_size);  // one template for both
  AttentionShape s;
  s.head_size = s.value_size = padded(flash2_sizes, largest);
  if (s.head_size == 0) return {};
  s.registers = 255;
  if (!p.backward) {
    const Tile t = flash2_forward(device, s.head_size, p.causal);
    s.m = t.m;
    s.n = t.n;
    s.threads = 32 * t.warps;
    s.rows_per_warp = t.m / t.warps;
    s.smem_bytes = std::int64_t{2} * s.head_size * (t.m + 2 * t.n);  // Q, K and V
    return {s};
  }
  if (bytes_per_element(p.precision) == 1) return {};
  Shapes shapes;
  for (const Backward2& b : flash2_backward(s.head_size)) {
    s.m = b.m;
    s.n = b.n;
    s.threads = 256;
    s.rows_per_warp = 32;
    s.smem_bytes = flash2_backward_bytes(b, s.head_size);
    shapes.push_back(s);
  }
  return shapes;
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

Tile flash3_backward(int d, int dv, bool causal) {
  if (d == 64) return {128, 128, 8};
  if (d == 96) return {64, 128, 8};
  if (d == 128) return {causal ? 64 : 80, 128, 8};
  if (d == 192) return {64, 96, dv <= 128 ? 8 : 12};
  return {64, 80, 8};
}

std::int64_t flash3_backward_bytes(const AttentionShape& s) {
  const std::int64_t m = s.m, n = s.n, d = s.head_size, dv = s.value_size;
  const bool wide = d >= 192;  // one stage of dO and dS; P does not stay in registers
  const std::int64_t stages = wide ? 1 : 2, score_tiles = 2;         // P and dS, or dS twice
  const std::int64_t dq = d < 256 ? 4 * m * d : 0;                   // fp32, reduced by TMA
  const std::int64_t statistics = 2 * 2 * 4 * ((m + 63) / 64 * 64);  // lse and row sums, twice
  return 2 * n * (d + dv) + dq + 2 * 2 * m * d + stages * 2 * m * dv + statistics +
         score_tiles * 2 * m * n;
}

Shapes flash3(const AttentionProblem& p) {
  AttentionShape s;
  s.head_size = padded(flash3_sizes, p.head_size);
  s.value_size = padded(flash3_sizes, p.value_size);
  if (s.head_size == 0 || s.value_size == 0) return {};
  const bool narrow_values = s.head_size == 192 && s.value_size <= 128;
  if (narrow_values)
    s.value_size = 128;
  else
    s.head_size = s.value_size = std::max(s.head_size, s.value_size);
  const bool eight = bytes_per_element(p.precision) == 1;
  if (eight && p.backward) return {};
  const Tile t = p.backward ? flash3_backward(s.head_size, s.value_size, p.causal)
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
  s.smem_bytes = p.backward ? flash3_backward_bytes(s) : q_or_o + 2 * element * s.n * (d + dv);
  return {s};
}

// ---- FlashAttention-4 ----

Shapes flash4(const AttentionProblem& p) {
  AttentionShape s;
  const auto up = [](std::int64_t size) {
    return static_cast<int>((size + flash4_step - 1) / flash4_step * flash4_step);
  };
  s.head_size = up(p.head_size);
  s.value_size = up(p.value_size);
  if (bytes_per_element(p.precision) == 1 && p.backward) return {};
  if (s.head_size > 128 && s.head_size <= 192 && s.value_size <= 128)
    s.head_size = 192, s.value_size = 128;
  else if (s.head_size > 192 && s.head_size <= 256 && s.value_size > 192 && s.value_size <= 256)
    s.head_size = s.value_size = 256;
  else if (std::max(s.head_size, s.value_size) > flash4_largest)
    return {};
  s.m = s.n = 128;
  s.threads = 512;  // two softmax warpgroups, a correction warpgroup, one for loads and MMA
  s.registers = 128;
  s.persistent = !p.backward;
  s.sms = !p.causal && s.head_size >= 128 ? 2 : 1;
  const std::int64_t pool = 224 * 1024;
  const std::int64_t q = std::int64_t{2} * 2 * s.m * s.head_size;  // two query tiles
  const std::int64_t tile = std::int64_t{2} * s.n * std::max(s.head_size, s.value_size);
  s.stages = static_cast<int>(std::clamp<std::int64_t>((pool - q) / tile, 1, 8));
  s.smem_bytes = q + s.stages * tile;
  if (!p.backward && p.queries > s.m) s.m = 256;  // both query tiles belong to one CTA
  return {s};
}

// ---- Decoding ----

/// Split-KV: 64 query rows, packed over the heads that share a key head.
AttentionShape split_kv(AttentionShape s) {
  s.m = 64;
  s.n = s.head_size <= 64 ? 256 : s.head_size <= 128 ? 128 : 64;
  s.threads = 128;
  s.registers = 255;
  s.stages = 1;
  s.persistent = false;
  s.smem_bytes = std::int64_t{2} * s.head_size * (s.m + 2 * s.n);
  return s;
}

/// MLA against its compressed cache: values are a part of the keys, read once. As FlashMLA, with
/// one buffer or fewer rows where shared memory is small.
Shapes latent(const AttentionProblem& p) {
  AttentionShape s;
  s.head_size = static_cast<int>((p.head_size + 63) / 64 * 64);
  s.value_size = static_cast<int>((p.value_size + 63) / 64 * 64);
  s.threads = 256;
  s.registers = 255;
  s.n = 64;
  Shapes shapes;
  for (const auto& [rows, stages] : {std::pair{64, 2}, {64, 1}, {16, 1}}) {
    s.m = rows;
    s.stages = stages;
    s.smem_bytes = std::int64_t{2} * s.head_size * (s.m + stages * s.n);
    shapes.push_back(s);
  }
  return shapes;
}

// ---- Choice ----

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

constexpr std::array<AttentionKernel, 3> newest_first = {
    AttentionKernel::flash4, AttentionKernel::flash3, AttentionKernel::flash2};

/// Shapes of a kernel for this problem, the preferred one first; none: no template.
Shapes shapes_of(const Device& device, const AttentionProblem& p, AttentionKernel kernel) {
  const bool decode = p.queries == 1 && p.keys > 1;
  Shapes shapes = decode && p.shared_latent           ? latent(p)
                  : kernel == AttentionKernel::flash2 ? flash2(device, p)
                  : kernel == AttentionKernel::flash3 ? flash3(p)
                                                      : flash4(p);
  for (AttentionShape& s : shapes) {
    if (decode && !p.shared_latent) s = split_kv(s);
    s.kernel = kernel;
  }
  return shapes;
}

bool fits(const Device& device, const AttentionShape& s) {
  return occupancy(device.limits, {s.threads, s.registers, 0, s.smem_bytes}).blocks_per_sm > 0;
}

Error no_template(AttentionKernel kernel, const AttentionProblem& p) {
  if (p.backward && bytes_per_element(p.precision) == 1)
    return input_error(
        fmt::format("no {} kernel of {} runs backward", name(p.precision), name(kernel)), "dtype");
  return input_error(
      fmt::format("no {} kernel supports a head size of {}", name(kernel),
                  std::max(p.head_size, p.value_size)),
      "attention.head_size",
      kernel == AttentionKernel::flash4
          ? "it has multiples of 16 up to 128, keys of 192 with values of 128, and 256"
          : "templates go up to 256");
}

std::string does_not_fit(const Device& device, const AttentionShape& s) {
  return fmt::format("needs {} bytes of shared memory; a block may have {}", s.smem_bytes,
                     device.limits.smem_per_block_optin);
}

std::string text(const AttentionShape& s, bool backward) {
  return fmt::format("{} {} {}x{}, head {}", name(s.kernel), backward ? "backward" : "forward", s.m,
                     s.n, s.head_size);
}

}  // namespace

AttentionKernel newest_attention(const Device& device) {
  for (const AttentionKernel kernel : newest_first)
    if (runs_on(kernel, device)) return kernel;
  throw input_error(fmt::format("no FlashAttention kernel runs on {} (compute capability {})",
                                device.name, device.limits.compute_capability),
                    "gpu", "compute capability 8.0 or newer");
}

AttentionShape attention_shape(const Device& device, const AttentionProblem& problem,
                               std::optional<AttentionKernel> wanted) {
  if (wanted && !runs_on(*wanted, device))
    throw input_error(fmt::format("{} does not run on {}", name(*wanted), device.name), "gpu",
                      fmt::format("{} does", name(newest_attention(device))));
  for (const AttentionKernel kernel : newest_first) {
    if (wanted ? kernel != *wanted : !runs_on(kernel, device)) continue;
    for (const AttentionShape& shape : shapes_of(device, problem, kernel))
      if (fits(device, shape)) return shape;
  }
  const AttentionKernel kernel = wanted ? *wanted : newest_attention(device);
  const Shapes shapes = shapes_of(device, problem, kernel);
  if (shapes.empty()) throw no_template(kernel, problem);
  throw input_error(fmt::format("{} does not fit {}: it {}", text(shapes.back(), problem.backward),
                                device.name, does_not_fit(device, shapes.back())),
                    "attention.head_size", "smaller heads");
}

std::int64_t largest_unpadded_head(const Device& device, const AttentionProblem& problem) {
  const AttentionKernel kernel = attention_shape(device, problem).kernel;
  AttentionProblem smaller = problem;
  for (std::int64_t size = problem.head_size - 1; size > 0; --size) {
    smaller.head_size = smaller.value_size = size;
    const Shapes shapes = shapes_of(device, smaller, kernel);
    if (!shapes.empty() && shapes.front().head_size == size) return size;
  }
  return 0;
}

std::vector<RejectedAttention> rejected_attention(const Device& device,
                                                  const AttentionProblem& problem) {
  const AttentionShape chosen = attention_shape(device, problem);
  const std::string_view direction = problem.backward ? "backward" : "forward";
  std::vector<RejectedAttention> result;
  for (const AttentionKernel kernel : newest_first) {
    const std::string label =
        fmt::format("{} {}, head {}", name(kernel), direction, problem.head_size);
    if (!runs_on(kernel, device)) {
      result.push_back({label, fmt::format("does not run on compute capability {}",
                                           device.limits.compute_capability)});
      continue;
    }
    const Shapes shapes = shapes_of(device, problem, kernel);
    if (shapes.empty()) {
      const Error error = no_template(kernel, problem);
      result.push_back(
          {label, error.hint.empty() ? error.message : error.message + ": " + error.hint});
    }
    for (const AttentionShape& s : shapes) {
      if (s == chosen) break;  // the kernel's own launcher looks no further
      result.push_back({text(s, problem.backward),
                        fits(device, s) ? fmt::format("{} is newer", name(chosen.kernel))
                                        : does_not_fit(device, s)});
    }
  }
  return result;
}

}  // namespace isoloop::gpu
