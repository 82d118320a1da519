// Numbers read exactly, and the error for what is not a number.
//
// Source: the decimal definition of each text. Holds src/base/parse_ratio.cpp.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "isoloop/base.h"
#include "support/numbers.h"

namespace isoloop {
namespace {

using test::error_of;
using test::largest;

struct Reading {
  const char *text, *value;
};
constexpr Reading readings[] = {
    {"3", "3"},
    {"0", "0"},
    {"-0", "0"},
    {"+4", "4"},
    {"007", "7"},
    {"-1.25", "-5/4"},
    {"0.1", "1/10"},
    {".5", "1/2"},
    {"5.", "5"},
    {"1e-3", "1/1000"},
    {"1E+3", "1000"},
    {"2.5e1", "25"},
    {"15e12", "15000000000000"},
    {"-1.5e-1", "-3/20"},
    {"7/2", "7/2"},
    {"-14/4", "-7/2"},
    {"0/9", "0"},
    {"1.5%", "3/200"},
    {"100%", "1"},
    {"-0.01%", "-1/10000"},
    {"1e2%", "1"},
    {"0e999999999999999999999", "0"},
    {"1.00000000000000000000000000000000000000000000000000", "1"},
    {"100000000000000000000000000000000000000000000000e-46", "10"},
    {"1e38", "100000000000000000000000000000000000000"},
    {"1e-38", "1/100000000000000000000000000000000000000"},
    {"170141183460469231731687303715884105727", "170141183460469231731687303715884105727"},
};

constexpr const char* no_numbers[] = {"",     "abc",   "-",     "+-1", "1,5",  "1.2.3", "1e",
                                      "e5",   ".",     "%",     "1%%", "1/",   "/2",    "1/0",
                                      "1/-2", "1/2/3", " 1",    "1 ",  "0x1",  "nan",   "inf",
                                      "1/2%", "1.5/2", "1e1.5", "--1", "1e--1"};

constexpr const char* out_of_range[] = {"1e39",
                                        "1e-39",
                                        "170141183460469231731687303715884105728",
                                        "1e99999999999999999999",
                                        "1e-99999999999999999999",
                                        "1/170141183460469231731687303715884105728"};

}  // namespace

TEST_CASE("number text is read exactly") {
  for (const auto& row : readings) {
    CAPTURE(row.text);
    CHECK(parse_ratio(row.text, "--tol").str() == row.value);
  }
}

TEST_CASE("number text that is none is refused with an example") {
  for (const char* text : no_numbers) {
    CAPTURE(text);
    const Error error = error_of([&] { parse_ratio(text, "--tol"); });
    CHECK(error.kind == ErrorKind::input);
    CHECK(std::string(error.what()) == "--tol: cannot read '" + std::string(text) +
                                           "' as a number\n  hint: write it like 3, -1.25, 1e-3, "
                                           "7/2 or 1.5%");
  }
}

TEST_CASE("number text past 128 bits is refused") {
  for (const char* text : out_of_range) {
    CAPTURE(text);
    const Error error = error_of([&] { parse_ratio(text, "budget.params"); });
    CHECK(error.kind == ErrorKind::input);
    CHECK(error.where == "budget.params");
    CHECK(error.message == "number '" + std::string(text) + "' is out of range");
    CHECK(error.hint == "numerator and denominator must each stay below 2^127, about 1.7e38");
  }
}

TEST_CASE("number text of a ratio reads back as that ratio") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const Ratio value{static_cast<std::int64_t>(random()), (random() >> 1) + 1};  // in that order
    CHECK(parse_ratio(value.str(), "") == value);
    const Ratio fixed = Ratio(static_cast<std::int64_t>(random()), 1'000'000);
    CHECK(parse_ratio(decimal(fixed, 6), "") == fixed);
  }
  CHECK(parse_ratio(Ratio(1, largest()).str(), "") == Ratio(1, largest()));
}

}  // namespace isoloop
