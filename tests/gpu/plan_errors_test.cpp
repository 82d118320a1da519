// What cannot be planned, and the whole text that says so.
#include <doctest/doctest.h>

#include <string>

#include "gpu/examples.h"
#include "isoloop/gpu.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

template <class Change>
std::string refusal(Change change, const char* gpu = "h100-sxm5") {
  arch::Architecture a = gpu_test::plain();
  PlanOptions o;
  o.sequence = 2048;
  change(a, o);
  return isoloop::test::error_of([&] { plan(a, find_device(gpu, "--gpu"), o); }).what();
}

}  // namespace

TEST_CASE("plan errors: tokens that TP cannot split, or that are no whole sequences") {
  CHECK(refusal([](auto&, auto& o) { o.tokens = 8190, o.sequence = 8190, o.tp = 4; }) ==
        "tokens: 8190 tokens cannot be split over TP 4\n  hint: TP may be 1, 2, 3, 5, 6, 7, 9, "
        "10, 13, 14, 15, 18");
  CHECK(refusal([](auto&, auto& o) { o.tokens = 5000; }) ==
        "tokens: 5000 tokens are not whole sequences of 2048\n  hint: for example 6144");
  CHECK(refusal([](auto&, auto& o) { o.tokens = 0; }) == "tokens: is 0; expected at least 1");
}

TEST_CASE("plan errors: dimensions that cannot be sharded, with those that can") {
  CHECK(refusal([](auto&, auto& o) { o.ep = 12; }) ==
        "segments[0].ffn.experts: 32 experts cannot be split over EP 12\n  hint: EP may be 1, 2, "
        "4, 8, 16, 32");
  CHECK(refusal([](auto& a, auto& o) { a.segments[0].attention.heads = 12, o.tp = 8; }) ==
        "segments[0].attention.heads: 12 heads cannot be split over TP 8\n  hint: TP may be 1, 2, "
        "3, 4, 6, 12");
  CHECK(refusal([](auto& a, auto& o) {
          a.segments[0].attention.heads = 12;
          a.segments[0].attention.kv_heads = 6;
          o.tp = 4;
        }) ==
        "segments[0].attention.kv_heads: 6 key heads can neither be split nor replicated over TP "
        "4\n  hint: TP may be 1, 2, 3, 6");
  CHECK(refusal([](auto& a, auto& o) {
          a.segments[0].ffn = {};
          a.segments[0].ffn.size = 1026;
          o.tp = 4;
        }) ==
        "segments[0].ffn.size: 1026 FFN columns cannot be split over TP 4\n  hint: TP may be 1, "
        "2, 3, 6, 9, 18, 19, 27, 38, 54, 57, 114");
  CHECK(refusal([](auto&, auto& o) { o.pp = 3; }) ==
        "segments: 8 executed layers cannot be split over PP 3\n  hint: PP may be 1, 2, 4, 8");
  CHECK(refusal([](auto& a, auto& o) { a.vocab = 50257, o.tp = 4; }) ==
        "vocab_size: 50257 vocabulary entries cannot be split over TP 4\n  hint: pad the "
        "vocabulary to a multiple of 4");
  CHECK(refusal([](auto&, auto& o) { o.ep = 8, o.dp = 2; }) ==
        "ep: EP 8 does not divide DP x TP = 2\n  hint: EP may be 1, 2");
}

TEST_CASE("plan errors: what the device or its kernels lack") {
  CHECK(refusal([](auto&, auto& o) { o.dtype = DType::fp8; }, "a100-sxm4-80gb") ==
        "dtype: A100 SXM4 80GB has no fp8 tensor cores\n  hint: it has fp32, tf32, bf16, fp16, "
        "int8");
  CHECK(refusal([](auto& a, auto&) { a.segments[0].attention.head_size = 264; }) ==
        "attention.head_size: no FlashAttention-3 kernel supports a head size of 264\n  hint: "
        "templates go up to 256");
  CHECK(refusal([](auto&, auto& o) { o.dtype = DType::fp16; }, "v100-sxm2-32gb") ==
        "gpu: no FlashAttention kernel runs on V100 SXM2 32GB (compute capability 7.0)\n  hint: "
        "compute capability 8.0 or newer");
  CHECK(refusal([](auto&, auto& o) { o.tp = 2; }, "l40s") ==
        "link_gbs_both_ways: L40S has no NVLink\n  hint: state the bandwidth of the link between "
        "GPUs");
}

TEST_CASE("plan errors: an architecture that is wrong by itself") {
  CHECK(refusal([](auto& a, auto&) { a.segments[0].ffn.top_k = 33; }).find("top_k") !=
        std::string::npos);
}

TEST_CASE("plan errors: names") {
  CHECK(std::string(isoloop::test::error_of([] { parse_phase("train", "--phase"); }).what())
            .starts_with("--phase: unknown phase 'train'"));
  CHECK(parse_phase("decode", "") == Phase::decode);
  CHECK(parse_recompute("full", "") == Recompute::full);
}
