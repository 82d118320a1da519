// Plans: amounts equal the cost ledger exactly, loops launch per visit, and shards add up.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "gpu/examples.h"
#include "isoloop/cost.h"
#include "isoloop/gpu.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

const Device& h100() { return find_device("h100-sxm5", "gpu"); }

PlanOptions training(std::int64_t tokens, std::int64_t sequence) {
  PlanOptions o;
  o.tokens = tokens;
  o.sequence = sequence;
  return o;
}

Ratio ledger_macs(const arch::Architecture& a, std::string_view convention, std::int64_t context,
                  bool attention_core) {
  cost::Options options;
  options.convention = convention::find(convention, "test");
  options.context = context;
  Ratio sum = 0;
  for (const cost::Row<Ratio>& row : cost::ledger(a, options)) {
    const bool core = row.part == cost::Part::attention_core;
    if (row.mtp || row.part == cost::Part::softmax || (core && !attention_core)) continue;
    sum += row.layers * row.visits * row.macs;
  }
  return sum;
}

Ratio pass_macs(const Plan& plan, Pass pass, bool attention = true) {
  Ratio sum = 0;
  for (const Kernel& k : plan.kernels)
    if (k.pass == pass && (attention || k.kind != KernelKind::attention)) sum += k.count * k.macs;
  return sum;
}

Ratio launches(const Plan& plan, std::string_view name, Pass pass = Pass::forward) {
  Ratio sum = 0;
  for (const Kernel& k : plan.kernels)
    if (k.name == name && k.pass == pass) sum += k.count;
  return sum;
}

}  // namespace

TEST_CASE("plan: notes say which heads are padded and which kernels were never measured") {
  const auto has = [](const Plan& plan, const std::string& start) {
    return std::ranges::any_of(plan.notes,
                               [&](const std::string& note) { return note.starts_with(start); });
  };
  arch::Architecture a = gpu_test::plain();
  a.segments[0].attention.head_size = 56;
  const Plan padded = plan(a, h100(), training(4096, 2048));
  CHECK(has(padded, "FlashAttention-3 pads heads of 56 to 64: "));
  CHECK(!has(padded, "no measured"));
  a.segments[0].attention.head_size = 64;
  CHECK(!has(plan(a, h100(), training(4096, 2048)), "FlashAttention-3 pads"));
  CHECK(has(plan(a, find_device("b200", ""), training(4096, 2048)),
            "no measured FlashAttention-4 forward of compute capability 10.0: the range is wider"));
}

TEST_CASE("plan: forward MACs are the ledger's, exactly") {
  gpu_test::RandomArchitectures random(3);
  for (int i = 0; i < 150; ++i) {
    const arch::Architecture a = random.next();
    CAPTURE(arch::to_json(a));
    const std::int64_t tokens = a.context * 3;
    const Plan p = plan(a, h100(), training(tokens, a.context));
    const Ratio causal = ledger_macs(a, "causal", a.context, true) * Ratio(tokens);
    CHECK(p.forward_macs == causal);
    CHECK(pass_macs(p, Pass::forward) == causal);
    // torch counts attention without its mask; everything else is the same.
    CHECK(pass_macs(p, Pass::forward, false) ==
          ledger_macs(a, "torch", a.context, false) * Ratio(tokens));
    // The convention prices backward at twice forward.
    CHECK(p.useful_macs == Ratio(3) * causal);
  }
}

TEST_CASE("plan: forward FLOPs equal what count prints") {
  const arch::Architecture a = gpu_test::large();
  cost::Options options;
  options.context = 4096;
  const cost::Count c = cost::count(a, options);
  const Plan p = plan(a, h100(), training(8192, 4096));
  CHECK(Ratio(2) * p.forward_macs == c.forward.value() * Ratio(8192));
}

TEST_CASE("plan: a looped layer launches once per visit and is stored once") {
  const arch::Architecture base = gpu_test::plain(8);
  const arch::Architecture looped = arch::with_loop(base, arch::parse_loop("2+4x3+2", 8, "loop"));
  const Plan once = plan(base, h100(), training(8192, 2048));
  const Plan thrice = plan(looped, h100(), training(8192, 2048));
  CHECK(launches(once, "qkv projection") == Ratio(8));
  CHECK(launches(thrice, "qkv projection") == Ratio(16));
  CHECK(launches(thrice, "qkv projection", Pass::weight_gradient) == Ratio(16));
  CHECK(launches(thrice, "head") == Ratio(1));
  const auto update = [](const Plan& p) {
    return std::ranges::find_if(p.kernels, [](const Kernel& k) { return k.name == "optimizer"; })
        ->launch()
        .bytes;
  };
  CHECK(update(once) == update(thrice));
}

TEST_CASE("plan: fewer backward visits mean fewer gradients") {
  arch::Architecture a =
      arch::with_loop(gpu_test::plain(8), arch::parse_loop("2+4x4+2", 8, "loop"));
  a.segments[1].visits.backward = 2;
  const Plan p = plan(a, h100(), training(8192, 2048));
  CHECK(launches(p, "attention") == Ratio(4 + 16));
  CHECK(launches(p, "attention", Pass::data_gradient) == Ratio(4 + 8));
}

TEST_CASE("plan: weights of a loop stay in L2 only where everything between visits fits") {
  // Decoding with few sequences: activations are small, so weights decide.
  arch::Architecture small = gpu_test::plain(8);
  small.segments[0].ffn = {};
  small.segments[0].ffn.size = 512;
  small.segments[0].attention.windows = {128};
  const auto loop = [](const arch::Architecture& a, const char* text) {
    return arch::with_loop(a, arch::parse_loop(text, 8, "loop"));
  };
  PlanOptions decode;
  decode.phase = Phase::decode;
  decode.tokens = 4;
  decode.sequence = 2048;
  const Plan fits = plan(loop(small, "3+2x4+3"), h100(), decode);
  CHECK(fits.segments[1].weights_stay_in_l2);
  const auto cached = std::ranges::count_if(
      fits.kernels, [](const Kernel& k) { return k.weights_from_l2 && k.count == Ratio(2 * 3); });
  CHECK(cached >= 4);
  CHECK(launches(fits, "qkv projection") == Ratio(6 + 8));
  CHECK(fits.notes.front().starts_with("recur: its "));
  CHECK(fits.notes.front().ends_with("of weights stay in L2 between visits"));
  const arch::Architecture large =
      arch::with_loop(gpu_test::large(), arch::parse_loop("8+16x2+8", 32, "loop"));
  const Plan too_large = plan(large, h100(), decode);
  CHECK(!too_large.segments[1].weights_stay_in_l2);
  CHECK(too_large.notes.front().ends_with("of weights are read from memory at every visit"));
  // Layer by layer, one layer's weights are all that lies between two visits.
  const arch::Architecture each =
      arch::with_loop(gpu_test::plain(8), arch::parse_loop("each x2", 8, "loop"));
  const arch::Architecture block =
      arch::with_loop(gpu_test::plain(8), arch::parse_loop("all x2", 8, "loop"));
  CHECK(!plan(block, h100(), decode).segments[0].weights_stay_in_l2);
  decode.sequence = 64;
  CHECK(plan(each, find_device("b200", ""), decode).segments[0].weights_stay_in_l2);
}

TEST_CASE("plan: the GPUs of a TP, EP and PP group together do the whole work") {
  const arch::Architecture a = gpu_test::plain(8);
  const Ratio whole = plan(a, h100(), training(8192, 2048)).forward_macs;
  PlanOptions o = training(8192, 2048);
  o.tp = 4;
  CHECK(Ratio(4) * plan(a, h100(), o).forward_macs == whole);
  o.ep = 8;  // experts come from more tokens; every GPU still does its share
  CHECK(Ratio(4) * plan(a, h100(), o).forward_macs == whole);
  o.tp = 1;
  CHECK(plan(a, h100(), o).forward_macs == whole);
  o.pp = 4;
  o.ep = 1;
  Ratio layers = 0, head = 0;
  for (const Kernel& k : plan(a, h100(), o).kernels)
    if (k.pass == Pass::forward) (k.segment ? layers : head) += k.count * k.macs;
  CHECK(Ratio(4) * layers + head == whole);
}

TEST_CASE("plan: experts split over EP, not TP; routers and norms not at all") {
  const arch::Architecture a = gpu_test::plain(8);
  const auto kernel = [&](const PlanOptions& o, std::string_view name) {
    const Plan p = plan(a, h100(), o);
    return *std::ranges::find_if(p.kernels, [&](const Kernel& k) { return k.name == name; });
  };
  PlanOptions o = training(8192, 2048);
  o.tp = 2;
  o.ep = 4;
  const Kernel up = kernel(o, "experts gate and up");
  CHECK(up.groups == 8);
  CHECK(up.n == 1024);  // gate and up of 512 each, whole
  CHECK(kernel(o, "router").n == 32);
  CHECK(kernel(o, "router").m == 4096);
  CHECK(kernel(o, "qkv projection").n == (16 + 2 * 4) * 64 / 2);
  // An expert's rows come from all tokens of the EP group.
  CHECK(up.m == 4096 * 4 * 4 / 32);
  // Volumes: a token goes to 4 experts, 3 of 4 on another GPU, in 16 bit.
  CHECK(kernel(o, "expert dispatch").launch().bytes == 4096.0 * 4 * 1024 * 2 * 3 / 4);
  CHECK(kernel(o, "attention all-gather").launch().bytes == 8192.0 * 1024 * 2 / 2);
}

TEST_CASE("plan: totals are sums of kernels") {
  PlanOptions o = training(8192, 2048);
  o.recompute = Recompute::full;
  const Plan p = plan(gpu_test::plain(8), h100(), o);
  Time sum;
  for (const Kernel& k : p.kernels) sum += k.total_us();
  CHECK(p.step_ms.mid == doctest::Approx(sum.mid / 1000));
  CHECK(p.step_ms.low < p.step_ms.mid);
  CHECK(p.step_ms.mid < p.step_ms.high);
  Time layers;
  for (const Kernel& k : p.kernels)
    if (k.segment) layers += k.total_us();
  const SegmentTime& s = p.segments[0];
  CHECK(8 * (s.forward_us.mid + s.backward_us.mid) == doctest::Approx(layers.mid));
  CHECK(p.mfu > 0.05);
  CHECK(p.mfu < 0.8);
  CHECK(launches(p, "qkv projection", Pass::recompute) == Ratio(8));
  CHECK(p.step_ms.mid > plan(gpu_test::plain(8), h100(), training(8192, 2048)).step_ms.mid);
}

TEST_CASE("plan: pipelines wait pp - 1 microbatches") {
  PlanOptions o = training(8192, 2048);
  o.pp = 4;
  o.microbatches = 8;
  const Plan p = plan(gpu_test::plain(8), h100(), o);
  Time microbatch, step;
  for (const Kernel& k : p.kernels) (k.per_step ? step : microbatch) += k.total_us();
  CHECK(p.step_ms.mid == doctest::Approx((11 * microbatch.mid + step.mid) / 1000));
}

TEST_CASE("plan: every phase, device and dtype that exists") {
  for (const Device& d : devices()) {
    if (d.limits.compute_capability.starts_with("7.")) continue;
    for (const Phase phase : {Phase::training, Phase::prefill, Phase::decode})
      for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32, DType::fp8}) {
        if (d.dense_tflops[static_cast<std::size_t>(tensor_precision(dtype))] == 0) continue;
        PlanOptions o = training(2048, 2048);
        o.phase = phase;
        o.dtype = dtype;
        for (const arch::Architecture& a : {gpu_test::plain(), gpu_test::latent()}) {
          CAPTURE(d.id);
          const Plan p = plan(a, d, o);
          CHECK(p.step_ms.mid > 0);
          CHECK(p.step_ms.mid < 1e4);
          for (const Kernel& k : p.kernels) {
            if (k.kind != KernelKind::gemm && k.kind != KernelKind::grouped_gemm) continue;
            CHECK(k.launch().smem_bytes <= d.limits.smem_per_block_optin);
            CHECK(k.launch().tile_efficiency <= 1.0 + 1e-9);
          }
        }
      }
  }
}

TEST_CASE("plan: a model that does not fit says so") {
  const Plan p = plan(gpu_test::large(), h100(), training(8192, 4096));
  const bool told = std::ranges::any_of(
      p.notes, [](const std::string& note) { return note.starts_with("does not fit: weights"); });
  CHECK(told);
}
