// One frontier as a curve in C, for points, gains and allocations alike.
//
// Held by tests/law/frontier_test.cpp.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "isoloop/law.h"

namespace isoloop::law::detail {

/// C = 6 N D: two per multiply-accumulate, forward once and backward twice.
inline constexpr double flops_per_param = 6;

/// L = floor + size F^-a + data D^-c on C = F D; along its best points floor + prefactor C^-gamma.
struct Curve {
  double floor = 0, size = 0, a = 0, data = 0, c = 0;
  double gamma = 0, prefactor = 0;

  bool valid() const;
  double best_flops(double compute) const;
  double loss(double flops, double tokens) const;
  double best_loss(double compute) const;
  /// Infinity at or below the floor.
  double compute_for(double loss) const;
};

Curve curve_of(const Law& law, const Coefficients& coefficients, double sparsity);
/// The law's own curve; throws if it has no interior optimum.
Curve checked_curve(const Law& law, double sparsity);
void check_compute_budget(double compute);

/// C / C_max of the fitted window; 0 if that is unknown.
double over_window(const Law& law, double compute);
bool is_extrapolated(const Law& law, double compute);

/// Says that the coefficients are rounded, if they are.
void warn_of_law(const Law& law, std::vector<Warning>& out);
/// Says how far the budgets leave the fitted window, if they do.
void warn_of_extrapolation(const Law& law, std::span<const double> budgets,
                           std::vector<Warning>& out);

}  // namespace isoloop::law::detail
