// Numbers in text; see numbers.h. Independent of the locale.
//
// Held by tests/law/form_test.cpp and tests/law/runs_test.cpp.
#include "law/numbers.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

namespace isoloop::law::detail {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

double half_unit(std::string_view text) {
  text = trimmed(text);
  const auto e = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, e);
  double exponent = e == std::string_view::npos ? 0 : parse_number(text.substr(e + 1)).value_or(0);
  const auto point = mantissa.find('.');
  if (point != std::string_view::npos) exponent -= static_cast<double>(mantissa.size() - point - 1);
  return 0.5 * std::pow(10.0, exponent);
}

std::string number_text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string number_text(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

Assignment parse_assignment(std::string_view text, std::string_view where) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    throw usage_error(fmt::format("'{}' is no assignment", text), std::string(where),
                      "write name=value");
  return {trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

std::vector<std::string_view> parse_list(std::string_view text, std::string_view where) {
  std::vector<std::string_view> items;
  for (;;) {
    const auto comma = text.find(',');
    items.push_back(trimmed(text.substr(0, comma)));
    if (items.back().empty()) throw usage_error("an item of the list is empty", std::string(where));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace isoloop::law::detail
