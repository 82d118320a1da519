// The short grammar: what means the same, what comes back, and what each refusal says.
//
// Source: the grammar in src/arch/loop_text.cpp, which this holds; the paper's spans.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "isoloop/arch.h"
#include "support/numbers.h"

namespace isoloop::arch {
namespace {

Loop loop(std::string_view text, std::int64_t layers = 12) {
  return parse_loop(text, layers, "--loop");
}

std::string message(std::string_view text, std::int64_t layers = 12) {
  const Error error = isoloop::test::error_of([&] { loop(text, layers); });
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.where == "--loop");
  return error.message + (error.hint.empty() ? "" : "\n" + error.hint);
}

// What every refusal of an unreadable loop ends with.
const std::string forms =
    "\na loop is none, middle, middle:1/3x4, all x4, 4-9x2 (layers 4 to 9 twice), 3+6x2+3 or each "
    "x2";

}  // namespace

TEST_CASE("the forms of a loop that mean the same") {
  const Loop half{4, 6, 2};
  for (const char* text :
       {"middle", "middle x2", "middle:1/2", "middle:0.5x2", "middle:50%x2", "middle:1/2 x 2",
        "4-9x2", " 4 - 9 × 2 ", "3+6x2+3", "3 + 6 X 2 + 3", "3+6×2+3", "\t3+6x2+3"}) {
    CAPTURE(text);
    CHECK(loop(text) == half);
  }
  for (const char* text : {"all x4", "allx4", "all ×4", "0+12x4+0", "1-12x4", "middle:1x4"}) {
    CAPTURE(text);
    CHECK(loop(text) == Loop{1, 12, 4});
  }
  for (const char* text : {"each x2", "eachx2", "each × 2", "each all x2", "each 1-12x2"}) {
    CAPTURE(text);
    CHECK(loop(text) == Loop{1, 12, 2, Order::layer});
  }
  CHECK(loop("each 3+6x2+3") == Loop{4, 6, 2, Order::layer});
  CHECK(loop("each middle") == Loop{4, 6, 2, Order::layer});
  CHECK(loop("middle:1/3x4") == Loop{5, 4, 4});
  CHECK(loop("none") == Loop{});
  CHECK(loop(" none ") == Loop{});
  CHECK(loop("4-4x3") == Loop{4, 1, 3});
  CHECK(loop("4-9x1") == Loop{4, 6, 1});
}

TEST_CASE("the middle half is the paper's") {
  CHECK(loop("middle", 10) == Loop{3, 5, 2});
  CHECK(loop("middle", 12) == Loop{4, 6, 2});
  CHECK(loop("middle", 20) == Loop{6, 10, 2});
  CHECK(loop("middle", 30) == Loop{8, 15, 2});
}

TEST_CASE("a share of the layers is rounded to the nearest, halves down") {
  CHECK(loop("middle", 27) == Loop{8, 13, 2});
  CHECK(loop("middle:1/3", 10).span == 3);
  CHECK(loop("middle:1/3", 11).span == 4);
  CHECK(loop("middle:1/3", 32) == Loop{11, 11, 2});
}

TEST_CASE("loop text is read back to the same loop, all small loops") {
  CHECK(loop_text({}, 12) == "none");
  CHECK(loop_text({4, 6, 2}, 12) == "3+6x2+3");
  CHECK(loop_text({1, 12, 4}, 12) == "all x4");
  CHECK(loop_text({1, 12, 2, Order::layer}, 12) == "each x2");
  CHECK(loop_text({4, 6, 2, Order::layer}, 12) == "each 3+6x2+3");
  for (std::int64_t layers = 1; layers <= 12; ++layers) {
    for (std::int64_t span = 1; span <= layers; ++span) {
      for (std::int64_t first = 1; first + span <= layers + 1; ++first) {
        for (std::int64_t visits = 1; visits <= 4; ++visits) {
          for (const Order order : {Order::block, Order::layer}) {
            const Loop wanted{first, span, visits, order};
            REQUIRE(loop(loop_text(wanted, layers), layers) == wanted);
            const std::string range =
                fmt::format("{}{}-{}x{}", order == Order::layer ? "each " : "", first,
                            first + span - 1, visits);
            REQUIRE(loop(range, layers) == wanted);
          }
        }
      }
    }
  }
}

TEST_CASE("a loop that cannot be read: how far it was understood, and the forms there are") {
  CHECK(message("") == "cannot use the loop '': expected a loop, found the end" + forms);
  CHECK(message("twice") == "cannot use the loop 'twice': expected a loop, found 'twice'" + forms);
  CHECK(message("midle") == "cannot use the loop 'midle': expected a loop, found 'midle'" + forms);
  CHECK(message("none x2") ==
        "cannot use the loop 'none x2': after 'none' expected nothing more, found 'x2'" + forms);
  CHECK(message("middle 2") ==
        "cannot use the loop 'middle 2': after 'middle' expected x and the number of visits, found "
        "'2'" +
            forms);
  CHECK(message("middle:x2") ==
        "cannot use the loop 'middle:x2': after 'middle:' expected a fraction of the layers, found "
        "'x2'" +
            forms);
  CHECK(message("middle:1/x2") ==
        "cannot use the loop 'middle:1/x2': after 'middle:' expected a fraction such as 1/3, found "
        "'1/x2'" +
            forms);
  CHECK(
      message("all") ==
      "cannot use the loop 'all': after 'all' expected x and the number of visits, found the end" +
          forms);
  CHECK(message("each") ==
        "cannot use the loop 'each': after 'each' expected x and the number of visits, found the "
        "end" +
            forms);
  CHECK(message("all 4") ==
        "cannot use the loop 'all 4': after 'all' expected x and the number of visits, found '4'" +
            forms);
  CHECK(message("12x2") ==
        "cannot use the loop '12x2': after '12' expected - (a range of layers) or + "
        "(prelude+span), found 'x2'" +
            forms);
  CHECK(message("-3x2") == "cannot use the loop '-3x2': expected a loop, found '-3x2'" + forms);
  CHECK(message("4-x2") ==
        "cannot use the loop '4-x2': after '4-' expected the last layer of the loop, found 'x2'" +
            forms);
  CHECK(
      message("4-9") ==
      "cannot use the loop '4-9': after '4-9' expected x and the number of visits, found the end" +
          forms);
  CHECK(message("4-9x") ==
        "cannot use the loop '4-9x': after '4-9x' expected the number of visits, found the end" +
            forms);
  CHECK(message("4-9x-2") ==
        "cannot use the loop '4-9x-2': after '4-9x' expected the number of visits, found '-2'" +
            forms);
  CHECK(message("4-9x2 6") ==
        "cannot use the loop '4-9x2 6': after '4-9x2' expected nothing more, found '6'" + forms);
  CHECK(
      message("4-9x2,10-11x2") ==
      "cannot use the loop '4-9x2,10-11x2': after '4-9x2' expected nothing more, found ',10-11x2'" +
          forms);
  CHECK(message("3+6y2+3") ==
        "cannot use the loop '3+6y2+3': after '3+6' expected x and the number of visits, found "
        "'y2+3'" +
            forms);
  CHECK(message("3+6+3") ==
        "cannot use the loop '3+6+3': after '3+6' expected x and the number of visits, found '+3'" +
            forms);
  CHECK(message("3+6x2") ==
        "cannot use the loop '3+6x2': after '3+6x2' expected + and the number of layers after the "
        "loop, found the end" +
            forms);
  CHECK(message("3+6x2+") ==
        "cannot use the loop '3+6x2+': after '3+6x2+' expected the number of layers after the "
        "loop, found the end" +
            forms);
  CHECK(message("3+2x2+2x3+5") ==
        "cannot use the loop '3+2x2+2x3+5': after '3+2x2+2' expected nothing more, found 'x3+5'" +
            forms);
}

TEST_CASE("a loop that can be read but not used says why") {
  CHECK(message("0-9x2") ==
        "cannot use the loop '0-9x2': layers count from 1\nthe model has layers 1 to 12");
  CHECK(message("4-0x2") ==
        "cannot use the loop '4-0x2': layers count from 1\nthe model has layers 1 to 12");
  CHECK(message("9-4x2") ==
        "cannot use the loop '9-4x2': layer 4 comes before layer 9\nwrite 4-9x2");
  CHECK(message("4-14x2") ==
        "cannot use the loop '4-14x2': there is no layer 14\nthe model has layers 1 to 12");
  CHECK(message("4-9x0") ==
        "cannot use the loop '4-9x0': 0 visits would leave the layers out\nx1 runs them once (no "
        "loop), x2 twice");
  CHECK(message("all x0") ==
        "cannot use the loop 'all x0': 0 visits would leave the layers out\nx1 runs them once (no "
        "loop), x2 twice");
  CHECK(message("all x2.5") ==
        "cannot use the loop 'all x2.5': the number of visits is not whole\na fractional number of "
        "visits goes into an architecture file: \"visits\": \"5/2\"");
  CHECK(message("all x5/2") ==
        "cannot use the loop 'all x5/2': the number of visits is not whole\na fractional number of "
        "visits goes into an architecture file: \"visits\": \"5/2\"");
  CHECK(message("all x100001") ==
        "cannot use the loop 'all x100001': the number of visits can be at most 100000");
  CHECK(message("4-99999999999999999999x2") ==
        "cannot use the loop '4-99999999999999999999x2': the last layer of the loop can be at most "
        "100000");
  CHECK(message("3+0x2+9") ==
        "cannot use the loop '3+0x2+9': no layer is looped\nwrite none for no loop");
  CHECK(message("3+6x2+4") ==
        "cannot use the loop '3+6x2+4': 3 + 6 + 4 are 13 layers, but the model has 12\nfor example "
        "3+6x2+3");
  CHECK(message("3+20x2+3") ==
        "cannot use the loop '3+20x2+3': 3 + 20 + 3 are 26 layers, but the model has 12\nfor "
        "example all x2");
  CHECK(message("middle:0x2") ==
        "cannot use the loop 'middle:0x2': the fraction 0 is not above 0 and at most "
        "1\nmiddle:1/2x2 runs the middle half twice");
  CHECK(message("middle:3/2x2") ==
        "cannot use the loop 'middle:3/2x2': the fraction 3/2 is not above 0 and at most "
        "1\nmiddle:1/2x2 runs the middle half twice");
  CHECK(message("middle:1/100x2") ==
        "cannot use the loop 'middle:1/100x2': 1/100 of the layers (12) rounds to no layer\nname "
        "the layers, for example 1-1x2");
}

}  // namespace isoloop::arch
