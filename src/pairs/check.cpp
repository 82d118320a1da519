// Checks the pairs of a manifest and finds what moved since they were recorded.
//
// Held by tests/pairs/check_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "isoloop/pairs.h"

namespace isoloop::pairs {
namespace {

struct Side {
  std::vector<cost::Row<Ratio>> rows;
  cost::Options options;
};

Side count_rows(const arch::Architecture& model, cost::Options options) {
  if (options.context == 0) options.context = model.context;
  return {cost::ledger(model, options), options};
}

std::string key(const cost::Row<Ratio>& row) {
  return row.segment.empty() ? row.name : fmt::format("{} / {}", row.segment, row.name);
}

/// Rows by name; zero contributions are left out.
Recorded contributions(const Side& side, const std::vector<solve::BudgetTolerance>& budgets) {
  Recorded result;
  for (const cost::Row<Ratio>& row : side.rows)
    for (const solve::BudgetTolerance& b : budgets) {
      const Ratio value = cost::contribution(row, b.budget, side.options);
      if (value != Ratio(0)) result[key(row)][std::string(cost::name(b.budget).name)] += value;
    }
  return result;
}

Ratio value_of(const Recorded& recorded, const std::string& row, const std::string& budget) {
  const auto at = recorded.find(row);
  if (at == recorded.end()) return 0;
  const auto value = at->second.find(budget);
  return value == at->second.end() ? Ratio(0) : value->second;
}

/// Keeps in `result` the row that moved most in this budget.
void find_moved(const std::string& side, const Recorded& before, const Recorded& now,
                BudgetCheck& result) {
  const std::string budget(cost::name(result.budget).name);
  const bool recorded = std::any_of(before.begin(), before.end(),
                                    [&](const auto& row) { return row.second.contains(budget); });
  if (!recorded) return;  // asked for since then
  const auto consider = [&](const std::string& row) {
    const Ratio from = value_of(before, row, budget), to = value_of(now, row, budget);
    if (abs(to - from) <= abs(result.moved_to - result.moved_from)) return;
    result.moved_side = side;
    result.moved_row = row;
    result.moved_from = from;
    result.moved_to = to;
  };
  for (const auto& [row, values] : now) consider(row);
  for (const auto& [row, values] : before) consider(row);
}

const std::vector<solve::BudgetTolerance>& tolerance_of(const Manifest& manifest,
                                                        const Pair& pair) {
  return pair.tolerance.empty() ? manifest.tolerance : pair.tolerance;
}

PairCheck check_pair(const Manifest& manifest, const Pair& pair, const Open& open) {
  PairCheck result{pair.name, pair.baseline, pair.match, true, !pair.baseline_rows.empty(), false,
                   {}};
  const auto& tolerance = tolerance_of(manifest, pair);
  const Side baseline = count_rows(open(pair.baseline), manifest.options);
  const Side match = count_rows(open(pair.match), manifest.options);
  const Recorded baseline_now = contributions(baseline, tolerance);
  const Recorded match_now = contributions(match, tolerance);
  for (const solve::BudgetTolerance& t : tolerance) {
    BudgetCheck b;
    b.budget = t.budget;
    b.tolerance = t.tolerance;
    b.baseline = cost::total(baseline.rows, t.budget, baseline.options);
    b.match = cost::total(match.rows, t.budget, match.options);
    if (b.baseline == Ratio(0))
      throw input_error(
          fmt::format("the {} of '{}' is zero", cost::name(t.budget).name, pair.baseline),
          fmt::format("pair '{}'", pair.name), "leave this budget out");
    b.mismatch = (b.match - b.baseline) / b.baseline;
    b.ok = abs(b.mismatch) <= t.tolerance;
    if (result.recorded) {
      find_moved("match", pair.match_rows, match_now, b);
      find_moved("baseline", pair.baseline_rows, baseline_now, b);
    }
    result.ok = result.ok && b.ok;
    result.moved = result.moved || !b.moved_row.empty();
    result.budgets.push_back(std::move(b));
  }
  return result;
}

}  // namespace

std::vector<PairCheck> check(const Manifest& manifest, const Open& open) {
  std::vector<PairCheck> result;
  for (const Pair& pair : manifest.pairs) result.push_back(check_pair(manifest, pair, open));
  return result;
}

Manifest record(const Manifest& manifest, const Open& open) {
  Manifest result = manifest;
  for (Pair& pair : result.pairs) {
    const auto& tolerance = tolerance_of(manifest, pair);
    pair.baseline_rows =
        contributions(count_rows(open(pair.baseline), manifest.options), tolerance);
    pair.match_rows = contributions(count_rows(open(pair.match), manifest.options), tolerance);
  }
  return result;
}

}  // namespace isoloop::pairs
