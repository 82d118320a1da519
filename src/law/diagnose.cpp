// Rank, starts, condition, correlations and the warnings that follow; see diagnose.h.
//
// Source: Gauss-Newton matrix J'J of the log-prediction, whose inverse is the shape of the
// coefficients' uncertainty whatever the penalty. Held by tests/law/traps_test.cpp.
#include "law/diagnose.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "law/numbers.h"
#include "law/refit.h"

namespace isoloop::law::detail {
namespace {

constexpr double same_objective = 1e-6;   // relative
constexpr double same_parameters = 0.02;  // centred: 2 % of an amplitude, say
constexpr double exact_residual = 1e-9;   // objectives of exact data differ only in noise
constexpr double second_basin_within = 0.01;
constexpr double largest_condition = 1e6;  // centred

std::vector<Eigen::Index> free_columns(const Table& table) {
  std::vector<Eigen::Index> out;
  for (std::size_t i = 0; i < table.free.size(); ++i)
    if (table.free[i]) out.push_back(static_cast<Eigen::Index>(i));
  return out;
}

Eigen::MatrixXd columns_of(const Column6& all, const std::vector<Eigen::Index>& which) {
  Eigen::MatrixXd out(all.rows(), static_cast<Eigen::Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i)
    out.col(static_cast<Eigen::Index>(i)) = all.col(which[i]);
  return out;
}

double condition_of(const Eigen::MatrixXd& jacobian) {
  const Eigen::VectorXd s = Eigen::JacobiSVD<Eigen::MatrixXd>(jacobian).singularValues();
  const double least = s[s.size() - 1];
  return least > 0 ? std::pow(s[0] / least, 2) : std::numeric_limits<double>::infinity();
}

double threshold(const Outcome& best, double tolerance, std::size_t rows, double delta) {
  // Outside delta an objective grows with delta |r|, inside with r^2/2.
  const double noise = std::min(0.5 * exact_residual, delta) * exact_residual;
  return best.objective * (1 + tolerance) + noise * static_cast<double>(rows);
}

bool differ(const Outcome& x, const Outcome& y) {
  return (x.parameters - y.parameters).lpNorm<Eigen::Infinity>() > same_parameters;
}

std::string coefficient_text(const Form& form, const Coefficients& c) {
  std::vector<std::string> out;
  for (const Coefficient which : coefficients_of(form))
    out.push_back(fmt::format("{} {}", name(form.family, which), number_text(c[which], 5)));
  return fmt::format("{}", fmt::join(out, ", "));
}

void warn(Fit& fit, WarningKind kind, std::string text) {
  fit.warnings.push_back({kind, std::move(text)});
}

}  // namespace

void check_rank(const Table& table, const std::string& file) {
  // Any law of this form will do; these exponents differ, so no two terms are alike by accident.
  Coefficients typical;
  for (const Coefficient which : coefficients_of(table.form)) typical[which] = 1;
  Vector parameters = table.parameters(typical);
  parameters.head<3>().setConstant(0);
  parameters.tail<3>() = Vector::Constant(1).tail<3>();
  const double slopes[] = {0.31, 0.17, 0.43};
  const double scales[] = {table.size_axis.scale, table.sparsity_axis.scale,
                           table.tokens_axis.scale};
  for (int i = 0; i < 3; ++i) parameters[3 + i] = slopes[i] * scales[i];
  Model model(table);
  Evaluation at;
  model.value(parameters, 1);
  model.derivatives(Curvature::exact, at);

  const std::vector<Eigen::Index> columns = free_columns(table);
  Eigen::MatrixXd jacobian = columns_of(model.jacobian(), columns);
  for (Eigen::Index i = 0; i < jacobian.cols(); ++i) {
    const double norm = jacobian.col(i).norm();
    if (norm > 0) jacobian.col(i) /= norm;
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(jacobian, Eigen::ComputeThinV);
  const Eigen::Index last = jacobian.cols() - 1;
  if (svd.singularValues()[last] > 1e-9 * svd.singularValues()[0]) return;
  const Eigen::VectorXd direction = svd.matrixV().col(last).cwiseAbs();
  std::vector<std::string_view> names;
  for (Eigen::Index i = 0; i <= last; ++i)
    if (direction[i] > 0.05)
      names.push_back(
          name(table.form.family, static_cast<Coefficient>(columns[static_cast<std::size_t>(i)])));
  throw input_error(fmt::format("the rows cannot tell {} apart, whatever their losses are",
                                fmt::join(names, ", ")),
                    file, "pin one of them, leave a term out, or add runs at other values");
}

void describe_starts(const Table& table, const std::vector<Outcome>& outcomes, const Outcome& best,
                     Fit& fit) {
  const auto rows = static_cast<std::size_t>(table.rows());
  const double delta = target_of(fit.options).delta;
  const double reached = threshold(best, same_objective, rows, delta);
  fit.starts.tried = outcomes.size();
  const Outcome* second = nullptr;
  for (const Outcome& outcome : outcomes) {
    if (outcome.stop != StopReason::iterations) ++fit.starts.converged;
    if (outcome.stop == StopReason::vanished) ++fit.starts.dead;
    // As good an optimum with other coefficients is another one: nothing tells which is right.
    const bool elsewhere = differ(outcome, best);
    if (!elsewhere && outcome.objective <= reached) ++fit.starts.reached;
    if (elsewhere && outcome.stop != StopReason::iterations &&
        (!second || outcome.objective < second->objective))
      second = &outcome;
  }
  if (!second) return;
  const double same = threshold(*second, same_objective, rows, delta);
  const auto there = [&](const Outcome& outcome) {
    return !differ(outcome, *second) && outcome.objective <= same;
  };
  fit.second_basin = SecondBasin{
      true_objective(fit.options, second->objective), table.coefficients(second->parameters),
      static_cast<std::size_t>(std::count_if(outcomes.begin(), outcomes.end(), there))};
}

void describe_condition(const Table& table, const Model& model, Fit& fit) {
  const std::vector<Eigen::Index> columns = free_columns(table);
  const auto n = static_cast<Eigen::Index>(columns.size());
  const Eigen::MatrixXd jacobian = columns_of(model.jacobian(), columns);
  fit.condition = condition_of(jacobian);

  Eigen::MatrixXd to_raw(n, n);
  const Matrix all = table.to_raw();
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      to_raw(i, j) =
          all(columns[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
  fit.condition_raw = condition_of(jacobian * to_raw.inverse());

  // Correlations do not change with the units of a coefficient, so log A serves for A.
  const Eigen::MatrixXd normal = jacobian.transpose() * jacobian;
  const Eigen::MatrixXd covariance =
      to_raw * normal.completeOrthogonalDecomposition().pseudoInverse() * to_raw.transpose();
  fit.correlations.assign(columns.size(), std::vector<double>(columns.size(), 0));
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      fit.correlations[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
          i == j ? 1 : covariance(i, j) / std::sqrt(covariance(i, i) * covariance(j, j));
}

void warn_of_result(const Model& model, Fit& fit) {
  const Starts& s = fit.starts;
  if (fit.stop == StopReason::iterations)
    warn(fit, WarningKind::not_converged,
         fmt::format("stopped at the iteration limit with a relative gradient of {:.1e}",
                     fit.relative_gradient));
  if (s.reached < 3)
    warn(fit, WarningKind::few_starts,
         fmt::format("{} of {} starts reached the best optimum: it may not be the global one",
                     s.reached, s.tried));
  if (fit.second_basin && fit.second_basin->objective <= (1 + second_basin_within) * fit.objective)
    warn(fit, WarningKind::second_basin,
         fmt::format("another optimum lies {:.2f} % above the best: {}",
                     std::max(0.0, 100 * (fit.second_basin->objective / fit.objective - 1)),
                     coefficient_text(fit.form, fit.second_basin->coefficients)));
  if (fit.condition > largest_condition)
    warn(fit, WarningKind::ill_conditioned,
         fmt::format("condition number {:.1e} with centred axes: the rows hardly tell the "
                     "coefficients apart",
                     fit.condition));
  if (fit.options.penalty == Penalty::huber && fit.inside_delta < 0.05)
    warn(fit, WarningKind::nearly_l1,
         fmt::format("{:.1f} % of the residuals lie inside delta = {} (of the log-loss): nearly an "
                     "L1 fit",
                     100 * fit.inside_delta, number_text(fit.options.delta)));
  const auto share = model.largest_share();
  const std::array<bool, 3> present = {fit.form.floor, fit.form.size, fit.form.data};
  for (std::size_t i = 0; i < 3; ++i)
    if (present[i] && share[i] < 1e-4)
      warn(fit, WarningKind::vanished_term,
           fmt::format("{} has vanished: the rows show no such term; leave it out or pin it",
                       name(fit.form.family, static_cast<Coefficient>(i))));
  for (const Coefficient which : fit.free)
    if (static_cast<std::size_t>(which) >= 3 && !(fit.coefficients[which] > 0))
      warn(fit, WarningKind::odd_exponent,
           fmt::format("{} is {}: a positive exponent was expected", name(fit.form.family, which),
                       number_text(fit.coefficients[which], 4)));
}

}  // namespace isoloop::law::detail
