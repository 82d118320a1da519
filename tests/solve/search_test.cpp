// The integer search against brute force on random problems, and by hand where zero, big numbers
// or empty answers are the point.
//
// Anchor: support/brute_force.cpp, which visits every point. Holds src/solve/search.cpp and
// answers.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "isoloop/solve.h"
#include "support/brute_force.h"
#include "support/numbers.h"

namespace isoloop::solve {
namespace {

using test::brute_force;
using test::error_of;

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

/// Ascending values with random gaps; every third domain starts at 0.
std::vector<std::int64_t> random_domain(Random& random, std::int64_t size) {
  std::vector<std::int64_t> domain;
  std::int64_t value = pick(random, 0, 2) == 0 ? 0 : pick(random, 1, 6);
  const std::int64_t gap = pick(random, 1, 4);
  const bool even = pick(random, 0, 1) == 0;
  for (std::int64_t i = 0; i < size; ++i) {
    domain.push_back(value);
    value += even ? gap : pick(random, 1, gap);
  }
  return domain;
}

void add_variables(Random& random, std::int64_t most_points, Problem& p) {
  std::int64_t points = 1;
  for (std::int64_t v = pick(random, 1, 5); v > 0; --v) {
    const std::int64_t most =
        std::max<std::int64_t>(1, std::min<std::int64_t>(60, most_points / points));
    const std::int64_t size = pick(random, 1, most);
    points *= size;
    p.variables.push_back({"x" + std::to_string(p.variables.size()), random_domain(random, size)});
  }
  p.order.resize(p.variables.size());
  std::iota(p.order.begin(), p.order.end(), std::size_t{0});
  for (std::size_t i = p.order.size(); i > 1; --i) std::swap(p.order[i - 1], p.order[random() % i]);
}

void add_rules(Random& random, Problem& p) {
  const auto any = [&] { return static_cast<std::size_t>(random() % p.variables.size()); };
  for (std::int64_t rules = pick(random, 0, 2); rules > 0; --rules) {
    Rule rule;
    rule.kind = static_cast<Rule::Kind>(pick(random, 0, 4));
    rule.a = any();
    rule.b = any();
    rule.c = any();
    rule.low = Ratio(pick(random, 0, 3), pick(random, 1, 3));
    rule.high = rule.low + Ratio(pick(random, 0, 6), pick(random, 1, 2));
    rule.name = "rule " + std::to_string(p.rules.size());
    p.rules.push_back(rule);
  }
}

/// Up to six terms of degree at most 2 in each unknown, coefficients such as 7/3.
Poly random_poly(Random& random, std::size_t variables) {
  Poly result = pick(random, 0, 3) == 0 ? Poly(pick(random, 1, 9)) : Poly();
  for (std::int64_t terms = pick(random, 1, 5); terms > 0; --terms) {
    Poly term = Ratio(pick(random, 1, 12), pick(random, 0, 2) == 0 ? pick(random, 2, 4) : 1);
    for (std::size_t v = 0; v < variables; ++v)
      for (std::int64_t e = std::max<std::int64_t>(0, pick(random, -2, 2)); e > 0; --e)
        term = term * Poly::unknown(v);
    result += term;
  }
  return result;
}

Ratio value_somewhere(Random& random, const Problem& p, std::size_t m) {
  std::vector<Int> at;
  for (const Variable& v : p.variables) at.emplace_back(v.domain[random() % v.domain.size()]);
  return p.cases[random() % p.cases.size()].values[m].at(at);
}

void add_measures(Random& random, Problem& p) {
  const std::int64_t measures = pick(random, 0, 3);
  p.cases.resize(static_cast<std::size_t>(pick(random, 1, 3)));
  for (Case& c : p.cases) {
    for (std::int64_t m = 0; m < measures; ++m)
      c.values.push_back(random_poly(random, p.variables.size()));
    c.multiplicity = Int(pick(random, 1, 3));
  }
  const std::vector<Ratio> tolerances = {0, Ratio(1, 100), Ratio(1, 10), Ratio(1, 3), 1};
  const std::vector<std::optional<Ratio>> caps = {std::nullopt, Ratio(1), Ratio(1, 2), Ratio(5)};
  for (std::size_t m = 0; m < static_cast<std::size_t>(measures); ++m) {
    Measure measure{"m" + std::to_string(m), value_somewhere(random, p, m),
                    tolerances[random() % tolerances.size()], caps[random() % caps.size()]};
    if (pick(random, 0, 2) == 0) measure.target += Ratio(pick(random, 1, 5), 2);
    if (measure.target <= Ratio(0)) measure.target = Ratio(1, 3);
    p.measures.push_back(std::move(measure));
  }
}

void add_criteria(Random& random, Problem& p) {
  for (std::int64_t criteria = pick(random, 0, 4); criteria > 0; --criteria) {
    Criterion criterion;
    criterion.kind = static_cast<Criterion::Kind>(pick(random, 0, 6));
    const bool of_measure = criterion.kind == Criterion::Kind::mismatch;
    if (of_measure && p.measures.empty()) continue;
    criterion.index = random() % (of_measure ? p.measures.size() : p.variables.size());
    criterion.origin = pick(random, 0, 40);
    p.criteria.push_back(criterion);
  }
  // The usual beginnings, so that widening and ties have work to do.
  using Kind = Criterion::Kind;
  std::vector<Criterion> usual;
  const std::int64_t beginning = pick(random, 0, 4);
  if (beginning <= 2) usual.push_back({Kind::largest_mismatch, 0, 0});
  if (beginning == 1) usual.push_back({Kind::sum_of_mismatches, 0, 0});
  if (beginning >= 2 && beginning <= 3 && !p.measures.empty())
    usual.push_back({Kind::mismatch, random() % p.measures.size(), 0});
  if (beginning == 3) usual.push_back({Kind::largest_mismatch, 0, 0});
  p.criteria.insert(p.criteria.begin(), usual.begin(), usual.end());
}

Problem random_problem(Random& random, std::int64_t most_points) {
  Problem p;
  add_variables(random, most_points / 3, p);
  add_rules(random, p);
  add_measures(random, p);
  add_criteria(random, p);
  for (std::int64_t parts = pick(random, 0, 2); parts > 0; --parts) {
    std::vector<std::size_t> factors;
    for (std::int64_t f = pick(random, 1, 2); f > 0; --f)
      factors.push_back(random() % p.variables.size());
    p.signature.push_back(factors);
  }
  p.keep = static_cast<std::size_t>(pick(random, 1, 5));
  return p;
}

std::string text(const std::vector<Answer>& answers) {
  std::string result;
  for (const Answer& a : answers) {
    result += "case " + std::to_string(a.case_index) + " at";
    for (const std::int64_t x : a.values) result += " " + std::to_string(x);
    result += ", mismatch";
    for (const Ratio& m : a.mismatch) result += " " + m.str();
    result += ", score";
    for (const Ratio& s : a.score) result += " " + s.str();
    result += "\n";
  }
  return result;
}

Int counted(const Certificate& certificate) {
  Int sum = certificate.visited;
  for (const auto& [by, points] : certificate.pruned) sum += points;
  return sum;
}

/// Both searches give what brute force gives, and count every point once. Returns whether the
/// problem has an answer.
bool compare(const Problem& p) {
  const std::string expected = text(brute_force(p));
  const Result plain = search(p), widened = search_widening(p);
  CHECK(text(plain.answers) == expected);
  CHECK(text(widened.answers) == expected);
  for (const Result* result : {&plain, &widened}) {
    CHECK(result->certificate.points == test::space_size(p));
    CHECK(counted(result->certificate) == result->certificate.points);
  }
  return !expected.empty();
}

/// Three unknowns from 0 or 1, one measure, one case.
Problem small_problem(std::vector<std::vector<std::int64_t>> domains, Poly value, Ratio target) {
  Problem p;
  for (auto& domain : domains) {
    p.order.push_back(p.variables.size());
    p.variables.push_back({"x" + std::to_string(p.variables.size()), std::move(domain)});
  }
  p.measures = {{"cost", std::move(target), Ratio(1, 10), std::nullopt}};
  p.cases.push_back({{std::move(value)}, 1});
  p.criteria = {{Criterion::Kind::largest_mismatch, 0, 0}};
  return p;
}

Rule rule_of(Rule::Kind kind, std::size_t a, std::size_t b, std::size_t c = 0) {
  Rule rule;
  rule.kind = kind;
  rule.a = a;
  rule.b = b;
  rule.c = c;
  rule.low = Ratio(1, 2);
  rule.high = 2;
  rule.name = "rule";
  return rule;
}

const Poly x = Poly::unknown(0), y = Poly::unknown(1), z = Poly::unknown(2);

}  // namespace

TEST_CASE("search equals brute force on random problems") {
  Random random(20240607);
  int feasible = 0;
  for (int i = 0; i < 1500; ++i) {
    CAPTURE(i);
    // Sizes spread evenly over the orders of magnitude from 3 to 3000.
    const std::int64_t most = std::int64_t{3} << (random() % 11);
    feasible += compare(random_problem(random, most)) ? 1 : 0;
  }
  // Both outcomes must be frequent, or the comparison says little.
  CHECK(feasible > 500);
  CHECK(feasible < 1400);
}

TEST_CASE("search equals brute force on boxes of up to 100,000 points") {
  Random random(4711);
  for (int i = 0; i < 30; ++i) {
    CAPTURE(i);
    compare(random_problem(random, 100'000));
  }
}

TEST_CASE("the answer does not depend on the search order") {
  Random random(99);
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    Problem p = random_problem(random, 500);
    std::sort(p.order.begin(), p.order.end());
    const std::string first = text(search(p).answers);
    while (std::next_permutation(p.order.begin(), p.order.end()))
      CHECK(text(search(p).answers) == first);
  }
}

TEST_CASE("zero is a value like any other") {
  const std::vector<std::int64_t> from_zero = {0, 1, 2, 3, 4, 6};
  for (const Rule::Kind kind : {Rule::Kind::product, Rule::Kind::divides, Rule::Kind::ratio,
                                Rule::Kind::at_most, Rule::Kind::product_ratio}) {
    for (const std::int64_t target : {1, 2, 5, 12, 30}) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(target);
      Problem p =
          small_problem({from_zero, from_zero, from_zero}, 5 * x * y + y + 3 * z * z, target);
      p.rules = {rule_of(kind, 0, 1, 2)};
      p.signature = {{0}, {1}, {2}};
      p.keep = 300;
      CHECK(compare(p));
    }
  }
}

TEST_CASE("a divides 0 for every a above 0") {
  Problem p = small_problem({{3}, {0, 4}}, x + y, 3);
  p.rules = {rule_of(Rule::Kind::divides, 0, 1)};
  const Result result = search(p);
  REQUIRE(result.answers.size() == 1);
  CHECK(result.answers[0].values == std::vector<std::int64_t>{3, 0});
}

TEST_CASE("a budget that nothing can reach leaves the others to decide") {
  // The cache x is 3 at best of 10 wanted; x + y z still has a nearest point.
  std::vector<std::int64_t> many;
  for (std::int64_t i = 1; i <= 400; ++i) many.push_back(i);
  Problem p = small_problem({{1, 2, 3}, many, many}, x + y * z, 20'011);
  p.measures.push_back({"cache", 10, Ratio(1, 10), std::nullopt});
  p.cases[0].values.push_back(x);
  p.criteria.push_back({Criterion::Kind::sum_of_mismatches, 0, 0});
  const Result result = search_widening(p);
  REQUIRE(result.answers.size() == 1);
  CHECK(result.answers[0].mismatch == std::vector<Ratio>{0, Ratio(-7, 10)});
  CHECK(result.certificate.nodes < Int(5000));  // of 480,000 points
  CHECK(counted(result.certificate) == Int(480'000));
}

TEST_CASE("domains without structure are searched value by value") {
  Problem p =
      small_problem({{1, 10, 1000}, {7, 8, 100'000}, {2, 3, 5}}, x * y + y * y * z, 350'000);
  p.signature = {{0}, {1}, {2}};
  p.keep = 27;
  CHECK(compare(p));
}

TEST_CASE("an exact budget admits equality only") {
  Problem p = small_problem({{1, 2, 3}, {1, 2, 3}}, x * y * Ratio(2, 3), Ratio(4));
  p.measures[0].tolerance = 0;
  const Result result = search(p);
  REQUIRE(result.answers.size() == 1);
  CHECK(result.answers[0].values == std::vector<std::int64_t>{2, 3});  // 3, 2 comes after it
  CHECK(result.answers[0].score == std::vector<Ratio>{0});
  p.measures[0].target = Ratio(7, 2);
  CHECK(search(p).answers.empty());
}

TEST_CASE("an impossible problem is answered by an empty list and a full count") {
  Problem p = small_problem({{1, 2, 3}, {4, 5}}, x + y, 1000);
  p.measures[0].cap = 1;
  const Result result = search_widening(p);
  CHECK(result.answers.empty());
  CHECK(result.certificate.points == 6);
  CHECK(result.certificate.visited == 0);
  REQUIRE(result.certificate.pruned.size() == 1);
  CHECK(result.certificate.pruned[0].first == "cost");
  CHECK(result.certificate.pruned[0].second == 6);
}

TEST_CASE("values beyond 128 bits are refused cleanly") {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const Problem p = small_problem({{1, huge}, {1, huge}, {1, huge}}, x * y * z, 5);
  const Error error = error_of([&] { search(p); });
  CHECK(error.kind == ErrorKind::input);
  CHECK(std::string(error.what()) ==
        "count overflows 128 bits in multiplication\n  hint: a dimension is far too large");
}

TEST_CASE("an unknown that is 0 does not hide an overflow of the others") {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  Problem p = small_problem({{0}, {huge}, {huge}}, x * y * z * z + 1, 1);
  p.order = {1, 2, 0};
  CHECK(error_of([&] { search(p); }).kind == ErrorKind::input);
}

TEST_CASE("a rule with huge numbers is refused cleanly") {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  Problem p = small_problem({{1, huge}, {1, huge}}, x + y, 2);
  p.rules = {rule_of(Rule::Kind::ratio, 0, 1)};
  p.rules[0].high = test::ratio("1e30");
  CHECK(error_of([&] { search(p); }).kind == ErrorKind::input);
}

TEST_CASE("a negative coefficient is a fault of the caller") {
  const Problem p = small_problem({{1, 2}, {1, 2}}, x * Ratio(-1) + y, 1);
  const Error error = error_of([&] { search(p); });
  CHECK(error.kind == ErrorKind::internal);
  CHECK(error.message == "a budget with a negative coefficient");
}

}  // namespace isoloop::solve
