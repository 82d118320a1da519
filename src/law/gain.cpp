// Compute-efficiency gain of one law over another at equal frontier loss.
//
// With x = log C the target's frontier has L = E_t + P_t C^-g_t, and the reference needs
// log C_r = (log P_r - log(L - E_r)) / g_r for it; the gain is 1 - exp(x - log C_r). Let
// d = E_t - E_r and u = P_t C^-g_t. The slope of log C_r in x is g_t u / (g_r (d + u)), and the
// gain is highest where it is 1:  u = g_r d / (g_t - g_r).  So with d > 0 and g_t > g_r the gain
// rises to one peak, falls, and in the end turns negative, because the reference goes on to losses
// that the target never reaches. With d < 0 the reference never reaches some losses of the target.
//
// Source: arXiv 2609.01343 (gain); the algebra above. Held by tests/law/gain_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isoloop/law.h"
#include "law/frontier.h"
#include "law/numbers.h"

namespace isoloop::law {
namespace {

using detail::Curve;

// Budgets beyond these are no budgets.
constexpr double least_log_compute = 0, largest_log_compute = 92;  // 1 .. 1e40

double gain_of(const Curve& reference, const Curve& target, double compute) {
  return 1 - compute / reference.compute_for(target.best_loss(compute));
}

double gain_at_reference(const Curve& reference, const Curve& target, double compute) {
  return 1 - target.compute_for(reference.best_loss(compute)) / compute;
}

std::optional<double> peak_of(const Curve& reference, const Curve& target) {
  const double d = target.floor - reference.floor, slope = target.gamma - reference.gamma;
  if (!(d > 0) || !(slope > 0)) return {};
  const double u = reference.gamma * d / slope;
  return std::pow(target.prefactor / u, 1 / target.gamma);
}

// The zero of f in [low, high], where it has different signs.
template <class Function>
double bisect(const Function& f, double low, double high) {
  const bool rising = f(low) < 0;
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = 0.5 * (low + high);
    ((f(middle) < 0) == rising ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Where log C_r = log C. The difference is monotone on either side of the peak.
std::vector<double> sign_changes(const Curve& reference, const Curve& target,
                                 const std::optional<double>& peak) {
  const auto excess = [&](double x) {
    return std::log(reference.compute_for(target.best_loss(std::exp(x)))) - x;
  };
  std::vector<double> ends = {least_log_compute, largest_log_compute};
  if (peak) {
    const double middle = std::log(*peak);
    if (middle > ends[0] && middle < ends[1]) ends.insert(ends.begin() + 1, middle);
  }
  std::vector<double> out;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    if ((excess(ends[i]) < 0) != (excess(ends[i + 1]) < 0))
      out.push_back(std::exp(bisect(excess, ends[i], ends[i + 1])));
  return out;
}

bool draws_are_paired(const Law& reference, const Law& target) {
  return reference.draws && target.draws && reference.draws->by_cell && target.draws->by_cell &&
         reference.draws->seed == target.draws->seed &&
         reference.draws->units == target.draws->units && reference.draws->failed == 0 &&
         target.draws->failed == 0;
}

// Both curves of every draw, by index; those without a frontier are left out.
std::vector<std::pair<Curve, Curve>> drawn_pairs(const Law& reference, const Law& target,
                                                 double sparsity) {
  std::vector<std::pair<Curve, Curve>> out;
  if (!reference.draws || !target.draws) return out;
  const auto& r = reference.draws->values;
  const auto& t = target.draws->values;
  for (std::size_t i = 0; i < std::min(r.size(), t.size()); ++i) {
    const Curve x = detail::curve_of(reference, r[i], sparsity);
    const Curve y = detail::curve_of(target, t[i], sparsity);
    if (x.valid() && y.valid()) out.emplace_back(x, y);
  }
  return out;
}

struct Pair {
  const Law& reference;
  const Law& target;
  Curve r, t;
};

GainRow row_of(const Pair& pair, double sparsity, double compute) {
  GainRow row;
  row.compute = compute;
  row.sparsity = sparsity;
  row.loss = pair.t.best_loss(compute);
  row.reference_compute = pair.r.compute_for(row.loss);
  row.gain = gain_of(pair.r, pair.t, compute);
  row.gain_at_reference = gain_at_reference(pair.r, pair.t, compute);
  row.extrapolated = detail::is_extrapolated(pair.target, compute) ||
                     detail::is_extrapolated(pair.reference, row.reference_compute);
  row.over_window = std::max(detail::over_window(pair.target, compute),
                             detail::over_window(pair.reference, row.reference_compute));
  return row;
}

void warn_of_shape(const GainShape& shape, const Pair& pair, std::vector<Warning>& out) {
  if (pair.t.floor <= pair.r.floor) return;
  std::string text =
      fmt::format("E of {} ({}) is above E of {} ({}): at sparsity {} the gain ", pair.target.name,
                  detail::number_text(pair.t.floor, 6), pair.reference.name,
                  detail::number_text(pair.r.floor, 6), detail::number_text(shape.sparsity, 6));
  if (shape.peak_compute)
    text += fmt::format("peaks at {:.1f} % near C = {:.1e} and ", 100 * *shape.peak_gain,
                        *shape.peak_compute);
  if (shape.sign_changes.empty())
    text += "is negative on every budget";
  else
    text += fmt::format("turns negative beyond C = {:.1e}", shape.sign_changes.back());
  out.push_back({WarningKind::target_floor, std::move(text)});
}

void warn_of_rows(const Gain& gain, std::vector<Warning>& out) {
  for (const GainRow& row : gain.rows)
    if (std::isinf(row.reference_compute)) {
      out.push_back({WarningKind::never_reached,
                     fmt::format("{} never reaches the loss {} that {} has at C = {:.1e}: the gain "
                                 "there is 100 % in name only",
                                 gain.reference, detail::number_text(row.loss, 6), gain.target,
                                 row.compute)});
      break;
    }
}

}  // namespace

Gain gain(const Law& reference, const Law& target, std::span<const double> sparsities,
          std::span<const double> budgets, double level) {
  Gain out;
  out.reference = reference.name;
  out.target = target.name;
  out.side = fmt::format("C is the budget of {}; {} needs C / (1 - gain) for the same loss",
                         target.name, reference.name);
  out.paired = draws_are_paired(reference, target);
  detail::warn_of_law(reference, out.warnings);
  detail::warn_of_law(target, out.warnings);
  for (const double sparsity : sparsities) {
    const Pair pair{reference, target, detail::checked_curve(reference, sparsity),
                    detail::checked_curve(target, sparsity)};
    const auto draws = drawn_pairs(reference, target, sparsity);
    for (const double compute : budgets) {
      detail::check_compute_budget(compute);
      GainRow row = row_of(pair, sparsity, compute);
      std::vector<double> gains;
      for (const auto& [r, t] : draws) gains.push_back(gain_of(r, t, compute));
      if (!gains.empty()) row.interval = percentile(std::move(gains), level);
      out.rows.push_back(row);
    }
    GainShape shape{sparsity, peak_of(pair.r, pair.t), {}, {}};
    if (shape.peak_compute) shape.peak_gain = gain_of(pair.r, pair.t, *shape.peak_compute);
    shape.sign_changes = sign_changes(pair.r, pair.t, shape.peak_compute);
    warn_of_shape(shape, pair, out.warnings);
    out.shapes.push_back(std::move(shape));
  }
  warn_of_rows(out, out.warnings);
  detail::warn_of_extrapolation(target, budgets, out.warnings);
  if (reference.draws && target.draws && !out.paired)
    out.warnings.push_back({WarningKind::unpaired,
                            "the draws of the two laws are not paired (other cells, seed or lost "
                            "draws): the intervals are too wide"});
  return out;
}

}  // namespace isoloop::law
