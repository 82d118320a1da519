// Looping, unlooping, recognising loops and changing depth.
//
// Source: the definition of a segment in arch.h; the paper's spans. Holds src/arch/loop.cpp and
// loop_of.cpp.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "arch/examples.h"
#include "support/numbers.h"

namespace isoloop::arch {
namespace {

using isoloop::test::error_of;

// "prelude 3, recur 6 x2, coda 3", with the schedule behind a bar.
std::string shape(const Architecture& architecture) {
  std::string text;
  for (const Segment& segment : architecture.segments) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", segment.name, segment.layers);
    if (segment.visits.forward != Ratio(1)) text += " x" + segment.visits.forward.str();
  }
  for (std::size_t i = 0; i < architecture.schedule.size(); ++i) {
    text += (i == 0 ? " | " : " ") + architecture.schedule[i];
  }
  return text;
}

// The window of each physical layer of the whole model.
std::vector<std::int64_t> windows_of(const Architecture& architecture) {
  std::vector<std::int64_t> windows;
  for (const Segment& segment : architecture.segments) {
    for (std::int64_t layer = 0; layer < segment.layers; ++layer) {
      windows.push_back(window_of(segment, layer));
    }
  }
  return windows;
}

Architecture dense_then_moe() { return from_json(test::two_segments, "two.json"); }

}  // namespace

TEST_CASE("a loop in a model of one segment makes prelude, recur and coda") {
  const Architecture a = with_loop(test::one_segment(12), {4, 6, 2});
  CHECK(shape(a) == "prelude 3, recur 6 x2, coda 3");
  CHECK(a.segments[1].visits.backward == Ratio(2));
  CHECK(a.segments[1].residual_scale == Ratio(1, 2));
  CHECK_FALSE(a.segments[0].residual_scale);
  CHECK_FALSE(a.segments[2].residual_scale);
  CHECK(shape(with_loop(a, {1, 12, 4})) == "recur 12 x4");
  CHECK(shape(with_loop(a, {1, 2, 4})) == "recur 2 x4, coda 10");
  CHECK(shape(without_loop(a)) == "layers 12");
}

TEST_CASE("a loop cuts the segments at its ends and schedules a block over several") {
  const Architecture a = dense_then_moe();
  CHECK(shape(with_loop(a, {5, 4, 2})) == "dense 1, moe.prelude 3, moe.recur 4 x2, moe.coda 4");
  CHECK(shape(with_loop(a, {2, 11, 2})) == "dense 1, moe 11 x2");
  CHECK(shape(with_loop(a, {1, 3, 2})) ==
        "dense 1 x2, moe.recur 2 x2, moe.coda 9 | dense moe.recur dense moe.recur moe.coda");
  CHECK(shape(with_loop(a, {1, 3, 2, Order::layer})) == "dense 1 x2, moe.recur 2 x2, moe.coda 9");
  CHECK(shape(with_loop(with_loop(a, {1, 3, 2}), {1, 12, 3})) ==
        "dense 1 x3, moe 11 x3 | dense moe dense moe dense moe");
}

TEST_CASE("names of pieces do not clash with segments that already have them") {
  Architecture a = dense_then_moe();
  a.segments[0].name = "moe.recur";
  const Architecture b = with_loop(a, {4, 2, 2});
  validate(b);
  CHECK(shape(b) == "moe.recur 1, moe.prelude 2, moe.recur.2 2 x2, moe.coda 7");
}

TEST_CASE("one visit or no span is no loop") {
  const Architecture a = test::one_segment(12);
  CHECK(with_loop(a, {4, 6, 1}) == a);
  CHECK(with_loop(a, {}) == a);
}

TEST_CASE("taking a loop out gives back the model, all small loops of random models") {
  test::Random random(2);
  for (int i = 0; i < 300; ++i) {
    const Architecture a = random.plain();
    const std::int64_t layers = depth(a);
    for (std::int64_t span = 1; span <= layers; ++span) {
      for (std::int64_t first = 1; first + span <= layers + 1; ++first) {
        const Loop loop{first, span, random.between(2, 4),
                        span > 1 && random.coin() ? Order::layer : Order::block};
        const Architecture b = with_loop(a, loop);
        CAPTURE(to_json(b));
        REQUIRE_NOTHROW(validate(b));
        REQUIRE(loop_of(b) == loop);
        REQUIRE(without_loop(b) == a);
        REQUIRE(with_loop(b, loop) == b);
        REQUIRE(windows_of(b) == windows_of(a));
      }
    }
  }
}

TEST_CASE("taking a loop out resets every loop field") {
  Architecture a = test::one_segment(4);
  test::Random random(3);
  for (int i = 0; i < 100; ++i) {
    Architecture b = a;
    random.add_loop(b.segments[0]);
    REQUIRE(without_loop(b) == a);
  }
  a.segments[0].residual_scale = Ratio(1, 5);
  CHECK(with_loop(a, {1, 4, 2}).segments[0].residual_scale == Ratio(1, 10));
}

TEST_CASE("segments that are different stay apart") {
  Architecture a = with_loop(test::one_segment(12), {4, 6, 2});
  a.segments[1].ffn.expert_size = 48;
  CHECK(shape(without_loop(a)) == "prelude 3, recur 6, coda 3");
}

TEST_CASE("a loop must lie within the model") {
  const auto message = [](const Loop& loop) {
    return std::string(error_of([&] { with_loop(test::one_segment(12), loop); }).what());
  };
  CHECK(message({8, 6, 2}) ==
        "loop: 6 layers from layer 8 on do not lie in a model of 12 layers\n"
        "  hint: layers count from 1 to 12");
  CHECK(message({0, 6, 2}) ==
        "loop: 6 layers from layer 0 on do not lie in a model of 12 layers\n"
        "  hint: layers count from 1 to 12");
  CHECK(message({1, INT64_MAX, 2}) ==
        "loop: 9223372036854775807 layers from layer 1 on do not lie in a model of 12 layers\n"
        "  hint: layers count from 1 to 12");
  CHECK(message({1, 6, 0}) == "loop: is 0 visits; expected 1 to 100000");
  CHECK(message({1, -6, 2}) == "loop: spans -6 layers; expected 0 or more");
}

TEST_CASE("only one contiguous block of whole visits is a loop") {
  Architecture a = with_loop(test::one_segment(12), {4, 6, 2});
  CHECK(loop_of(a) == Loop{4, 6, 2});
  CHECK_FALSE(loop_of(test::one_segment(12)));
  SUBCASE("fewer backward visits do not matter") {
    a.segments[1].visits.backward = 1;
    CHECK(loop_of(a) == Loop{4, 6, 2});
  }
  SUBCASE("fractional visits") {
    a.segments[1].visits = {Ratio(5, 2), 1};
    CHECK_FALSE(loop_of(a));
  }
  SUBCASE("two loops apart") {
    a.segments[2].visits = a.segments[1].visits;
    a.segments[1].visits = {};
    a.segments[0].visits = a.segments[2].visits;
    CHECK_FALSE(loop_of(a));
  }
  SUBCASE("two loops side by side") {
    a.segments[2].visits = a.segments[1].visits;
    CHECK_FALSE(loop_of(a));
    a.schedule = {"prelude", "recur", "coda", "recur", "coda"};
    CHECK(loop_of(a) == Loop{4, 9, 2});
    a.schedule = {"prelude", "recur", "coda", "coda", "recur"};
    CHECK_FALSE(loop_of(a));
  }
  SUBCASE("different visits") {
    a.segments[2].visits = {3, 3};
    CHECK_FALSE(loop_of(a));
  }
}

TEST_CASE("window patterns are cut in phase") {
  Architecture a = test::one_segment(8);
  a.segments[0].attention.windows = {1, 2, 3};
  const Architecture b = with_loop(a, {3, 4, 2});
  CHECK(b.segments[0].attention.windows == std::vector<std::int64_t>{1, 2, 3});
  CHECK(b.segments[1].attention.windows == std::vector<std::int64_t>{3, 1, 2});
  CHECK(b.segments[2].attention.windows == std::vector<std::int64_t>{1, 2, 3});
  CHECK(windows_of(b) == std::vector<std::int64_t>{1, 2, 3, 1, 2, 3, 1, 2});
}

TEST_CASE("depth changes the longest segment and windows run on") {
  Architecture a = test::one_segment(8);
  a.segments[0].attention.windows = {1, 2, 3};
  CHECK(windows_of(with_depth(a, 10)) == std::vector<std::int64_t>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1});
  const Architecture b = with_loop(a, {3, 4, 2});
  CHECK(shape(with_depth(b, 9)) == "prelude 2, recur 5 x2, coda 2");
  for (std::int64_t layers = 5; layers <= 12; ++layers) {
    CHECK(windows_of(with_depth(b, layers)) == windows_of(with_depth(a, layers)));
  }
  CHECK(with_depth(b, 8) == b);
  CHECK(shape(with_depth(dense_then_moe(), 28)) == "dense 1, moe 27");
}

TEST_CASE("depth keeps one layer in every segment") {
  CHECK(std::string(error_of([] { with_depth(dense_then_moe(), 1); }).what()) ==
        "depth: a depth of 1 cannot be reached by changing segment 'moe'\n"
        "  hint: depth can be 2 to 100000");
  CHECK(std::string(error_of([] { with_depth(Architecture{}, 1); }).what()) ==
        "segments: is empty; expected at least one segment");
}

TEST_CASE("the paper's placement of the middle half") {
  for (const auto& [layers, first, last] :
       {std::array<std::int64_t, 3>{10, 3, 7}, {12, 4, 9}, {20, 6, 15}, {30, 8, 22}}) {
    CHECK(centred_first(layers, layers / 2) == first);
    CHECK(first + layers / 2 - 1 == last);
  }
}

}  // namespace isoloop::arch
