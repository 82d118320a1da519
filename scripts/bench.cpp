// The benchmark behind scripts/bench: start-up, the grid, the joint problem, and a brute-force figure
// for scale. Wall-clock and peak memory on one core; never a test.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "isoloop/grid.h"
#include "isoloop/solve.h"

namespace {

using namespace isoloop;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

struct Run {
  double ms;
  long peak_kib;
};

/// One run of the program with its output thrown away.
Run spawn(const std::string& program, std::vector<std::string> args) {
  args.insert(args.begin(), program);
  std::vector<char*> argv;
  for (std::string& a : args) argv.push_back(a.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1 /* O_WRONLY */, 0);
  const auto start = Clock::now();
  pid_t pid = 0;
  rusage usage{};
  int status = 1;
  if (posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), nullptr) == 0)
    wait4(pid, &status, 0, &usage);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) std::fprintf(stderr, "%s exited with status %d\n", args[1].c_str(), status);
  return {milliseconds(start), usage.ru_maxrss};
}

/// Median time and largest peak of several runs.
void report_program(const char* what, const std::string& program, const std::vector<std::string>& args) {
  constexpr int runs = 21;
  std::vector<double> times;
  long peak = 0;
  for (int i = 0; i < runs; ++i) {
    const Run run = spawn(program, args);
    times.push_back(run.ms);
    peak = std::max(peak, run.peak_kib);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-58s %9.1f ms  peak %5.1f MB  (median of %d)\n", what, times[runs / 2],
              static_cast<double>(peak) / 1024, runs);
}

solve::MatchRequest joint_request() {
  const grid::Grid grid = grid::load("smelt", "bench");
  solve::MatchRequest request;
  for (const grid::Cell& cell : grid.cells)
    if (cell.name == "200M-E192") request = grid::request(grid, cell);
  using solve::Unknown;
  request.freed[Unknown::depth] = solve::Range{8, 24, 1};
  request.freed[Unknown::loop_span] = std::nullopt;
  request.freed[Unknown::loop_visits] = solve::Range{2, 4, 1};
  request.freed[Unknown::loop_start] = std::nullopt;
  return request;
}

void bench_grid() {
  const auto start = Clock::now();
  Int points = 0;
  const grid::Grid grid = grid::load("smelt", "bench");
  for (const grid::Cell& cell : grid.cells)
    points += solve::match(grid::request(grid, cell)).certificate.points;
  std::printf("%-58s %9.1f ms  %s points proven\n", "all 16 cells of the grid to proven optimum",
              milliseconds(start), scaled(Ratio(points)).c_str());
}

Int bench_joint() {
  const solve::MatchRequest request = joint_request();
  const auto start = Clock::now();
  const solve::MatchResult result = solve::match(request);
  const double ms = milliseconds(start);
  std::printf("%-58s %9.1f ms  %s points proven, largest mismatch %s, loop %s\n",
              "joint problem of one cell, ten dimensions and the loop free", ms,
              scaled(Ratio(result.certificate.points)).c_str(),
              percent(result.answers.front().largest, 4).c_str(),
              arch::loop_text(result.answers.front().loop, result.answers.front().depth).c_str());
  return result.certificate.points;
}

/// Counting one architecture after another, as a search without bounds would.
void bench_brute_force(const Int& points) {
  arch::Architecture model = joint_request().baseline;
  cost::Options options = joint_request().options;
  constexpr int n = 20000;
  const auto start = Clock::now();
  Ratio sum = 0;
  for (int i = 0; i < n; ++i) {
    model.segments.front().ffn.expert_size = 8 + 8 * (i % 100);
    const auto rows = cost::ledger(model, options);
    sum += cost::total(rows, cost::Budget::flops, options);
  }
  const double per_second = n / milliseconds(start) * 1000;
  const double years = points.to_double() / per_second / (365.25 * 86400);
  std::printf("%-58s %9.0f points/s: the joint problem would take %.3g years\n",
              "brute force: counting one architecture after another", per_second, years);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string program = argc > 1 ? argv[1] : "isoloop";
  report_program("start-up and count of a model (whole process)", program, {"count", "qwen3-30b-a3b", "--quiet"});
  report_program("start-up and count of a config file (whole process)", program,
                 {"count", argc > 2 ? argv[2] : "config.json", "--quiet"});
  report_program("match of the default baseline (whole process)", program, {"match", "smelt-200m-e192"});
  report_program("grid smelt (whole process)", program, {"grid", "smelt"});
  report_program("joint problem (whole process)", program,
                 {"match", "smelt-200m-e192", "--convention", "smelt", "--align", "paper", "--free",
                  "depth=8:24", "--free", "span", "--free", "visits=2:4", "--free", "start"});
  bench_grid();
  bench_brute_force(bench_joint());
}
