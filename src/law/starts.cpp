// Grids of starting points; see starts.h.
//
// Given the exponents the law is linear in E, A and K. So a start needs exponents only, and the
// amplitudes follow from least squares on predicted/observed - 1 with none of them negative: for
// three unknowns simply the best of the seven sets of positive ones.
//
// Source: variable projection, Golub & Pereyra 1973, doi 10.1137/0710036. Held by
// tests/law/fit_test.cpp.
#include "law/starts.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace isoloop::law {
namespace detail {
namespace {

using Three = Eigen::Vector3d;

// Non-negative least squares G x = h over the unknowns in `free`; the others are fixed.
Three solve(const Eigen::Matrix3d& g, const Three& h, const std::array<bool, 3>& free,
            const Three& fixed) {
  Three best = fixed;
  double best_value = std::numeric_limits<double>::infinity();
  for (unsigned set = 0; set < 8; ++set) {
    std::array<int, 3> unknown{};
    int count = 0;
    bool allowed = true;
    for (int i = 0; i < 3; ++i) {
      if (!(set >> i & 1U)) continue;
      allowed = allowed && free[static_cast<std::size_t>(i)];
      unknown[static_cast<std::size_t>(count++)] = i;
    }
    if (!allowed) continue;
    Eigen::Matrix3d a = Eigen::Matrix3d::Identity();
    Three right = Three::Zero();
    const Three rest = h - g * fixed;
    for (int i = 0; i < count; ++i) {
      right[i] = rest[unknown[static_cast<std::size_t>(i)]];
      for (int j = 0; j < count; ++j)
        a(i, j) = g(unknown[static_cast<std::size_t>(i)], unknown[static_cast<std::size_t>(j)]);
    }
    const Three solution = a.ldlt().solve(right);
    Three x = fixed;
    for (int i = 0; i < count; ++i) x[unknown[static_cast<std::size_t>(i)]] = solution[i];
    const double value = 0.5 * x.dot(g * x) - h.dot(x);
    if ((x.array() >= 0).all() && value < best_value) {
      best_value = value;
      best = x;
    }
  }
  return best;
}

// Puts the amplitudes marked open at their least-squares values given the other parameters.
void fit_amplitudes(const Table& table, const std::array<bool, 3>& open, Vector& p) {
  const auto n = table.rows();
  Eigen::Matrix<double, Eigen::Dynamic, 3> terms(n, 3);
  const Eigen::ArrayXd per_loss = (-table.log_loss).exp();
  terms.col(0) = per_loss;
  terms.col(1) = per_loss * (p[4] * table.sparsity - p[3] * table.size).exp();
  terms.col(2) = per_loss * (-p[5] * table.tokens).exp();
  Three fixed = Three::Zero();
  for (int i = 0; i < 3; ++i)
    if (!open[static_cast<std::size_t>(i)]) fixed[i] = std::exp(p[i]);
  const Eigen::Matrix<double, Eigen::Dynamic, 3> weighted = terms.array().colwise() * table.weight;
  const Three x = solve(terms.transpose() * weighted, weighted.colwise().sum(), open, fixed);
  // An amplitude of 0 has no logarithm: 1 % of the mean loss lets the search decide.
  const double little = 0.01 * std::exp(table.log_loss.mean());
  for (int i = 0; i < 3; ++i)
    if (open[static_cast<std::size_t>(i)]) p[i] = std::log(x[i] > 0 ? x[i] : little);
}

// Amplitudes without values are solved for; what stands here does not matter.
std::vector<double> default_values(Coefficient which) {
  if (which == Coefficient::b) return {0, 0.15, 0.4, 0.8};
  if (which == Coefficient::a || which == Coefficient::c) return {0.1, 0.25, 0.4, 0.6, 0.9, 1.3};
  return {1};
}

// With every exponent pinned there is one start: others have each amplitude e^1.5 = 4.5 times as
// large or as small, so that one optimum is not taken for the only one unseen.
void add_around(const Table& table, std::vector<Vector>& out) {
  const Vector centre = out.front();
  for (std::size_t i = 0; i < 3; ++i)
    for (const double step : {-1.5, 1.5}) {
      if (!table.free[i]) continue;
      out.push_back(centre);
      out.back()[static_cast<Eigen::Index>(i)] += step;
    }
}

}  // namespace

std::vector<Vector> starting_points(const Table& table, const StartGrid& grid) {
  std::array<std::vector<double>, coefficient_count> values;
  std::array<bool, 3> open{};
  for (std::size_t i = 0; i < coefficient_count; ++i) {
    const auto which = static_cast<Coefficient>(i);
    const auto& pinned = table.form.pinned[i];
    if (table.free[i])
      values[i] = grid.values[i].empty() ? default_values(which) : grid.values[i];
    else
      values[i] = {pinned.value_or(0)};
    if (i < 3) open[i] = table.free[i] && grid.values[i].empty();
  }
  std::vector<Vector> out;
  std::array<std::size_t, coefficient_count> at{};
  for (;;) {
    Coefficients c;
    for (std::size_t i = 0; i < coefficient_count; ++i) c.values[i] = values[i][at[i]];
    Vector p = table.parameters(c);
    if (open[0] || open[1] || open[2]) fit_amplitudes(table, open, p);
    out.push_back(p);
    std::size_t i = coefficient_count;
    while (i > 0 && ++at[i - 1] == values[i - 1].size()) at[--i] = 0;
    if (i == 0) break;
  }
  const bool all_default = std::all_of(grid.values.begin(), grid.values.end(),
                                       [](const auto& given) { return given.empty(); });
  if (all_default && out.size() == 1) add_around(table, out);
  return out;
}

std::vector<Vector> few_starting_points(const Table& table) {
  StartGrid grid;
  const auto set = [&](Coefficient which, std::vector<double> values) {
    grid.values[static_cast<std::size_t>(which)] = std::move(values);
  };
  set(Coefficient::a, {0.25, 0.7});
  set(Coefficient::b, {0.15});
  set(Coefficient::c, {0.25, 0.7});
  return starting_points(table, grid);
}

}  // namespace detail

StartGrid chinchilla_starts() {
  StartGrid grid;
  const auto set = [&](Coefficient which, double first, double step, int count, bool logarithm) {
    for (int i = 0; i < count; ++i) {
      const double value = first + step * i;
      grid.values[static_cast<std::size_t>(which)].push_back(logarithm ? std::exp(value) : value);
    }
  };
  set(Coefficient::E, -1, 0.5, 5, true);
  set(Coefficient::A, 0, 5, 6, true);
  set(Coefficient::K, 0, 5, 6, true);
  set(Coefficient::a, 0, 0.5, 5, false);
  set(Coefficient::c, 0, 0.5, 5, false);
  return grid;
}

}  // namespace isoloop::law
