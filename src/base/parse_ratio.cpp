// Reads a number exactly: "3", "-1.25", "1e-3", "7/2", "1.5%". No floating point is involved, so
// "0.1" is one tenth.
//
// Grammar: [+-] digits [. digits] [e [+-] digits] [%]  or  [+-] digits / digits.
// Held by tests/base/parse_ratio_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "isoloop/base.h"

namespace isoloop {
namespace {

constexpr long largest_exponent = 10'000;  // far past what fits; keeps the sum of exponents small

/// Takes a prefix of digits off `text`.
std::string_view take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

Int integer(std::string_view digits) {
  Int value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

/// digits x 10^exponent. Zeros at the end of the digits move into the exponent first.
Ratio shifted(std::string digits, long exponent) {
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  const Int value = integer(digits);
  if (value == 0) return 0;
  Int power = 1;
  for (long i = 0; i < std::abs(exponent); ++i) power *= 10;  // throws soon when far out of range
  return exponent < 0 ? Ratio(value, power) : Ratio(value * power);
}

/// The exponent after "e", or nothing if malformed.
std::optional<long> exponent(std::string_view& text) {
  const bool negative = text.starts_with('-');
  take(text, "+-");
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  long value = 0;
  for (const char digit : digits) value = std::min(largest_exponent, value * 10 + (digit - '0'));
  return negative ? -value : value;
}

/// The value without its sign, or nothing if malformed. Throws if it does not fit.
std::optional<Ratio> unsigned_value(std::string_view text) {
  const std::string_view whole = take_digits(text);
  if (take(text, "/")) {
    const std::string_view below = take_digits(text);
    if (whole.empty() || below.empty() || !text.empty()) return std::nullopt;
    const Int den = integer(below);
    if (den == 0) return std::nullopt;
    return Ratio(integer(whole), den);
  }
  const std::string_view fraction = take(text, ".") ? take_digits(text) : std::string_view{};
  if (whole.empty() && fraction.empty()) return std::nullopt;
  long shift = -static_cast<long>(fraction.size());
  if (take(text, "eE")) {
    const std::optional<long> power = exponent(text);
    if (!power) return std::nullopt;
    shift += *power;
  }
  if (take(text, "%")) shift -= 2;
  if (!text.empty()) return std::nullopt;
  return shifted(std::string(whole) + std::string(fraction), shift);
}

}  // namespace

Ratio parse_ratio(std::string_view text, std::string_view where) {
  const bool negative = text.starts_with('-');
  std::string_view rest = text;
  take(rest, "+-");
  std::optional<Ratio> value;
  try {
    value = unsigned_value(rest);
  } catch (const Error&) {
    throw input_error(fmt::format("number '{}' is out of range", text), std::string(where),
                      "numerator and denominator must each stay below 2^127, about 1.7e38");
  }
  if (!value) {
    throw input_error(fmt::format("cannot read '{}' as a number", text), std::string(where),
                      "write it like 3, -1.25, 1e-3, 7/2 or 1.5%");
  }
  return negative ? -*value : *value;
}

}  // namespace isoloop
