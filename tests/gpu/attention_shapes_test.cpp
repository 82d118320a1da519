// Attention shapes: bytes as FlashAttention's launchers state them, nothing that does not fit, and
// reasons for what was passed over.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "isoloop/gpu.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

AttentionProblem problem(std::int64_t d, bool backward, bool causal = true) {
  AttentionProblem p;
  p.sequences = 1;
  p.heads = p.kv_heads = 16;
  p.queries = p.keys = 4096;
  p.head_size = p.value_size = d;
  p.causal = causal;
  p.backward = backward;
  return p;
}

std::int64_t backward_kib(const char* id, std::int64_t d, AttentionKernel kernel) {
  const std::int64_t bytes =
      plan_attention(find_device(id, ""), problem(d, true), kernel).smem_bytes;
  REQUIRE(bytes % 1024 == 0);
  return bytes / 1024;
}

}  // namespace

TEST_CASE("attention shapes: FlashAttention-2 backward takes the bytes its launchers compare") {
  // flash_bwd_launch_template.h: thresholds of max_smem_per_block, and sizes in its comments.
  const auto flash2 = AttentionKernel::flash2;
  CHECK(backward_kib("a100-sxm4-80gb", 32, flash2) == 96);
  CHECK(backward_kib("a100-sxm4-80gb", 64, flash2) == 144);
  CHECK(backward_kib("a100-sxm4-80gb", 96, flash2) == 92);
  CHECK(backward_kib("a100-sxm4-80gb", 128, flash2) == 144);
  CHECK(backward_kib("a100-sxm4-80gb", 192, flash2) == 136);
  CHECK(backward_kib("h100-sxm5", 256, flash2) == 176);
  CHECK(backward_kib("a100-sxm4-80gb", 256, flash2) == 144);
}

TEST_CASE("attention shapes: 99 KiB take the smaller forms, as the launchers do") {
  const auto tile = [](std::int64_t d) {
    const AttentionLaunch l = plan_attention(find_device("rtx4090", ""), problem(d, true));
    return std::pair(l.tile_m, l.tile_n);
  };
  CHECK(tile(64) == std::pair(64, 128));
  CHECK(tile(96) == std::pair(64, 128));
  CHECK(tile(128) == std::pair(64, 64));
  CHECK(tile(192) == std::pair(64, 64));
  CHECK(tile(256) == std::pair(64, 32));
}

TEST_CASE("attention shapes: FlashAttention-3 backward holds K, V, Q, dO, dQ, P or dS") {
  // Head 128 without mask, tile 80x128: K 32, V 32, dQ in fp32 40, Q and dO twice 40 each, dS twice
  // 40 KiB, and row statistics of 2 KiB; 1 KiB is left of 227.
  const Device& h100 = find_device("h100-sxm5", "");
  CHECK(plan_attention(h100, problem(128, true, false)).smem_bytes == 226 * 1024);
  CHECK(plan_attention(h100, problem(128, true)).smem_bytes == 193 * 1024);
  CHECK(plan_attention(h100, problem(256, true)).smem_bytes == 197 * 1024);
}

TEST_CASE("attention shapes: what is proposed fits, on every device, head size and direction") {
  for (const Device& device : devices()) {
    if (device.limits.compute_capability.starts_with("7.")) continue;
    CAPTURE(device.id);
    for (std::int64_t d = 8; d <= 256; d += 8)
      for (const bool causal : {false, true})
        for (const std::int64_t window : {0, 1024})
          for (const std::int64_t queries : {1, 4096})
            for (const bool backward : {false, true}) {
              AttentionProblem p = problem(d, backward, causal);
              p.queries = queries;
              p.window = causal ? window : 0;
              if (backward && queries == 1) continue;
              const AttentionLaunch l = plan_attention(device, p);
              const Occupancy o =
                  occupancy(device.limits, {l.threads, l.registers, 0, l.smem_bytes});
              CHECK(l.smem_bytes <= device.limits.smem_per_block_optin);
              CHECK(o.blocks_per_sm >= 1);
              CHECK(l.blocks_per_sm == o.blocks_per_sm);
              CHECK(l.kernel_head_size >= d);
            }
    AttentionProblem latent = problem(576, false);
    latent.queries = latent.kv_heads = 1;
    latent.value_size = 512;
    latent.shared_latent = true;
    CHECK(plan_attention(device, latent).smem_bytes <= device.limits.smem_per_block_optin);
  }
}

TEST_CASE("attention shapes: an older kernel serves a head size that the newest has not") {
  const AttentionLaunch l = plan_attention(find_device("b200", ""), problem(160, false));
  CHECK(l.kernel == AttentionKernel::flash2);
  CHECK(l.kernel_head_size == 192);
  CHECK(plan_attention(find_device("b200", ""), problem(128, false)).kernel ==
        AttentionKernel::flash4);
}

TEST_CASE("attention shapes: reasons for what was passed over") {
  const auto list = [](const char* id, const AttentionProblem& p) {
    std::vector<std::string> lines;
    for (const RejectedAttention& r : rejected_attention(find_device(id, ""), p))
      lines.push_back(r.shape + ": " + r.reason);
    return lines;
  };
  CHECK(list("rtx4090", problem(128, true)) ==
        std::vector<std::string>{
            "FlashAttention-4 backward, head 128: does not run on compute capability 8.9",
            "FlashAttention-3 backward, head 128: does not run on compute capability 8.9",
            "FlashAttention-2 backward 64x128, head 128: needs 147456 bytes of shared memory; a "
            "block may have 101376"});
  CHECK(list("b200", problem(160, false)) ==
        std::vector<std::string>{
            "FlashAttention-4 forward, head 160: no FlashAttention-4 kernel supports a head size "
            "of 160: it has multiples of 16 up to 128, keys of 192 with values of 128, and 256",
            "FlashAttention-3 forward, head 160: does not run on compute capability 10.0"});
  CHECK(list("h100-sxm5", problem(128, false)) ==
        std::vector<std::string>{
            "FlashAttention-4 forward, head 128: does not run on compute capability 9.0",
            "FlashAttention-2 forward 128x64, head 128: FlashAttention-3 is newer"});
}

TEST_CASE("attention shapes: where none fits, the smallest is named with its need") {
  Device small = find_device("rtx4090", "");
  small.limits.smem_per_block_optin = 64 * 1024;
  CHECK(std::string(test::error_of([&] { plan_attention(small, problem(256, true)); }).what()) ==
        "attention.head_size: FlashAttention-2 backward 64x32, head 256 does not fit GeForce RTX "
        "4090: it "
        "needs 98304 bytes of shared memory; a block may have 65536\n  hint: smaller heads");
}
