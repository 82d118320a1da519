// Occupancy: how many blocks of a kernel an SM holds, and what limits them.
//
// Integer arithmetic as in cuda_occupancy.h of CUDA 13.0. Two things surprise. Registers are given
// per warp, in each of the four sub-partitions by itself, so 9 warps x 7168 registers = 64512 fit
// the file but not the launch, which is checked with warps rounded up to 4. And a kernel that moves
// registers between warpgroups (setmaxnreg) is judged by its count at launch.
//
// Held by tests/gpu/occupancy_test.cpp: reference vectors, and the toolkit's own header where it is
// installed.
#include <algorithm>
#include <limits>

#include "isoloop/gpu.h"

namespace isoloop::gpu {
namespace {

constexpr int warp_size = 32;
constexpr int most_registers = 256;  // what the header tolerates; ptxas stops at 255

std::int64_t up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

int as_int(std::int64_t value) {
  return static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
}

std::optional<int> by_registers(const Limits& limits, const BlockNeeds& needs, int warps,
                                Occupancy& result) {
  if (needs.registers == 0) return std::nullopt;
  const std::int64_t per_warp = up(std::int64_t{needs.registers} * warp_size, limits.register_unit);
  result.registers_per_block = as_int(per_warp * warps);
  const bool launches = needs.registers <= most_registers &&
                        per_warp * up(warps, limits.warp_unit) <= limits.registers_per_block;
  if (!launches) return 0;
  const std::int64_t per_partition = limits.registers_per_sm / limits.sub_partitions / per_warp;
  return as_int(per_partition * limits.sub_partitions / warps);
}

std::optional<int> by_smem(const Limits& limits, const BlockNeeds& needs, Occupancy& result) {
  const std::int64_t used = needs.static_smem + limits.smem_reserved_per_block;
  const std::int64_t allocated = up(used + needs.dynamic_smem, limits.smem_unit);
  result.smem_per_block = allocated;
  const std::int64_t opted = needs.opt_in ? limits.smem_per_block_optin - needs.static_smem
                                          : limits.smem_per_block_default - needs.static_smem;
  const std::int64_t most =
      limits.smem_reserved_per_block +
      (needs.opt_in ? limits.smem_per_block_optin : limits.smem_per_block_default);
  if (allocated > most || needs.dynamic_smem > std::max<std::int64_t>(opted, 0)) return 0;
  if (allocated == 0) return std::nullopt;
  return as_int(limits.smem_per_sm / allocated);
}

void check(const BlockNeeds& needs) {
  const auto refuse = [](std::string_view field, std::int64_t value, std::string_view least) {
    throw input_error("is " + std::to_string(value) + "; expected at least " + std::string(least),
                      std::string(field));
  };
  if (needs.threads < 1) refuse("threads", needs.threads, "1");
  if (needs.registers < 0) refuse("regs", needs.registers, "0");
  if (needs.dynamic_smem < 0) refuse("smem", needs.dynamic_smem, "0");
  if (needs.static_smem < 0) refuse("static_smem", needs.static_smem, "0");
  if (needs.barriers < 0) refuse("barriers", needs.barriers, "0");
}

}  // namespace

Occupancy occupancy(const Limits& limits, const BlockNeeds& needs) {
  check(needs);
  Occupancy result;
  const int warps = as_int(up(needs.threads, warp_size) / warp_size);
  const int max_warps = limits.max_threads_per_sm / warp_size;
  auto& allowed = result.allowed;
  const auto at = [](Limit limit) { return static_cast<std::size_t>(limit); };
  allowed[at(Limit::warps)] = needs.threads > limits.max_threads_per_block ? 0 : max_warps / warps;
  allowed[at(Limit::registers)] = by_registers(limits, needs, warps, result);
  allowed[at(Limit::smem)] = by_smem(limits, needs, result);
  allowed[at(Limit::blocks)] = limits.max_blocks_per_sm;
  int least = std::numeric_limits<int>::max();
  for (const std::optional<int>& blocks : allowed)
    if (blocks) least = std::min(least, *blocks);
  for (std::size_t i = 0; i < limit_count; ++i)
    if (allowed[i] == least) result.limiting.push_back(static_cast<Limit>(i));
  if (limits.barrier_slots > 0 && needs.barriers > 0) {
    // As in the header: what limited before barriers were looked at stays listed.
    const int slots = limits.barrier_slots / needs.barriers;
    allowed[at(Limit::barriers)] = slots;
    if (slots <= least) result.limiting.push_back(Limit::barriers);
    least = std::min(least, slots);
  }
  result.blocks_per_sm = least;
  result.fraction = static_cast<double>(least) * warps / max_warps;
  return result;
}

}  // namespace isoloop::gpu
