// Intervals from refits of resampled rows, and refits with one unit left out.
//
// The unit is a cell: a training run, or a configuration whose six horizons share their seed and
// data order. Rows of one cell err together, and drawing them one by one makes intervals too
// narrow. A draw is a set of weights on the rows, so nothing is copied but what is used.
//
// Source: Efron & Tibshirani 1993, chapters 8 and 13 (percentile intervals); arXiv 2609.01343
// (2,000 draws over 12 cells). Held by tests/law/resample_test.cpp.
#include "law/resample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "isoloop/law.h"
#include "law/parallel.h"
#include "law/random.h"
#include "law/refit.h"
#include "law/starts.h"

namespace isoloop::law {
namespace detail {

Units units_of(const Fit& fit, Resample by) {
  const auto has_cell = [](const Run& run) { return !run.cell.empty(); };
  const bool cells = std::all_of(fit.used.begin(), fit.used.end(), has_cell);
  if (by == Resample::cell && !cells)
    throw input_error("rows without a cell cannot be resampled by cell", {},
                      "name the column with cell=COLUMN, or resample rows");
  Units out;
  out.by_cell = by != Resample::row && cells;
  std::map<std::string, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < fit.used.size(); ++i) {
    if (out.by_cell)
      rows_of[fit.used[i].cell].push_back(i);
    else
      out.rows.push_back({i});
  }
  for (auto& [name, rows] : rows_of) {
    out.names.push_back(name);
    out.rows.push_back(std::move(rows));
  }
  return out;
}

std::vector<double> draw_weights(const Units& units, std::size_t rows, std::uint64_t seed,
                                 std::size_t draw) {
  Random random(seed, draw);
  std::vector<double> weights(rows, 0);
  for (std::size_t i = 0; i < units.rows.size(); ++i)
    for (const std::size_t row : units.rows[random.below(units.rows.size())]) ++weights[row];
  return weights;
}

namespace {

void warn_of_units(const Units& units, std::vector<Warning>& out) {
  if (!units.by_cell)
    out.push_back({WarningKind::no_cells,
                   "rows are resampled one by one: horizons and seeds of one run are not "
                   "independent, and the intervals are then too narrow; name a cell column"});
  else if (units.rows.size() < 8)
    out.push_back({WarningKind::few_cells,
                   fmt::format("only {} cells: percentile intervals of so few are rough",
                               units.rows.size())});
}

}  // namespace
}  // namespace detail

Draws bootstrap(const Fit& fit, const BootstrapOptions& options) {
  if (options.draws == 0 || options.threads < 1)
    throw usage_error("draws and threads must be positive");
  const detail::Units units = detail::units_of(fit, options.by);
  const detail::Table table(fit.form, fit.used);
  detail::Target target = detail::target_of(fit.options);
  std::vector<detail::Vector> starts = detail::few_starting_points(table);
  starts.insert(starts.begin(), table.parameters(fit.coefficients));
  std::vector<std::optional<Coefficients>> results(options.draws);
  detail::parallel_for(options.draws, options.threads, options.progress, [&] {
    return [&](std::size_t draw) {
      const auto weights = detail::draw_weights(units, fit.used.size(), options.seed, draw);
      const detail::Table drawn = table.weighted(weights);
      detail::Model model(drawn);
      const detail::Outcome best = detail::best_of(model, starts, target);
      if (best.stop != StopReason::iterations) results[draw] = table.coefficients(best.parameters);
    };
  });

  Draws out;
  out.by_cell = units.by_cell;
  out.seed = options.seed;
  out.units = units.names;
  for (const auto& result : results) {
    if (result)
      out.values.push_back(*result);
    else
      ++out.failed;
  }
  detail::warn_of_units(units, out.warnings);
  if (out.failed > 0)
    out.warnings.push_back(
        {WarningKind::failed_draws, fmt::format("{} of {} draws did not converge and are left out",
                                                out.failed, options.draws)});
  return out;
}

Interval percentile(std::vector<double> values, double level) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    if (values[above] == values[below]) return values[below];  // two infinities have no difference
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at((1 - level) / 2), at((1 + level) / 2)};
}

std::array<Interval, coefficient_count> intervals(const Draws& draws, double level) {
  std::array<Interval, coefficient_count> out;
  for (const Coefficient which : all_coefficients) {
    std::vector<double> values;
    for (const Coefficients& drawn : draws.values) values.push_back(drawn[which]);
    out[static_cast<std::size_t>(which)] = percentile(std::move(values), level);
  }
  return out;
}

}  // namespace isoloop::law
