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
    leaf(level, base);
    return;
  }
  const std::size_t v = problem_.order[depth];
  const std::vector<std::int64_t>& domain = problem_.variables[v].domain;
  const Int below = subtree_[depth + 1];
  const std::int32_t low = level.low[v], high = level.high[v];
  if (low > 0) prune(level.low_reason[v], base, below * Int(low));
  const std::int64_t above = static_cast<std::int64_t>(domain.size()) - 1 - high;
  if (above > 0) prune(level.high_reason[v], base + below * Int(high + 1), below * Int(above));
  Level& next = levels_[depth + 1];
  for (std::int32_t i = low; i <= high; ++i) {
    const Int at = base + below * Int(i);
    if (at + below <= first_) continue;
    if (at >= last_) break;
    next.low = level.low;
    next.high = level.high;
    next.low_reason = level.low_reason;
    next.high_reason = level.high_reason;
    next.low[v] = next.high[v] = i;
    for (std::size_t m = 0; m < problem_.measures.size(); ++m)
      substitute(level.terms[m], v, domain[static_cast<std::size_t>(i)], next.terms[m]);
    visit(depth + 1, at);
  }
}

void Walk::leaf(const Level& level, const Int& index) {
  certificate_.visited += problem_.cases[case_].multiplicity;
  if (!*visitor_) return;
  for (std::size_t v = 0; v < values_.size(); ++v) values_[v] = bounds_.value_at(level.low, v);
  for (std::size_t m = 0; m < excess_.size(); ++m) {
    Int value = 0;
    for (const Term& term : level.terms[m]) value += Int::from_raw(term.coefficient);
    excess_[m] = value - bounds_.targets()[m];
  }
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
  for (const auto& [by, points] : part.pruned) {
    const auto known = std::find_if(sum.pruned.begin(), sum.pruned.end(),
                                    [&](const auto& entry) { return entry.first == by; });
    if (known == sum.pruned.end())
      sum.pruned.emplace_back(by, points);
    else
      known->second += points;
  }
}

}  // namespace isoloop::solve
