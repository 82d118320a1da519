// The law as the optimiser sees it: centred logarithmic axes, log-sum-exp, Huber, derivatives.
//
// With u1 = log E, u2 = log A + b log(1-S) - a log F and u3 = log K - c log D the predicted
// log-loss is lse(u1, u2, u3). Its gradient is the mean of the gradients v_k of the three u_k
// under the softmax weights p_k, and its Hessian is their covariance; both are exact and cost no
// further exponential. The residual is r = lse - log L and the objective the sum over rows of
// w * huber(r): r^2/2 inside delta, delta (|r| - delta/2) outside.
//
// Each axis is centred on its mean and divided by its spread, so that log A and a hardly depend on
// each other; with raw axes the condition number of this problem is about 1e11. Where an amplitude
// is pinned its axes are not centred, because then log A itself is given.
//
// Source: the definitions above; tests/law/model_test.cpp compares with finite differences.
#pragma once

#include <Eigen/Core>
#include <array>
#include <span>
#include <vector>

#include "isoloop/law.h"

namespace isoloop::law::detail {

inline constexpr int max_free = 6;  // E, A, K, a, b, c in the order of Coefficient
using Vector = Eigen::Matrix<double, max_free, 1>;
using Matrix = Eigen::Matrix<double, max_free, max_free>;
using Column6 = Eigen::Matrix<double, Eigen::Dynamic, max_free>;

/// (log x - centre) / scale of one axis.
struct Axis {
  double centre = 0, scale = 1;
};

/// The rows of a fit with their axes. Shared by all starts and resamples.
struct Table {
  Table(const Form& form, std::span<const Run> rows);
  /// The rows with these multiplicities; rows with zero weight are left out.
  Table weighted(std::span<const double> weights) const;

  Form form;
  Eigen::ArrayXd size, sparsity, tokens;  // centred and scaled; 0 where the term is left out
  Eigen::ArrayXd log_loss, weight;
  Axis size_axis, sparsity_axis, tokens_axis;
  std::array<bool, max_free> free{};
  bool has_sparsity = false;

  Eigen::Index rows() const { return log_loss.size(); }
  /// Coefficients to and from the centred parameters. An amplitude of 0 becomes exp(-700).
  Vector parameters(const Coefficients& coefficients) const;
  Coefficients coefficients(const Vector& parameters) const;
  /// d(log E, log A, log K, a, b, c) / d parameters.
  Matrix to_raw() const;
};

enum class Curvature {
  exact,       // the Hessian of the objective
  reweighted,  // the Hessian of the quadratic that touches the objective from above
};

struct Evaluation {
  double objective = 0;
  double force = 0;  // sum of w |huber'(r)|, the scale of the gradient
  Vector gradient = Vector::Zero();
  Matrix hessian = Matrix::Identity();
};

/// Evaluates the objective for one table; keeps its work space.
class Model {
 public:
  explicit Model(const Table& table);
  const Table& table() const { return *table_; }
  /// The objective; derivatives are only taken when asked for.
  double value(const Vector& parameters, double delta);
  /// At the point of the last value(), which must not be asked for twice. Pinned and absent
  /// coefficients have gradient 0 and a unit row in the Hessian.
  void derivatives(Curvature curvature, Evaluation& out);
  /// log predicted - log observed by row, at the last evaluated parameters.
  const Eigen::ArrayXd& residuals() const { return residual_; }
  /// d residual / d parameters by row, at the last point evaluated with a curvature.
  const Column6& jacobian() const { return jacobian_; }
  /// Largest share of each term (floor, size, data) in the prediction of any row.
  std::array<double, 3> largest_share() const;

 private:
  void predict(const Vector& parameters);
  void differentiate();
  void curve(Curvature curvature, Matrix& hessian);

  const Table* table_;
  double delta_ = 0, floor_ = 0, objective_ = 0;
  Eigen::ArrayXd size_, data_;  // the terms, later their shares of the prediction
  Eigen::ArrayXd sum_, floor_share_, residual_, force_, work_;
  Column6 jacobian_;
};

}  // namespace isoloop::law::detail
