// Numbers as text, rounded half away from zero on the exact value. Digits come from long division
// that never multiplies, so every ratio can be printed to any number of digits.
//
// Source: long division. Held by tests/base/number_text_test.cpp.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/wide.h"
#include "isoloop/base.h"

namespace isoloop {
namespace {

/// Next decimal digit of rest/den, leaving the new rest. Ten additions instead of rest * 10, which
/// could pass 128 bits; rest < den < 2^127 keeps every partial sum below 2^128.
char next_digit(uint128& rest, uint128 den) {
  const uint128 step = rest;
  char digit = '0';
  rest = 0;
  for (int i = 0; i < 10; ++i) {
    rest += step;
    if (rest >= den) {
      rest -= den;
      ++digit;
    }
  }
  return digit;
}

/// Adds one to a string of decimal digits.
void increment(std::string& text) {
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] != '9') {
      ++text[i];
      return;
    }
    text[i] = '0';
  }
  text.insert(text.begin(), '1');
}

/// |value| x 10^places, rounded, as plain digits; at least places + 1 of them.
std::string rounded_digits(const Ratio& value, int places) {
  const uint128 num = detail::magnitude(value.num()), den = detail::magnitude(value.den());
  std::string text = detail::digits(num / den);
  uint128 rest = num % den;
  for (int i = 0; i < places; ++i) text.push_back(next_digit(rest, den));
  if (rest >= den - rest) increment(text);
  return text;
}

std::string with_point(std::string digits, std::size_t places) {
  if (places == 0) return digits;
  return digits.insert(digits.size() - places, ".");
}

bool all_zero(std::string_view digits) {
  return digits.find_first_not_of('0') == std::string_view::npos;
}

Int power_of_ten(int exponent) {
  Int result = 1;
  for (int i = 0; i < exponent; ++i) result *= 10;
  return result;
}

/// The x with 10^x <= value < 10^(x+1); value > 0. The smallest ratio is above 10^-39.
int decimal_exponent(const Ratio& value) {
  if (value >= 1) return static_cast<int>(floor(value).str().size()) - 1;
  int exponent = -1;
  while (exponent >= -38 && value < Ratio(1, power_of_ten(-exponent))) --exponent;
  return exponent;
}

/// Three rounded digits abc and x, so that |value| is about a.bc x 10^x.
struct Leading {
  std::string digits;
  int exponent;
};

Leading leading(const Ratio& magnitude) {
  int exponent = decimal_exponent(magnitude);
  std::string digits = exponent >= 2
                           ? rounded_digits(magnitude / Ratio(power_of_ten(exponent - 2)), 0)
                           : rounded_digits(magnitude, 2 - exponent);
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.size() == 4) {  // 999.6 rounds to 1000
    digits.pop_back();
    ++exponent;
  }
  return {digits, exponent};
}

}  // namespace

std::string decimal(const Ratio& value, int digits) {
  if (digits < 0) throw internal_error("decimal text with " + std::to_string(digits) + " digits");
  const std::string text = rounded_digits(value, digits);
  const bool negative = value < 0 && !all_zero(text);
  return (negative ? "-" : "") + with_point(text, static_cast<std::size_t>(digits));
}

std::string grouped(const Ratio& value) {
  std::string text = decimal(value, value.is_integer() ? 0 : 2);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t i = point; i > first + 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string scaled(const Ratio& value) {
  constexpr std::array<std::string_view, 5> letters{"", "K", "M", "B", "T"};
  if (value.is_integer() && value > -1000 && value < 1000) return value.str();
  const std::string sign = value < 0 ? "-" : "";
  const auto [digits, exponent] = leading(abs(value));
  if (exponent < -3 || exponent >= 15) {
    return sign + with_point(digits, 2) + "e" + std::to_string(exponent);
  }
  if (exponent < 0) return sign + "0." + std::string(-exponent - 1, '0') + digits;
  const auto scale = static_cast<std::size_t>(exponent) / 3;
  const auto places = 2 - static_cast<std::size_t>(exponent) % 3;
  return sign + with_point(digits, places) + std::string(letters[scale]);
}

std::string percent(const Ratio& value, int digits) {
  if (digits < 0) throw internal_error("percentage with " + std::to_string(digits) + " digits");
  std::string text = rounded_digits(value, digits + 2);
  const std::size_t whole = text.size() - static_cast<std::size_t>(digits);
  text.erase(0, std::min(text.find_first_not_of('0'), whole - 1));
  const std::string_view sign = value > 0 ? "+" : value < 0 ? "-" : "";
  return std::string(sign) + with_point(text, static_cast<std::size_t>(digits)) + " %";
}

std::string byte_text(const Ratio& bytes) {
  constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const Ratio limit(102395, 100);  // from here on one decimal would show 1024.0
  Ratio rest = abs(bytes);
  std::size_t unit = 0;
  while (rest >= limit && unit + 1 < units.size()) {
    rest = rest / 1024;
    ++unit;
  }
  const bool whole = unit == 0 && rest.is_integer();
  const std::string text = decimal(rest, whole ? 0 : 1);
  return (bytes < 0 ? "-" : "") + text + " " + std::string(units[unit]);
}

}  // namespace isoloop
