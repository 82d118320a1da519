// What is proposed when nothing is within tolerance: each proposal works, and the smaller change
// beside it does not.
//
// Anchor: match() on the changed request, itself held by match_test.cpp. Holds
// src/solve/remedies.cpp and rank and top of match.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "isoloop/grid.h"
#include "isoloop/solve.h"
#include "support/numbers.h"

namespace isoloop::solve {
namespace {

/// A cell of the published grid under the paper's alignment.
MatchRequest request(std::size_t cell, const Ratio& tolerance) {
  const grid::Grid grid = grid::load("smelt", "test");
  MatchRequest r = grid::request(grid, grid.cells[cell]);
  r.remedies = true;
  for (BudgetTolerance& b : r.budgets) b.tolerance = tolerance;
  return r;
}

/// A cell whose tolerance is a tenth below what its best match needs.
MatchRequest too_tight(std::size_t cell) {
  const Ratio best = match(request(cell, Ratio(1, 50))).answers.at(0).largest;
  return request(cell, best * Ratio(9, 10));
}

/// Infeasible by a little, by a fixed dimension, or by a loop that costs too much.
std::vector<MatchRequest> infeasible() {
  std::vector<MatchRequest> result = {too_tight(1), too_tight(6), too_tight(4)};
  MatchRequest fixed = request(6, Ratio(1, 100));
  fixed.fixed[Unknown::kv_heads] = 3;
  fixed.fixed[Unknown::head_size] = 64;
  result.push_back(fixed);
  MatchRequest deep = request(10, Ratio(2, 100));
  deep.loop = "all x4";
  deep.gqa_high = 1;
  result.push_back(deep);
  return result;
}

bool feasible(MatchRequest r) {
  r.remedies = false;
  return !match(r).answers.empty();
}

/// The request with a proposed option added to its command line.
MatchRequest with_option(MatchRequest r, const std::string& option) {
  const std::size_t space = option.find(' ');
  REQUIRE(space != std::string::npos);
  const std::string key = option.substr(0, space), value = option.substr(space + 1);
  if (key == "--align") {
    r.alignment = parse_alignment(value, key);
  } else if (key == "--tol") {
    const std::size_t equals = value.find('=');
    for (BudgetTolerance& b : r.budgets)
      if (cost::name(b.budget).name == value.substr(0, equals))
        b.tolerance = parse_ratio(value.substr(equals + 1), key);
  } else if (key == "--free") {
    r.fixed.erase(parse_unknown(value, key));
    r.freed[parse_unknown(value, key)] = std::nullopt;
  } else {
    CHECK(option == "--square no");
    r.square = false;
  }
  return r;
}

/// The same change, a little smaller: none of its kind may work.
std::vector<MatchRequest> smaller(const MatchRequest& r, const Remedy& remedy) {
  std::vector<MatchRequest> result;
  if (remedy.kind == "tolerance") {
    MatchRequest less = with_option(r, remedy.option);
    for (std::size_t i = 0; i < r.budgets.size(); ++i)
      if (less.budgets[i].tolerance != r.budgets[i].tolerance)
        less.budgets[i].tolerance = less.budgets[i].tolerance - Ratio(1, 1000);
    result.push_back(less);
  }
  if (remedy.kind == "alignment") {
    const MatchRequest full = with_option(r, remedy.option);
    for (const auto step :
         {&Alignment::hidden, &Alignment::expert, &Alignment::head, &Alignment::experts})
      for (std::int64_t s = r.alignment.*step / 2; s > full.alignment.*step; s /= 2) {
        MatchRequest coarser = r;
        coarser.alignment.*step = s;
        result.push_back(coarser);
      }
  }
  return result;
}

}  // namespace

TEST_CASE("remedies: each one works, with the answer it shows, and smaller ones do not") {
  std::set<std::string> kinds;
  for (const MatchRequest& r : infeasible()) {
    CAPTURE(r.baseline.name);
    CAPTURE(r.loop);
    const MatchResult result = match(r);
    REQUIRE(result.answers.empty());
    REQUIRE(result.nearest);
    CHECK(!result.nearest->within);
    for (const Remedy& remedy : result.remedies) {
      CAPTURE(remedy.option);
      kinds.insert(remedy.kind);
      const MatchRequest changed = with_option(r, remedy.option);
      CHECK(remedy.answer.within);
      CHECK(verify(changed, remedy.answer).empty());
      CHECK(feasible(changed));
      for (const MatchRequest& less : smaller(r, remedy)) CHECK(!feasible(less));
    }
  }
  CHECK(kinds == std::set<std::string>{"alignment", "free", "tolerance"});
}

TEST_CASE("remedies: what is not proposed would not help") {
  const MatchRequest r = infeasible().front();
  const MatchResult result = match(r);
  const auto proposed = [&](const std::string& option) {
    return std::any_of(result.remedies.begin(), result.remedies.end(),
                       [&](const Remedy& remedy) { return remedy.option == option; });
  };
  for (const Unknown unknown :
       {Unknown::loop_span, Unknown::loop_visits, Unknown::depth, Unknown::top_k}) {
    const std::string option = "--free " + std::string(name(unknown));
    CAPTURE(option);
    CHECK(feasible(with_option(r, option)) == proposed(option));
  }
  CHECK(feasible(with_option(r, "--square no")) == proposed("--square no"));
}

TEST_CASE("remedies: every fixed dimension may be freed, latents and dense FFNs too") {
  MatchRequest r = request(6, Ratio(1, 100));
  arch::Segment& s = r.baseline.segments.front();
  s.attention = {};
  s.attention.kind = arch::AttentionKind::mla;
  s.attention.heads = 20;
  s.attention.q_rank = 256;
  s.attention.kv_rank = 256;
  s.attention.nope_size = s.attention.value_size = 64;
  s.attention.rope_size = 32;
  r.fixed[Unknown::kv_rank] = 16;
  MatchResult result = match(r);
  REQUIRE(result.answers.empty());
  const auto proposed = [&](const std::string& option) {
    return std::any_of(result.remedies.begin(), result.remedies.end(),
                       [&](const Remedy& remedy) { return remedy.option == option; });
  };
  CHECK(proposed("--free kv-rank instead of --fix kv-rank"));
}

TEST_CASE("top: answers come best first and differ in loop, hidden size or kv width") {
  MatchRequest r = request(6, Ratio(4, 100));
  r.top = 8;
  const MatchResult result = match(r);
  REQUIRE(result.answers.size() == 8);
  std::set<std::string> seen;
  Ratio before = 0;
  for (const MatchAnswer& a : result.answers) {
    const std::int64_t kv = a.values.at(Unknown::kv_heads) * a.values.at(Unknown::head_size);
    CHECK(seen.insert(std::to_string(a.architecture.hidden) + "/" + std::to_string(kv)).second);
    CHECK(a.largest >= before);
    before = a.largest;
    CHECK(verify(r, a).empty());
  }
}

TEST_CASE("rank: reorders by the key asked for, within the same tolerances") {
  MatchRequest r = request(6, Ratio(2, 100));
  const MatchAnswer usual = match(r).answers.at(0);
  r.rank = {"flops", "mismatch"};
  const MatchAnswer exact_flops = match(r).answers.at(0);
  CHECK(abs(exact_flops.mismatch[0]) <= abs(usual.mismatch[0]));
  CHECK(exact_flops.largest >= usual.largest);
  r.rank = {"hidden", "mismatch"};
  const MatchAnswer wide = match(r).answers.at(0);
  r.rank = {"experts", "mismatch"};
  const MatchAnswer few = match(r).answers.at(0);
  CHECK(wide.architecture.hidden > usual.architecture.hidden);
  CHECK(few.values.at(Unknown::experts) < usual.values.at(Unknown::experts));
  for (const MatchAnswer* a : {&exact_flops, &wide, &few}) CHECK(a->within);
}

}  // namespace isoloop::solve
