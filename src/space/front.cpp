// The Pareto front, and what its measures are called.
//
// Held by tests/space/front_test.cpp against comparing all with all.
#include <fmt/format.h>

#include <algorithm>

#include "isoloop/space.h"

namespace isoloop::space {
namespace {

std::strong_ordering compare(const Score& a, const Score& b) {
  if (a.exact && b.exact) return *a.exact <=> *b.exact;
  const double x = a.predicted.mid, y = b.predicted.mid;
  return x < y ? std::strong_ordering::less
               : x > y ? std::strong_ordering::greater : std::strong_ordering::equal;
}

/// As good in every measure, and better in one or earlier among equals.
bool covers(const FrontPoint& a, const FrontPoint& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.scores.size(); ++i) {
    const auto order = compare(a.scores[i], b.scores[i]);
    if (order > 0) return false;
    better = better || order < 0;
  }
  return better || a.index <= b.index;
}

bool comes_before(const FrontPoint& a, const FrontPoint& b) {
  for (std::size_t i = 0; i < a.scores.size(); ++i)
    if (const auto order = compare(a.scores[i], b.scores[i]); order != 0) return order < 0;
  return a.index < b.index;
}

}  // namespace

bool Front::add(FrontPoint point) {
  // What covers a point comes before it in the order kept, what it covers comes after.
  const auto place = std::lower_bound(points_.begin(), points_.end(), point, comes_before);
  if (std::any_of(points_.begin(), place, [&](const auto& p) { return covers(p, point); }))
    return false;
  if (place != points_.end() && covers(*place, point)) return false;
  const auto position = place - points_.begin();
  points_.erase(std::remove_if(place, points_.end(),
                               [&](const auto& p) { return covers(point, p); }),
                points_.end());
  points_.insert(points_.begin() + position, std::move(point));
  return true;
}

std::vector<FrontMeasure> front_measures(const std::vector<std::string>& keys,
                                         const std::vector<Price>& prices, const char* where) {
  using Kind = FrontMeasure::Kind;
  std::vector<FrontMeasure> known = {
      {Kind::mismatch, "mismatch", "of tolerance",
       "largest mismatch, in units of its budget's tolerance", {}, 0},
      {Kind::distance, "distance", "x",
       "largest factor by which a proportion differs from the baseline's", {}, 0}};
  for (std::size_t i = 0; i < prices.size(); ++i)
    known.push_back({Kind::price, prices[i].key, prices[i].unit, prices[i].meaning, {}, i});
  for (const std::string& budget : cost::budget_names()) {
    const cost::BudgetName name = cost::name(cost::parse_budget(budget, where));
    std::string key = budget;
    std::replace(key.begin(), key.end(), '_', '-');
    known.push_back({Kind::budget, key, std::string(name.unit), std::string(name.meaning),
                     cost::parse_budget(budget, where), 0});
  }
  std::vector<FrontMeasure> result;
  std::vector<std::string> names;
  for (const FrontMeasure& measure : known) names.push_back(measure.key);
  for (std::string key : keys) {
    std::replace(key.begin(), key.end(), '_', '-');
    const auto found = std::find(names.begin(), names.end(), key);
    if (found == names.end()) throw unknown_name(ErrorKind::usage, "measure", key, names, where);
    const FrontMeasure& measure = known[static_cast<std::size_t>(found - names.begin())];
    if (std::any_of(result.begin(), result.end(), [&](const auto& m) { return m.key == key; }))
      throw usage_error(fmt::format("{} is given twice", key), where, "keep one of the two");
    result.push_back(measure);
  }
  if (result.empty()) throw usage_error("names no measure", where, "write e.g. mismatch,step-time");
  return result;
}

}  // namespace isoloop::space
