// Launch shapes: nothing proposed that does not fit, and the counts real compilers and libraries
// give (tests/gpu/data/compiled_*.csv).
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "isoloop/gpu.h"
#include "support/csv.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

const TileShape* find(const ShapeList& list, int m, int n, int stages = 0) {
  for (const TileShape& s : list.fitting)
    if (s.m == m && s.n == n && (stages == 0 || s.stages == stages) && !s.two_sm) return &s;
  return nullptr;
}

}  // namespace

TEST_CASE("shapes: a proposed shape fits its device, a rejected one says why") {
  for (const Device& d : devices()) {
    for (const Precision p : {Precision::fp16, Precision::fp8, Precision::tf32}) {
      if (d.dense_tflops[static_cast<std::size_t>(p)] == 0) continue;
      const ShapeList list = gemm_shapes(d, p);
      CAPTURE(d.id);
      CHECK(list.fitting.size() >= 4);
      for (const TileShape& s : list.fitting) {
        CAPTURE(text(s));
        CHECK(s.smem_bytes <= d.limits.smem_per_block_optin);
        CHECK(s.threads * s.registers <= d.limits.registers_per_sm);
        CHECK(s.blocks_per_sm >= 1);
        CHECK(s.tmem_columns * s.blocks_per_sm <= d.limits.tmem_columns);
        CHECK(s.cluster_m * s.cluster_n <= d.limits.max_cluster);
        CHECK(s.stages >= 2);
      }
      for (const RejectedShape& r : list.rejected) CHECK(!r.reason.empty());
    }
  }
}

TEST_CASE("shapes: 144 KiB stay off the devices with 99 KiB") {
  for (const char* id : {"rtx3090", "rtx4090", "rtx5090"}) {
    const ShapeList list = gemm_shapes(find_device(id, ""), Precision::bf16);
    const auto rejected = std::ranges::find_if(list.rejected, [](const RejectedShape& r) {
      return r.shape.m == 128 && r.shape.n == 256 && r.shape.k == 64 && r.shape.stages == 3;
    });
    REQUIRE(rejected != list.rejected.end());
    CHECK(rejected->reason == "needs 147456 bytes of shared memory; a block may have 101376");
    CHECK(find(list, 128, 256, 2) != nullptr);
  }
  CHECK(find(gemm_shapes(find_device("a100-sxm4-80gb", ""), Precision::bf16), 128, 256, 3));
}

TEST_CASE("shapes: registers cover what ptxas gave for mma.sync") {
  for (const auto& row : test::csv("gpu/data/compiled_mma_sync.csv")) {
    if (row.at("spill_store_B") != "0") continue;
    const std::string arch = row.at("arch");
    const char* id = arch == "sm_80"    ? "a100-sxm4-80gb"
                     : arch == "sm_86"  ? "rtx3090"
                     : arch == "sm_89"  ? "rtx4090"
                     : arch == "sm_90"  ? "h100-sxm5"
                     : arch == "sm_100" ? "b200"
                                        : "rtx5090";
    const ShapeList list = gemm_shapes(find_device(id, ""), Precision::bf16, Family::mma_sync);
    for (const TileShape& s : list.fitting) {
      const bool same = s.m == std::stoi(row.at("BM")) && s.n == std::stoi(row.at("BN")) &&
                        s.k == std::stoi(row.at("BK")) && s.stages == std::stoi(row.at("stages")) &&
                        s.threads == std::stoi(row.at("threads"));
      if (!same) continue;
      CAPTURE(text(s));
      CAPTURE(arch);
      CHECK(s.registers >= std::stoi(row.at("regs")));
      CHECK(s.smem_bytes == std::stoi(row.at("dyn_smem_B")));
    }
  }
}

TEST_CASE("shapes: wgmma stages, threads and registers as compiled") {
  const Device& h100 = find_device("h100-sxm5", "");
  const ShapeList half = gemm_shapes(h100, Precision::fp16);
  for (const auto& row : test::csv("gpu/data/compiled_wgmma_sm90a.csv")) {
    if (row.at("dtype") != "f16") continue;
    const TileShape* s = find(half, std::stoi(row.at("BM")), std::stoi(row.at("BN")));
    if (s == nullptr) continue;
    CAPTURE(row.at("kernel"));
    CHECK(s->threads == std::stoi(row.at("threads")));
    CHECK(s->registers == std::stoi(row.at("ptxas_regs_at_launch")));
    CHECK(s->consumer_groups == std::stoi(row.at("consumer_wgs")));
    // The compiled kernels store from registers; ours keep room for an epilogue.
    CHECK(s->stages >= std::stoi(row.at("stages")) - 1);
    CHECK(s->blocks_per_sm == 1);
  }
  CHECK(find(half, 128, 128)->stages == 6);
  CHECK(find(half, 128, 256)->stages == 4);
  CHECK(find(half, 256, 256) == nullptr);  // 256 accumulators per thread
  const auto spills = std::ranges::find_if(
      half.rejected, [](const RejectedShape& r) { return r.shape.m == 256 && r.shape.n == 256; });
  REQUIRE(spills != half.rejected.end());
  CHECK(spills->reason == "256 accumulators per thread; more than 128 spill");
}

TEST_CASE("shapes: tcgen05 accumulators lie in tensor memory") {
  const ShapeList list = gemm_shapes(find_device("b200", ""), Precision::bf16);
  CHECK(find(list, 128, 256)->accumulator_stages == 2);
  CHECK(find(list, 128, 128)->accumulator_stages == 4);
  for (const TileShape& s : list.fitting) {
    CHECK(s.tmem_columns >= 32);
    CHECK((s.tmem_columns & (s.tmem_columns - 1)) == 0);
    CHECK(s.tmem_columns <= 512);
  }
}

TEST_CASE("shapes: a family the device does not run is refused") {
  CHECK(std::string(test::error_of([] {
                      gemm_shapes(find_device("a100-sxm4-80gb", ""), Precision::bf16,
                                  Family::wgmma);
                    }).what()) ==
        "family: A100 SXM4 80GB does not run wgmma kernels\n  hint: it runs mma.sync");
}
