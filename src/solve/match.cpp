// Matching: state the question, search, and when nothing is within tolerance say what would help.
//
// Held by tests/solve/match_test.cpp and, for the paper's grid, tests/cli/grid_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "solve/remedies.h"
#include "solve/statement.h"

namespace isoloop::solve {
namespace detail {
namespace {

/// Depth and loop have limits of their own.
void check_limits(Unknown unknown, std::int64_t value, const char* where) {
  const Range range = limits(unknown);
  if (value >= range.low && value <= range.high) return;
  throw usage_error(fmt::format("{} cannot be {}", name(unknown), value), where,
                    fmt::format("{} can be {} to {}", name(unknown), range.low, range.high));
}

void check_unknowns(const MatchRequest& r) {
  for (const auto& [unknown, value] : r.fixed) {
    if (r.freed.contains(unknown))
      throw usage_error(fmt::format("{} is both fixed and freed", name(unknown)), "--fix, --free",
                        "keep one of the two");
    if (value < (unknown == Unknown::loop_span ? 0 : 1) || value > arch::max_dimension)
      throw usage_error(fmt::format("{} = {} is not a size", name(unknown), value), "--fix",
                        "dimensions are positive whole numbers");
    check_limits(unknown, value, "--fix");
  }
  for (const auto& [unknown, range] : r.freed) {
    if (!range) continue;
    const std::string text =
        fmt::format("{}={}:{}:{}", name(unknown), range->low, range->high, range->step);
    if (range->low < 0 || range->step < 1 || range->low > range->high ||
        range->high > arch::max_dimension)
      throw usage_error(text + " is not a range", "--free",
                        "write low:high:step with low <= high and step >= 1");
    if ((range->high - range->low) / range->step >= max_values)
      throw usage_error(fmt::format("{} has more than {} values", text, max_values), "--free",
                        "take a larger step or a narrower range");
    check_limits(unknown, range->low, "--free");
    check_limits(unknown, range->high, "--free");
  }
}

void check_plausibility(const MatchRequest& r) {
  for (const auto& [parallel, option] :
       {std::pair{r.tensor_parallel, "--tp"}, std::pair{r.expert_parallel, "--ep"},
        std::pair{r.pipeline_parallel, "--pp"}})
    if (parallel < 1)
      throw usage_error(fmt::format("a parallelism of {}", parallel), option, "give 1 or more");
  if (r.gqa_low <= Ratio(0) || r.gqa_low > r.gqa_high)
    throw usage_error(fmt::format("a GQA ratio from {} to {} times the baseline's", r.gqa_low.str(),
                                  r.gqa_high.str()),
                      "--gqa", "write low:high with 0 < low <= high, e.g. 1:3");
  if (r.expert_ratio < Ratio(1))
    throw usage_error(
        fmt::format("expert size / hidden within a factor of {}", r.expert_ratio.str()),
        "--expert-ratio", "the factor is 1 or more, e.g. 2");
  if (r.attention_ratio < Ratio(1))
    throw usage_error(fmt::format("heads x head size / hidden within a factor of {}",
                                  r.attention_ratio.str()),
                      "--attention-ratio", "the factor is 1 or more, e.g. 2");
  const Alignment& a = r.alignment;
  if (std::min({a.hidden, a.expert, a.head, a.experts}) < 1)
    throw usage_error(fmt::format("an alignment of {}", alignment_text(a)), "--align",
                      "steps are 1 or more");
}

void check_request(const MatchRequest& r) {
  check_unknowns(r);
  check_plausibility(r);
  if (const Ratio layers = arch::effective_depth(r.baseline); layers > Ratio(max_executed_layers))
    throw input_error(fmt::format("executes {} layers per token", layers.str()), r.baseline.name,
                      fmt::format("matching takes models of at most {} executed layers",
                                  max_executed_layers));
  for (const BudgetTolerance& budget : r.budgets)
    if (budget.tolerance < Ratio(0))
      throw usage_error(fmt::format("a tolerance of {} for {} is negative",
                                    percent(budget.tolerance), cost::name(budget.budget).name),
                        "--tol", "tolerances are zero or more, e.g. flops=1%");
  if (r.top < 1) throw usage_error("0 answers asked for", "--top", "--top takes 1 or more");
}

std::vector<Ratio> targets_of(const MatchRequest& r) {
  cost::Options options = r.options;
  if (options.context == 0) options.context = r.baseline.context;
  const auto rows = cost::ledger(r.baseline, options);
  std::vector<Ratio> targets;
  for (const BudgetTolerance& budget : r.budgets) {
    targets.push_back(budget.of_baseline * cost::total(rows, budget.budget, options));
    if (targets.back() == Ratio(0))
      throw usage_error(fmt::format("the baseline's {} is zero, nothing can match it",
                                    cost::name(budget.budget).name),
                        "--tol", "leave this budget out");
  }
  return targets;
}

}  // namespace

MatchAnswer read_answer(const MatchRequest& request, const Statement& statement,
                        const Answer& answer) {
  const ShapeClass& shapes = statement.shapes[answer.case_index];
  MatchAnswer result;
  result.architecture = shapes.architecture;
  for (std::size_t v = 0; v < statement.unknowns.size(); ++v) {
    assign(result.architecture, statement.unknowns[v], answer.values[v]);
    result.values[statement.unknowns[v]] = answer.values[v];
  }
  const Shape& shape = shapes.shapes.front();
  result.loop = shape.loop;
  result.depth = shape.depth;
  result.values[Unknown::depth] = shape.depth;
  result.values[Unknown::loop_start] = shape.loop.first;
  result.values[Unknown::loop_span] = shape.loop.span;
  result.values[Unknown::loop_visits] = shape.loop.visits;
  result.mismatch = answer.mismatch;
  result.largest = answer.largest();
  result.within = true;
  for (std::size_t m = 0; m < answer.mismatch.size(); ++m)
    if (abs(answer.mismatch[m]) > request.budgets[m].tolerance) result.within = false;
  result.architecture.name =
      fmt::format("{}-{}", request.baseline.name,
                  shape.loop.span == 0 ? "match" : arch::loop_text(shape.loop, shape.depth));
  std::replace(result.architecture.name.begin(), result.architecture.name.end(), ' ', '-');
  return result;
}

std::vector<MatchAnswer> read_answers(const MatchRequest& request, const Statement& statement,
                                      const std::vector<Answer>& answers) {
  std::vector<MatchAnswer> result;
  for (const Answer& answer : answers) {
    result.push_back(read_answer(request, statement, answer));
    const std::vector<std::string> wrong = verify(request, result.back());
    if (!wrong.empty())
      throw internal_error(fmt::format("the verifier rejects an answer: {}", wrong.front()));
  }
  return result;
}

/// The nearest miss: the same problem with every tolerance as a unit, not a limit. Where exactly
/// equal was asked for, the unit is a millionth.
void find_nearest(const MatchRequest& request, Statement& statement, MatchResult& result) {
  Problem& problem = statement.problem;
  for (Measure& measure : problem.measures) {
    measure.cap.reset();
    if (measure.tolerance == Ratio(0)) measure.tolerance = Ratio(1, 1'000'000);
  }
  if (problem.criteria.empty() ||
      problem.criteria.front().kind != Criterion::Kind::largest_mismatch)
    problem.criteria.insert(problem.criteria.begin(), {Criterion::Kind::largest_mismatch, 0, 0});
  problem.keep = 1;
  const Result found = search_widening(problem);
  if (found.answers.empty()) return;
  result.nearest = read_answers(request, statement, found.answers).front();
  Ratio worst = -1;
  for (std::size_t m = 0; m < problem.measures.size(); ++m) {
    const Ratio units = abs(result.nearest->mismatch[m]) / problem.measures[m].tolerance;
    if (units <= worst) continue;
    worst = units;
    result.binding = problem.measures[m].name;
  }
}

/// The values of depth and loop among the candidates; a start is one of a loop.
void add_loop_domains(const Statement& statement, MatchResult& result) {
  std::set<std::int64_t> depth, span, visits, start;
  for (const ShapeClass& shapes : statement.shapes)
    for (const Shape& shape : shapes.shapes) {
      depth.insert(shape.depth);
      span.insert(shape.loop.span);
      visits.insert(shape.loop.visits);
      if (shape.loop.span > 0) start.insert(shape.loop.first);
    }
  for (const auto& [unknown, values] :
       {std::pair{Unknown::depth, &depth}, std::pair{Unknown::loop_span, &span},
        std::pair{Unknown::loop_visits, &visits}, std::pair{Unknown::loop_start, &start}})
    if (!values->empty())
      result.domains.emplace_back(name(unknown), std::vector(values->begin(), values->end()));
}

/// The question, checked and stated; no answers yet.
Stated state_question(const MatchRequest& given) {
  MatchRequest request = given;
  if (request.budgets.empty()) request.budgets = default_budgets();
  check_request(request);
  arch::validate(request.baseline);
  MatchResult result;
  result.budgets = request.budgets;
  result.targets = targets_of(request);
  Statement statement = state(request, result.targets);
  result.assumptions = statement.assumptions;
  for (const Variable& v : statement.problem.variables)
    result.domains.emplace_back(v.name, v.domain);
  add_loop_domains(statement, result);
  return {std::move(request), std::move(statement), std::move(result)};
}

/// The answers within tolerance, and what was asked.
Stated match_within(const MatchRequest& given) {
  Stated stated = state_question(given);
  const Result found = search_widening(stated.statement.problem);
  stated.result.certificate = found.certificate;
  stated.result.answers = read_answers(stated.request, stated.statement, found.answers);
  return stated;
}

}  // namespace detail

MatchResult match(const MatchRequest& given) {
  auto [request, statement, result] = detail::match_within(given);
  if (!result.answers.empty()) return result;
  detail::find_nearest(request, statement, result);
  if (request.remedies) result.remedies = detail::find_remedies(request);
  return result;
}

}  // namespace isoloop::solve
