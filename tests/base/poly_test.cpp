// Polynomials: known expansions, and the law that evaluation commutes with + and x.
//
// Source: binomial theorem; evaluation is a ring homomorphism. Holds src/base/poly.cpp.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <vector>

#include "isoloop/base.h"
#include "support/numbers.h"

namespace isoloop {
namespace {

using test::error_of;
using test::text_or_overflow;

Poly::Monomial monomial(std::size_t index, std::uint8_t exponent) {
  Poly::Monomial result{};
  result[index] = exponent;
  return result;
}

/// Up to six random terms in three unknowns with small fractional coefficients.
Poly random_poly(std::mt19937_64& random) {
  Poly result;
  for (auto terms = random() % 7; terms > 0; --terms) {
    Poly term = Ratio{static_cast<int>(random() % 19) - 9, static_cast<int>(random() % 4) + 1};
    for (auto factors = random() % 4; factors > 0; --factors) {
      term = term * Poly::unknown(random() % 3);
    }
    result += term;
  }
  return result;
}

}  // namespace

TEST_CASE("polynomial expansion of (x + 2y)^2") {
  const Poly x = Poly::unknown(0), y = Poly::unknown(1);
  const Poly square = (x + 2 * y) * (x + 2 * y);
  CHECK(square == x * x + 4 * x * y + 4 * y * y);
  CHECK(square.terms().size() == 3);
  CHECK(square.terms().at(monomial(0, 2)) == 1);
  CHECK(square.terms().at(monomial(1, 2)) == 4);
  CHECK(square.at(std::array<Int, 2>{3, 5}) == 169);
}

TEST_CASE("polynomial (x + 1)^20 has binomial coefficients") {
  const Poly step = Poly::unknown(0) + 1;
  Poly power = 1;
  for (int i = 0; i < 20; ++i) power = power * step;
  CHECK(power.terms().size() == 21);
  CHECK(power.terms().at(monomial(0, 10)) == 184756);
  CHECK(power.terms().at(monomial(0, 3)) == 1140);
  CHECK(power.at(std::array<Int, 1>{1}) == 1048576);
}

TEST_CASE("polynomial stores no zero terms") {
  const Poly x = Poly::unknown(0);
  CHECK(Poly(0).terms().empty());
  CHECK(Poly(0) == Poly());
  CHECK((x + Poly(-1) * x).terms().empty());
  CHECK((0 * x).terms().empty());
  CHECK((x + 1) * (x + Poly(-1)) == x * x + Poly(-1));
  Poly doubled = x + 3;
  doubled += doubled;
  CHECK(doubled == 2 * x + 6);
}

TEST_CASE("polynomial coefficients are exact ratios") {
  const Poly half = Poly(Ratio(1, 2)) * Poly::unknown(4);
  CHECK(half.terms().at(monomial(4, 1)) == Ratio(1, 2));
  CHECK(half.at(std::vector<Int>{0, 0, 0, 0, 7}) == Ratio(7, 2));
}

TEST_CASE("polynomial values that cannot be") {
  const Poly last = Poly::unknown(Poly::max_unknowns - 1);
  CHECK(last.at(std::vector<Int>(16, 3)) == 3);
  CHECK(error_of([&] { last.at(std::vector<Int>(15, 3)); }).message ==
        "no value for polynomial unknown 15");
  CHECK(Poly(5).at({}) == 5);
  CHECK(error_of([] { Poly::unknown(16); }).kind == ErrorKind::internal);

  Poly power = Poly::unknown(0);
  for (int i = 0; i < 7; ++i) power = power * power;  // x^128
  CHECK(power.at(std::array<Int, 1>{1}) == 1);
  CHECK(text_or_overflow([&] { return power.at(std::array<Int, 1>{2}); }) == "overflow");
  CHECK(error_of([&] { power* power; }).message == "polynomial exponent 256 is above 255");
}

TEST_CASE("polynomial evaluation commutes with sum and product") {
  std::mt19937_64 random(4);
  for (int i = 0; i < 500; ++i) {
    const Poly a = random_poly(random), b = random_poly(random), c = random_poly(random);
    std::array<Int, 3> at;
    for (Int& value : at) value = static_cast<int>(random() % 2001) - 1000;
    CHECK((a + b).at(at) == a.at(at) + b.at(at));
    CHECK((a * b).at(at) == a.at(at) * b.at(at));
    CHECK((a + b) + c == a + (b + c));
    CHECK(a * b == b * a);
    CHECK(a * (b + c) == a * b + a * c);
    const Poly product = a * b;
    for (const auto& [powers, coefficient] : product.terms()) CHECK(coefficient != 0);
  }
}

}  // namespace isoloop
