// Attention launches: templates and padded shares as the libraries pad, masks, and refusals.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "isoloop/gpu.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

AttentionProblem problem(std::int64_t d, bool causal = false, std::int64_t s = 16384) {
  AttentionProblem p;
  p.sequences = 1;
  p.heads = p.kv_heads = 16;
  p.queries = p.keys = s;
  p.head_size = p.value_size = d;
  p.causal = causal;
  p.precision = Precision::fp16;
  return p;
}

}  // namespace

TEST_CASE("attention: head sizes are padded to the kernel's template") {
  struct Row {
    int d, flash2, flash3, flash4, useful_percent;
  };
  // Head size, templates, useful share of FlashAttention-2's products.
  constexpr std::array<Row, 9> rows = {{{36, 64, 64, 48, 56},
                                        {42, 64, 64, 48, 66},
                                        {44, 64, 64, 48, 69},
                                        {48, 64, 64, 48, 75},
                                        {55, 64, 64, 64, 86},
                                        {56, 64, 64, 64, 88},
                                        {80, 96, 96, 80, 83},
                                        {112, 128, 128, 112, 88},
                                        {160, 192, 192, 192, 83}}};
  for (const Row& row : rows) {
    CAPTURE(row.d);
    const auto on = [&](const char* id, std::optional<AttentionKernel> kernel) {
      return plan_attention(find_device(id, ""), problem(row.d), kernel);
    };
    const AttentionLaunch two = on("a100-sxm4-80gb", {});
    CHECK(two.kernel_head_size == row.flash2);
    CHECK(std::abs(100 * two.tile_efficiency - row.useful_percent) < 0.51);
    CHECK(on("h100-sxm5", {}).kernel_head_size == row.flash3);
    CHECK(on("h100-sxm5", AttentionKernel::flash2).kernel_head_size == row.flash2);
    if (row.d <= 128) CHECK(on("b200", {}).kernel_head_size == row.flash4);
  }
}

TEST_CASE("attention: tiles, threads and occupancy of known kernels") {
  const AttentionLaunch a100 =
      plan_attention(find_device("a100-sxm4-80gb", ""), problem(128, true));
  CHECK(a100.tile_m == 128);
  CHECK(a100.tile_n == 64);
  CHECK(a100.smem_bytes == 65536);
  CHECK(a100.blocks_per_sm == 2);
  const AttentionLaunch h100 = plan_attention(find_device("h100-sxm5", ""), problem(128));
  CHECK(h100.tile_n == 176);
  CHECK(h100.threads == 384);
  CHECK(plan_attention(find_device("h100-sxm5", ""), problem(64)).threads == 512);
  CHECK(plan_attention(find_device("rtx4090", ""), problem(128, true)).tile_m == 64);
}

TEST_CASE("attention: a mask saves the blocks it empties") {
  const Device& h100 = find_device("h100-sxm5", "");
  const double full = plan_attention(h100, problem(128)).time.mid;
  const double causal = plan_attention(h100, problem(128, true)).time.mid;
  CHECK(causal / full == doctest::Approx(0.52).epsilon(0.08));
  AttentionProblem windowed = problem(128, true);
  windowed.window = 1024;
  CHECK(plan_attention(h100, windowed).time.mid < 0.2 * causal);
  AttentionProblem wide = windowed;
  wide.window = 16384;
  CHECK(plan_attention(h100, wide).padded_share ==
        doctest::Approx(plan_attention(h100, problem(128, true)).padded_share));
}

TEST_CASE("attention: short causal sequences waste blocks on the diagonal") {
  // 512 queries and keys in tiles of 192 x 128: blocks 2 + 3 + 4 of which 131328 scores count.
  const AttentionLaunch l = plan_attention(find_device("h100-sxm5", ""), problem(64, true, 512));
  CHECK(l.tile_efficiency == doctest::Approx(131328.0 / (9 * 192 * 128)));
}

TEST_CASE("attention: decoding reads the cache once, split over SMs") {
  AttentionProblem p = problem(128, true, 32768);
  p.queries = 1;
  p.kv_heads = 8;
  p.heads = 32;
  const AttentionLaunch l = plan_attention(find_device("h100-sxm5", ""), p);
  CHECK(l.splits > 1);
  const double cache = 2.0 * 32768 * 8 * 128 * 2;
  CHECK(l.bytes > cache);
  CHECK(l.bytes < 1.05 * cache);
  CHECK(!l.measured);
}

TEST_CASE("attention: what no kernel supports is refused, with what is") {
  const auto text = [](const char* id, const AttentionProblem& p) {
    return std::string(test::error_of([&] { plan_attention(find_device(id, ""), p); }).what());
  };
  CHECK(text("a100-sxm4-80gb", problem(320)) ==
        "attention.head_size: no FlashAttention-2 kernel supports a head size of 320\n  hint: "
        "templates go up to 256");
  CHECK(text("b200", problem(512)) ==
        "attention.head_size: no FlashAttention-4 kernel supports a head size of 512\n  hint: it "
        "has multiples of 16 up to 128, keys of 192 with values of 128, and 256");
  CHECK(text("t4", problem(64)) ==
        "gpu: no FlashAttention kernel runs on T4 (compute capability 7.5)\n  hint: compute "
        "capability 8.0 or newer");
  CHECK(std::string(test::error_of([] {
                      plan_attention(find_device("a100-sxm4-80gb", ""), problem(64),
                                     AttentionKernel::flash3);
                    }).what()) ==
        "gpu: FlashAttention-3 does not run on A100 SXM4 80GB\n  hint: FlashAttention-2 does");
}
