// Enumeration by ranges of the candidate index, against brute force over every index.
//
// Anchor: each candidate is written out from its index and its polynomials are evaluated one by
// one. Holds src/solve/walk.cpp and match_space.cpp.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "arch/examples.h"
#include "isoloop/solve.h"
#include "support/brute_force.h"
#include "support/match_oracle.h"
#include "support/numbers.h"

namespace isoloop::solve {
namespace {

using Random = std::mt19937_64;

/// Three variables, two cases, two budgets and two rules; numbers vary with the seed.
Problem small_problem(Random& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  Problem p;
  for (const char* name : {"a", "b", "c"}) {
    Variable v{name, {}};
    std::int64_t value = pick(0, 3);
    for (std::int64_t i = pick(1, 12); i > 0; --i, value += pick(1, 3)) v.domain.push_back(value);
    p.variables.push_back(v);
  }
  p.order = {1, 2, 0};
  p.rules = {{Rule::Kind::at_most, 0, 1, 0, 0, 0, "a at most b"},
             {Rule::Kind::divides, 1, 2, 0, 0, 0, "b divides c"}};
  const Poly a = Poly::unknown(0), b = Poly::unknown(1), c = Poly::unknown(2);
  for (int i = 0; i < 2; ++i)
    p.cases.push_back({{a * b * Ratio(pick(1, 4)) + c, a * Ratio(pick(1, 5), 2) + b + c * c}, pick(1, 3)});
  p.measures = {{"first", Ratio(pick(5, 60)), Ratio(1, 2), Ratio(1)},
                {"second", Ratio(pick(5, 90)), Ratio(1, 2), Ratio(2)}};
  p.criteria = {{Criterion::Kind::largest_mismatch, 0, 0}};
  return p;
}

bool allowed(const Problem& p, const Answer& answer) {
  for (std::size_t m = 0; m < p.measures.size(); ++m)
    if (abs(answer.mismatch[m]) > *p.measures[m].cap * p.measures[m].tolerance) return false;
  const auto [a, b, c] = std::tuple(answer.values[0], answer.values[1], answer.values[2]);
  return a <= b && b > 0 && c % b == 0;
}

std::map<std::string, Int> parts(const Certificate& c) {
  std::map<std::string, Int> result(c.pruned.begin(), c.pruned.end());
  result["points"] = c.points;
  result["visited"] = c.visited;
  result["nodes"] = c.nodes;
  return result;
}

TEST_CASE("a walk hands over what brute force finds, in order of the index") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Problem p = small_problem(random);
    const Int size = candidates(p);
    std::vector<Int> expected, found;
    Int visited = 0, points = 0;
    for (Int i = 0; i < size; i += 1) {
      const Answer answer = candidate_at(p, i);
      points += p.cases[answer.case_index].multiplicity;
      if (!allowed(p, answer)) continue;
      expected.push_back(i);
      visited += p.cases[answer.case_index].multiplicity;
    }
    const Certificate c = Walker(p).visit(0, size, [&](const Point& candidate) {
      found.push_back(candidate.index);
      const Answer here = answer_of(p, candidate), there = candidate_at(p, candidate.index);
      CHECK(here.values == there.values);
      CHECK(here.mismatch == there.mismatch);
      CHECK(here.score == there.score);
    });
    CHECK(found == expected);
    CHECK(c.points == points);
    CHECK(c.visited == visited);
  }
}

TEST_CASE("certificates of adjacent ranges add up, name by name") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Problem p = small_problem(random);
    const Int size = candidates(p);
    const Certificate whole = Walker(p).visit(0, size);
    Certificate sum;
    Walker walker(p);
    Int at = 0;
    while (at < size) {
      const Int next = std::min(size, at + Int(1 + random() % 40));
      add(sum, walker.visit(at, next));
      at = next;
    }
    CHECK(parts(sum) == parts(whole));
  }
}

TEST_CASE("a candidate beyond the last is a fault") {
  Random random(1);
  const Problem p = small_problem(random);
  CHECK(test::error_of([&] { candidate_at(p, candidates(p)); }).message ==
        "a candidate beyond the last");
}

TEST_CASE("a matching space reads its candidates as the matcher does") {
  MatchRequest request;
  arch::Architecture& model = request.baseline = arch::test::one_segment(8);
  model.hidden = 512;
  model.vocab = 1000;
  arch::Segment& s = model.segments.front();
  s.attention = {.heads = 8, .kv_heads = 4, .head_size = 64};
  s.ffn = {.moe = true, .experts = 32, .top_k = 4, .expert_size = 192};
  request.alignment = parse_alignment("loose", "test");
  request.budgets = {{cost::Budget::flops, Ratio(3, 100)}, {cost::Budget::params, Ratio(3, 100)}};
  const MatchResult matched = match(request);
  MatchSpace space(request);
  space.watch(cost::Budget::weights_bytes);
  std::optional<Answer> best;
  Walker(space.problem()).visit(0, candidates(space.problem()), [&](const Point& c) {
    Answer answer = answer_of(space.problem(), c);
    if (!best || answer.score < best->score) best = std::move(answer);
  });
  REQUIRE(best);
  const MatchAnswer read = space.read(*best, true);
  CHECK(read.architecture == matched.answers.front().architecture);
  cost::Options options = request.options;
  options.context = request.baseline.context;
  CHECK(space.value(cost::Budget::weights_bytes, *best) ==
        cost::total(cost::ledger(read.architecture, options), cost::Budget::weights_bytes, options));
}

}  // namespace
}  // namespace isoloop::solve
