// Sweeps: which members there are, and that each is matched on its own terms.
//
// Source: the shapes and losses printed in arXiv 2609.01343 (data/sweeps), and matching itself, held
// by tests/solve.
#include <doctest/doctest.h>

#include <algorithm>

#include "isoloop/grid.h"
#include "isoloop/space.h"
#include "support/numbers.h"

namespace isoloop {
namespace {

using space::Axes;
using space::Member;
using space::Shape;

/// The 200M baseline with 64 experts, asked as the paper's grid asks.
solve::MatchRequest request() {
  const grid::Grid grid = grid::load("smelt", "test");
  for (const grid::Cell& cell : grid.cells)
    if (cell.name == "200M-E64") return grid::request(grid, cell);
  throw internal_error("no such cell");
}

std::vector<std::string> names(const std::vector<Member>& members) {
  std::vector<std::string> result;
  for (const Member& m : members) result.push_back(m.name());
  return result;
}

}  // namespace

TEST_CASE("a cross product has every shape once") {
  Axes axes;
  axes.spans = {0, 2, 4};
  axes.visits = {1, 2, 3};
  CHECK(names(space::members(request(), axes)) ==
        std::vector<std::string>{"d12-plain", "d12-s2x2", "d12-s2x3", "d12-s4x2", "d12-s4x3"});
  axes = {};
  axes.depths = {4, 12};
  axes.spans = {6};
  CHECK(names(space::members(request(), axes)) == std::vector<std::string>{"d12-s6x2"});
}

TEST_CASE("all starts of a span, the centred one without a mark") {
  Axes axes;
  axes.depths = {4};
  axes.spans = {2};
  axes.all_starts = true;
  CHECK(names(space::members(request(), axes)) ==
        std::vector<std::string>{"d4-s2x2@1", "d4-s2x2", "d4-s2x2@3"});
}

TEST_CASE("a sweep without a possible shape is refused") {
  Axes axes;
  axes.spans = {13};
  const Error error = test::error_of([&] { space::members(request(), axes); });
  CHECK(std::string(error.what()) ==
        "--span, --depth, --start: no loop shape of the sweep exists\n"
        "  hint: spans go from 0 to the depth (12 in the baseline)");
}

TEST_CASE("every member is the optimum of its own loop, and the baseline matches itself") {
  Axes axes;
  axes.spans = {0, 6};
  std::vector<Member> members = space::members(request(), axes);
  std::size_t calls = 0;
  space::run(members, [&](std::size_t i) { CHECK(i == calls++); });
  CHECK(calls == 2);
  REQUIRE(members[0].within());
  CHECK(members[0].best()->largest == Ratio(0));
  REQUIRE(members[1].within());
  CHECK(members[1].best()->loop == arch::Loop{4, 6, 2});
  CHECK(members[1].best()->largest == solve::match(request()).answers.front().largest);
}

TEST_CASE("the paper's sweeps have their printed shapes and losses") {
  CHECK(space::sweep_names() ==
        std::vector<std::string>{"paper-span", "paper-depth", "paper-count"});
  const space::NamedSweep span = space::load_sweep("paper-span", "test");
  REQUIRE(span.series.size() == 2);
  REQUIRE(span.series[0].members.size() == 7);
  CHECK(span.series[0].baseline == "smelt-200m-e64");
  CHECK(span.series[0].members[3].first == Shape{12, 6, 2, 0});
  CHECK(span.series[0].members[3].second.val_loss == "1.9257");
  CHECK(space::load_sweep("paper-depth", "test").series[0].members.size() == 8);
  CHECK(space::load_sweep("paper-count", "test").series[0].members.back().first ==
        Shape{12, 6, 4, 0});
  CHECK(std::string(test::error_of([] { space::load_sweep("paper-spam", "sweep"); }).what()) ==
        "sweep: unknown sweep 'paper-spam'\n  hint: did you mean 'paper-span'?");
}

TEST_CASE("controls hold what a loop changes besides") {
  Axes axes;
  axes.spans = {6};
  std::vector<Member> members = space::members(request(), axes);
  space::run(members);
  const Member& looped = members.front();
  REQUIRE(looped.within());
  std::vector<Member> controls = {*space::control(looped, space::Control::experts),
                                  *space::control(looped, space::Control::params)};
  space::run(controls);
  const arch::Architecture& finer = controls[0].best()->architecture;
  REQUIRE(controls[0].within());
  CHECK(controls[0].name() == "control-experts");
  CHECK(finer.segments.size() == 1);
  CHECK(finer.segments.front().ffn.experts == looped.best()->values.at(solve::Unknown::experts));
  CHECK(finer.segments.front().ffn.top_k > 8);
  // Half of the layers run twice: unshared, they would be half as many again.
  REQUIRE(controls[1].within());
  CHECK(controls[1].name() == "control-params");
  CHECK(controls[1].result.targets[1] == Ratio(Int(3), Int(2)) * looped.result.targets[1]);
  CHECK(controls[1].result.targets[0] == looped.result.targets[0]);
  const cost::Count count = cost::count(controls[1].best()->architecture, looped.request.options);
  const Ratio params = count.params_non_embedding.value();
  CHECK(abs(params - controls[1].result.targets[1]) <=
        looped.request.budgets[1].tolerance * controls[1].result.targets[1]);
}

TEST_CASE("a plain member has no controls, nor has one without experts") {
  Axes axes;
  axes.spans = {0};
  std::vector<Member> members = space::members(request(), axes);
  space::run(members);
  CHECK(!space::control(members.front(), space::Control::params));
  solve::MatchRequest r = request();
  r.baseline.segments.front().ffn = {.size = 4096};
  axes.spans = {6};
  members = space::members(r, axes);
  space::run(members);
  CHECK(!space::control(members.front(), space::Control::experts));
}

}  // namespace isoloop
