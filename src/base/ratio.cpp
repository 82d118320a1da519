// Exact rational arithmetic. Common factors are divided out before anything is multiplied, so a
// product overflows only if its result does, a sum only if its result or the least common
// denominator does. Comparison walks continued fractions and never multiplies at all.
//
// Source: Knuth, The Art of Computer Programming vol. 2, section 4.5.1 (rational arithmetic) and
// 4.5.3 (continued fractions). Held by tests/base/ratio_test.cpp.
#include <compare>
#include <string>

#include "base/wide.h"
#include "isoloop/base.h"

namespace isoloop {

Ratio::Ratio(Int num, Int den) {
  if (den == 0) throw internal_error("ratio " + num.str() + "/0");
  const uint128 top = detail::magnitude(num), bottom = detail::magnitude(den);
  const uint128 common = detail::gcd(top, bottom);
  num_ = detail::with_sign((num < 0) != (den < 0), top / common, "division");
  den_ = detail::with_sign(false, bottom / common, "division");
}

double Ratio::to_double() const { return num_.to_double() / den_.to_double(); }

std::string Ratio::str() const { return is_integer() ? num_.str() : num_.str() + "/" + den_.str(); }

namespace {

/// Numerator with its sign kept, divided by a factor known to divide it.
Int reduced(Int value, uint128 factor) {
  return detail::with_sign(value < 0, detail::magnitude(value) / factor, "division");
}

uint128 common_factor(Int a, Int b) {
  return detail::gcd(detail::magnitude(a), detail::magnitude(b));
}

/// What a exceeds floor(a) by, times the denominator: 0 <= result < den.
uint128 fraction(const Ratio& a) {
  const int128 rest = a.num().raw() % a.den().raw();
  return static_cast<uint128>(rest < 0 ? rest + a.den().raw() : rest);
}

}  // namespace

Ratio operator+(const Ratio& a, const Ratio& b) {
  if (a.is_integer() && b.is_integer()) return Ratio(a.num() + b.num());
  const uint128 common = common_factor(a.den(), b.den());
  const Int a_part = reduced(a.den(), common), b_part = reduced(b.den(), common);
  const uint128 least = detail::magnitude(a_part * b.den());  // common denominator, below 2^127
  // Whole parts apart from fractions: the sum of two fractions is below 2 * least < 2^128.
  Int whole = floor(a) + floor(b);
  uint128 top = fraction(a) * detail::magnitude(b_part) + fraction(b) * detail::magnitude(a_part);
  if (top >= least) {
    top -= least;
    whole += 1;
  }
  // What is left to divide out can only be a factor of `common` (Knuth 4.5.1).
  const uint128 rest = detail::gcd(top, common);
  const Int den = detail::with_sign(false, least / rest, "addition");
  const Int over = detail::with_sign(false, top / rest, "addition");
  // Towards zero first, so that the product stays within the result.
  Ratio result;  // already in lowest terms
  result.num_ = whole < 0 ? (whole + 1) * den - (den - over) : whole * den + over;
  result.den_ = den;
  return result;
}

Ratio operator-(const Ratio& a, const Ratio& b) {
  if (a.is_integer() && b.is_integer()) return Ratio(a.num() - b.num());
  Ratio opposite = b;
  opposite.num_ = -b.num_;
  return a + opposite;
}

Ratio operator*(const Ratio& a, const Ratio& b) {
  if (a.is_integer() && b.is_integer()) return Ratio(a.num() * b.num());
  const uint128 left = common_factor(a.num(), b.den());
  const uint128 right = common_factor(b.num(), a.den());
  Ratio result;  // already in lowest terms
  result.num_ = reduced(a.num(), left) * reduced(b.num(), right);
  result.den_ = reduced(a.den(), right) * reduced(b.den(), left);
  return result;
}

Ratio operator/(const Ratio& a, const Ratio& b) {
  if (b.num_ == 0) throw internal_error("division of " + a.str() + " by zero");
  return a * Ratio(b.den_, b.num_);
}

std::strong_ordering operator<=>(const Ratio& x, const Ratio& y) {
  int128 a = x.num_.raw(), b = x.den_.raw(), c = y.num_.raw(), d = y.den_.raw();
  if (b == d) return a <=> c;
  for (;;) {  // compare a/b with c/d; b and d are positive
    const bool a_below = a % b < 0, c_below = c % d < 0;
    const int128 a_floor = a / b - (a_below ? 1 : 0), c_floor = c / d - (c_below ? 1 : 0);
    if (a_floor != c_floor) return a_floor <=> c_floor;
    const int128 a_rest = a % b + (a_below ? b : 0), c_rest = c % d + (c_below ? d : 0);
    if (a_rest == 0 || c_rest == 0) return a_rest <=> c_rest;
    // a_rest/b < c_rest/d exactly if d/c_rest < b/a_rest.
    a = d;
    c = b;
    b = c_rest;
    d = a_rest;
  }
}

Ratio abs(const Ratio& a) { return a.num() < 0 ? -a : a; }
Int floor(const Ratio& a) { return floor_div(a.num(), a.den()); }
Int ceil(const Ratio& a) { return ceil_div(a.num(), a.den()); }

}  // namespace isoloop
