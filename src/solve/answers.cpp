// Leaves of the search: exact scores, the total order of answers, and the list of the best.
//
// Held by tests/solve/search_test.cpp.
#include <algorithm>

#include "solve/search_internal.h"

namespace isoloop::solve::detail {
namespace {

/// |mismatch| in units of its tolerance; a tolerance of 0 admits equality only, which costs 0.
Ratio units(const Measure& measure, const Ratio& mismatch) {
  return measure.tolerance == Ratio(0) ? Ratio(0) : abs(mismatch) / measure.tolerance;
}

}  // namespace

void Searcher::leaf(const Level& level) {
  certificate_.visited += problem_.cases[case_].multiplicity;
  Answer answer;
  answer.case_index = case_;
  for (std::size_t v = 0; v < problem_.variables.size(); ++v)
    answer.values.push_back(value_at(level.low, v));
  for (std::size_t m = 0; m < targets_.size(); ++m) {
    Int value = 0;
    for (const Term& term : level.terms[m]) value += Int::from_raw(term.coefficient);
    answer.mismatch.push_back(Ratio(value - targets_[m], targets_[m]));
  }
  for (const Criterion& criterion : problem_.criteria)
    answer.score.push_back(score(criterion, answer));
  keep(std::move(answer));
}

Ratio Searcher::score(const Criterion& criterion, const Answer& answer) const {
  Ratio result = 0;
  switch (criterion.kind) {
    case Criterion::Kind::largest_mismatch:
      for (std::size_t m = 0; m < answer.mismatch.size(); ++m)
        result = std::max(result, units(problem_.measures[m], answer.mismatch[m]));
      return result;
    case Criterion::Kind::sum_of_mismatches:
      for (std::size_t m = 0; m < answer.mismatch.size(); ++m)
        result += units(problem_.measures[m], answer.mismatch[m]);
      return result;
    case Criterion::Kind::mismatch:
      return units(problem_.measures[criterion.index], answer.mismatch[criterion.index]);
    case Criterion::Kind::larger: return -Ratio(answer.values[criterion.index]);
    case Criterion::Kind::smaller: return answer.values[criterion.index];
    case Criterion::Kind::nearest:
      return abs(Ratio(answer.values[criterion.index]) - Ratio(criterion.origin));
    case Criterion::Kind::case_order: return Ratio(Int(answer.case_index));
  }
  throw internal_error("unknown criterion");
}

bool Searcher::better(const Answer& a, const Answer& b) const {
  for (std::size_t i = 0; i < a.score.size(); ++i)
    if (a.score[i] != b.score[i]) return a.score[i] < b.score[i];
  if (a.case_index != b.case_index) return a.case_index < b.case_index;
  return a.values < b.values;
}

bool Searcher::same_signature(const Answer& a, const Answer& b) const {
  if (a.case_index != b.case_index) return false;
  return std::all_of(problem_.signature.begin(), problem_.signature.end(),
                     [&](const std::vector<std::size_t>& factors) {
                       Int x = 1, y = 1;
                       for (const std::size_t v : factors) {
                         x *= Int(a.values[v]);
                         y *= Int(b.values[v]);
                       }
                       return x == y;
                     });
}

/// Inserts an answer in order; of several with one signature only the best stays.
void Searcher::keep(Answer answer) {
  const auto rival = std::find_if(answers_.begin(), answers_.end(), [&](const Answer& other) {
    return same_signature(answer, other);
  });
  if (rival != answers_.end()) {
    if (!better(answer, *rival)) return;
    answers_.erase(rival);
  }
  const auto place = std::find_if(answers_.begin(), answers_.end(), [&](const Answer& other) {
    return better(answer, other);
  });
  if (place == answers_.end() && answers_.size() >= problem_.keep) return;
  answers_.insert(place, std::move(answer));
  if (answers_.size() > problem_.keep) answers_.pop_back();
  tighten();
}

}  // namespace isoloop::solve::detail
