// From pre-training loss to a benchmark: a sigmoid through the points of one architecture, and how
// far the points of another lie off it.
//
// Given alpha and tau the curve is linear in a and b, so a start needs only those two. From each of
// a grid of starts Eigen's port of MINPACK's Levenberg-Marquardt fits log a, b, log alpha and tau
// on centred axes.
//
// Source: arXiv 2609.01343 (the curve and the residuals of the looped models against it). Held by
// tests/law/calibrate_test.cpp.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unsupported/Eigen/NonLinearOptimization>

#include "isoloop/law.h"
#include "law/numbers.h"

namespace isoloop::law {
namespace {

constexpr std::size_t parameters = 4;  // log a, b, log alpha, tau

double sign_of(Direction direction) { return direction == Direction::loss ? 1 : -1; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Points centred and scaled, as the library wants them.
struct Residuals {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  Eigen::ArrayXd loss, value;
  double sign = 1;

  int inputs() const { return parameters; }
  int values() const { return static_cast<int>(loss.size()); }

  int operator()(const Eigen::VectorXd& p, Eigen::VectorXd& out) const {
    for (Eigen::Index i = 0; i < loss.size(); ++i)
      out[i] = p[1] + std::exp(p[0]) * sigmoid(sign * std::exp(p[2]) * (loss[i] - p[3])) - value[i];
    return 0;
  }
  int df(const Eigen::VectorXd& p, Eigen::MatrixXd& out) const {
    const double a = std::exp(p[0]), alpha = sign * std::exp(p[2]);
    for (Eigen::Index i = 0; i < loss.size(); ++i) {
      const double s = sigmoid(alpha * (loss[i] - p[3])), slope = a * s * (1 - s) * alpha;
      out.row(i) << a * s, 1, slope * (loss[i] - p[3]), -slope;
    }
    return 0;
  }

  /// log a and b by linear least squares for the other two; false if a comes out negative.
  bool solve_linear(Eigen::VectorXd& p) const {
    Eigen::MatrixXd columns(loss.size(), 2);
    for (Eigen::Index i = 0; i < loss.size(); ++i)
      columns.row(i) << sigmoid(sign * std::exp(p[2]) * (loss[i] - p[3])), 1;
    const Eigen::Vector2d x = columns.colPivHouseholderQr().solve(value.matrix());
    if (!(x[0] > 0)) return false;
    p[0] = std::log(x[0]);
    p[1] = x[1];
    return true;
  }
};

struct Scaling {
  double centre = 0, scale = 1;
};

Scaling standardise(Eigen::ArrayXd& values) {
  Scaling out;
  out.centre = values.mean();
  const double spread = std::sqrt((values - out.centre).square().mean());
  if (spread > 0) out.scale = spread;
  values = (values - out.centre) / out.scale;
  return out;
}

struct Found {
  Eigen::VectorXd p;
  double squares = std::numeric_limits<double>::infinity();
  bool converged = false;
};

std::vector<Found> search(Residuals& residuals) {
  std::vector<Found> out;
  for (const double alpha : {0.5, 1.0, 2.0, 4.0, 8.0})
    for (const double tau : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
      Found found;
      found.p = Eigen::VectorXd::Zero(parameters);
      found.p[2] = std::log(alpha);
      found.p[3] = tau;
      if (!residuals.solve_linear(found.p)) continue;
      Eigen::LevenbergMarquardt<Residuals> solver(residuals);
      solver.parameters.ftol = solver.parameters.xtol = 1e-14;
      solver.parameters.maxfev = 2000;
      const auto status = solver.minimize(found.p);
      Eigen::VectorXd r(residuals.values());
      residuals(found.p, r);
      found.squares = r.squaredNorm();
      found.converged = status != Eigen::LevenbergMarquardtSpace::TooManyFunctionEvaluation;
      if (std::isfinite(found.squares)) out.push_back(std::move(found));
    }
  return out;
}

void check(std::span<const Point> points) {
  std::set<double> losses;
  for (const Point& point : points) {
    if (!std::isfinite(point.loss) || !std::isfinite(point.value))
      throw input_error("a point of the calibration is not finite", point.label);
    losses.insert(point.loss);
  }
  if (losses.size() < parameters)
    throw input_error(fmt::format("{} points at {} different losses; the curve has {} parameters",
                                  points.size(), losses.size(), parameters));
}

void warn(Calibration& out, std::span<const Point> points) {
  const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                               [](auto& x, auto& y) { return x.value < y.value; });
  if (out.stop == StopReason::iterations)
    out.warnings.push_back(
        {WarningKind::not_converged, "the curve stopped at its iteration limit"});
  if (out.starts.reached < 3)
    out.warnings.push_back(
        {WarningKind::few_starts,
         fmt::format("{} of {} starts reached the best curve: it may not be the global optimum",
                     out.starts.reached, out.starts.tried)});
  if (out.a > 3 * (high->value - low->value))
    out.warnings.push_back({WarningKind::ill_conditioned,
                            "the points show no plateau: height, place and slope of the curve "
                            "cannot be told apart; use it only between the points"});
}

}  // namespace

Calibration calibrate(std::span<const Point> points, Direction direction) {
  check(points);
  Residuals residuals;
  residuals.sign = sign_of(direction);
  residuals.loss.resize(static_cast<Eigen::Index>(points.size()));
  residuals.value.resize(residuals.loss.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    residuals.loss[static_cast<Eigen::Index>(i)] = points[i].loss;
    residuals.value[static_cast<Eigen::Index>(i)] = points[i].value;
  }
  Calibration out;
  out.direction = direction;
  out.loss_window = {residuals.loss.minCoeff(), residuals.loss.maxCoeff()};
  const Scaling x = standardise(residuals.loss), y = standardise(residuals.value);
  const std::vector<Found> found = search(residuals);
  if (found.empty())
    throw input_error(fmt::format("no {} curve fits: the values {} with the loss",
                                  direction == Direction::loss ? "rising" : "falling",
                                  direction == Direction::loss ? "fall" : "rise"),
                      {}, "the direction may be the other one");
  const Found& best = *std::min_element(found.begin(), found.end(),
                                        [](auto& p, auto& q) { return p.squares < q.squares; });
  out.a = std::exp(best.p[0]) * y.scale;
  out.b = best.p[1] * y.scale + y.centre;
  out.alpha = std::exp(best.p[2]) / x.scale;
  out.tau = best.p[3] * x.scale + x.centre;
  out.rmse = y.scale * std::sqrt(best.squares / static_cast<double>(points.size()));
  out.stop = best.converged ? StopReason::precision : StopReason::iterations;
  out.starts.tried = found.size();
  for (const Found& other : found) {
    if (other.converged) ++out.starts.converged;
    if (other.squares <= best.squares * (1 + 1e-6) + 1e-18) ++out.starts.reached;
  }
  warn(out, points);
  return out;
}

std::vector<Point> points_of(const Runs& runs) {
  std::vector<Point> out;
  for (const Run& run : runs.rows)
    if (run.value)
      out.push_back(
          {run.loss, *run.value, run.cell.empty() ? fmt::format("line {}", run.line) : run.cell});
  if (out.empty())
    throw input_error("no column holds the result of a benchmark", runs.file,
                      "name it with value=COLUMN");
  return out;
}

double value(const Calibration& c, double loss) {
  return c.b + c.a * sigmoid(sign_of(c.direction) * c.alpha * (loss - c.tau));
}

CalibrationResiduals residuals(const Calibration& calibration, std::span<const Point> points) {
  CalibrationResiduals out;
  std::size_t beyond = 0;
  for (const Point& point : points) {
    const Range& window = calibration.loss_window;
    const double predicted = value(calibration, point.loss);
    const bool outside = point.loss < window.low || point.loss > window.high;
    out.rows.push_back({point, predicted, point.value - predicted, outside});
    out.mean += out.rows.back().residual;
    out.rmse += out.rows.back().residual * out.rows.back().residual;
    if (outside) ++beyond;
  }
  if (points.empty()) return out;
  out.mean /= static_cast<double>(points.size());
  out.rmse = std::sqrt(out.rmse / static_cast<double>(points.size()));
  if (beyond > 0)
    out.warnings.push_back(
        {WarningKind::extrapolated,
         fmt::format("{} of {} points have a loss outside the calibrated range "
                     "{} .. {}",
                     beyond, points.size(), detail::number_text(calibration.loss_window.low, 4),
                     detail::number_text(calibration.loss_window.high, 4))});
  return out;
}

}  // namespace isoloop::law
