// How fast plans are: one whole step of a 54B-parameter model, and many candidates in a row.
//
//   ninja -C build isoloop_bench_gpu && build/isoloop_bench_gpu [candidates]
//
// A measurement for maintainers, not a test: the targets are 20 ms for a step and 30 s for 10^5
// candidates on one core.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "isoloop/cost.h"
#include "isoloop/gpu.h"

using namespace isoloop;

namespace {

/// 32 layers, the middle half looped, 64 experts.
arch::Architecture model(std::int64_t hidden, std::int64_t expert) {
  arch::Architecture a;
  a.name = "54b";
  a.hidden = hidden;
  a.vocab = 131072;
  a.context = 4096;
  arch::Segment s;
  s.name = "layers";
  s.layers = 32;
  s.attention.heads = 32;
  s.attention.kv_heads = 8;
  s.attention.head_size = 128;
  s.ffn.moe = true;
  s.ffn.experts = 64;
  s.ffn.top_k = 6;
  s.ffn.expert_size = expert;
  a.segments.push_back(s);
  return arch::with_loop(a, arch::parse_loop("8+16x2+8", 32, "loop"));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int candidates = argc > 1 ? std::atoi(argv[1]) : 100'000;
  const arch::Architecture big = model(4096, 2048);
  std::printf("%s parameters\n", grouped(Ratio(cost::count(big, {}).params_total.value())).c_str());
  for (const char* id : {"h100-sxm5", "b200", "a100-sxm4-80gb"}) {
    const gpu::Device& device = gpu::find_device(id, "gpu");
    auto start = std::chrono::steady_clock::now();
    const gpu::Plan one = gpu::plan(big, device, {});
    std::printf("%s: %zu kernels, step %.0f ms (%.0f..%.0f), MFU %.2f, planned in %.2f ms\n", id,
                one.kernels.size(), one.step_ms.mid, one.step_ms.low, one.step_ms.high, one.mfu,
                1e3 * seconds_since(start));
    const gpu::Planner planner(device, {});
    start = std::chrono::steady_clock::now();
    double sum = 0;
    for (int i = 0; i < candidates; ++i)
      sum += planner.plan(model(2048 + 64 * (i % 64), 512 + 16 * (i / 64 % 100))).step_ms.mid;
    std::printf("  %d plans in %.1f s (mean %.0f ms)\n", candidates, seconds_since(start),
                sum / candidates);
    gpu::StepTimer timer(planner);
    start = std::chrono::steady_clock::now();
    double alone = 0;
    for (int i = 0; i < candidates; ++i)
      alone += timer.time(model(2048 + 64 * (i % 64), 512 + 16 * (i / 64 % 100))).step_ms.mid;
    std::printf("  %d step times in %.1f s (%s)\n", candidates, seconds_since(start),
                alone == sum ? "equal" : "NOT EQUAL");
  }
  return 0;
}
