// Matching against an enumeration of every architecture a request allows.
//
// Anchor: support/match_oracle.cpp, which counts each candidate with exact dimensions. Holds
// src/solve: statement, shapes, dimensions, match.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "isoloop/solve.h"
#include "support/match_oracle.h"
#include "support/numbers.h"

namespace isoloop::solve {
namespace {

using test::Candidate;
using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

arch::Segment moe_segment(Random& random) {
  arch::Segment s;
  s.name = "layers";
  s.layers = 4;
  s.attention.heads = pick(random, 1, 2) * 4;
  s.attention.kv_heads = pick(random, 1, 2) * 2;
  s.attention.head_size = 12;
  s.ffn.moe = true;
  s.ffn.experts = 8;
  s.ffn.top_k = pick(random, 1, 3);
  s.ffn.expert_size = 32;
  if (pick(random, 0, 1) == 0) s.ffn.shared_size = 24;
  if (pick(random, 0, 2) == 0) s.attention.windows = {16, 0};
  return s;
}

void make_dense(arch::Segment& s) {
  s.ffn = {};
  s.ffn.size = 96;
}

void make_latent(arch::Segment& s) {
  s.attention.kind = arch::AttentionKind::mla;
  s.attention.kv_heads = s.attention.head_size = 0;
  s.attention.q_rank = 20;
  s.attention.kv_rank = 24;
  s.attention.nope_size = 8;
  s.attention.rope_size = 4;
  s.attention.value_size = 10;
}

/// GQA or MLA, mixture of experts, dense, or the first layer dense.
arch::Architecture random_baseline(Random& random) {
  arch::Architecture model;
  model.name = "small";
  model.hidden = 48;
  model.vocab = pick(random, 0, 1) * 300;
  model.context = 64;
  arch::Segment s = moe_segment(random);
  if (pick(random, 0, 3) == 0) make_latent(s);
  const std::int64_t ffn = pick(random, 0, 3);
  if (ffn == 0) make_dense(s);
  model.segments = {s};
  if (ffn == 1) {
    make_dense(s);
    s.name = "first";
    s.layers = 1;
    model.segments.insert(model.segments.begin(), s);
  }
  if (s.attention.kind == arch::AttentionKind::gqa && pick(random, 0, 1) == 0)
    model.hidden = s.attention.heads * s.attention.head_size;
  return model;
}

bool has(const arch::Architecture& model, Unknown unknown) {
  const arch::Segment& s = model.segments.back();
  const bool gqa = s.attention.kind == arch::AttentionKind::gqa;
  switch (unknown) {
    case Unknown::kv_heads:
    case Unknown::head_size:
      return gqa;
    case Unknown::kv_rank:
      return !gqa;
    case Unknown::expert_size:
    case Unknown::experts:
      return s.ffn.moe;
    case Unknown::ffn_size:
      return !s.ffn.moe;
    default:
      return true;
  }
}

/// Short explicit ranges for everything that is free by default.
void free_dimensions(const arch::Architecture& base, MatchRequest& r) {
  const std::int64_t h = base.hidden;
  const std::vector<std::pair<Unknown, Range>> ranges = {
      {Unknown::hidden, {h - 8, h + 8, 8}}, {Unknown::heads, {3, 8, 1}},
      {Unknown::kv_heads, {2, 4, 1}},       {Unknown::head_size, {8, 12, 4}},
      {Unknown::kv_rank, {12, 32, 4}},      {Unknown::expert_size, {16, 40, 8}},
      {Unknown::experts, {6, 12, 2}},       {Unknown::ffn_size, {60, 132, 6}}};
  for (const auto& [unknown, range] : ranges)
    if (has(base, unknown)) r.freed[unknown] = range;
}

void free_loop(Random& random, MatchRequest& r) {
  const std::vector<std::string> loops = {"middle", "middle",     "2-3x3",
                                          "all x2", "each 2-3x2", "none"};
  r.loop = loops[random() % loops.size()];
  if (arch::depth(r.baseline) != 4) r.loop = "middle";
  if (pick(random, 0, 2) == 0) r.freed[Unknown::loop_span] = Range{pick(random, 0, 1), 3, 1};
  if (pick(random, 0, 2) == 0) r.freed[Unknown::loop_visits] = Range{pick(random, 1, 2), 3, 1};
  if (pick(random, 0, 3) == 0) r.freed[Unknown::loop_start] = Range{1, 3, 1};
  if (pick(random, 0, 3) == 0 && r.loop == "middle") r.freed[Unknown::depth] = Range{3, 5, 1};
}

void choose_budgets(Random& random, MatchRequest& r) {
  const std::vector<Ratio> tolerances = {Ratio(1, 100), Ratio(5, 100), Ratio(1, 4)};
  std::set<cost::Budget> budgets = {cost::Budget::flops, cost::Budget::params, cost::Budget::kv};
  if (pick(random, 0, 1) == 0) {
    budgets = {};
    for (std::int64_t n = pick(random, 1, 3); n > 0; --n)
      budgets.insert(static_cast<cost::Budget>(pick(random, 0, cost::budget_count - 1)));
  }
  for (const cost::Budget budget : budgets)
    r.budgets.push_back({budget, tolerances[random() % tolerances.size()]});
  const auto& conventions = convention::all();
  r.options.convention = conventions[random() % conventions.size()];
}

MatchRequest random_request(Random& random) {
  MatchRequest r;
  r.baseline = random_baseline(random);
  r.remedies = false;
  r.min_head_size = 1;
  free_dimensions(r.baseline, r);
  free_loop(random, r);
  choose_budgets(random, r);
  if (pick(random, 0, 3) == 0) r.square = false;
  if (pick(random, 0, 2) == 0) r.attention_ratio = Ratio(6, 5);
  if (pick(random, 0, 3) == 0) r.tensor_parallel = 2;
  if (pick(random, 0, 3) == 0) r.expert_parallel = pick(random, 2, 3);
  if (pick(random, 0, 3) == 0 && r.freed.contains(Unknown::depth)) r.pipeline_parallel = 2;
  if (pick(random, 0, 3) == 0) r.expert_ratio = Ratio(5, 4);
  if (pick(random, 0, 3) == 0) r.fixed[Unknown::hidden] = r.baseline.hidden;
  if (r.fixed.contains(Unknown::hidden)) r.freed.erase(Unknown::hidden);
  r.top = static_cast<std::size_t>(pick(random, 1, 3));
  return r;
}

/// Best of each kind, at most `top`.
std::vector<Candidate> best(const std::vector<Candidate>& all, std::size_t top, bool within) {
  std::vector<Candidate> result;
  std::set<std::string> kinds;
  for (const Candidate& c : all)
    if (result.size() < top && (c.within || !within) && kinds.insert(c.kind).second)
      result.push_back(c);
  return result;
}

/// Same closeness; and the same architecture, unless several share the score.
void check_same(const MatchAnswer& answer, const Candidate& expected,
                const std::vector<Candidate>& all) {
  std::vector<const Candidate*> equal;
  for (const Candidate& c : all)
    if (c.score == expected.score) equal.push_back(&c);
  const bool known = std::any_of(equal.begin(), equal.end(), [&](const Candidate* c) {
    arch::Architecture same = c->architecture;
    same.name = answer.architecture.name;
    return same == answer.architecture && c->mismatch == answer.mismatch;
  });
  CHECK(known);
  CHECK(answer.within == expected.within);
}

Int counted(const Certificate& certificate) {
  Int sum = certificate.visited;
  for (const auto& [by, points] : certificate.pruned) sum += points;
  return sum;
}

}  // namespace

TEST_CASE("match equals the enumeration of all architectures") {
  Random random(31);
  int feasible = 0, infeasible = 0, impossible = 0;
  for (int i = 0; i < 90; ++i) {
    CAPTURE(i);
    const MatchRequest r = random_request(random);
    const std::vector<Candidate> all = test::all_candidates(r);
    MatchResult result;
    try {
      result = match(r);
    } catch (const Error& error) {
      // Sharding or the loop may leave nothing; then the enumeration is empty, too.
      CAPTURE(error.message);
      CHECK(error.kind == ErrorKind::usage);
      CHECK(all.empty());
      ++impossible;
      continue;
    }
    CHECK(counted(result.certificate) == result.certificate.points);
    const std::vector<Candidate> expected = best(all, r.top, true);
    REQUIRE(result.answers.size() == expected.size());
    for (std::size_t a = 0; a < expected.size(); ++a)
      check_same(result.answers[a], expected[a], all);
    if (!expected.empty()) {
      ++feasible;
      continue;
    }
    CHECK(result.nearest.has_value() == !all.empty());
    if (result.nearest) check_same(*result.nearest, all.front(), all);
    ++infeasible;
  }
  CHECK(feasible > 20);
  CHECK(infeasible > 10);
  CHECK(impossible < 40);
}

TEST_CASE("match: the binding budget is the one that misses by most in units of its tolerance") {
  Random random(5);
  int checked = 0;
  for (int i = 0; i < 30; ++i) {
    const MatchRequest r = random_request(random);
    MatchResult result;
    try {
      result = match(r);
    } catch (const Error&) {
      continue;  // the request leaves nothing; the test above compares that
    }
    if (!result.nearest) continue;
    Ratio worst = -1;
    std::string binding;
    for (std::size_t m = 0; m < r.budgets.size(); ++m) {
      const Ratio units = abs(result.nearest->mismatch[m]) / r.budgets[m].tolerance;
      if (units > worst) binding = cost::name(r.budgets[m].budget).name;
      worst = std::max(worst, units);
    }
    CHECK(result.binding == binding);
    CHECK(worst > Ratio(1));
    ++checked;
  }
  CHECK(checked > 5);
}

}  // namespace isoloop::solve
