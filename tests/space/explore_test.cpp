// Exploration against scoring every candidate there is, within tolerance or not.
//
// Anchor: each index of a small space is written out as an architecture, recounted by the ledger and
// checked against tolerances and rules by the verifier. Holds src/space/explore.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "arch/examples.h"
#include "isoloop/space.h"

namespace isoloop::space {
namespace {

/// 4 layers, hidden 64, 4 heads x 16, 8 experts of 32, top-2; a few values of everything.
ExploreRequest small_request(const std::vector<std::string>& measures) {
  ExploreRequest request;
  arch::Architecture& a = request.match.baseline = arch::test::one_segment(4);
  a.vocab = 100;
  a.context = 64;
  using solve::Unknown;
  request.match.alignment = solve::parse_alignment("hidden=16,expert=8,head=16,experts=4", "test");
  request.match.budgets = {{cost::Budget::flops, Ratio(1, 4)}, {cost::Budget::params, Ratio(1, 4)}};
  request.match.min_head_size = 16;
  request.match.freed[Unknown::depth] = solve::Range{3, 5, 1};
  request.match.freed[Unknown::loop_span] = solve::Range{0, 5, 1};
  request.match.freed[Unknown::heads] = solve::Range{2, 6, 2};
  request.match.freed[Unknown::hidden] = solve::Range{48, 80, 16};
  request.match.freed[Unknown::head_size] = solve::Range{16, 32, 16};
  request.match.freed[Unknown::expert_size] = solve::Range{16, 48, 8};
  request.match.freed[Unknown::experts] = solve::Range{4, 12, 4};
  request.match.fixed[Unknown::kv_heads] = 2;
  request.match.square = false;
  request.match.gqa_low = Ratio(1, 2);
  request.match.freed[Unknown::top_k] = solve::Range{1, 3, 1};
  Price price{"odd", "", "", "", {}, {1, 1, 1}};
  price.make = [] {
    return [](const arch::Architecture& m) {
      const auto& f = m.segments.front().ffn;
      const auto v = static_cast<double>((m.hidden * 31 + f.experts * 7 + f.expert_size * 5) % 23);
      return Predicted{v, v, v};
    };
  };
  request.prices.push_back(price);
  request.measures = front_measures(measures, request.prices, "test");
  return request;
}

std::vector<Int> indices(const Front& front) {
  std::vector<Int> result;
  for (const FrontPoint& p : front.points()) result.push_back(p.index);
  return result;
}

/// Every candidate that the verifier accepts, scored from its architecture.
std::vector<Int> by_hand(const Exploration& e) {
  const solve::MatchSpace& space = e.space();
  const solve::MatchRequest& r = space.request();
  Front front;
  for (Int i = 0; i < solve::candidates(space.problem()); i += 1) {
    const solve::MatchAnswer a = space.read(solve::candidate_at(space.problem(), i), false);
    if (!a.within || !solve::verify(r, a).empty()) continue;
    FrontPoint point{i, {}};
    for (const FrontMeasure& m : e.request().measures) {
      Ratio exact = 0;
      if (m.kind == FrontMeasure::Kind::price) {
        point.scores.push_back({std::nullopt, e.request().prices[m.price].make()(a.architecture)});
        continue;
      }
      if (m.kind == FrontMeasure::Kind::mismatch)
        for (std::size_t b = 0; b < r.budgets.size(); ++b)
          exact = std::max(exact, abs(a.mismatch[b]) / r.budgets[b].tolerance);
      if (m.kind == FrontMeasure::Kind::budget)
        exact = cost::total(cost::ledger(a.architecture, r.options), m.budget, r.options);
      if (m.kind == FrontMeasure::Kind::distance) exact = distance(a.architecture, r.baseline);
      point.scores.push_back({exact, {}});
    }
    front.add(point);
  }
  return indices(front);
}

TEST_CASE("the front is that of every candidate scored") {
  for (const std::vector<std::string>& measures :
       {std::vector<std::string>{"mismatch", "odd"}, {"mismatch", "distance", "weights-bytes"},
        {"decode-bytes", "odd", "mismatch"}, {"weights-bytes", "distance"}}) {
    CAPTURE(measures.front());
    const Exploration e(small_request(measures));
    Exploration::State state = e.start();
    CHECK(e.run(state, e.shard(1, 1), 2, {}));
    CHECK(indices(state.front) == by_hand(e));
    CHECK(state.priced > 20);
    Int sum = state.certificate.visited;
    for (const auto& [by, points] : state.certificate.pruned) sum += points;
    CHECK(sum == state.certificate.points);
  }
}

TEST_CASE("shards, threads and interruptions leave no trace") {
  const Exploration e(small_request({"mismatch", "odd", "distance"}));
  Exploration::State whole = e.start();
  e.run(whole, e.shard(1, 1), 1, {});
  Exploration::State pieces = e.start();
  for (std::size_t i = 7; i >= 1; --i) {
    int asked = 0;
    Exploration::Observer observer;
    observer.stop = [&] { return ++asked > 5; };
    bool finished = false;
    while (!finished) {
      asked = 0;
      finished = e.run(pieces, e.shard(i, 7), 2, observer);
    }
  }
  CHECK(indices(pieces.front) == indices(whole.front));
  CHECK(pieces.done == whole.done);
  CHECK(pieces.priced == whole.priced);
  CHECK(pieces.certificate.points == whole.certificate.points);
  CHECK(pieces.certificate.visited == whole.certificate.visited);
  CHECK(pieces.certificate.nodes == whole.certificate.nodes);
  CHECK(pieces.certificate.pruned == whole.certificate.pruned);
}

TEST_CASE("what is told as proven stays on the front, all of it is told, once") {
  const Exploration e(small_request({"mismatch", "odd"}));
  Exploration::State state = e.start();
  std::vector<Int> told;
  std::size_t early = 0;
  Exploration::Observer observer;
  observer.proven = [&](const FrontPoint& p) {
    told.push_back(p.index);
    if (std::count(state.done.begin(), state.done.end(), false) > 0) ++early;
  };
  e.run(state, e.shard(1, 1), 1, observer);
  CHECK(early > 0);
  std::vector<Int> front = indices(state.front);
  CHECK(told == front);
}

TEST_CASE("candidates without a prediction are counted and left out") {
  ExploreRequest request = small_request({"mismatch", "odd"});
  request.prices[0].make = [] {
    return [](const arch::Architecture& m) {
      const double v = m.hidden == 64 ? std::numeric_limits<double>::infinity() : 1.0;
      return Predicted{v, v, v};
    };
  };
  const Exploration e(std::move(request));
  Exploration::State state = e.start();
  e.run(state, e.shard(1, 1), 1, {});
  CHECK(state.without > 0);
  CHECK(state.priced > state.without);
  for (const FrontPoint& p : state.front.points())
    CHECK(e.space().read(solve::candidate_at(e.space().problem(), p.index), false).architecture.hidden != 64);
}

}  // namespace
}  // namespace isoloop::space
