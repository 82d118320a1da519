// Sparse polynomials with exact coefficients. A term whose coefficient is zero is not stored, so
// equal polynomials have equal terms.
//
// Source: definition. Held by tests/base/poly_test.cpp.
#include <cstddef>
#include <limits>
#include <string>

#include "isoloop/base.h"

namespace isoloop {
namespace {

Poly::Monomial product(const Poly::Monomial& a, const Poly::Monomial& b) {
  Poly::Monomial result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    const int exponent = a[i] + b[i];
    if (exponent > std::numeric_limits<std::uint8_t>::max()) {
      throw internal_error("polynomial exponent " + std::to_string(exponent) + " is above 255");
    }
    result[i] = static_cast<std::uint8_t>(exponent);
  }
  return result;
}

Ratio power(const Ratio& base, int exponent) {
  Ratio result = 1;
  for (int i = 0; i < exponent; ++i) result = result * base;
  return result;
}

}  // namespace

Poly::Poly(const Ratio& value) {
  if (value != 0) terms_.emplace(Monomial{}, value);
}

Poly Poly::unknown(std::size_t index) {
  if (index >= max_unknowns) {
    throw internal_error("polynomial unknown " + std::to_string(index) + " of " +
                         std::to_string(max_unknowns));
  }
  Monomial monomial{};
  monomial[index] = 1;
  Poly result;
  result.terms_.emplace(monomial, 1);
  return result;
}

Ratio Poly::at(std::span<const Int> values) const {
  Ratio sum;
  for (const auto& [monomial, coefficient] : terms_) {
    Ratio term = coefficient;
    for (std::size_t i = 0; i < monomial.size(); ++i) {
      if (monomial[i] == 0) continue;
      if (i >= values.size()) {
        throw internal_error("no value for polynomial unknown " + std::to_string(i));
      }
      term = term * power(values[i], monomial[i]);
    }
    sum += term;
  }
  return sum;
}

Poly& Poly::operator+=(const Poly& b) {
  for (const auto& [monomial, coefficient] : b.terms_) {
    const auto [place, added] = terms_.emplace(monomial, coefficient);
    if (added) continue;
    place->second += coefficient;
    if (place->second == 0) terms_.erase(place);
  }
  return *this;
}

Poly operator+(const Poly& a, const Poly& b) {
  Poly result = a;
  result += b;
  return result;
}

Poly operator*(const Poly& a, const Poly& b) {
  Poly result;
  for (const auto& [a_monomial, a_coefficient] : a.terms_) {
    Poly row;  // products of one term with distinct terms are distinct
    for (const auto& [b_monomial, b_coefficient] : b.terms_) {
      row.terms_.emplace(product(a_monomial, b_monomial), a_coefficient * b_coefficient);
    }
    result += row;
  }
  return result;
}

}  // namespace isoloop
