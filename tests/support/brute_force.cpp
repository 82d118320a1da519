// Every point, every rule as its definition reads, every answer kept, then one sort.
//
// Right by the definitions in isoloop/solve.h; shares no code with src/solve.
#include "support/brute_force.h"

#include <algorithm>

namespace isoloop::test {
namespace {

using solve::Answer;
using solve::Criterion;
using solve::Problem;
using solve::Rule;

bool holds(const Rule& rule, const std::vector<std::int64_t>& x) {
  const std::int64_t a = x[rule.a], b = x[rule.b];
  switch (rule.kind) {
    case Rule::Kind::product:
      return Int(a) * Int(b) == Int(x[rule.c]);
    case Rule::Kind::divides:
      return a > 0 && b % a == 0;
    case Rule::Kind::ratio:
      return rule.low * Ratio(b) <= Ratio(a) && Ratio(a) <= rule.high * Ratio(b);
    case Rule::Kind::at_most:
      return a <= b;
    case Rule::Kind::product_ratio: {
      const Ratio product(Int(a) * Int(b)), c(x[rule.c]);
      return rule.low * c <= product && product <= rule.high * c;
    }
  }
  return false;
}

/// |mismatch| in units of the tolerance; a tolerance of 0 only admits 0.
Ratio units(const solve::Measure& measure, const Ratio& mismatch) {
  return measure.tolerance == Ratio(0) ? Ratio(0) : abs(mismatch) / measure.tolerance;
}

bool accepts(const solve::Measure& measure, const Ratio& mismatch) {
  if (measure.tolerance == Ratio(0)) return mismatch == Ratio(0);
  return !measure.cap || units(measure, mismatch) <= *measure.cap;
}

Ratio score(const Problem& problem, const Criterion& criterion, const Answer& answer) {
  std::vector<Ratio> off;
  for (std::size_t m = 0; m < problem.measures.size(); ++m)
    off.push_back(units(problem.measures[m], answer.mismatch[m]));
  switch (criterion.kind) {
    case Criterion::Kind::largest_mismatch:
      return off.empty() ? Ratio(0) : *std::max_element(off.begin(), off.end());
    case Criterion::Kind::sum_of_mismatches: {
      Ratio sum = 0;
      for (const Ratio& one : off) sum += one;
      return sum;
    }
    case Criterion::Kind::mismatch:
      return off[criterion.index];
    case Criterion::Kind::larger:
      return Ratio(0) - Ratio(answer.values[criterion.index]);
    case Criterion::Kind::smaller:
      return answer.values[criterion.index];
    case Criterion::Kind::nearest: {
      const Int x = answer.values[criterion.index], origin = criterion.origin;
      return x > origin ? x - origin : origin - x;
    }
    case Criterion::Kind::case_order:
      return Ratio(Int(answer.case_index));
  }
  return 0;
}

/// The next point, the last unknown fastest; false after the last point.
bool advance(const Problem& problem, std::vector<std::size_t>& at) {
  for (std::size_t v = at.size(); v-- > 0;) {
    if (++at[v] < problem.variables[v].domain.size()) return true;
    at[v] = 0;
  }
  return false;
}

void consider(const Problem& problem, std::size_t case_index, const std::vector<std::int64_t>& x,
              std::vector<Answer>& found) {
  for (const Rule& rule : problem.rules)
    if (!holds(rule, x)) return;
  Answer answer;
  answer.case_index = case_index;
  answer.values = x;
  const std::vector<Int> at(x.begin(), x.end());
  for (std::size_t m = 0; m < problem.measures.size(); ++m) {
    const solve::Measure& measure = problem.measures[m];
    const Ratio value = problem.cases[case_index].values[m].at(at);
    answer.mismatch.push_back((value - measure.target) / measure.target);
    if (!accepts(measure, answer.mismatch.back())) return;
  }
  for (const Criterion& criterion : problem.criteria)
    answer.score.push_back(score(problem, criterion, answer));
  found.push_back(std::move(answer));
}

bool before(const Answer& a, const Answer& b) {
  if (a.score != b.score)
    return std::lexicographical_compare(a.score.begin(), a.score.end(), b.score.begin(),
                                        b.score.end());
  if (a.case_index != b.case_index) return a.case_index < b.case_index;
  return a.values < b.values;
}

std::vector<Int> signature(const Problem& problem, const Answer& answer) {
  std::vector<Int> result = {Int(answer.case_index)};
  for (const std::vector<std::size_t>& factors : problem.signature) {
    Int product = 1;
    for (const std::size_t v : factors) product *= Int(answer.values[v]);
    result.push_back(product);
  }
  return result;
}

}  // namespace

Int space_size(const Problem& problem) {
  Int box = 1, cases = 0;
  for (const solve::Variable& v : problem.variables) box *= Int(v.domain.size());
  for (const solve::Case& c : problem.cases) cases += c.multiplicity;
  return box * cases;
}

std::vector<Answer> brute_force(const Problem& problem) {
  std::vector<Answer> found;
  for (std::size_t c = 0; c < problem.cases.size(); ++c) {
    std::vector<std::size_t> at(problem.variables.size(), 0);
    do {
      std::vector<std::int64_t> x;
      for (std::size_t v = 0; v < at.size(); ++v) x.push_back(problem.variables[v].domain[at[v]]);
      consider(problem, c, x, found);
    } while (advance(problem, at));
  }
  std::sort(found.begin(), found.end(), before);
  std::vector<Answer> best;
  std::vector<std::vector<Int>> seen;
  for (const Answer& answer : found) {
    std::vector<Int> own = signature(problem, answer);
    if (best.size() == problem.keep) break;
    if (std::find(seen.begin(), seen.end(), own) != seen.end()) continue;
    seen.push_back(std::move(own));
    best.push_back(answer);
  }
  return best;
}

}  // namespace isoloop::test
