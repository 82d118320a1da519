// Checked 128-bit integer arithmetic beyond what fits inline: product, division, gcd, text.
//
// Source: schoolbook arithmetic on 64-bit halves; Euclid for gcd.
// Held by tests/base/integer_test.cpp.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include "base/wide.h"
#include "isoloop/base.h"

namespace isoloop {
namespace detail {
namespace {

constexpr uint128 low_half = std::numeric_limits<std::uint64_t>::max();
constexpr uint128 sign_bit = uint128{1} << 127;

/// Product of magnitudes. Not __builtin_mul_overflow: clang would call compiler-rt for 128 bits.
uint128 product(uint128 a, uint128 b) {
  if (a < b) std::swap(a, b);
  if (a <= low_half) return a * b;
  if (b > low_half) overflow("multiplication");  // both at least 2^64
  const uint128 high = (a >> 64) * b;
  if (high > low_half) overflow("multiplication");
  uint128 result = 0;
  if (__builtin_add_overflow(high << 64, (a & low_half) * b, &result)) overflow("multiplication");
  return result;
}

void require_positive(Int divisor) {
  if (divisor <= 0) throw internal_error("division by " + divisor.str() + ", not by a positive");
}

}  // namespace

void overflow(const char* operation) {
  throw input_error(std::string("count overflows 128 bits in ") + operation, {},
                    "a dimension is far too large");
}

int128 checked_mul(int128 a, int128 b) {
  const uint128 size = product(magnitude(Int::from_raw(a)), magnitude(Int::from_raw(b)));
  return with_sign((a < 0) != (b < 0), size, "multiplication").raw();
}

Int with_sign(bool negative, uint128 magnitude, const char* operation) {
  if (magnitude > sign_bit || (magnitude == sign_bit && !negative)) overflow(operation);
  return Int::from_raw(static_cast<int128>(negative ? uint128{0} - magnitude : magnitude));
}

uint128 gcd(uint128 a, uint128 b) {
  while (b != 0) {
    if (a <= low_half && b <= low_half) {
      return std::gcd(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
    }
    a %= b;
    std::swap(a, b);
  }
  return a;
}

std::string digits(uint128 value) {
  std::string reversed;
  do {
    reversed.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  return {reversed.rbegin(), reversed.rend()};
}

}  // namespace detail

std::int64_t Int::to_int64() const {
  if (value_ < std::numeric_limits<std::int64_t>::min() ||
      value_ > std::numeric_limits<std::int64_t>::max()) {
    throw input_error("count " + str() + " does not fit 64 bits", {},
                      "a dimension is far too large");
  }
  return static_cast<std::int64_t>(value_);
}

std::string Int::str() const {
  return (value_ < 0 ? "-" : "") + detail::digits(detail::magnitude(*this));
}

Int floor_div(Int a, Int b) {
  detail::require_positive(b);
  const int128 quotient = a.raw() / b.raw();
  return Int::from_raw(a.raw() % b.raw() < 0 ? quotient - 1 : quotient);
}

Int ceil_div(Int a, Int b) {
  detail::require_positive(b);
  const int128 quotient = a.raw() / b.raw();
  return Int::from_raw(a.raw() % b.raw() > 0 ? quotient + 1 : quotient);
}

Int exact_div(Int a, Int b) {
  if (b == 0) throw internal_error("division of " + a.str() + " by zero");
  if (b == -1) return -a;  // the one quotient that can overflow
  if (a.raw() % b.raw() != 0) {
    throw internal_error(b.str() + " does not divide " + a.str());
  }
  return Int::from_raw(a.raw() / b.raw());
}

Int round_up(Int a, Int step) { return ceil_div(a, step) * step; }

Int gcd(Int a, Int b) {
  return detail::with_sign(false, detail::gcd(detail::magnitude(a), detail::magnitude(b)), "gcd");
}

Int abs(Int a) { return a < 0 ? -a : a; }

}  // namespace isoloop
