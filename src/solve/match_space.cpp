// A matching request as a set of candidates.
//
// Held by tests/solve/walk_test.cpp.
#include <map>

#include "solve/statement.h"

namespace isoloop::solve {

struct MatchSpace::State {
  solve::detail::Stated stated;
  std::map<cost::Budget, std::vector<Poly>> polynomials;  // by case
};

MatchSpace::MatchSpace(const MatchRequest& request)
    : state_(std::make_unique<State>(State{solve::detail::state_question(request), {}})) {
  cost::Options& options = state_->stated.request.options;
  if (options.context == 0) options.context = request.baseline.context;
}
MatchSpace::~MatchSpace() = default;
MatchSpace::MatchSpace(MatchSpace&&) noexcept = default;
MatchSpace& MatchSpace::operator=(MatchSpace&&) noexcept = default;

const MatchRequest& MatchSpace::request() const { return state_->stated.request; }
const Problem& MatchSpace::problem() const { return state_->stated.statement.problem; }
const MatchResult& MatchSpace::stated() const { return state_->stated.result; }
std::vector<std::string> MatchSpace::rank_keys() const {
  return solve::detail::rank_keys(request());
}
std::optional<Criterion> MatchSpace::criterion(const std::string& rank_key) const {
  return solve::detail::criterion_of(request(), state_->stated.statement.unknowns, rank_key);
}

MatchAnswer MatchSpace::read(const Answer& answer, bool check) const {
  const auto& [request, statement, result] = state_->stated;
  if (check) return solve::detail::read_answers(request, statement, {answer}).front();
  return solve::detail::read_answer(request, statement, answer);
}

void MatchSpace::watch(cost::Budget budget) {
  const auto& [request, statement, result] = state_->stated;
  std::vector<Poly> values;
  for (const solve::detail::ShapeClass& shape : statement.shapes)
    values.push_back(
        cost::total(solve::detail::open_ledger(shape, request.options, statement.unknowns), budget,
                    request.options));
  state_->polynomials[budget] = std::move(values);
}

Ratio MatchSpace::value(cost::Budget budget, const Answer& answer) const {
  const auto watched = state_->polynomials.find(budget);
  if (watched == state_->polynomials.end()) throw internal_error("a budget that is not watched");
  const std::vector<Int> at(answer.values.begin(), answer.values.end());
  return watched->second[answer.case_index].at(at);
}

Ratio MatchSpace::baseline_value(cost::Budget budget) const {
  const MatchRequest& r = request();
  return cost::total(cost::ledger(r.baseline, r.options), budget, r.options);
}

}  // namespace isoloop::solve
