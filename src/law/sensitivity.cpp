// Refits with something left out or changed: one cell at a time, the highest losses, delta.
//
// Source: the published exponents of one law moved by a third with the exclusion of a few rows
// (arXiv 2404.10102, and the digitised points behind it). Held by tests/law/sensitivity_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "isoloop/law.h"
#include "law/numbers.h"
#include "law/parallel.h"
#include "law/refit.h"
#include "law/resample.h"
#include "law/starts.h"

namespace isoloop::law {
namespace {

constexpr double large_move = 0.1;  // of an exponent, relative

struct Refitter {
  explicit Refitter(const Fit& fit_)
      : fit(fit_), table(fit_.form, fit_.used), starts(detail::few_starting_points(table)) {
    starts.insert(starts.begin(), table.parameters(fit.coefficients));
  }

  Refit operator()(std::string what, const std::vector<double>& weights) const {
    const detail::Table part = table.weighted(weights);
    if (static_cast<std::size_t>(part.rows()) < fit.free.size())
      throw input_error(fmt::format("without {} {} rows are left; {} coefficients are free", what,
                                    part.rows(), fit.free.size()));
    detail::Model model(part);
    const auto best = detail::best_of(model, starts, detail::target_of(fit.options));
    return {std::move(what), static_cast<std::size_t>(part.rows()),
            table.coefficients(best.parameters),
            detail::true_objective(fit.options, best.objective)};
  }

  const Fit& fit;
  detail::Table table;
  std::vector<detail::Vector> starts;
};

// The exponent that moves most, relative to its value.
void warn_of_leverage(const Fit& fit, Sensitivity& out) {
  double most = large_move;
  std::string text;
  for (const Refit& refit : out.refits)
    for (const Coefficient which : fit.free) {
      if (static_cast<std::size_t>(which) < 3) continue;
      const double before = fit.coefficients[which], after = refit.coefficients[which];
      const double move = std::abs(after / before - 1);
      if (!(move > most)) continue;
      most = move;
      text = fmt::format("without {} {} moves from {} to {}: a few rows decide it", refit.what,
                         name(fit.form.family, which), detail::number_text(before, 4),
                         detail::number_text(after, 4));
    }
  if (!text.empty()) out.warnings.push_back({WarningKind::high_leverage, text});
}

std::string unit_name(const Fit& fit, const detail::Units& units, std::size_t i) {
  if (units.by_cell) return fmt::format("cell {}", units.names[i]);
  return fmt::format("line {}", fit.used[units.rows[i][0]].line);
}

}  // namespace

Sensitivity leave_one_out(const Fit& fit, Resample by, int threads) {
  const detail::Units units = detail::units_of(fit, by);
  const Refitter refitter(fit);
  Sensitivity out;
  out.refits.resize(units.rows.size());
  detail::parallel_for(units.rows.size(), threads, {}, [&] {
    return [&](std::size_t i) {
      std::vector<double> weights(fit.used.size(), 1);
      for (const std::size_t row : units.rows[i]) weights[row] = 0;
      out.refits[i] = refitter(unit_name(fit, units, i), weights);
    };
  });
  warn_of_leverage(fit, out);
  return out;
}

Sensitivity drop_highest(const Fit& fit, std::span<const std::size_t> counts) {
  std::vector<std::size_t> order(fit.used.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto i, auto j) { return fit.used[i].loss > fit.used[j].loss; });
  const Refitter refitter(fit);
  Sensitivity out;
  for (const std::size_t count : counts) {
    std::vector<double> weights(fit.used.size(), 1);
    for (std::size_t i = 0; i < std::min(count, order.size()); ++i) weights[order[i]] = 0;
    out.refits.push_back(refitter(fmt::format("the {} highest losses", count), weights));
  }
  warn_of_leverage(fit, out);
  return out;
}

Sensitivity delta_sensitivity(const Fit& fit,
                              const std::array<Interval, coefficient_count>& intervals,
                              std::span<const double> deltas) {
  if (fit.options.penalty != Penalty::huber) throw usage_error("only the Huber loss has a delta");
  Runs runs;
  runs.rows = fit.used;
  FitOptions options = fit.options;
  options.exclude.clear();
  options.drop_highest_loss = 0;
  Sensitivity out;
  const std::array<double, 3> usual = {0.1 * fit.options.delta, fit.options.delta,
                                       10 * fit.options.delta};
  for (const double delta : deltas.empty() ? std::span<const double>(usual) : deltas) {
    options.delta = delta;
    const Fit refit = isoloop::law::fit(runs, fit.form, options);
    const std::string what = fmt::format("delta {}", detail::number_text(options.delta, 6));
    out.refits.push_back({what, refit.rows, refit.coefficients, refit.objective});
    for (const Coefficient which : fit.free) {
      const Interval& interval = intervals[static_cast<std::size_t>(which)];
      const double value = refit.coefficients[which];
      if (value >= interval.low && value <= interval.high) continue;
      out.warnings.push_back(
          {WarningKind::delta_matters,
           fmt::format("with {} (of the log-loss) {} is {}, outside its interval {} .. {}", what,
                       name(fit.form.family, which), detail::number_text(value, 5),
                       detail::number_text(interval.low, 5),
                       detail::number_text(interval.high, 5))});
    }
  }
  return out;
}

}  // namespace isoloop::law
