// Benchmark of the law module on one core: 4,500 starts of a five-coefficient fit on 240 points,
// and 2,000 bootstrap refits of six coefficients on 72 points. Processor time, so that other work
// on the machine does not count; never a test.
//
// The points are made here from a law with known coefficients and noise of 0.3 %.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

#include "isoloop/law.h"

namespace {

using namespace isoloop::law;

double seconds(std::clock_t since) {
  return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC;
}

/// Uniform in 0 .. 1, from a linear congruential generator (Knuth, MMIX).
double uniform(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

/// Roughly normal, with standard deviation 1.
double noise(std::uint64_t& state) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform(state);
  return sum;
}

/// Shaped like the digitised points of arXiv 2203.15556.
Runs chinchilla_runs(std::size_t count) {
  Runs runs;
  std::uint64_t state = 7;
  for (std::size_t i = 0; i < count; ++i) {
    Run run;
    run.params = 5e7 * std::pow(300.0, uniform(state));
    run.tokens = *run.params * 2 * std::pow(100.0, uniform(state));
    run.loss =
        1.8172 + 482.01 / std::pow(*run.params, 0.3478) + 2085.43 / std::pow(*run.tokens, 0.3658);
    run.loss *= std::exp(3e-3 * noise(state));
    runs.rows.push_back(run);
  }
  return runs;
}

/// 12 cells of six horizons, as in arXiv 2609.01343.
Runs cell_runs() {
  Runs runs;
  std::uint64_t state = 11;
  for (const double flops : {6.3e8, 1.4e9, 4.1e9, 1.02e10})
    for (const double sparsity : {0.85, 0.95, 0.97})
      for (const double tokens : {2.05e10, 3.1e10, 6.2e10, 1.15e11, 1.67e11, 2.16e11}) {
        Run run;
        run.flops = flops;
        run.sparsity = sparsity;
        run.tokens = tokens;
        run.loss = 1.4439 + 1366 * std::pow(1 - sparsity, 0.153) / std::pow(flops, 0.3703) +
                   1.975e6 / std::pow(tokens, 0.6594);
        run.loss *= std::exp(3e-3 * noise(state));
        run.cell = std::to_string(flops) + "/" + std::to_string(sparsity);
        runs.rows.push_back(run);
      }
  return runs;
}

void bench_starts() {
  const Runs runs = chinchilla_runs(240);
  FitOptions options;
  options.starts = chinchilla_starts();
  double best = 1e9;
  Fit result;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t start = std::clock();
    result = fit(runs, parse_form("chinchilla", ""), options);
    best = std::min(best, seconds(start));
  }
  std::printf("%-58s %8.2f s  %zu of %zu starts reached the optimum (best of 5)\n",
              "240 points, 5 coefficients, 4,500 starts", best, result.starts.reached,
              result.starts.tried);
}

void bench_bootstrap() {
  const Fit first = fit(cell_runs(), parse_form("smelt", ""));
  double best = 1e9;
  Draws draws;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t start = std::clock();
    draws = bootstrap(first);
    best = std::min(best, seconds(start));
  }
  std::printf("%-58s %8.2f s  %zu draws, %zu failed (best of 5)\n",
              "72 points, 6 coefficients, 2,000 bootstrap refits", best, draws.values.size(),
              draws.failed);
}

}  // namespace

int main() {
  bench_starts();
  bench_bootstrap();
}
