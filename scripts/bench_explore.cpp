// How fast a whole design space is explored: the front of {mismatch, step time} of a 200M cell, and
// the candidates a walk counts, for docs/benchmarks.md.
//
//   build/isoloop_bench_explore [threads|cell]
//
// A measurement, never a test. Goals: 10^12 points under 60 s on two cores within 500 MB, memory
// that does not grow with the space, 10^7 candidates counted per second and core.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "isoloop/grid.h"
#include "isoloop/space.h"

namespace {

using namespace isoloop;
using solve::Unknown;
using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The 200M cell with 192 experts, everything free, depth up to `deepest`.
space::ExploreRequest request(std::int64_t deepest, const Ratio& tolerance) {
  space::ExploreRequest r;
  const grid::Grid g = grid::load("smelt", "bench");
  for (const grid::Cell& cell : g.cells)
    if (cell.name == "200M-E192") r.match = grid::request(g, cell);
  for (solve::BudgetTolerance& b : r.match.budgets) b.tolerance = tolerance;
  r.match.freed[Unknown::depth] = solve::Range{6, deepest, 1};
  r.match.freed[Unknown::loop_span] = solve::Range{0, deepest, 1};
  r.match.freed[Unknown::loop_visits] = solve::Range{2, 4, 1};
  r.match.freed[Unknown::top_k] = std::nullopt;
  r.prices = {
      space::step_time("step-time", gpu::find_device("h100-sxm5", "bench"), {}, r.match.baseline)};
  r.measures = space::front_measures({"mismatch", "step-time"}, r.prices, "bench");
  return r;
}

void bench_front(std::int64_t deepest, const Ratio& tolerance, int threads) {
  const auto start = Clock::now();
  const space::Exploration e(request(deepest, tolerance));
  space::Exploration::State state = e.start();
  e.run(state, e.shard(1, 1), threads, {});
  const double s = seconds(start);
  std::printf(
      "front of {mismatch, step time}, depth 6-%-3lld within %s %%: %s points, %zu priced, front "
      "%zu, %.2f s, "
      "peak %.0f MB\n",
      static_cast<long long>(deepest), decimal(tolerance * Ratio(100), 0).c_str(),
      scaled(Ratio(state.certificate.points)).c_str(), state.priced, state.front.points().size(), s,
      peak_mb());
}

/// Candidates whose budgets are evaluated exactly: tolerances so wide that nearly all must be.
void bench_walk() {
  space::ExploreRequest r = request(12, Ratio(2));
  r.match.freed.erase(Unknown::top_k);
  r.match.freed[Unknown::depth] = solve::Range{12, 12, 1};
  r.match.freed[Unknown::loop_span] = solve::Range{6, 6, 1};
  r.match.freed[Unknown::loop_visits] = solve::Range{2, 2, 1};
  const solve::MatchSpace space(r.match);
  solve::Walker walker(space.problem());
  const auto start = Clock::now();
  const solve::Certificate c = walker.visit(0, solve::candidates(space.problem()));
  const double s = seconds(start);
  std::printf(
      "walk with tolerances of 200 %%: %s candidates counted in %.2f s, %.3g per second on one "
      "core\n",
      grouped(Ratio(c.visited)).c_str(), s, c.visited.to_double() / s);
}

/// The cell of scripts/bench_matching: seconds of solve::match() alone, median of 21.
int bench_cell() {
  solve::MatchRequest r;
  const grid::Grid g = grid::load("smelt", "bench");
  for (const grid::Cell& cell : g.cells)
    if (cell.name == "200M-E192") r = grid::request(g, cell);
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    const auto start = Clock::now();
    if (solve::match(r).answers.empty()) return 1;
    times.push_back(seconds(start));
  }
  std::sort(times.begin(), times.end());
  std::printf("seconds=%.6f\n", times[times.size() / 2]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "cell") return bench_cell();
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  for (const std::int64_t deepest : {12, 24, 48}) bench_front(deepest, Ratio(1, 100), threads);
  bench_front(24, Ratio(2, 100), threads);
  bench_walk();
}
