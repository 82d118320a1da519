// Leaves of the search: exact scores, the total order of answers, and the list of the best.
//
// Held by tests/solve/search_test.cpp.
#include <algorithm>

#include "solve/search_internal.h"

namespace isoloop::solve {
namespace {

/// |mismatch| in units of its tolerance; a tolerance of 0 admits equality only, which costs 0.
Ratio units(const Measure& measure, const Ratio& mismatch) {
  return measure.tolerance == Ratio(0) ? Ratio(0) : abs(mismatch) / measure.tolerance;
}

}  // namespace

Answer answer_of(const Problem& problem, const Point& candidate) {
  Answer answer;
  answer.case_index = candidate.case_index;
  answer.values = candidate.values;
  for (std::size_t m = 0; m < candidate.excess.size(); ++m)
    answer.mismatch.push_back(Ratio(candidate.excess[m], candidate.targets[m]));
  for (const Criterion& criterion : problem.criteria)
    answer.score.push_back(score_of(problem, criterion, answer));
  return answer;
}

Ratio score_of(const Problem& problem, const Criterion& criterion, const Answer& answer) {
  Ratio result = 0;
  switch (criterion.kind) {
    case Criterion::Kind::largest_mismatch:
      for (std::size_t m = 0; m < answer.mismatch.size(); ++m)
        result = std::max(result, units(problem.measures[m], answer.mismatch[m]));
      return result;
    case Criterion::Kind::sum_of_mismatches:
      for (std::size_t m = 0; m < answer.mismatch.size(); ++m)
        result += units(problem.measures[m], answer.mismatch[m]);
      return result;
    case Criterion::Kind::mismatch:
      return units(problem.measures[criterion.index], answer.mismatch[criterion.index]);
    case Criterion::Kind::larger: return -Ratio(answer.values[criterion.index]);
    case Criterion::Kind::smaller: return answer.values[criterion.index];
    case Criterion::Kind::nearest:
      return abs(Ratio(answer.values[criterion.index]) - Ratio(criterion.origin));
    case Criterion::Kind::case_order: return Ratio(Int(answer.case_index));
  }
  throw internal_error("unknown criterion");
}

bool same_signature(const Problem& problem, const Answer& a, const Answer& b) {
  if (a.case_index != b.case_index) return false;
  return std::all_of(problem.signature.begin(), problem.signature.end(),
                     [&](const std::vector<std::size_t>& factors) {
                       Int x = 1, y = 1;
                       for (const std::size_t v : factors) {
                         x *= Int(a.values[v]);
                         y *= Int(b.values[v]);
                       }
                       return x == y;
                     });
}

namespace detail {

Result Searcher::run() {
  Certificate certificate =
      walk_.run(0, candidates(problem_),
                [this](const Point& c) { keep(answer_of(problem_, c)); });
  return {std::move(answers_), std::move(certificate)};
}

bool Searcher::better(const Answer& a, const Answer& b) const {
  for (std::size_t i = 0; i < a.score.size(); ++i)
    if (a.score[i] != b.score[i]) return a.score[i] < b.score[i];
  if (a.case_index != b.case_index) return a.case_index < b.case_index;
  return a.values < b.values;
}

/// Inserts an answer in order; of several with one signature only the best stays.
void Searcher::keep(Answer answer) {
  const auto rival = std::find_if(answers_.begin(), answers_.end(), [&](const Answer& other) {
    return same_signature(problem_, answer, other);
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
  walk_.bounds().tighten(answers_.size() < problem_.keep ? nullptr : &answers_.back());
}

}  // namespace detail
}  // namespace isoloop::solve
