// Axes: round ends around the values, ticks between them in order, numbers people can read.
//
// Source: hand-made cases, and the properties of a scale for random values. Holds
// src/report/axis.cpp.
#include "report/axis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

namespace isoloop::report {
namespace {

std::string texts(const Scale& scale) {
  std::string all;
  for (const Tick& t : scale.ticks)
    if (!t.text.empty()) all += (all.empty() ? "" : " ") + t.text;
  return all;
}

}  // namespace

TEST_CASE("ticks of known ranges") {
  CHECK(texts(scale_of({"x"}, {0, 10})) == "0 2 4 6 8 10");
  CHECK(texts(scale_of({"x"}, {1.41, 2.37})) == "1.4 1.6 1.8 2.0 2.2 2.4");
  CHECK(texts(scale_of({"x"}, {-0.9, 1.2})) == "−1.0 −0.5 0 0.5 1.0 1.5");
  CHECK(texts(scale_of({"x"}, {0, 3.87e9})) == "0 1B 2B 3B 4B");
  CHECK(texts(scale_of({"x", "", false, true}, {3, 4})) == "0 1 2 3 4");
  CHECK(texts(scale_of({"x", "", true}, {1e18, 1e21})) == "10¹⁸ 10¹⁹ 10²⁰ 10²¹");
  CHECK(texts(scale_of({"x", "", true}, {100, 900})) == "100 200 500 1000");
}

TEST_CASE("nothing, one value and equal values have an axis, too") {
  for (const bool log : {false, true}) {
    for (const std::vector<double>& values :
         {std::vector<double>{}, {3}, {7, 7}, {1e-30}, {1e30}}) {
      const Scale s = scale_of({"x", "", log}, values);
      CHECK(s.low < s.high);
      CHECK(s.ticks.size() >= 2);
    }
  }
}

TEST_CASE("values that differ by rounding are one value to an axis") {
  for (const double value : {2.5, 1.0 / 3, 1e17, -7e-5, 5e-324}) {
    double next = value;
    for (int ulps = 1; ulps <= 2; ++ulps) {
      next = std::nextafter(next, INFINITY);
      const Scale s = scale_of({"x"}, {value, next});
      CAPTURE(value);
      CHECK(s.low < value);
      CHECK(s.high > next);
      CHECK(s.ticks.size() >= 2);
      CHECK(s.ticks.size() <= 80);
    }
  }
}

TEST_CASE("ends hold all values, ticks lie between them in order") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> exponent(-12, 22);
  for (int run = 0; run < 2000; ++run) {
    const bool log = run % 2 == 1;
    const double a = std::pow(10, exponent(random)), b = std::pow(10, exponent(random));
    const std::vector<double> values = {log ? a : -a, b};
    const Scale s = scale_of({"x", "", log}, values);
    CAPTURE(values[0]);
    CAPTURE(values[1]);
    for (const double v : values) {
      CHECK(s.fraction(v) >= -1e-6);
      CHECK(s.fraction(v) <= 1 + 1e-6);
    }
    CHECK(s.ticks.size() >= 2);
    CHECK(s.ticks.size() <= 80);
    double last = -std::numeric_limits<double>::infinity();
    for (const Tick& t : s.ticks) {
      CHECK(t.at > last);
      CHECK(s.fraction(t.at) >= -1e-6);
      CHECK(s.fraction(t.at) <= 1 + 1e-6);
      last = t.at;
    }
  }
}

TEST_CASE("a value that has no place is a fault of ours") {
  CHECK_THROWS_AS(scale_of({"x"}, {NAN}), Error);
  CHECK_THROWS_AS(scale_of({"x"}, {INFINITY}), Error);
  CHECK_THROWS_AS(scale_of({"x", "", true}, {0}), Error);
}

TEST_CASE("numbers for people") {
  CHECK(value_text(0) == "0");
  CHECK(value_text(0.00439) == "0.00439");
  CHECK(value_text(-1.5) == "−1.5");
  CHECK(value_text(1234) == "1234");
  CHECK(value_text(1633904640) == "1.634B");
  CHECK(value_text(1.2918e19) == "1.292e+19");
}

}  // namespace isoloop::report
