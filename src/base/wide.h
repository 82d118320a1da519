// Unsigned helpers behind Int, Ratio and number text: sign and magnitude of a signed 128-bit
// value, so that the most negative value needs no special case anywhere.
//
// Held by tests/base/integer_test.cpp and ratio_test.cpp.
#pragma once

#include <string>

#include "isoloop/base.h"

namespace isoloop::detail {

/// |value|; at most 2^127, which only the unsigned type can hold.
constexpr uint128 magnitude(Int value) {
  const auto bits = static_cast<uint128>(value.raw());
  return value.raw() < 0 ? uint128{0} - bits : bits;
}

/// The signed value with that sign and magnitude; throws overflow(operation) if it does not fit.
Int with_sign(bool negative, uint128 magnitude, const char* operation);

/// Greatest common divisor; gcd(0, 0) is 0.
uint128 gcd(uint128 a, uint128 b);

/// Decimal digits without sign.
std::string digits(uint128 value);

}  // namespace isoloop::detail
