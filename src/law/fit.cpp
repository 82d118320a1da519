// fit(): select rows, search from every start, restart from the best, say what came out.
//
// Source: arXiv 2203.15556, D.3 (objective and starts); arXiv 2404.10102 (what went wrong with
// it). Held by tests/law/fit_test.cpp and tests/law/traps_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "isoloop/law.h"
#include "law/diagnose.h"
#include "law/minimise.h"
#include "law/parallel.h"
#include "law/refit.h"
#include "law/select.h"
#include "law/starts.h"

namespace isoloop::law {
namespace detail {

// |r| is the limit of huber(r) / delta; at this delta the two differ by less than 1e-8 a row.
constexpr double l1_delta = 1e-8;

Target target_of(const FitOptions& options) {
  Target target;
  target.tolerance = options.tolerance;
  target.max_iterations = options.max_iterations;
  if (options.penalty == Penalty::huber) target.delta = options.delta;
  if (options.penalty == Penalty::l1) target.delta = l1_delta;
  if (options.penalty == Penalty::l2) target.delta = std::numeric_limits<double>::infinity();
  return target;
}

double true_objective(const FitOptions& options, double minimised) {
  return options.penalty == Penalty::l1 ? minimised / l1_delta : minimised;
}

Outcome best_of(Model& model, const std::vector<Vector>& starts, const Target& target) {
  Outcome best;
  best.objective = std::numeric_limits<double>::infinity();
  for (const Vector& start : starts) {
    Outcome outcome = minimise(model, start, target);
    if (outcome.objective < best.objective) best = outcome;
  }
  return best;
}

}  // namespace detail

namespace {

using detail::Outcome;

void check_options(const Form& form, const FitOptions& options) {
  if (!form.floor && !form.size && !form.data) throw usage_error("the form has no term left");
  if (free_coefficients(form).empty())
    throw usage_error("every coefficient is pinned; there is nothing to fit");
  if (!(options.delta > 0) || !std::isfinite(options.delta))
    throw usage_error(fmt::format("delta is {}; it must be positive", options.delta));
  if (!(options.tolerance > 0) || options.max_iterations < 1 || options.threads < 1)
    throw usage_error("tolerance, iterations and threads must be positive");
  for (const std::vector<double>& values : options.starts.values)
    if (!std::all_of(values.begin(), values.end(), [](double x) { return std::abs(x) < 1e12; }))
      throw usage_error("starting values must be finite");
}

std::vector<Outcome> search(const detail::Table& table, const FitOptions& options) {
  const std::vector<detail::Vector> starts = detail::starting_points(table, options.starts);
  const detail::Target target = detail::target_of(options);
  std::vector<Outcome> out(starts.size());
  detail::parallel_for(starts.size(), options.threads, options.progress, [&] {
    return [&, model = detail::Model(table)](std::size_t i) mutable {
      out[i] = detail::minimise(model, starts[i], target);
    };
  });
  return out;
}

// Runs on from the best start, through the whole of the method once more.
Outcome restart(detail::Model& model, const std::vector<Outcome>& outcomes,
                const FitOptions& options) {
  const auto less = [](const Outcome& x, const Outcome& y) { return x.objective < y.objective; };
  const Outcome& first = *std::min_element(outcomes.begin(), outcomes.end(), less);
  detail::Target target = detail::target_of(options);
  target.stop_when_vanished = false;
  Outcome again = detail::minimise(model, first.parameters, target);
  again.iterations += first.iterations;
  if (again.objective <= first.objective) return again;
  Outcome kept = first;
  kept.iterations = again.iterations;
  return kept;
}

void describe_residuals(const detail::Table& table, detail::Model& model, const Outcome& best,
                        double delta, Fit& fit) {
  model.value(best.parameters, delta);
  detail::Evaluation derivatives;
  model.derivatives(detail::Curvature::exact, derivatives);
  double squares = 0;
  std::size_t inside = 0;
  for (std::size_t i = 0; i < fit.used.size(); ++i) {
    const double r = model.residuals()[static_cast<Eigen::Index>(i)];
    const double observed = fit.used[i].loss, predicted = observed * std::exp(r);
    fit.residuals.push_back({fit.used[i].line, observed, predicted, r});
    squares += (predicted - observed) * (predicted - observed);
    if (std::abs(r) <= delta) ++inside;
  }
  fit.rmse_nats = std::sqrt(squares / static_cast<double>(table.rows()));
  fit.inside_delta = static_cast<double>(inside) / static_cast<double>(table.rows());
}

}  // namespace

Fit fit(const Runs& runs, const Form& form, const FitOptions& options) {
  check_options(form, options);
  detail::Selection selection = detail::select(runs, form, options);
  const detail::Table table(form, selection.rows);
  detail::check_rank(table, runs.file);
  const std::vector<Outcome> outcomes = search(table, options);
  detail::Model model(table);
  const Outcome best = restart(model, outcomes, options);

  Fit fit;
  fit.form = form;
  fit.options = options;
  fit.options.progress = {};
  fit.coefficients = table.coefficients(best.parameters);
  fit.rows = selection.rows.size();
  fit.objective = detail::true_objective(options, best.objective);
  fit.gradient_norm = best.gradient_norm;
  fit.relative_gradient = best.relative_gradient;
  fit.iterations = best.iterations;
  fit.stop = best.stop;
  fit.free = free_coefficients(form);
  fit.compute_check = detail::check_compute(form, selection.rows);
  fit.window = detail::window_of(form, selection.rows);
  fit.excluded = selection.excluded;
  fit.skipped = selection.skipped;
  fit.warnings = detail::warnings_of(form, selection, options);
  fit.used = std::move(selection.rows);
  describe_residuals(table, model, best, detail::target_of(options).delta, fit);
  detail::describe_starts(table, outcomes, best, fit);
  detail::describe_condition(table, model, fit);
  detail::warn_of_result(model, fit);
  return fit;
}

}  // namespace isoloop::law
