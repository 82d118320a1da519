// What a device leaves of a compute-efficiency gain.
//
// Source of the gain: the laws and the table of arXiv 2609.01343, whose printed intervals come from
// bootstrap draws that are not published. Held by tests/cli/plan_gain_test.cpp.
#include "cli/plan_gain.h"

#include <algorithm>
#include <cmath>

#include "law/published.h"

namespace isoloop::cli {
namespace {

// The paper labels its sparsities 0.85, 0.95 and 0.97; cells lie within 0.01 of a label.
constexpr double same_sparsity = 0.02;

/// Printed rows of the sparsity nearest to `sparsity`, by budget.
std::vector<law::PublishedGain> rows_near(double sparsity) {
  std::vector<law::PublishedGain> rows = law::published().gains;
  double nearest = 1;
  for (const law::PublishedGain& row : rows)
    nearest = std::min(nearest, std::abs(row.sparsity - sparsity));
  if (nearest > same_sparsity) return {};
  std::erase_if(rows, [&](const law::PublishedGain& row) {
    return std::abs(row.sparsity - sparsity) > nearest + 1e-9;
  });
  std::ranges::sort(rows, {}, &law::PublishedGain::compute);
  return rows;
}

std::optional<law::Interval> published_interval(double compute, double sparsity) {
  const std::vector<law::PublishedGain> rows = rows_near(sparsity);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const law::PublishedGain &a = rows[i], &b = rows[i + 1];
    if (compute < a.compute || compute > b.compute) continue;
    const double along = std::log(compute / a.compute) / std::log(b.compute / a.compute);
    return law::Interval{std::lerp(a.interval.low, b.interval.low, along),
                         std::lerp(a.interval.high, b.interval.high, along)};
  }
  return std::nullopt;
}

double left(double gain, double step_ratio, double flops_ratio) {
  return 1 - (1 - gain) * step_ratio / flops_ratio;
}

}  // namespace

std::optional<Share> published_gain(double compute, double sparsity) {
  if (sparsity <= 0) return std::nullopt;
  const std::vector<double> sparsities = {sparsity}, budgets = {compute};
  const law::Gain gain = law::gain(law::built_in_law("baseline", "law"),
                                   law::built_in_law("smelt", "law"), sparsities, budgets);
  return Share{gain.rows.front().gain, published_interval(compute, sparsity)};
}

Share gain_needed(const gpu::StepRatio& step, double flops_ratio) {
  return {1 - flops_ratio / step.mid,
          law::Interval{1 - flops_ratio / step.low, 1 - flops_ratio / step.high}};
}

Share gain_left(const Share& gain, const gpu::StepRatio& step, double flops_ratio) {
  Share share{left(gain.mid, step.mid, flops_ratio), std::nullopt};
  if (gain.range)
    share.range = law::Interval{left(gain.range->low, step.high, flops_ratio),
                                left(gain.range->high, step.low, flops_ratio)};
  return share;
}

}  // namespace isoloop::cli
