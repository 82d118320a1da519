// Boxes that can only tie with the worst answer kept, bounded by the second criterion.
//
// The bands of search.cpp follow from the first criterion alone. Often that is not enough: a budget
// that nothing can reach (the cache, say, under fixed kv heads) makes the largest mismatch of the
// whole space the same, and every point would have to be visited to find the best of equals. So
// where a box is off by at least the worst answer's first score everywhere, a point that still
// helps ties in it, and must not exceed the worst answer in the second criterion:
//
//   sum of mismatches      leaves each measure what the others' least shares do not use
//   largest mismatch       bounds each measure
//   mismatch of a budget   bounds that measure
//
// Shares are fixed-point integers rounded down, what is left is rounded up, so nothing that ties in
// both is lost. Example that does not fit: criteria about unknowns; then there is no such bound.
// Held by tests/solve/search_test.cpp against brute force.
#include <algorithm>
#include <limits>

#include "solve/search_internal.h"

namespace isoloop::solve::detail {
namespace {

using Kind = Criterion::Kind;

bool about_mismatch(Kind kind) { return kind == Kind::largest_mismatch || kind == Kind::mismatch; }

}  // namespace

/// Prepares the bounds from the worst answer kept; off where the numbers would not fit.
void Bounds::tighten_ties(const Answer* last) {
  ties_ = {};
  const std::vector<Criterion>& criteria = problem_.criteria;
  if (last == nullptr || criteria.empty()) return;
  const Criterion& first = criteria.front();
  std::size_t second = 1;
  while (second < criteria.size() && criteria[second].kind == first.kind &&
         criteria[second].index == first.index)
    ++second;
  if (second == criteria.size() || !about_mismatch(first.kind)) return;
  ties_.by_sum = criteria[second].kind == Kind::sum_of_mismatches;
  if (!ties_.by_sum && !about_mismatch(criteria[second].kind)) return;
  const std::vector<Ratio>& worst = last->score;
  constexpr std::int64_t one = 1 << 30;
  const Int most = Int::from_raw(std::numeric_limits<int128>::max() / 4);
  const Int limit = ceil(worst[second] * Ratio(one));
  ties_.limit = limit.raw();
  for (std::size_t m = 0; m < targets_.size(); ++m) {
    Tie tie;
    const Ratio unit = problem_.measures[m].tolerance * Ratio(targets_[m]);
    tie.counts = unit != Ratio(0);
    if (tie.counts) {
      if (unit.den() > floor_div(most, (top_corner_ + 1) * one)) return;
      if (unit.num() > floor_div(most, limit + 1)) return;
      tie.may_tie = first.kind == Kind::largest_mismatch || first.index == m;
      tie.bounded = criteria[second].kind != Kind::mismatch || criteria[second].index == m;
      tie.need = ceil(worst.front() * unit).raw();
      tie.within = floor(worst[second] * unit).raw();
      tie.times = (unit.den() * one).raw();
      tie.over = unit.num().raw();
    }
    ties_.measures.push_back(tie);
  }
  ties_.on = true;
}

/// Returns the measure that leaves nothing, if one does.
std::optional<std::size_t> Bounds::narrow_by_ties(Level& level, std::size_t depth,
                                                    bool& changed) const {
  if (!ties_.on) return std::nullopt;
  std::optional<std::size_t> tied;
  int128 sum = 0;
  const auto least = [&](std::size_t m) {  // share of measure m in the sum
    const Tie& tie = ties_.measures[m];
    return tie.counts ? level.off[m] * tie.times / tie.over : int128{0};
  };
  for (std::size_t m = 0; m < targets_.size(); ++m)
    if (ties_.measures[m].may_tie && level.off[m] >= ties_.measures[m].need) tied = m;
  if (!tied) return std::nullopt;
  if (ties_.by_sum)
    for (std::size_t m = 0; m < targets_.size(); ++m) sum += least(m);
  if (ties_.by_sum && sum > ties_.limit) return tied;
  for (std::size_t m = 0; m < targets_.size(); ++m) {
    const Tie& tie = ties_.measures[m];
    if (!tie.counts || !tie.bounded) continue;
    const int128 left = ties_.limit - (sum - least(m)) + 1;  // + 1 for what rounding hides
    const int128 off = ties_.by_sum ? left * tie.over / tie.times : tie.within;
    const int128 target = targets_[m].raw();
    const Band band = {std::max(bands_[m].low, target - off),
                       std::min(bands_[m].high, target + off)};
    if (!narrow_by_measure(level, m, band, depth, changed)) return m;
  }
  return std::nullopt;
}

}  // namespace isoloop::solve::detail
