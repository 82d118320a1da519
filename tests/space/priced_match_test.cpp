// Matching by price against pricing every candidate.
//
// Anchor: all candidates within tolerance are written out, priced and sorted. The price is a
// function of the dimensions that has nothing to do with cost. Holds src/space/priced_match.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "isoloop/grid.h"
#include "isoloop/space.h"
#include "support/numbers.h"

namespace isoloop::space {
namespace {

PricedRequest request_of_cell() {
  const grid::Grid g = grid::load("smelt", "test");
  PricedRequest request;
  for (const grid::Cell& cell : g.cells)
    if (cell.name == "200M-E192") request.match = grid::request(g, cell);
  request.match.freed[solve::Unknown::depth] = solve::Range{10, 14, 1};
  request.match.freed[solve::Unknown::loop_span] = std::nullopt;
  return request;
}

/// Rugged, with some candidates that have no price.
double rugged(const arch::Architecture& a) {
  const auto& s = a.segments.front();
  const std::int64_t mixed = a.hidden * 31 + s.ffn.expert_size * 17 + s.ffn.experts * 7 + arch::depth(a) * 3;
  return mixed % 11 == 0 ? std::numeric_limits<double>::infinity()
                         : 1 + static_cast<double>(mixed % 97) / 97;
}

Price rugged_price() {
  Price price{"odd", "", "", "", {}, {1, 1, 1}};
  price.make = [] {
    return [](const arch::Architecture& a) { return Predicted{rugged(a), rugged(a), rugged(a)}; };
  };
  return price;
}

struct Every {
  std::vector<solve::MatchAnswer> answers;
  std::vector<Ratio> mismatch;  // in units of the tolerances
};

Every every(const PricedRequest& request) {
  const solve::MatchSpace space(request.match);
  Every result;
  solve::Walker(space.problem())
      .visit(0, solve::candidates(space.problem()), [&](const solve::Point& p) {
        const solve::Answer answer = solve::answer_of(space.problem(), p);
        result.answers.push_back(space.read(answer, false));
        result.mismatch.push_back(
            solve::score_of(space.problem(), {solve::Criterion::Kind::largest_mismatch, 0, 0}, answer));
      });
  return result;
}

TEST_CASE("the best by a price is the best of all candidates priced") {
  PricedRequest request = request_of_cell();
  request.prices = {rugged_price()};
  request.rank = {"odd", "mismatch"};
  const Every all = every(request);
  REQUIRE(all.answers.size() > 50);
  std::pair<double, Ratio> best{1e9, 0};
  for (std::size_t i = 0; i < all.answers.size(); ++i)
    best = std::min(best, {rugged(all.answers[i].architecture), all.mismatch[i]});
  const PricedResult result = match(request);
  REQUIRE(result.match.answers.size() == 1);
  CHECK(result.values[0][0].mid == best.first);
  CHECK(result.priced == all.answers.size());
  CHECK(result.match.answers[0].within);
}

TEST_CASE("with exact keys first the answer is the same and little is priced") {
  PricedRequest request = request_of_cell();
  request.prices = {rugged_price()};
  request.rank = {"mismatch", "odd"};
  request.match.top = 3;
  const PricedResult result = match(request);
  const std::size_t all = every(request).answers.size();
  solve::MatchRequest exact = request.match;
  exact.rank = {"mismatch"};
  const solve::MatchResult plain = solve::match(exact);
  REQUIRE(result.match.answers.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(result.match.answers[i].largest == plain.answers[i].largest);
  CHECK(result.priced < all / 4);
}

TEST_CASE("a requirement leaves the best of those that keep it") {
  PricedRequest request = request_of_cell();
  request.prices = {rugged_price()};
  request.require = {{"odd", 1.1}};
  request.rank = {"mismatch"};
  const Every all = every(request);
  std::optional<Ratio> best;
  for (std::size_t i = 0; i < all.answers.size(); ++i)
    if (rugged(all.answers[i].architecture) <= 1.1 && (!best || all.mismatch[i] < *best))
      best = all.mismatch[i];
  REQUIRE(best);
  const PricedResult result = match(request);
  REQUIRE(result.match.answers.size() == 1);
  CHECK(result.values[0][0].mid <= 1.1);
  Ratio units = 0;
  for (std::size_t m = 0; m < result.match.budgets.size(); ++m)
    units = std::max(units, abs(result.match.answers[0].mismatch[m]) / result.match.budgets[m].tolerance);
  CHECK(units == *best);
}

TEST_CASE("where a requirement refuses everything the nearest to it is shown") {
  PricedRequest request = request_of_cell();
  request.prices = {rugged_price()};
  request.require = {{"odd", 0.5}};
  double least = 1e9;
  for (const solve::MatchAnswer& a : every(request).answers) least = std::min(least, rugged(a.architecture));
  const PricedResult result = match(request);
  CHECK(result.match.answers.empty());
  CHECK(result.within_budgets);
  CHECK(result.match.binding == "odd");
  REQUIRE(result.match.nearest);
  CHECK(result.values.at(0)[0].mid == least);
}

TEST_CASE("where no candidate within tolerance has a price none is nearest, and that is told") {
  PricedRequest request = request_of_cell();
  Price never = rugged_price();
  never.make = [] {
    constexpr double none = std::numeric_limits<double>::infinity();
    return [](const arch::Architecture&) { return Predicted{none, none, none}; };
  };
  request.prices = {never};
  request.require = {{"odd", 2}};
  const PricedResult result = match(request);
  CHECK(result.match.answers.empty());
  CHECK(result.within_budgets);
  CHECK(result.match.binding == "odd");
  CHECK(!result.match.nearest);
  CHECK(Int(result.without) == Int(every(request).answers.size()));
}

TEST_CASE("a key nothing is known of is named with the nearest one") {
  PricedRequest request = request_of_cell();
  request.prices = {rugged_price()};
  request.rank = {"od"};
  CHECK(std::string(test::error_of([&] { match(request); }).what()) ==
        "--rank: unknown ranking key 'od'\n  hint: did you mean 'odd'?");
  request.rank = {};
  request.require = {{"step-time", 1}};
  CHECK(std::string(test::error_of([&] { match(request); }).what()) ==
        "--require: unknown price 'step-time'\n  hint: known: odd");
  request.prices = {};
  CHECK(std::string(test::error_of([&] { match(request); }).what()) ==
        "--require: 'step-time' is no price, and there is none\n"
        "  hint: add --gpu or --law; budgets go into --tol");
}

}  // namespace
}  // namespace isoloop::space
