// The verifier accepts what matching answers and rejects every neighbour of it.
//
// Anchor: an answer is correct by tests/solve/match_test.cpp; a change of one dimension, figure or
// loop is wrong by construction unless it keeps every rule and is reported truthfully. Holds
// src/solve/verify.cpp.
#include <doctest/doctest.h>

#include "isoloop/grid.h"
#include "isoloop/solve.h"
#include "support/numbers.h"

namespace isoloop::solve {
namespace {

struct Solved {
  MatchRequest request;
  MatchAnswer answer;
};

Solved solved(MatchRequest request) {
  MatchResult result = match(request);
  REQUIRE(!result.answers.empty());
  return {std::move(request), std::move(result.answers.front())};
}

/// 200M, 192 experts, the middle half twice.
Solved usual() {
  const grid::Grid grid = grid::load("smelt", "test");
  return solved(grid::request(grid, grid.cells[6]));
}

/// A dense model with a window in every other layer, sharded four ways.
Solved dense() {
  MatchRequest r;
  r.baseline.name = "dense";
  r.baseline.hidden = 512;
  r.baseline.context = 1024;
  arch::Segment s;
  s.name = "layers";
  s.layers = 8;
  s.attention.heads = 8;
  s.attention.kv_heads = 4;
  s.attention.head_size = 64;
  s.attention.windows = {256, 0};
  s.ffn.size = 1536;
  r.baseline.segments = {s};
  r.alignment = parse_alignment("loose", "test");
  r.tensor_parallel = 4;
  r.pipeline_parallel = 2;
  // Without experts to add, parameters cannot be kept: hold the work and the cache.
  r.budgets = {{cost::Budget::flops, Ratio(2, 100)}, {cost::Budget::kv, Ratio(10, 100)}};
  return solved(r);
}

/// Latent attention, one dense layer in front, shared experts, over expert parallelism.
Solved latent() {
  MatchRequest r;
  r.baseline.name = "latent";
  r.baseline.hidden = 512;
  r.baseline.context = 1024;
  arch::Segment s;
  s.name = "first";
  s.layers = 1;
  s.attention.kind = arch::AttentionKind::mla;
  s.attention.heads = 8;
  s.attention.q_rank = 128;
  s.attention.kv_rank = 128;
  s.attention.nope_size = 32;
  s.attention.rope_size = 16;
  s.attention.value_size = 32;
  s.ffn.size = 1024;
  r.baseline.segments = {s};
  s.name = "moe";
  s.layers = 7;
  s.ffn = {};
  s.ffn.moe = true;
  s.ffn.experts = 32;
  s.ffn.top_k = 4;
  s.ffn.expert_size = 256;
  s.ffn.shared_size = 256;
  r.baseline.segments.push_back(s);
  r.alignment = parse_alignment("loose", "test");
  r.expert_parallel = 4;
  r.tensor_parallel = 2;
  r.budgets = {{cost::Budget::flops, Ratio(5, 100)},
               {cost::Budget::params, Ratio(5, 100)},
               {cost::Budget::kv, Ratio(10, 100)}};
  return solved(r);
}

bool accepted(const Solved& s) { return verify(s.request, s.answer).empty(); }

/// Adds `by` to a dimension of every segment that has it.
void shift(MatchAnswer& answer, std::int64_t arch::Attention::*field, std::int64_t by) {
  for (arch::Segment& s : answer.architecture.segments) s.attention.*field += by;
}
void shift(MatchAnswer& answer, std::int64_t arch::Ffn::*field, std::int64_t by) {
  for (arch::Segment& s : answer.architecture.segments)
    if (s.ffn.*field > 0) s.ffn.*field += by;
}

/// Reports the figures the architecture has, so that only rules can be against it.
void report_truly(Solved& s) {
  cost::Options options = s.request.options;
  if (options.context == 0) options.context = s.request.baseline.context;
  const auto own = cost::ledger(s.answer.architecture, options);
  const auto base = cost::ledger(s.request.baseline, options);
  s.answer.mismatch.clear();
  s.answer.largest = 0;
  s.answer.within = true;
  for (const BudgetTolerance& b : s.request.budgets) {
    const Ratio target = cost::total(base, b.budget, options);
    const Ratio off = (cost::total(own, b.budget, options) - target) / target;
    s.answer.mismatch.push_back(off);
    s.answer.largest = std::max(s.answer.largest, abs(off));
    s.answer.within = s.answer.within && abs(off) <= b.tolerance;
  }
}

/// What the verifier says of a changed answer that reports its figures truthfully.
template <class Change>
std::string complaint(Solved s, Change change) {
  change(s.answer);
  report_truly(s);
  const auto wrong = verify(s.request, s.answer);
  return wrong.empty() ? "" : wrong.front();
}

}  // namespace

TEST_CASE("verify accepts answers, also those that shard, window or cache latents") {
  CHECK(accepted(usual()));
  CHECK(accepted(dense()));
  CHECK(accepted(latent()));
}

TEST_CASE("verify rejects an answer whose dimension changed by a step") {
  for (const Solved& s : {usual(), dense(), latent()}) {
    const bool moe = s.request.baseline.segments.back().ffn.moe;
    const bool gqa = s.request.baseline.segments[0].attention.kind == arch::AttentionKind::gqa;
    for (const std::int64_t sign : {-1, 1}) {
      CAPTURE(s.request.baseline.name);
      CAPTURE(sign);
      const auto rejected = [&](auto field, std::int64_t step) {
        Solved changed = s;
        shift(changed.answer, field, sign * step);
        return !accepted(changed);
      };
      Solved wider = s;
      wider.answer.architecture.hidden += sign * 8;
      CHECK(!accepted(wider));
      CHECK(rejected(&arch::Attention::heads, 4));
      if (gqa) {
        CHECK(rejected(&arch::Attention::kv_heads, 1));
        CHECK(rejected(&arch::Attention::head_size, 8));
      } else {
        CHECK(rejected(&arch::Attention::kv_rank, 8));
      }
      CHECK(rejected(moe ? &arch::Ffn::expert_size : &arch::Ffn::size, 8));
      if (moe) CHECK(rejected(&arch::Ffn::experts, 8));
      if (moe) CHECK(rejected(&arch::Ffn::top_k, 1));
    }
  }
}

TEST_CASE("verify rejects figures that are reported wrongly") {
  const Solved good = usual();
  for (std::size_t m = 0; m < good.answer.mismatch.size(); ++m) {
    Solved s = good;
    s.answer.mismatch[m] += Ratio(1, 1'000'000'000);
    CHECK(!accepted(s));
  }
  Solved s = good;
  s.answer.largest += Ratio(1, 1'000'000);
  CHECK(verify(s.request, s.answer) ==
        std::vector<std::string>{"the largest mismatch is reported wrongly"});
  s = good;
  s.answer.within = false;
  CHECK(verify(s.request, s.answer) ==
        std::vector<std::string>{"'within tolerance' is reported wrongly"});
  s = good;
  s.answer.mismatch.pop_back();
  CHECK(!accepted(s));
}

TEST_CASE("verify rejects an answer whose loop is not the reported one") {
  const Solved good = usual();
  Solved s = good;
  s.answer.loop.first += 1;
  CHECK(verify(s.request, s.answer) ==
        std::vector<std::string>{"the architecture's loop is not the one reported",
                                 "start is 5, not 4"});
  s = good;
  s.answer.loop = {};
  CHECK(!accepted(s));
  s = good;
  s.answer.architecture = arch::without_loop(s.answer.architecture);
  CHECK(!accepted(s));
  s = good;
  s.answer.architecture = arch::with_loop(s.answer.architecture, {4, 6, 3});
  s.answer.loop.visits = 3;
  CHECK(!accepted(s));  // truthful loop, other cost
  s = good;
  s.answer.depth += 1;
  CHECK(!accepted(s));
}

TEST_CASE("verify wants a loop where visits of two or more were asked for") {
  Solved s = usual();
  MatchRequest request = s.request;
  request.loop = "none";
  s = solved(request);
  s.request.loop = "middle";
  s.request.freed[Unknown::loop_span] = Range{0, 6, 1};
  s.request.freed[Unknown::loop_visits] = Range{1, 3, 1};
  CHECK(verify(s.request, s.answer).empty());
  s.request.freed[Unknown::loop_visits] = Range{2, 3, 1};
  CHECK(verify(s.request, s.answer) == std::vector<std::string>{"visits ask for a loop"});
  s.request.freed[Unknown::loop_span] = Range{0, 0, 1};
  CHECK(verify(s.request, s.answer).empty());
  s.request.freed.erase(Unknown::loop_visits);
  s.request.freed.erase(Unknown::loop_span);
  s.request.fixed[Unknown::loop_visits] = 2;
  CHECK(verify(s.request, s.answer) == std::vector<std::string>{"visits ask for a loop"});
  s.request.fixed[Unknown::loop_span] = 0;
  CHECK(verify(s.request, s.answer).empty());
}

TEST_CASE("verify names the rule that a truthfully reported answer breaks") {
  const Solved good = usual();
  using A = MatchAnswer;
  CHECK(complaint(good, [](A& a) { a.architecture.hidden += 1; }) != "");
  CHECK(complaint(good, [](A& a) { shift(a, &arch::Attention::heads, 1); }) ==
        "kv heads do not divide heads");
  CHECK(complaint(good, [](A& a) {
          shift(a, &arch::Ffn::expert_size, 1);
        }).ends_with("is not a multiple of 8"));
  CHECK(complaint(good, [](A& a) {
          shift(a, &arch::Ffn::experts, 1);
        }).ends_with("is not a multiple of 8"));
  CHECK(complaint(good, [](A& a) { shift(a, &arch::Ffn::expert_size, 8 * 200); }) ==
        "expert-size / hidden is out of range");
  CHECK(complaint(good, [](A& a) {
          for (arch::Segment& x : a.architecture.segments) x.attention.kv_heads = x.attention.heads;
        }) == "the GQA ratio is out of range");
  CHECK(complaint(good, [](A& a) { shift(a, &arch::Attention::head_size, 2); }) ==
        "heads x head size is not the hidden size");
  CHECK(complaint(good, [](A& a) { shift(a, &arch::Ffn::top_k, 1); }) ==
        "top-k is not free and changed from 8 to 9");
}

TEST_CASE("verify checks dense FFNs, latents and shards like everything else") {
  using A = MatchAnswer;
  CHECK(complaint(dense(), [](A& a) {
          shift(a, &arch::Ffn::size, 4);
        }).ends_with("is not a multiple of 8"));
  CHECK(complaint(dense(), [](A& a) { shift(a, &arch::Ffn::size, 8 * 1000); }) ==
        "ffn-size / hidden is out of range");
  CHECK(complaint(dense(), [](A& a) {
          for (arch::Segment& x : a.architecture.segments) x.attention.kv_heads = 3;
        }) != "");
  CHECK(complaint(latent(), [](A& a) {
          shift(a, &arch::Attention::kv_rank, 4);
        }).ends_with("is not a multiple of 8"));
  CHECK(complaint(latent(), [](A& a) { shift(a, &arch::Ffn::shared_size, 1); }) != "");
  CHECK(complaint(latent(), [](A& a) { shift(a, &arch::Ffn::size, 8); }) ==
        "ffn-size is not free and changed from 1024 to 1032");
}

TEST_CASE("verify counts windows, visits and expert shards of the answer itself") {
  Solved s = dense();
  s.answer.architecture.segments[0].attention.windows = {256};
  CHECK(!accepted(s));
  s = latent();
  for (arch::Segment& x : s.answer.architecture.segments)
    if (x.ffn.moe) x.ffn.selection_bias = true;
  CHECK(!accepted(s));
}

}  // namespace isoloop::solve
