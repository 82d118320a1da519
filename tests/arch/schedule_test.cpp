// Depths, windows and the execution order.
//
// Source: the loop structures published for Huginn, Ouro and HRM. Holds src/arch/schedule.cpp.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "arch/examples.h"
#include "support/numbers.h"

namespace isoloop::arch {
namespace {

// Physical layers of the whole model in execution order, 1-based: "1 2 3 2 3 4".
std::string order_text(const Architecture& architecture) {
  std::vector<std::int64_t> start{1};
  for (const Segment& segment : architecture.segments)
    start.push_back(start.back() + segment.layers);
  std::string text;
  for (const Step& step : execution(architecture)) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", start[step.segment] + step.layer);
  }
  return text;
}

Architecture looped(std::int64_t layers, std::string_view loop) {
  return with_loop(test::one_segment(layers), parse_loop(loop, layers, "--loop"));
}

}  // namespace

TEST_CASE("execution of the published loop structures") {
  SUBCASE("Ouro: the whole stack four times") {
    CHECK(order_text(looped(3, "all x4")) == "1 2 3 1 2 3 1 2 3 1 2 3");
  }
  SUBCASE("Huginn: 2 + 4x32 + 2") {
    const Architecture huginn = looped(8, "2+4x32+2");
    const auto steps = execution(huginn);
    CHECK(steps.size() == 132);
    CHECK(effective_depth(huginn) == Ratio(132));
    CHECK(steps[1] == Step{0, 1, 0});
    CHECK(steps[2] == Step{1, 0, 0});
    CHECK(steps[6] == Step{1, 0, 1});
    CHECK(steps[129] == Step{1, 3, 31});
    CHECK(steps[131] == Step{2, 1, 0});
  }
  SUBCASE("SMELT: the middle half twice") {
    CHECK(order_text(looped(10, "middle")) == "1 2 3 4 5 6 7 3 4 5 6 7 8 9 10");
  }
  SUBCASE("Loopie: every layer twice in place") {
    CHECK(order_text(looped(3, "each x2")) == "1 1 2 2 3 3");
  }
  SUBCASE("HRM: nested cycles of a low and a high stack") {
    Architecture hrm = test::one_segment(1);
    hrm.segments.push_back(hrm.segments[0]);
    hrm.segments[0].name = "L";
    hrm.segments[0].visits = {6, 6};
    hrm.segments[1].name = "H";
    hrm.segments[1].visits = {2, 2};
    hrm.schedule = {"L", "L", "L", "H", "L", "L", "L", "H"};
    validate(hrm);
    CHECK(order_text(hrm) == "1 1 1 2 1 1 1 2");
    const auto steps = execution(hrm);
    CHECK(steps[4] == Step{0, 0, 3});
    CHECK(steps[7] == Step{1, 0, 1});
    CHECK(from_json(to_json(hrm), "hrm.json") == hrm);
    CHECK_FALSE(loop_of(hrm));
  }
}

TEST_CASE(
    "execution is as long as the effective depth and in the order asked for, all small loops") {
  for (std::int64_t layers = 1; layers <= 12; ++layers) {
    for (std::int64_t span = 1; span <= layers; ++span) {
      for (std::int64_t first = 1; first + span <= layers + 1; ++first) {
        for (std::int64_t visits = 1; visits <= 4; ++visits) {
          std::string block, in_place;
          const auto add = [](std::string& text, std::int64_t layer) {
            text += fmt::format("{}{}", text.empty() ? "" : " ", layer);
          };
          const std::int64_t after = first + span;
          for (std::int64_t l = 1; l < first; ++l) add(block, l);
          for (std::int64_t v = 0; v < visits; ++v) {
            for (std::int64_t l = first; l < after; ++l) add(block, l);
          }
          for (std::int64_t l = after; l <= layers; ++l) add(block, l);
          for (std::int64_t l = 1; l <= layers; ++l) {
            const bool in = l >= first && l < after;
            for (std::int64_t v = 0; v < (in ? visits : 1); ++v) add(in_place, l);
          }
          const auto a = with_loop(test::one_segment(layers), {first, span, visits});
          const auto b = with_loop(test::one_segment(layers), {first, span, visits, Order::layer});
          REQUIRE(order_text(a) == block);
          REQUIRE(order_text(b) == in_place);
          REQUIRE(depth(a) == layers);
          REQUIRE(effective_depth(a) == Ratio(layers + span * (visits - 1)));
          REQUIRE(effective_depth(b) == effective_depth(a));
        }
      }
    }
  }
}

TEST_CASE("a block over several segments runs as a block, layer by layer in place") {
  Architecture a = test::one_segment(2);
  a.segments.push_back(a.segments[0]);
  a.segments[1].name = "wide";
  a.segments[1].ffn.expert_size = 64;
  const auto run = [&](std::string_view loop) {
    const Architecture b = with_loop(a, parse_loop(loop, 4, "--loop"));
    validate(b);
    return order_text(b);
  };
  CHECK(run("1+2x3+1") == "1 2 3 2 3 2 3 4");
  CHECK(run("each 1+2x3+1") == "1 2 2 2 3 3 3 4");
  CHECK(run("all x2") == "1 2 3 4 1 2 3 4");
}

TEST_CASE("sampled depth has an effective depth but no order of execution") {
  Architecture a = test::one_segment(4);
  a.segments[0].visits = {Ratio(5, 2), 1};
  CHECK(effective_depth(a) == Ratio(10));
  CHECK(std::string(isoloop::test::error_of([&] { execution(a); }).what()) ==
        "segments[0].visits: is 5/2, so there is no single order of execution\n"
        "  hint: give whole visits");
}

TEST_CASE("execution refuses to list more than ten million layers") {
  Architecture a = test::one_segment(1001);
  a.segments[0].visits = {10'000, 1};
  CHECK(std::string(isoloop::test::error_of([&] { execution(a); }).what()) ==
        "segments: run 10010000 layers per token; at most 10000000 are listed");
}

TEST_CASE("window patterns repeat over the layers of a segment") {
  Segment segment;
  segment.layers = 5;
  CHECK(window_of(segment, 3) == 0);
  segment.attention.windows = {128, 0, 64};
  CHECK(window_of(segment, 0) == 128);
  CHECK(window_of(segment, 2) == 64);
  CHECK(window_of(segment, 4) == 0);
}

}  // namespace isoloop::arch
