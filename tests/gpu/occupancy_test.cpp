// Occupancy against reference vectors (tests/gpu/data/ORIGIN.md) and against the toolkit's own
// header where it is installed.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>

#include "isoloop/gpu.h"
#include "support/csv.h"
#include "support/numbers.h"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define ISOLOOP_HAS_CUDA_OCCUPANCY 1
#endif

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

const Limits& limits_of(const std::string& capability) {
  for (const Limits& limits : capabilities())
    if (limits.compute_capability == capability) return limits;
  FAIL("no compute capability ", capability);
  return capabilities().front();
}

std::string joined(const std::vector<Limit>& limits) {
  std::string text;
  for (const Limit limit : limits) text += (text.empty() ? "" : "+") + std::string(name(limit));
  return text;
}

std::string shown(const std::optional<int>& blocks) {
  return blocks ? std::to_string(*blocks) : "inf";
}

BlockNeeds needs_of(const test::CsvRow& row) {
  BlockNeeds needs;
  needs.threads = std::stoi(row.at("threads"));
  needs.registers = std::stoi(row.at("regs_per_thread"));
  needs.static_smem = std::stoi(row.at("static_smem"));
  needs.dynamic_smem = std::stoi(row.at("dynamic_smem"));
  needs.opt_in = row.at("smem_limit_mode") == "optin";
  needs.barriers = std::stoi(row.at("block_barriers"));
  return needs;
}

}  // namespace

TEST_CASE("occupancy: every reference vector holds") {
  const auto rows = test::csv("gpu/data/occupancy_vectors.csv");
  REQUIRE(rows.size() == 153);
  for (const auto& row : rows) {
    CAPTURE(row.at("cc"));
    CAPTURE(row.at("threads"));
    CAPTURE(row.at("regs_per_thread"));
    CAPTURE(row.at("dynamic_smem"));
    const Occupancy o = occupancy(limits_of(row.at("cc")), needs_of(row));
    CHECK(o.blocks_per_sm == std::stoi(row.at("active_blocks_per_sm")));
    CHECK(joined(o.limiting) == row.at("limiting_factors"));
    CHECK(shown(o.allowed[0]) == row.at("limit_warps"));
    CHECK(shown(o.allowed[1]) == row.at("limit_regs"));
    CHECK(shown(o.allowed[2]) == row.at("limit_smem"));
    CHECK(shown(o.allowed[3]) == row.at("limit_blocks"));
    CHECK(shown(o.allowed[4]) == row.at("limit_barriers"));
    CHECK(o.registers_per_block == std::stoi(row.at("alloc_regs_per_block")));
    CHECK(o.smem_per_block == std::stoi(row.at("alloc_smem_per_block")));
    const double percent = std::stod(row.at("occupancy_pct"));  // rounded to two decimals
    CHECK(std::abs(o.fraction * 100 - percent) < 0.0051);
  }
}

TEST_CASE("occupancy: one granule more is one block less") {
  // The most dynamic shared memory for b blocks: floor(per SM / b / 128) * 128 - 1024.
  for (const std::string capability : {"8.0", "8.6", "8.9", "9.0", "10.0", "12.0"}) {
    const Limits& limits = limits_of(capability);
    for (int blocks = 1; blocks <= 4; ++blocks) {
      const int most = limits.smem_per_sm / blocks / 128 * 128 - 1024;
      BlockNeeds needs;
      needs.threads = 128;
      needs.registers = 32;
      needs.dynamic_smem = most;
      CHECK(occupancy(limits, needs).blocks_per_sm == blocks);
      needs.dynamic_smem = most + 1;
      CHECK(occupancy(limits, needs).blocks_per_sm == blocks - 1);
    }
  }
}

TEST_CASE("occupancy: needs that make no sense are refused") {
  const Limits& limits = limits_of("9.0");
  CHECK(std::string(test::error_of([&] { occupancy(limits, {}); }).what()) ==
        "threads: is 0; expected at least 1");
  CHECK(std::string(test::error_of([&] {
                      occupancy(limits, {128, -1});
                    }).what()) == "regs: is -1; expected at least 0");
  CHECK(std::string(test::error_of([&] {
                      occupancy(limits, {128, 32, 0, -8});
                    }).what()) == "smem: is -8; expected at least 0");
}

#ifdef ISOLOOP_HAS_CUDA_OCCUPANCY
namespace {

cudaOccDeviceProp properties(const Limits& limits) {
  cudaOccDeviceProp p;
  const auto dot = limits.compute_capability.find('.');
  p.computeMajor = std::stoi(limits.compute_capability.substr(0, dot));
  p.computeMinor = std::stoi(limits.compute_capability.substr(dot + 1));
  p.maxThreadsPerBlock = limits.max_threads_per_block;
  p.maxThreadsPerMultiprocessor = limits.max_threads_per_sm;
  p.regsPerBlock = limits.registers_per_block;
  p.regsPerMultiprocessor = limits.registers_per_sm;
  p.warpSize = 32;
  p.sharedMemPerBlock = static_cast<std::size_t>(limits.smem_per_block_default);
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(limits.smem_per_sm);
  p.numSms = 100;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(limits.smem_per_block_optin);
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(limits.smem_reserved_per_block);
  return p;
}

cudaOccResult oracle(const Limits& limits, const BlockNeeds& needs) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = limits.max_threads_per_block;
  attributes.numRegs = needs.registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(needs.static_smem);
  attributes.shmemLimitConfig = needs.opt_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
  attributes.maxDynamicSharedSizeBytes =
      static_cast<std::size_t>(limits.smem_per_block_optin - needs.static_smem);
  attributes.numBlockBarriers = needs.barriers;
  const cudaOccDeviceProp device = properties(limits);
  const cudaOccDeviceState state;
  cudaOccResult result{};
  const auto status =
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &attributes, &state, needs.threads,
                                              static_cast<std::size_t>(needs.dynamic_smem));
  REQUIRE(status == CUDA_OCC_SUCCESS);
  return result;
}

unsigned flags(const std::vector<Limit>& limiting) {
  constexpr std::array<unsigned, limit_count> bits = {OCC_LIMIT_WARPS, OCC_LIMIT_REGISTERS,
                                                      OCC_LIMIT_SHARED_MEMORY, OCC_LIMIT_BLOCKS,
                                                      OCC_LIMIT_BARRIERS};
  unsigned result = 0;
  for (const Limit limit : limiting) result |= bits[static_cast<std::size_t>(limit)];
  return result;
}

}  // namespace

TEST_CASE("occupancy: agrees with cuda_occupancy.h on random needs") {
  std::mt19937 random(1);
  const auto up_to = [&](int most) { return static_cast<int>(random() % (most + 1)); };
  for (const Limits& limits : capabilities()) {
    for (int i = 0; i < 3000; ++i) {
      BlockNeeds needs;
      needs.threads = 1 + up_to(1023);
      needs.registers = 1 + up_to(255);
      needs.static_smem = up_to(3) == 0 ? up_to(40000) : 0;
      needs.dynamic_smem = up_to(240000);
      needs.barriers = 1 + up_to(15);
      needs.opt_in = up_to(7) != 0;
      CAPTURE(limits.compute_capability);
      CAPTURE(needs.threads);
      CAPTURE(needs.registers);
      CAPTURE(needs.static_smem);
      CAPTURE(needs.dynamic_smem);
      const Occupancy mine = occupancy(limits, needs);
      const cudaOccResult theirs = oracle(limits, needs);
      CHECK(mine.blocks_per_sm == theirs.activeBlocksPerMultiprocessor);
      CHECK(flags(mine.limiting) == theirs.limitingFactors);
      CHECK(mine.registers_per_block == theirs.allocatedRegistersPerBlock);
      CHECK(mine.smem_per_block == static_cast<std::int64_t>(theirs.allocatedSharedMemPerBlock));
    }
  }
}
#else
TEST_CASE("occupancy: agrees with cuda_occupancy.h [skipped: the CUDA toolkit is not installed]" *
          doctest::skip()) {}
#endif
