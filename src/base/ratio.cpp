// Exact rational arithmetic. Sums and products divide common factors out before they multiply, so
// a product overflows only if its result does; comparison walks continued fractions and never
// multiplies at all.
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

/// a + sign * c over the least common denominator; `add` is + or - of two integers.
template <class Add>
Ratio sum(const Ratio& a, const Ratio& b, Add add) {
  if (a.is_integer() && b.is_integer()) return Ratio(add(a.num(), b.num()));
  const uint128 common = common_factor(a.den(), b.den());
  const Int a_part = reduced(a.den(), common), b_part = reduced(b.den(), common);
  const Int top = add(a.num() * b_part, b.num() * a_part);
  // What is left to divide out can only be a factor of `common` (Knuth 4.5.1).
  const uint128 rest = detail::gcd(detail::magnitude(top), common);
  return Ratio(reduced(top, rest), a_part * reduced(b.den(), rest));
}

}  // namespace

Ratio operator+(const Ratio& a, const Ratio& b) {
  return sum(a, b, [](Int x, Int y) { return x + y; });
}

Ratio operator-(const Ratio& a, const Ratio& b) {
  return sum(a, b, [](Int x, Int y) { return x - y; });
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
