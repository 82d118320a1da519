// Fitting: coordinate search on logarithms, one generation at a time.
//
// The loss is the sum of |log(predicted / measured)| plus a pull towards the prior that weighs as
// much as about one point, so that constants with few points stay near what is known of others.
// Ranges are the quantiles of truth over prediction on points the fit did not see.
//
// Held by tests/gpu/accuracy_test.cpp.
#include "gpu/fit.h"

#include <algorithm>
#include <cmath>

namespace isoloop::gpu {
namespace {

struct Parameter {
  double* value;
  double prior;
  double spread;  // one unit of pull per this many e-folds
};

std::size_t index_of(const Efficiency& e, const Limits& limits) {
  const std::string name = generation_of(limits);
  for (std::size_t i = 0; i < e.generations.size(); ++i)
    if (e.generations[i].name == name) return i;
  throw internal_error("no generation " + name);
}

/// Constants that some point of the generation depends on, with the count of such points set.
std::vector<Parameter> parameters(GenerationRates& g, const GenerationRates& prior,
                                  std::span<const Point* const> points) {
  // Launches published for H800, H100 and B200 (2.3, 2.9, 5.0 and 4.9 us) scatter by 0.39 e-folds:
  // what a launch costs is known across generations, and a few odd rows should not move it.
  constexpr double share_spread = 0.25, fill_spread = 0.7, launch_spread = 0.39;
  std::vector<Parameter> result;
  for (const Point* point : points) {
    if (point->gemm) {
      ++g.gemm[static_cast<std::size_t>(width_of(point->gemm->precision))].points;
      ++g.memory.points;
    }
    for (const AttentionProblem& a : point->attention)
      ++g.attention[static_cast<std::size_t>(point->kernel)][a.backward ? 1 : 0]
                   [bytes_per_element(a.precision) == 1 ? 1 : 0]
                       .points;
  }
  if (g.memory.points > 0) {
    result.push_back({&g.memory.launch_us, prior.memory.launch_us, launch_spread});
    result.push_back({&g.memory.share, prior.memory.share, share_spread / 2});
  }
  for (std::size_t w = 0; w < width_count; ++w) {
    if (g.gemm[w].points == 0) continue;
    result.push_back({&g.gemm[w].share, prior.gemm[w].share, share_spread});
    result.push_back({&g.gemm[w].fill, prior.gemm[w].fill, fill_spread});
  }
  for (std::size_t k = 0; k < attention_kernel_count; ++k)
    for (std::size_t d = 0; d < 2; ++d)
      for (std::size_t w = 0; w < 2; ++w) {
        AttentionRate& rate = g.attention[k][d][w];
        const AttentionRate& before = prior.attention[k][d][w];
        if (rate.points == 0) continue;
        result.push_back({&rate.share, before.share, share_spread});
        result.push_back({&rate.softmax_clocks, before.softmax_clocks, fill_spread});
        result.push_back({&rate.fill, before.fill, fill_spread});
      }
  return result;
}

double loss(const Efficiency& e, std::span<const Point* const> points,
            std::span<const Parameter> parameters) {
  double sum = 0;
  std::optional<DeviceModel> model;
  for (const Point* point : points) {
    if (!model || model->device.id != point->device->id) model.emplace(*point->device, e);
    sum += std::abs(std::log(predict(*model, *point).time.mid / point->us));
  }
  for (const Parameter& p : parameters)
    sum += std::pow(std::log(*p.value / p.prior) / p.spread, 2) / 4;
  return sum;
}

void search(Efficiency& e, std::span<const Point* const> points,
            std::span<const Parameter> parameters) {
  constexpr double largest_share = 1.0;
  double best = loss(e, points, parameters);
  for (double step = 0.2; step > 0.01; step /= 2) {
    bool improved = true;
    for (int round = 0; improved && round < 6; ++round) {
      improved = false;
      for (const Parameter& p : parameters)
        for (const double factor : {1 + step, 1 / (1 + step)}) {
          const double before = *p.value;
          if (p.prior < largest_share && before * factor > largest_share) continue;
          *p.value = before * factor;
          const double now = loss(e, points, parameters);
          if (now < best - 1e-9) {
            best = now;
            improved = true;
          } else {
            *p.value = before;
          }
        }
    }
  }
}

Efficiency fit_rates(std::span<const Point* const> points, const Efficiency& prior) {
  Efficiency e = prior;
  for (std::size_t i = 0; i < e.generations.size(); ++i) {
    std::vector<const Point*> own;
    for (const Point* point : points)
      if (index_of(e, point->device->limits) == i) own.push_back(point);
    if (own.empty()) continue;
    std::ranges::stable_sort(own, {}, [](const Point* p) { return p->device->id; });
    const std::vector<Parameter> open = parameters(e.generations[i], prior.generations[i], own);
    search(e, own, open);
  }
  return e;
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

/// The band that holds 94 % of the residuals of a class, never narrower than +-10 %.
Range band(std::span<const HeldOut> rows, PointClass kind, const Range& otherwise) {
  std::vector<double> ratios;
  for (const HeldOut& row : rows)
    if (row.prediction.kind == kind) ratios.push_back(row.ratio);
  constexpr std::size_t fewest = 8;
  if (ratios.size() < fewest) return otherwise;
  return {std::min(quantile(ratios, 0.03), 0.9), std::max(quantile(ratios, 0.97), 1.1)};
}

std::vector<const Point*> pointers(std::span<const Point> points) {
  std::vector<const Point*> result;
  for (const Point& point : points) result.push_back(&point);
  return result;
}

/// Residuals of every point under constants fitted without its fold.
std::vector<HeldOut> residuals(std::span<const Point* const> points, const Efficiency& prior,
                               int folds) {
  std::vector<HeldOut> rows(points.size());
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<const Point*> seen;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (static_cast<int>(i) % folds != fold) seen.push_back(points[i]);
    const Efficiency e = fit_rates(seen, prior);
    for (std::size_t i = static_cast<std::size_t>(fold); i < points.size();
         i += static_cast<std::size_t>(folds)) {
      const Prediction p = predict(DeviceModel(*points[i]->device, e), *points[i]);
      rows[i] = {points[i], p, points[i]->us / p.time.mid};
    }
  }
  return rows;
}

Efficiency fit_with_ranges(std::span<const Point* const> points, const Efficiency& prior,
                           int folds) {
  Efficiency e = fit_rates(points, prior);
  const std::vector<HeldOut> rows = residuals(points, prior, folds);
  e.ranges.compute = band(rows, PointClass::compute_gemm, prior.ranges.compute);
  e.ranges.memory = band(rows, PointClass::memory_gemm, prior.ranges.memory);
  e.ranges.attention = band(rows, PointClass::attention, prior.ranges.attention);
  return e;
}

}  // namespace

Prediction predict(const DeviceModel& model, const Point& point) {
  if (point.gemm) {
    const GemmLaunch l = predict_gemm(model, *point.gemm);
    return {l.time, l.compute_limited ? PointClass::compute_gemm : PointClass::memory_gemm};
  }
  Time sum;
  for (const AttentionProblem& a : point.attention)
    sum += predict_attention(model, a, point.kernel).time;
  return {sum, PointClass::attention};
}

Efficiency fit(std::span<const Point> points, const Efficiency& prior, int folds) {
  return fit_with_ranges(pointers(points), prior, folds);
}

namespace {

/// Judges the points of each part under constants and ranges fitted on all other parts.
std::vector<HeldOut> cross_validate_parts(std::span<const Point> points,
                                          const std::vector<int>& part, int parts,
                                          const Efficiency& prior, int folds) {
  const std::vector<const Point*> all = pointers(points);
  std::vector<HeldOut> rows(all.size());
  for (int out = 0; out < parts; ++out) {
    std::vector<const Point*> seen;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (part[i] != out) seen.push_back(all[i]);
    const Efficiency e = fit_with_ranges(seen, prior, folds);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (part[i] != out) continue;
      const Prediction p = predict(DeviceModel(*all[i]->device, e), *all[i]);
      rows[i] = {all[i], p, all[i]->us / p.time.mid};
    }
  }
  return rows;
}

}  // namespace

std::vector<HeldOut> cross_validate(std::span<const Point> points, const Efficiency& prior,
                                    int folds) {
  std::vector<int> part;
  for (std::size_t i = 0; i < points.size(); ++i) part.push_back(static_cast<int>(i) % folds);
  return cross_validate_parts(points, part, folds, prior, folds);
}

std::vector<HeldOut> cross_validate_sources(std::span<const Point> points, const Efficiency& prior,
                                            int inner_folds) {
  std::vector<std::string> sources;
  std::vector<int> part;
  for (const Point& point : points) {
    const auto at = std::ranges::find(sources, point.source);
    part.push_back(static_cast<int>(at - sources.begin()));
    if (at == sources.end()) sources.push_back(point.source);
  }
  return cross_validate_parts(points, part, static_cast<int>(sources.size()), prior, inner_folds);
}

}  // namespace isoloop::gpu
