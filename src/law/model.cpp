// Evaluation of the law in centred logarithms; see model.h.
//
// Right by the formulas of model.h; held by tests/law/model_test.cpp.
#include "law/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isoloop::law::detail {
namespace {

// log of an amplitude that is absent or has shrunk to nothing: exp(-700) is the smallest power of
// e that doubles hold with full precision.
constexpr double nothing = -700;

enum Index { iE, iA, iK, ia, ib, ic };

bool is_pinned(const Form& form, Coefficient which) {
  return form.pinned[static_cast<std::size_t>(which)].has_value();
}

// Replaces values by (log value - centre) / scale; without centring the axis only takes logs.
Axis standardise(Eigen::ArrayXd& values, bool centred) {
  values = values.log();
  Axis axis;
  if (!centred || values.size() == 0) return axis;
  axis.centre = values.mean();
  const double spread = std::sqrt((values - axis.centre).square().mean());
  if (spread > 0) axis.scale = spread;
  values = (values - axis.centre) / axis.scale;
  return axis;
}

double safe_log(double value) { return value > 0 ? std::max(std::log(value), nothing) : nothing; }

}  // namespace

Table::Table(const Form& form_, std::span<const Run> runs) : form(form_) {
  const auto n = static_cast<Eigen::Index>(runs.size());
  has_sparsity = form.family == Family::smelt && form.size && form.sparsity;
  size = sparsity = tokens = Eigen::ArrayXd::Ones(n);
  log_loss = weight = Eigen::ArrayXd::Ones(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Run& run = runs[static_cast<std::size_t>(i)];
    if (form.size) size[i] = form.family == Family::smelt ? *run.flops : *run.params;
    if (has_sparsity) sparsity[i] = 1 - *run.sparsity;
    if (form.data) tokens[i] = *run.tokens;
    log_loss[i] = std::log(run.loss);
  }
  const bool centre_size = !is_pinned(form, Coefficient::A);
  size_axis = standardise(size, centre_size);
  sparsity_axis = standardise(sparsity, centre_size);
  tokens_axis = standardise(tokens, !is_pinned(form, Coefficient::K));
  for (const Coefficient which : free_coefficients(form))
    free[static_cast<std::size_t>(which)] = true;
}

Table Table::weighted(std::span<const double> weights) const {
  Table out = *this;
  Eigen::Index kept = 0;
  for (Eigen::Index i = 0; i < rows(); ++i) {
    const double w = weights[static_cast<std::size_t>(i)];
    if (w == 0) continue;
    out.size[kept] = size[i];
    out.sparsity[kept] = sparsity[i];
    out.tokens[kept] = tokens[i];
    out.log_loss[kept] = log_loss[i];
    out.weight[kept] = w * weight[i];
    ++kept;
  }
  for (Eigen::ArrayXd* column : {&out.size, &out.sparsity, &out.tokens, &out.log_loss, &out.weight})
    column->conservativeResize(kept);
  return out;
}

Vector Table::parameters(const Coefficients& c) const {
  Vector out;
  out[iE] = safe_log(c[Coefficient::E]);
  out[iA] = safe_log(c[Coefficient::A]) + c[Coefficient::b] * sparsity_axis.centre -
            c[Coefficient::a] * size_axis.centre;
  out[iK] = safe_log(c[Coefficient::K]) - c[Coefficient::c] * tokens_axis.centre;
  out[ia] = c[Coefficient::a] * size_axis.scale;
  out[ib] = c[Coefficient::b] * sparsity_axis.scale;
  out[ic] = c[Coefficient::c] * tokens_axis.scale;
  return out;
}

Coefficients Table::coefficients(const Vector& p) const {
  Coefficients out;
  const auto set = [&](bool present, Coefficient which, double value) {
    const auto i = static_cast<std::size_t>(which);
    if (present) out.values[i] = form.pinned[i].value_or(value);
  };
  set(form.size, Coefficient::a, p[ia] / size_axis.scale);
  set(has_sparsity, Coefficient::b, p[ib] / sparsity_axis.scale);
  set(form.data, Coefficient::c, p[ic] / tokens_axis.scale);
  const double shift_a =
      out[Coefficient::a] * size_axis.centre - out[Coefficient::b] * sparsity_axis.centre;
  set(form.floor, Coefficient::E, std::exp(p[iE]));
  set(form.size, Coefficient::A, std::exp(p[iA] + shift_a));
  set(form.data, Coefficient::K, std::exp(p[iK] + out[Coefficient::c] * tokens_axis.centre));
  return out;
}

Matrix Table::to_raw() const {
  Matrix out = Matrix::Identity();
  out(ia, ia) = 1 / size_axis.scale;
  out(ib, ib) = 1 / sparsity_axis.scale;
  out(ic, ic) = 1 / tokens_axis.scale;
  out(iA, ia) = size_axis.centre / size_axis.scale;
  out(iA, ib) = -sparsity_axis.centre / sparsity_axis.scale;
  out(iK, ic) = tokens_axis.centre / tokens_axis.scale;
  return out;
}

Model::Model(const Table& table)
    : table_(&table), jacobian_(Column6::Zero(table.rows(), max_free)) {
  for (Eigen::ArrayXd* column : {&size_, &data_, &sum_, &floor_share_, &residual_, &force_, &work_})
    *column = Eigen::ArrayXd::Zero(table.rows());
}

void Model::predict(const Vector& p) {
  const Table& t = *table_;
  // Within +-600 no exponential overflows and their sum is never 0.
  const auto bounded_exp = [](auto&& u) { return u.max(-600.0).min(600.0).exp(); };
  floor_ = t.form.floor ? std::exp(std::clamp(p[iE], -600.0, 600.0)) : 0;
  if (t.has_sparsity) {
    size_ = bounded_exp(p[iA] - p[ia] * t.size + p[ib] * t.sparsity);
  } else if (t.form.size) {
    size_ = bounded_exp(p[iA] - p[ia] * t.size);
  }
  if (t.form.data) data_ = bounded_exp(p[iK] - p[ic] * t.tokens);
  sum_ = floor_ + size_ + data_;
  residual_ = sum_.log() - t.log_loss;
}

double Model::value(const Vector& parameters, double delta) {
  const Table& t = *table_;
  delta_ = delta;
  predict(parameters);
  force_ = residual_.min(delta).max(-delta);
  // delta (|r| - delta/2) and r^2/2 are both force * (r - force/2).
  objective_ = (t.weight * force_ * (residual_ - 0.5 * force_)).sum();
  return objective_;
}

void Model::differentiate() {
  const Table& t = *table_;
  sum_ = sum_.inverse();
  floor_share_ = floor_ * sum_;
  size_ *= sum_;
  data_ *= sum_;
  if (t.free[iE]) jacobian_.col(iE) = floor_share_;
  if (t.free[iA]) jacobian_.col(iA) = size_;
  if (t.free[iK]) jacobian_.col(iK) = data_;
  if (t.free[ia]) jacobian_.col(ia) = -size_ * t.size;
  if (t.free[ib]) jacobian_.col(ib) = size_ * t.sparsity;
  if (t.free[ic]) jacobian_.col(ic) = -data_ * t.tokens;
}

void Model::curve(Curvature curvature, Matrix& h) {
  const Table& t = *table_;
  const bool exact = curvature == Curvature::exact;
  // The weight of each row's outer product of gradients: huber''(r), or huber'(r) / r.
  if (exact) {
    work_ = (residual_.abs() <= delta_).select(t.weight, 0.0) - force_;
  } else {
    work_ = t.weight * (residual_.abs() <= delta_).select(1.0, delta_ / residual_.abs());
  }
  h.setZero();
  for (int i = 0; i < max_free; ++i) {
    if (!t.free[static_cast<std::size_t>(i)]) continue;
    sum_ = jacobian_.col(i).array() * work_;
    for (int j = 0; j <= i; ++j)
      if (t.free[static_cast<std::size_t>(j)]) h(i, j) = sum_.matrix().dot(jacobian_.col(j));
  }
  if (exact) {
    // The covariance's first part, sum of force * share_k v_k v_k', is one block per term. The
    // shares times v_k are the columns of the Jacobian.
    const auto add = [&](int i, int j, const auto& values) {
      if (t.free[static_cast<std::size_t>(i)] && t.free[static_cast<std::size_t>(j)])
        h(std::max(i, j), std::min(i, j)) += (force_ * values).sum();
    };
    add(iE, iE, floor_share_);
    add(iA, iA, size_);
    add(iA, ia, -size_ * t.size);
    add(iA, ib, size_ * t.sparsity);
    add(ia, ia, size_ * t.size * t.size);
    add(ia, ib, -size_ * t.size * t.sparsity);
    add(ib, ib, size_ * t.sparsity * t.sparsity);
    add(iK, iK, data_);
    add(iK, ic, -data_ * t.tokens);
    add(ic, ic, data_ * t.tokens * t.tokens);
  }
  for (int i = 0; i < max_free; ++i)
    if (!t.free[static_cast<std::size_t>(i)]) h(i, i) = 1;
  h.triangularView<Eigen::StrictlyUpper>() = h.transpose();
}

void Model::derivatives(Curvature curvature, Evaluation& out) {
  force_ *= table_->weight;
  out.objective = objective_;
  out.force = force_.abs().sum();
  differentiate();
  out.gradient.noalias() = jacobian_.transpose() * force_.matrix();
  curve(curvature, out.hessian);
}

std::array<double, 3> Model::largest_share() const {
  if (residual_.size() == 0) return {};
  return {floor_share_.maxCoeff(), size_.maxCoeff(), data_.maxCoeff()};
}

}  // namespace isoloop::law::detail
