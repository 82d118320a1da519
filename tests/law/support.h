// Test support for laws: the synthetic runs of tests/law/data, runs made from known coefficients,
// and numbers that agree to a relative tolerance.
//
// Source: tests/law/data/README.md; arXiv 2609.01343 for the coefficients.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "isoloop/law.h"
#include "support/numbers.h"

namespace isoloop::law::test {

using isoloop::test::error_of;

inline std::string file_text(const std::string& name) {
  std::ifstream file(std::string(ISOLOOP_SOURCE_DIR) + "/tests/law/data/" + name, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "synthetic_baseline.csv" or "synthetic_looped.csv" with the column "loss_exact" or
/// "loss_noisy_t4_0p3pct" as loss.
inline Runs synthetic(const std::string& name, const std::string& loss) {
  return read_runs(file_text(name), name, {{Column::loss, loss}});
}
inline Runs noisy_baseline() { return synthetic("synthetic_baseline.csv", "loss_noisy_t4_0p3pct"); }
inline Runs noisy_looped() { return synthetic("synthetic_looped.csv", "loss_noisy_t4_0p3pct"); }

inline Coefficients coefficients(double E, double A, double K, double a, double b, double c) {
  return {{E, A, K, a, b, c}};
}
inline Coefficients baseline_coefficients() {
  return coefficients(1.4439, 1.366e3, 1.975e6, 0.3703, 0.1530, 0.6594);
}
inline Coefficients looped_coefficients() {
  return coefficients(1.4493, 1.963e3, 5.264e6, 0.3892, 0.1460, 0.7011);
}

inline Law smelt_law(const Coefficients& c, std::string name = "test") {
  Law law;
  law.name = std::move(name);
  law.coefficients = c;
  return law;
}

/// Same to a relative tolerance.
inline bool close(double x, double y, double relative) {
  return std::abs(x - y) <= relative * std::max(std::abs(x), std::abs(y));
}

/// A small generator of its own, so that tests do not lean on the library's.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  double uniform() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

/// Runs on a grid, with the law's loss times exp(noise * normal). Cells are size and sparsity.
inline Runs grid_runs(const Coefficients& c, std::initializer_list<double> flops,
                      std::initializer_list<double> sparsities,
                      std::initializer_list<double> tokens, double noise = 0,
                      std::uint64_t seed = 1) {
  const Law law = smelt_law(c);
  Noise random(seed);
  Runs runs;
  runs.file = "grid.csv";
  std::size_t line = 1;
  for (const double f : flops)
    for (const double s : sparsities)
      for (const double d : tokens) {
        Run run;
        run.flops = f;
        run.sparsity = s;
        run.tokens = d;
        run.loss = loss(law, f, s, d) * std::exp(noise * random.normal());
        run.cell = std::to_string(static_cast<long long>(f / 1e6)) + "M-" +
                   std::to_string(static_cast<int>(100 * s + 0.5));
        run.line = ++line;
        runs.rows.push_back(run);
      }
  return runs;
}
/// 12 cells of six horizons.
inline Runs cell_runs(const Coefficients& c, double noise = 3e-3, std::uint64_t seed = 1) {
  return grid_runs(c, {6.3e8, 1.4e9, 4.1e9, 1.02e10}, {0.85, 0.95, 0.97},
                   {2.05e10, 3.1e10, 6.2e10, 1.15e11, 1.67e11, 2.16e11}, noise, seed);
}

/// The texts of the warnings of one kind.
inline std::vector<std::string> texts(const std::vector<Warning>& warnings, WarningKind kind) {
  std::vector<std::string> out;
  for (const Warning& warning : warnings)
    if (warning.kind == kind) out.push_back(warning.text);
  return out;
}
/// The only warning of a kind; "" if there is none.
inline std::string text_of(const std::vector<Warning>& warnings, WarningKind kind) {
  const auto found = texts(warnings, kind);
  CHECK(found.size() <= 1);
  return found.empty() ? "" : found[0];
}

}  // namespace isoloop::law::test
