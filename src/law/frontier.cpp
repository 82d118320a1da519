// The compute-optimal frontier in closed form.
//
// On C = F D the loss A' F^-a + K (F/C)^c, A' = A (1-S)^b, is least where a A' F^-a = c K D^-c:
//   F* = (a A' C^c / (c K))^(1/(a+c)),   L* = E + P C^-gamma,   gamma = a c / (a + c).
// For chinchilla C = 6 N D, so with F = 6 N the same holds for A' = A 6^alpha.
//
// Source: arXiv 2609.01343; arXiv 2203.15556, equation 4. Held by tests/law/frontier_test.cpp
// against brute force over F.
#include "law/frontier.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace isoloop::law {
namespace detail {

Curve curve_of(const Law& law, const Coefficients& c, double sparsity) {
  const Form& form = law.form;
  Curve out;
  out.floor = c[Coefficient::E];
  out.a = c[Coefficient::a];
  out.c = c[Coefficient::c];
  out.data = c[Coefficient::K];
  out.size = c[Coefficient::A];
  if (form.family == Family::smelt)
    out.size *= std::pow(1 - sparsity, c[Coefficient::b]);
  else
    out.size *= std::pow(flops_per_param, out.a);
  out.gamma = out.a * out.c / (out.a + out.c);
  const double f = out.best_flops(1);
  out.prefactor = out.size * std::pow(f, -out.a) + out.data * std::pow(1 / f, -out.c);
  return out;
}

bool Curve::valid() const {
  const bool positive = size > 0 && data > 0 && a > 0 && c > 0 && floor >= 0;
  return positive && std::isfinite(size) && std::isfinite(data) && std::isfinite(prefactor);
}

double Curve::best_flops(double compute) const {
  const double log_f = (std::log(a * size / (c * data)) + c * std::log(compute)) / (a + c);
  return std::exp(log_f);
}

double Curve::loss(double flops, double tokens) const {
  return floor + size * std::pow(flops, -a) + data * std::pow(tokens, -c);
}

double Curve::best_loss(double compute) const {
  return floor + prefactor * std::pow(compute, -gamma);
}

double Curve::compute_for(double loss) const {
  if (!(loss > floor)) return std::numeric_limits<double>::infinity();
  return std::pow(prefactor / (loss - floor), 1 / gamma);
}

Curve checked_curve(const Law& law, double sparsity) {
  if (!law.form.size || !law.form.data)
    throw input_error(fmt::format("{} has no compute-optimal point: it needs a size term and a "
                                  "data term",
                                  law.name.empty() ? equation(law.form) : law.name),
                      {}, "take a law with E, A, a, K and c, or fit one without dropping terms");
  if (!(sparsity >= 0 && sparsity < 1))
    throw usage_error(
        fmt::format("sparsity is {}; it is a fraction, at least 0 and below 1", sparsity));
  const Curve curve = curve_of(law, law.coefficients, sparsity);
  if (!curve.valid())
    throw input_error(fmt::format("{} has no compute-optimal point: its amplitudes and exponents "
                                  "must be positive",
                                  law.name.empty() ? "the law" : law.name),
                      {}, "take a law whose A, a, K and c are positive: isoloop list laws");
  return curve;
}

void check_compute_budget(double compute) {
  if (!(compute > 0) || !std::isfinite(compute))
    throw usage_error(fmt::format("compute is {}; it must be positive training FLOPs", compute));
}

double over_window(const Law& law, double compute) {
  return law.window.compute.high > 0 ? compute / law.window.compute.high : 0;
}

bool is_extrapolated(const Law& law, double compute) {
  const Range& range = law.window.compute;
  return range.high > 0 && (compute > range.high || compute < range.low);
}

}  // namespace detail

namespace {

using detail::Curve;

FrontierPoint point_of(const Law& law, const Curve& curve, double sparsity, double compute) {
  FrontierPoint out;
  out.compute = compute;
  out.sparsity = sparsity;
  out.flops_per_token = curve.best_flops(compute);
  out.params = out.flops_per_token / detail::flops_per_param;
  out.tokens = compute / out.flops_per_token;
  out.loss = curve.best_loss(compute);
  out.tokens_per_param = out.tokens / out.params;
  out.over_window = detail::over_window(law, compute);
  out.extrapolated = detail::is_extrapolated(law, compute);
  return out;
}

// Curves of the draws; those without a frontier are left out.
std::vector<Curve> drawn_curves(const Law& law, double sparsity) {
  std::vector<Curve> out;
  if (!law.draws) return out;
  for (const Coefficients& drawn : law.draws->values) {
    const Curve curve = detail::curve_of(law, drawn, sparsity);
    if (curve.valid()) out.push_back(curve);
  }
  return out;
}

void add_intervals(const std::vector<Curve>& draws, double level, FrontierPoint& point) {
  if (draws.empty()) return;
  std::vector<double> flops, tokens, loss, ratio;
  for (const Curve& curve : draws) {
    const double f = curve.best_flops(point.compute);
    flops.push_back(f);
    tokens.push_back(point.compute / f);
    loss.push_back(curve.best_loss(point.compute));
    ratio.push_back(point.compute / f / (f / detail::flops_per_param));
  }
  point.flops_interval = percentile(std::move(flops), level);
  point.tokens_interval = percentile(std::move(tokens), level);
  point.loss_interval = percentile(std::move(loss), level);
  point.tokens_per_param_interval = percentile(std::move(ratio), level);
}

}  // namespace

double loss(const Law& law, double size, double sparsity, double tokens) {
  const Form& form = law.form;
  const Coefficients& c = law.coefficients;
  double out = form.floor ? c[Coefficient::E] : 0;
  if (form.size) {
    double term = c[Coefficient::A] * std::pow(size, -c[Coefficient::a]);
    if (form.family == Family::smelt) term *= std::pow(1 - sparsity, c[Coefficient::b]);
    out += term;
  }
  if (form.data) out += c[Coefficient::K] * std::pow(tokens, -c[Coefficient::c]);
  return out;
}

double frontier_loss(const Law& law, double sparsity, double compute) {
  detail::check_compute_budget(compute);
  return detail::checked_curve(law, sparsity).best_loss(compute);
}

double frontier_compute(const Law& law, double sparsity, double loss) {
  return detail::checked_curve(law, sparsity).compute_for(loss);
}

Frontier frontier(const Law& law, double sparsity, std::span<const double> budgets, double level) {
  const Curve curve = detail::checked_curve(law, sparsity);
  const std::vector<Curve> draws = drawn_curves(law, sparsity);
  Frontier out;
  out.gamma = curve.gamma;
  if (!draws.empty()) {
    std::vector<double> gammas;
    for (const Curve& drawn : draws) gammas.push_back(drawn.gamma);
    out.gamma_interval = percentile(std::move(gammas), level);
  }
  for (const double compute : budgets) {
    detail::check_compute_budget(compute);
    out.points.push_back(point_of(law, curve, sparsity, compute));
    add_intervals(draws, level, out.points.back());
  }
  detail::warn_of_law(law, out.warnings);
  detail::warn_of_extrapolation(law, budgets, out.warnings);
  return out;
}

Allocation allocate(const Law& law, double sparsity, double compute,
                    std::span<const double> size_factors) {
  const Curve curve = detail::checked_curve(law, sparsity);
  const double budgets[] = {compute};
  const Frontier best = frontier(law, sparsity, budgets);
  Allocation out;
  out.best = best.points.front();
  out.gamma = best.gamma;
  out.warnings = best.warnings;
  for (const double factor : size_factors) {
    if (!(factor > 0)) throw usage_error(fmt::format("size factor {} must be positive", factor));
    AllocationRow row;
    row.size_factor = factor;
    row.flops_per_token = factor * out.best.flops_per_token;
    row.params = row.flops_per_token / detail::flops_per_param;
    row.tokens = compute / row.flops_per_token;
    row.tokens_per_param = row.tokens / row.params;
    row.loss = curve.loss(row.flops_per_token, row.tokens);
    row.extra_loss = row.loss - out.best.loss;
    row.extra_compute = compute / curve.compute_for(row.loss) - 1;
    out.rows.push_back(row);
  }
  return out;
}

}  // namespace isoloop::law
