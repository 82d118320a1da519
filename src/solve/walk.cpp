// The walk over a range of candidates: descends where the bounds leave something, books the rest.
//
// A node at some depth stands for the candidates from `base` on, as many as the unknowns below it
// have values. What is cut off is a run of such candidates, so a range of indices is respected by
// counting only the part of the run inside it. Nodes belong to the range that holds their first
// candidate. Hence certificates of adjacent ranges add up, whoever walked them.
//
// Held by tests/solve/walk_test.cpp against brute force, and tests/solve/search_test.cpp.
#include <algorithm>

#include "solve/search_internal.h"

namespace isoloop::solve {
namespace detail {

Walk::Walk(const Problem& problem) : problem_(problem), bounds_(problem) {
  levels_.resize(problem.order.size() + 1);
  for (Level& level : levels_) {
    level.terms.resize(problem.measures.size());
    level.off.resize(problem.measures.size());
  }
  subtree_.assign(problem.order.size() + 1, 1);
  for (std::size_t i = problem.order.size(); i-- > 0;)
    subtree_[i] = subtree_[i + 1] * Int(problem.variables[problem.order[i]].domain.size());
  values_.resize(problem.variables.size());
  excess_.resize(problem.measures.size());
  at_leaf_.resize(problem.measures.size());
}

Certificate Walk::run(const Int& first, const Int& last, const Visitor& visitor) {
  first_ = first;
  last_ = last;
  visitor_ = &visitor;
  certificate_ = {};
  pruned_.assign(problem_.measures.size() + problem_.rules.size(), 0);
  for (case_ = 0; case_ < problem_.cases.size(); ++case_) {
    const Int base = subtree_.front() * Int(case_);
    if (base + subtree_.front() <= first_) continue;
    if (base >= last_) break;
    walk_case(base);
  }
  return finish();
}

void Walk::walk_case(const Int& base) {
  const Case& c = problem_.cases[case_];
  Level& root = levels_.front();
  root.terms = bounds_.terms(c);
  root.low.assign(problem_.variables.size(), 0);
  root.high.clear();
  for (const Variable& v : problem_.variables)
    root.high.push_back(static_cast<std::int32_t>(v.domain.size()) - 1);
  root.low_reason.assign(problem_.variables.size(), 0);
  root.high_reason.assign(problem_.variables.size(), 0);
  certificate_.points += inside(base, subtree_.front()) * c.multiplicity;
  visit(0, base);
}

/// How many of the candidates [from, from + count) lie in the range walked.
Int Walk::inside(const Int& from, const Int& count) const {
  return std::max(Int(0), std::min(from + count, last_) - std::max(from, first_));
}

void Walk::prune(std::size_t reason, const Int& from, const Int& count) {
  pruned_[reason] += inside(from, count) * problem_.cases[case_].multiplicity;
}

/// One node: unknowns order[0..depth) are fixed, the rest have ranges.
void Walk::visit(std::size_t depth, const Int& base) {
  if (base >= first_) certificate_.nodes += 1;
  Level& level = levels_[depth];
  if (const std::optional<std::size_t> reason = bounds_.narrow(level, depth)) {
    prune(*reason, base, subtree_[depth]);
    return;
  }
  if (depth == problem_.order.size()) {
    certificate_.visited += problem_.cases[case_].multiplicity;
    for (std::size_t m = 0; m < at_leaf_.size(); ++m) {
      at_leaf_[m] = 0;
      for (const Term& term : level.terms[m]) at_leaf_[m] += term.coefficient;
    }
    if (*visitor_) leaf(level, base);
    return;
  }
  const std::size_t v = problem_.order[depth];
  const std::vector<std::int64_t>& domain = problem_.variables[v].domain;
  const Int below = subtree_[depth + 1];
  const std::int32_t low = level.low[v], high = level.high[v];
  if (low > 0) prune(level.low_reason[v], base, below * Int(low));
  const std::int64_t above = static_cast<std::int64_t>(domain.size()) - 1 - high;
  if (above > 0) prune(level.high_reason[v], base + below * Int(high + 1), below * Int(above));
  if (depth + 1 == problem_.order.size() && !bounds_.has_ties()) {
    leaves(depth, base);
    return;
  }
  children(depth, base, low);
}

/// Visits the node of each value of the next unknown from position `from` on.
void Walk::children(std::size_t depth, const Int& base, std::int32_t from) {
  const Level& level = levels_[depth];
  Level& next = levels_[depth + 1];
  const std::size_t v = problem_.order[depth];
  const Int below = subtree_[depth + 1];
  for (std::int32_t i = from; i <= level.high[v]; ++i) {
    const Int at = base + below * Int(i);
    if (at + below <= first_) continue;
    if (at >= last_) break;
    next.low = level.low;
    next.high = level.high;
    next.low_reason = level.low_reason;
    next.high_reason = level.high_reason;
    next.low[v] = next.high[v] = i;
    for (std::size_t m = 0; m < problem_.measures.size(); ++m)
      substitute(level.terms[m], v, problem_.variables[v].domain[static_cast<std::size_t>(i)],
                 next.terms[m]);
    visit(depth + 1, at);
  }
}

/// The innermost loop, what visit() would do for each value of the last unknown: budgets are then
/// polynomials in it alone and are evaluated without a node of their own.
void Walk::leaves(std::size_t depth, const Int& base) {
  const Level& level = levels_[depth];
  Level& point = levels_[depth + 1];
  const std::size_t v = problem_.order[depth];
  const std::vector<std::int64_t>& domain = problem_.variables[v].domain;
  point.low = level.low;
  point.high = level.high;
  point.low_reason = level.low_reason;
  point.high_reason = level.high_reason;
  std::int64_t nodes = 0, visited = 0;
  for (std::int32_t i = level.low[v]; i <= level.high[v]; ++i) {
    const Int index = base + Int(i);
    if (index < first_) continue;
    if (index >= last_) break;
    ++nodes;
    point.low[v] = point.high[v] = i;
    for (std::size_t m = 0; m < at_leaf_.size(); ++m) {
      int128 sum = 0;
      for (const Term& term : level.terms[m]) {
        int128 product = term.coefficient;
        for (int e = exponent(term.key, v); e > 0; --e)
          product *= domain[static_cast<std::size_t>(i)];
        sum += product;
      }
      at_leaf_[m] = sum;
    }
    if (const std::optional<std::size_t> reason = bounds_.refused(point, at_leaf_)) {
      prune(*reason, index, 1);
      continue;
    }
    ++visited;
    if (*visitor_) leaf(point, index);
    if (bounds_.has_ties()) {  // an answer was kept: its ties bound the rest as well
      children(depth, base, i + 1);
      break;
    }
  }
  certificate_.nodes += nodes;
  certificate_.visited += Int(visited) * problem_.cases[case_].multiplicity;
}

/// Hands a point over; its budgets are in at_leaf_.
void Walk::leaf(const Level& level, const Int& index) {
  for (std::size_t v = 0; v < values_.size(); ++v) values_[v] = bounds_.value_at(level.low, v);
  for (std::size_t m = 0; m < excess_.size(); ++m)
    excess_[m] = Int::from_raw(at_leaf_[m]) - bounds_.targets()[m];
  (*visitor_)({index, case_, values_, excess_, bounds_.targets()});
}

Certificate Walk::finish() {
  for (std::size_t i = 0; i < pruned_.size(); ++i)
    if (pruned_[i] != Int(0)) {
      const auto known =
          std::find_if(certificate_.pruned.begin(), certificate_.pruned.end(),
                       [&](const auto& entry) { return entry.first == bounds_.reason_name(i); });
      if (known == certificate_.pruned.end())
        certificate_.pruned.emplace_back(bounds_.reason_name(i), pruned_[i]);
      else
        known->second += pruned_[i];
    }
  Int sum = certificate_.visited;
  for (const auto& [by, points] : certificate_.pruned) sum += points;
  if (sum != certificate_.points) throw internal_error("the search lost count of its space");
  return certificate_;
}

}  // namespace detail

struct Walker::State {
  explicit State(Problem given) : problem(std::move(given)), walk(problem) {}
  Problem problem;
  solve::detail::Walk walk;
};
Walker::Walker(Problem problem) : state_(std::make_unique<State>(std::move(problem))) {}
Walker::~Walker() = default;
Walker::Walker(Walker&&) noexcept = default;
Walker& Walker::operator=(Walker&&) noexcept = default;

Certificate Walker::visit(const Int& first, const Int& last, const Visitor& visitor) {
  return state_->walk.run(first, last, visitor);
}

Int candidates(const Problem& problem) {
  Int size = Int(problem.cases.size());
  for (const Variable& v : problem.variables) size *= Int(v.domain.size());
  return size;
}

Answer candidate_at(const Problem& problem, const Int& index) {
  if (index < Int(0) || index >= candidates(problem))
    throw internal_error("a candidate beyond the last");
  Answer answer;
  answer.values.resize(problem.variables.size());
  Int rest = index;
  for (std::size_t i = problem.order.size(); i-- > 0;) {
    const std::vector<std::int64_t>& domain = problem.variables[problem.order[i]].domain;
    const Int above = floor_div(rest, Int(domain.size()));
    const Int position = rest - above * Int(domain.size());
    answer.values[problem.order[i]] = domain[static_cast<std::size_t>(position.to_int64())];
    rest = above;
  }
  answer.case_index = static_cast<std::size_t>(rest.to_int64());
  const std::vector<Int> at(answer.values.begin(), answer.values.end());
  for (std::size_t m = 0; m < problem.measures.size(); ++m)
    answer.mismatch.push_back(
        problem.cases[answer.case_index].values[m].at(at) / problem.measures[m].target - Ratio(1));
  for (const Criterion& criterion : problem.criteria)
    answer.score.push_back(score_of(problem, criterion, answer));
  return answer;
}

void add(Certificate& sum, const Certificate& part) {
  sum.points += part.points;
  sum.visited += part.visited;
  sum.nodes += part.nodes;
  for (const auto& cut : part.pruned) {
    const auto known = std::find_if(sum.pruned.begin(), sum.pruned.end(),
                                    [&](const auto& entry) { return entry.first == cut.first; });
    if (known == sum.pruned.end())
      sum.pruned.emplace_back(cut.first, cut.second);
    else
      known->second += cut.second;
  }
}

}  // namespace isoloop::solve
