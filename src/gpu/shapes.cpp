// Tile shapes that real libraries launch, and which of them a device can hold.
//
// Right by CUTLASS (generator lists for sm80, sm90, sm100, sm120) and DeepGEMM (block sizes of sm90
// and sm100), read at NVIDIA/cutlass 7107b05 and deepseek-ai/DeepGEMM 54e2261; register counts by
// ptxas of CUDA 13.0.88 (tests/gpu/data/compiled_*.csv). k is given in bytes, so one list serves
// every width. A shape that does not fit is rejected with the reason, never proposed.
//
// Held by tests/gpu/shapes_test.cpp.
#include "gpu/shapes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace isoloop::gpu {
namespace {

struct MmaTile {
  int m, n, k_bytes, stages, warps_m, warps_n;
};
// sm80 list; two-stage and three-stage forms serve devices with 99 KiB per block.
constexpr std::array<MmaTile, 31> mma_tiles = {{
    {256, 128, 64, 3, 4, 2},  {128, 256, 64, 3, 2, 4},  {256, 64, 64, 3, 4, 1},
    {256, 64, 64, 4, 4, 1},   {64, 256, 64, 4, 1, 4},   {128, 128, 64, 3, 2, 2},
    {128, 128, 64, 4, 2, 2},  {128, 128, 64, 5, 2, 2},  {128, 64, 64, 6, 2, 2},
    {64, 128, 64, 6, 2, 2},   {64, 64, 64, 10, 2, 2},   {64, 64, 64, 6, 2, 2},
    {256, 128, 128, 3, 4, 2}, {128, 256, 128, 3, 2, 4}, {256, 64, 128, 3, 4, 1},
    {256, 64, 128, 4, 4, 1},  {64, 256, 128, 3, 1, 4},  {64, 256, 128, 4, 1, 4},
    {128, 128, 128, 3, 2, 2}, {128, 128, 128, 4, 2, 2}, {128, 64, 128, 3, 2, 2},
    {64, 128, 128, 3, 2, 2},  {64, 64, 128, 5, 2, 2},   {64, 64, 128, 3, 2, 2},
    {256, 128, 128, 2, 4, 2}, {128, 256, 128, 2, 2, 4}, {128, 128, 128, 2, 2, 2},
    {128, 64, 64, 3, 2, 2},   {64, 128, 64, 3, 2, 2},   {32, 64, 128, 4, 2, 2},
    {16, 64, 256, 4, 1, 4},
}};
// Two stages through registers, as libraries of Volta and Turing use.
constexpr std::array<MmaTile, 5> register_tiles = {{
    {256, 128, 64, 2, 4, 2},
    {128, 256, 64, 2, 2, 4},
    {128, 128, 64, 2, 2, 2},
    {128, 64, 64, 2, 2, 2},
    {64, 64, 64, 2, 2, 2},
}};
// sm120: 8-bit and 4-bit kernels with a producer and eight multiplying warps.
constexpr std::array<MmaTile, 4> sm120_tiles = {{
    {64, 64, 128, 0, 2, 4},
    {64, 128, 128, 0, 2, 4},
    {128, 64, 128, 0, 4, 2},
    {128, 128, 128, 0, 4, 2},
}};

/// Largest count ptxas gave for this warp tile over the architectures that compile it alike.
int mma_registers(const MmaTile& t, bool blackwell) {
  const int accumulators = t.m / t.warps_m * (t.n / t.warps_n) / 32;
  const bool deep = t.k_bytes > 64;
  if (accumulators >= 128) return blackwell ? (deep ? 240 : 170) : (deep ? 226 : 218);
  if (accumulators >= 64) return blackwell ? 162 : 126;
  if (accumulators >= 32) return blackwell ? 90 : 93;
  return blackwell ? 72 : 64;
}

int elements(int bytes, Width width) {
  switch (width) {
    case Width::bits32:
      return bytes / 4;
    case Width::bits16:
      return bytes / 2;
    case Width::bits8:
      return bytes;
    default:
      return bytes * 2;
  }
}

class Collector {
 public:
  Collector(const Limits& limits, Width width) : limits_(limits), width_(width) {}

  void add(TileShape shape, int k_bytes, std::string_view refused = {}) {
    shape.k = elements(k_bytes, width_);
    if (!refused.empty()) return reject(shape, std::string(refused));
    if (shape.stages < 2) return reject(shape, "fewer than two stages fit in shared memory");
    if (shape.tmem_columns > limits_.tmem_columns)
      return reject(shape, fmt::format("needs {} columns of tensor memory of {}",
                                       shape.tmem_columns, limits_.tmem_columns));
    const BlockNeeds needs{shape.threads, shape.registers, 0, shape.smem_bytes};
    const Occupancy o = isoloop::gpu::occupancy(limits_, needs);
    if (o.blocks_per_sm == 0) return reject(shape, why_not(shape, o));
    shape.blocks_per_sm = o.blocks_per_sm;
    if (shape.tmem_columns > 0)  // two resident CTAs need half of tensor memory each
      shape.blocks_per_sm = std::min(o.blocks_per_sm, limits_.tmem_columns / shape.tmem_columns);
    if (shape.persistent) shape.blocks_per_sm = 1;
    shape.occupancy = o.fraction * shape.blocks_per_sm / o.blocks_per_sm;
    list.fitting.push_back(shape);
  }

  ShapeList list;
  bool with_reasons = true;

 private:
  std::string why_not(const TileShape& shape, const Occupancy& o) const {
    if (o.limiting.front() == Limit::smem)
      return fmt::format("needs {} bytes of shared memory; a block may have {}", shape.smem_bytes,
                         limits_.smem_per_block_optin);
    return fmt::format("{} threads of {} registers do not fit the {} of an SM", shape.threads,
                       shape.registers, limits_.registers_per_sm);
  }
  void reject(const TileShape& shape, std::string reason) {
    list.rejected.push_back({shape, std::move(reason)});
  }

  const Limits& limits_;
  Width width_;
};

void add_mma(Collector& out, const MmaTile& t, Family family, bool blackwell) {
  TileShape s;
  s.family = family;
  s.m = t.m;
  s.n = t.n;
  s.stages = t.stages;
  s.warps_m = t.warps_m;
  s.warps_n = t.warps_n;
  s.threads = 32 * t.warps_m * t.warps_n;
  s.registers = mma_registers(t, blackwell);
  s.smem_bytes = std::int64_t{t.stages} * (t.m + t.n) * t.k_bytes;
  out.add(s, t.k_bytes);
}

void mma_sync_shapes(Collector& out, const Limits& limits, Width width) {
  const bool blackwell = limits.compute_capability[0] == '1';
  for (const MmaTile& tile : mma_tiles) add_mma(out, tile, Family::mma_sync, blackwell);
  if (limits.compute_capability != "12.0" || width == Width::bits16 || width == Width::bits32)
    return;
  for (const MmaTile& t : sm120_tiles) {
    TileShape s;
    s.family = Family::mma_sync;
    s.m = t.m;
    s.n = t.n;
    s.warps_m = t.warps_m;
    s.warps_n = t.warps_n;
    s.threads = 384;  // a producer warpgroup beside eight warps
    s.registers = 168;
    const std::int64_t epilogue = std::int64_t{t.m} * 32 * 2, stage = (t.m + t.n) * t.k_bytes;
    s.stages = static_cast<int>((limits.smem_per_block_optin - epilogue) / stage);
    s.smem_bytes = epilogue + s.stages * stage;
    s.persistent = true;
    out.add(s, t.k_bytes);
  }
}

/// Launch registers per thread of warp-specialised kernels: the register file over the threads.
int warpgroup_registers(int threads) { return threads <= 256 ? 232 : threads <= 384 ? 168 : 128; }

constexpr int tma_k_bytes = 128, most_stages = 8, barrier_bytes = 32;

void add_wgmma(Collector& out, const Limits& limits, int m, int n) {
  TileShape s;
  s.family = Family::wgmma;
  s.m = m;
  s.n = n;
  s.consumer_groups = m == 64 ? 1 : m == 192 ? 3 : 2;
  s.threads = 128 * (s.consumer_groups + 1);
  s.registers = warpgroup_registers(s.threads);
  s.persistent = true;
  // The epilogue stores 32 columns at a time, double buffered.
  const std::int64_t epilogue = std::int64_t{m} * 32 * 2 * 2;
  const std::int64_t stage = std::int64_t{m + n} * tma_k_bytes + barrier_bytes;
  s.stages = static_cast<int>(
      std::min<std::int64_t>(most_stages, (limits.smem_per_block_optin - epilogue) / stage));
  s.smem_bytes = epilogue + s.stages * stage;
  const int accumulators = m * n / (128 * s.consumer_groups);
  out.add(s, tma_k_bytes,
          accumulators > 128
              ? fmt::format("{} accumulators per thread; more than 128 spill", accumulators)
              : std::string());
}

void wgmma_shapes(Collector& out, const Limits& limits) {
  constexpr std::array<int, 13> widths = {16,  32,  48,  64,  80,  96, 112,
                                          128, 144, 160, 192, 224, 256};
  for (const int n : widths) {
    add_wgmma(out, limits, 64, n);
    add_wgmma(out, limits, 128, n);
  }
  for (const int n : {64, 128, 256}) add_wgmma(out, limits, 256, n);
  for (const int n : {128, 192}) add_wgmma(out, limits, 192, n);
}

int tmem_columns(int n, int accumulator_stages) {
  int columns = 32;
  while (columns < n * accumulator_stages) columns *= 2;
  return columns;
}

/// m, n per CTA. A pair of SMs loads half of B each.
void add_tcgen05(Collector& out, const Limits& limits, int m, int n, bool two_sm, bool swapped) {
  TileShape s;
  s.family = Family::tcgen05;
  s.m = m;
  s.n = n;
  s.two_sm = two_sm;
  s.cluster_m = two_sm ? 2 : 1;
  s.threads = 256;   // scheduler, TMA, MMA and epilogue-load warps, four epilogue warps
  s.registers = 86;  // 64 columns of tensor memory read at a time
  s.persistent = true;
  const int columns = swapped ? m : n;  // the operand that lies along tensor memory columns
  s.accumulator_stages = std::clamp(512 * 128 / (128 * columns), 1, 4);
  while (s.accumulator_stages > 1 && columns * s.accumulator_stages > 512) --s.accumulator_stages;
  s.tmem_columns = tmem_columns(columns, s.accumulator_stages);
  const std::int64_t epilogue = std::int64_t{128} * 32 * 2 * 2;
  const std::int64_t stage = std::int64_t{m + (two_sm ? n / 2 : n)} * tma_k_bytes + barrier_bytes;
  s.stages = static_cast<int>(
      std::min<std::int64_t>(most_stages, (limits.smem_per_block_optin - epilogue) / stage));
  s.smem_bytes = epilogue + s.stages * stage;
  out.add(s, tma_k_bytes);
}

void tcgen05_shapes(Collector& out, const Limits& limits) {
  for (const int n : {64, 128, 192, 256}) {
    if (n != 192) add_tcgen05(out, limits, 64, n, false, false);
    add_tcgen05(out, limits, 128, n, false, false);
    add_tcgen05(out, limits, 128, n, true, false);
  }
  // Operands swapped: 128 output features against a block of tokens.
  for (const int m : {16, 32, 96, 160, 192, 224, 256})
    add_tcgen05(out, limits, m, 128, false, true);
}

}  // namespace

ShapeList shapes_of_family(const Limits& limits, Width width, Family family) {
  Collector out(limits, width);
  switch (family) {
    case Family::mma_register:
      for (const MmaTile& t : register_tiles) add_mma(out, t, family, false);
      break;
    case Family::mma_sync:
      mma_sync_shapes(out, limits, width);
      break;
    case Family::wgmma:
      wgmma_shapes(out, limits);
      break;
    case Family::tcgen05:
      tcgen05_shapes(out, limits);
      break;
  }
  return std::move(out.list);
}

Family family_of(const Limits& limits) {
  const std::string& c = limits.compute_capability;
  if (c.starts_with("7.")) return Family::mma_register;
  if (c == "9.0") return Family::wgmma;
  if (c.starts_with("10.")) return Family::tcgen05;
  return Family::mma_sync;
}

ShapeList gemm_shapes(const Device& device, Precision precision, std::optional<Family> family) {
  peak_flops(device, precision);
  const Family own = family_of(device.limits), wanted = family.value_or(own);
  const bool possible =
      wanted == own || (wanted == Family::mma_sync && own != Family::mma_register);
  if (!possible)
    throw input_error(fmt::format("{} does not run {} kernels", device.name, name(wanted)),
                      "family", fmt::format("it runs {}", name(own)));
  return shapes_of_family(device.limits, width_of(precision), wanted);
}

std::string text(const TileShape& s) {
  std::string out = fmt::format("{}x{}x{} s{}", s.m, s.n, s.k, s.stages);
  if (s.consumer_groups > 0)
    out += fmt::format(", {} consumer warpgroup{}", s.consumer_groups,
                       s.consumer_groups == 1 ? "" : "s");
  else if (s.warps_m > 0)
    out += fmt::format(", warps {}x{}", s.warps_m, s.warps_n);
  if (s.two_sm) out += ", 2 SM";
  if (s.cluster_m * s.cluster_n > 1)
    out += fmt::format(", cluster {}x{}", s.cluster_m, s.cluster_n);
  return out;
}

}  // namespace isoloop::gpu
