// Exact search over integer boxes by interval bounds.
//
// Every measure is a polynomial with non-negative coefficients, so over a box of unknowns it lies
// between its values at the lower and at the upper corner. That one fact gives all the pruning:
//
//   * value at the lower corner > what the best answer so far allows    -> no point of the box helps
//   * value at the upper corner < what it requires                      -> likewise
//   * with all other unknowns at a corner, one unknown can be bounded by solving a one-unknown
//     inequality, which shrinks its range (the last unknown's range then holds at most the few
//     values that exact inversion leaves)
//
// Example that fits: FLOPs = a + b f + c E and params = p + q E + r E f with bands around their
// targets: the FLOPs band leaves a few f, each f leaves zero or one E. Example that does not: a
// budget that falls when an unknown grows (then the corners are the wrong ones); search() refuses
// negative coefficients.
//
// Overflow: the upper corner of the whole space is evaluated once with checked integers. Since
// nothing inside the space exceeds it, the inner loops use plain 128-bit arithmetic.
//
// Proof by counting: each subtree cut off is added to `pruned` with all its points, so
// visited + pruned == points is an invariant that the tests and `match` check.
//
// Equal scores are kept or replaced by a total order (the unknowns' values last), never by order
// of discovery; so the answer does not depend on the search order.
// Held by tests/solve/search_test.cpp against brute force.
#include <algorithm>
#include <limits>

#include "solve/search_internal.h"

namespace isoloop::solve {

Ratio Answer::largest() const {
  Ratio result = 0;
  for (const Ratio& m : mismatch) result = std::max(result, abs(m));
  return result;
}

namespace detail {
namespace {

constexpr int bits_per_exponent = 4;
constexpr std::uint64_t exponent_mask = 15;

int exponent(std::uint64_t key, std::size_t variable) {
  return static_cast<int>((key >> (bits_per_exponent * variable)) & exponent_mask);
}

/// floor(a / b) for a >= 0, b > 0, in 64 bits when both fit.
int128 quotient(int128 a, int128 b) {
  constexpr int128 limit = std::numeric_limits<std::int64_t>::max();
  if (a <= limit && b <= limit)
    return static_cast<std::int64_t>(a) / static_cast<std::int64_t>(b);
  return a / b;
}

}  // namespace

void substitute(const Terms& from, std::size_t variable, std::int64_t value, Terms& to) {
  to.clear();
  for (Term term : from) {
    for (int e = exponent(term.key, variable); e > 0; --e) term.coefficient *= value;
    term.key &= ~(exponent_mask << (bits_per_exponent * variable));
    const auto same = std::find_if(to.begin(), to.end(),
                                   [&](const Term& t) { return t.key == term.key; });
    if (same == to.end())
      to.push_back(term);
    else
      same->coefficient += term.coefficient;
  }
}

Bounds::Bounds(const Problem& problem) : problem_(problem) {
  for (std::size_t m = 0; m < problem.measures.size(); ++m) add_measure(m);
  for (const Rule& rule : problem.rules) check_rule(rule);
  tighten(nullptr);
}

std::vector<Terms> Bounds::terms(const Case& c) const {
  std::vector<Terms> result;
  for (std::size_t m = 0; m < targets_.size(); ++m)
    result.push_back(integer_terms(c.values[m], scales_[m]));
  return result;
}

const std::string& Bounds::reason_name(std::size_t reason) const {
  const std::size_t measures = problem_.measures.size();
  return reason < measures ? problem_.measures[reason].name
                           : problem_.rules[reason - measures].name;
}

/// Clears denominators so that all cases of a measure share one integer scale, and checks the
/// upper corner.
void Bounds::add_measure(std::size_t m) {
  const Measure& measure = problem_.measures[m];
  Int scale = measure.target.den();
  for (const Case& c : problem_.cases)
    for (const auto& [monomial, coefficient] : c.values[m].terms()) {
      if (coefficient < Ratio(0)) throw internal_error("a budget with a negative coefficient");
      scale = exact_div(scale * coefficient.den(), gcd(scale, coefficient.den()));
    }
  scales_.push_back(scale);
  targets_.push_back((measure.target * Ratio(scale)).num());
  std::vector<Int> corner;
  // At least 1 each: an unknown that is 0 may be put in last, after the product of the others.
  for (const Variable& v : problem_.variables)
    corner.emplace_back(std::max<std::int64_t>(v.domain.back(), 1));
  for (const Case& c : problem_.cases) {
    const Ratio top = c.values[m].at(corner) * Ratio(scale) + Ratio(targets_.back());
    (void)(top * Ratio(4));  // headroom for differences; throws on overflow
    top_corner_ = std::max(top_corner_, top.num());
  }
}

Terms Bounds::integer_terms(const Poly& poly, const Int& scale) const {
  Terms terms;
  for (const auto& [monomial, coefficient] : poly.terms()) {
    Term term;
    for (std::size_t v = 0; v < monomial.size(); ++v) {
      if (monomial[v] > exponent_mask) throw internal_error("an exponent above 15");
      if (monomial[v] > 0)
        term.key |= static_cast<std::uint64_t>(monomial[v]) << (bits_per_exponent * v);
    }
    term.coefficient = (coefficient * Ratio(scale)).num().raw();
    if (term.coefficient != 0) terms.push_back(term);
  }
  return terms;
}

/// Allowed band of each measure, from its cap and from the worst answer kept.
void Bounds::tighten(const Answer* worst) {
  tighten_ties(worst);
  bands_.resize(targets_.size());
  for (std::size_t m = 0; m < targets_.size(); ++m) {
    const Measure& measure = problem_.measures[m];
    std::optional<Ratio> units = measure.cap;
    if (const std::optional<Ratio> best = units_allowed(m, worst); best && (!units || *best < *units))
      units = best;
    Band& band = bands_[m];
    if (!units && measure.tolerance != Ratio(0)) {
      band = {0, top_corner_.raw()};
      continue;
    }
    const Ratio slack = units ? *units * measure.tolerance * Ratio(targets_[m]) : Ratio(0);
    band.low = std::max<int128>(0, (targets_[m] - floor(slack)).raw());
    band.high = (targets_[m] + floor(slack)).raw();
  }
}

/// How far measure m may be off, in units of its tolerance, to still beat or equal the last answer
/// kept; none if the first criterion says nothing about it.
std::optional<Ratio> Bounds::units_allowed(std::size_t m, const Answer* worst) const {
  if (worst == nullptr || problem_.criteria.empty()) return std::nullopt;
  const Criterion& first = problem_.criteria.front();
  const bool speaks = first.kind == Criterion::Kind::largest_mismatch ||
                      first.kind == Criterion::Kind::sum_of_mismatches ||
                      (first.kind == Criterion::Kind::mismatch && first.index == m);
  return speaks ? std::optional<Ratio>(worst->score.front()) : std::nullopt;
}

/// Shrinks ranges until nothing changes (few rounds). Returns the measure or rule that leaves
/// nothing, if one does.
std::optional<std::size_t> Bounds::narrow(Level& level, std::size_t depth) const {
  constexpr int rounds = 4;  // more gains little: children narrow again
  for (int round = 0; round < rounds; ++round) {
    bool changed = false;
    for (std::size_t r = 0; r < problem_.rules.size(); ++r)
      if (!narrow_by_rule(level, r, changed)) return problem_.measures.size() + r;
    for (std::size_t m = 0; m < targets_.size(); ++m)
      if (!narrow_by_measure(level, m, bands_[m], depth, changed)) return m;
    if (const auto reason = narrow_by_ties(level, depth, changed)) return reason;
    if (!changed) break;
  }
  return std::nullopt;
}

std::int64_t Bounds::value_at(const std::vector<std::int32_t>& index, std::size_t v) const {
  return problem_.variables[v].domain[static_cast<std::size_t>(index[v])];
}

/// Value of one term at a corner, without `skip` to the power e: e * x^(e-1) is put in its place
/// (the slope in that unknown).
int128 Bounds::corner(const Term& term, const std::vector<std::int32_t>& index,
                        std::size_t depth, std::optional<std::size_t> slope_in,
                        std::int64_t slope_at) const {
  int128 product = term.coefficient;
  if (term.key == 0) return product;
  for (std::size_t i = depth; i < problem_.order.size(); ++i) {
    const std::size_t v = problem_.order[i];
    int e = exponent(term.key, v);
    if (e == 0) continue;
    std::int64_t x = value_at(index, v);
    if (slope_in == v) {
      product *= e--;
      x = slope_at;
    }
    for (; e > 0; --e) product *= x;
  }
  return product;
}

bool Bounds::narrow_by_measure(Level& level, std::size_t m, const Band& band, std::size_t depth,
                                 bool& changed) const {
  const Terms& terms = level.terms[m];
  int128 lowest = 0, highest = 0;
  for (const Term& term : terms) {
    lowest += corner(term, level.low, depth, {}, 0);
    highest += corner(term, level.high, depth, {}, 0);
  }
  if (lowest > band.high || highest < band.low) return false;
  const int128 target = targets_[m].raw();
  level.off[m] = std::max<int128>({0, lowest - target, target - highest});
  for (std::size_t i = depth; i < problem_.order.size(); ++i) {
    const std::size_t v = problem_.order[i];
    if (level.low[v] == level.high[v]) continue;
    const std::int64_t x_low = value_at(level.low, v), x_high = value_at(level.high, v);
    // A polynomial with non-negative coefficients is convex: its slope at x_low bounds every
    // chord from below, so both steps are safe for any degree and exact for degree one.
    int128 slope_low = 0, slope_high = 0;
    for (const Term& term : terms) {
      if (exponent(term.key, v) == 0) continue;
      slope_low += corner(term, level.low, depth, v, x_low);
      slope_high += corner(term, level.high, depth, v, x_low);
    }
    if (slope_low > 0 && !lower_top(level, v, x_low + quotient(band.high - lowest, slope_low), m, changed))
      return false;
    if (slope_high > 0 && !raise_bottom(level, v, x_high - quotient(highest - band.low, slope_high), m, changed))
      return false;
  }
  return true;
}

}  // namespace detail

Result search(const Problem& problem) { return solve::detail::Searcher(problem).run(); }

Result search_widening(const Problem& problem) {
  // A pass proves its optimum only if everything outside the cap is worse by the first criterion,
  // so only the measures that criterion compares are capped.
  if (problem.criteria.empty()) return search(problem);
  const Criterion& first = problem.criteria.front();
  const bool all = first.kind == Criterion::Kind::largest_mismatch;
  if (!all && first.kind != Criterion::Kind::mismatch) return search(problem);
  // Beyond the tolerances the steps are fine: a cap twice as wide holds about 2^measures as many
  // points, and the first answers found in a wide band say little.
  for (const Ratio& cap : {Ratio(1, 64), Ratio(1, 8), Ratio(1), Ratio(2), Ratio(4), Ratio(8), Ratio(16),
                           Ratio(32), Ratio(64), Ratio(128), Ratio(256)}) {
    Problem pass = problem;
    bool narrower = false;
    for (std::size_t m = 0; m < pass.measures.size(); ++m) {
      Measure& measure = pass.measures[m];
      if ((!all && m != first.index) || (measure.cap && *measure.cap <= cap)) continue;
      measure.cap = cap;
      narrower = true;
    }
    if (!narrower) break;
    Result result = search(pass);
    if (result.answers.size() >= problem.keep) return result;
  }
  return search(problem);
}

}  // namespace isoloop::solve
