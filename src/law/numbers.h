// Numbers in text: reading them as they were printed, writing them short.
//
// Held by tests/law/form_test.cpp and tests/law/runs_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/base.h"

namespace isoloop::law::detail {

std::string_view trimmed(std::string_view text);

/// A whole decimal number such as "1.366e3"; nothing if the text is anything else. "nan" and "inf"
/// are numbers here.
std::optional<double> parse_number(std::string_view text);

/// Half a unit of the last printed digit of a number that parse_number() accepts: 0.5 for
/// "1.366e3", 5e-5 for "0.3703".
double half_unit(std::string_view text);

/// Shortest text that reads back as the value, or `digits` significant digits.
std::string number_text(double value);
std::string number_text(double value, int digits);

/// "name=value" taken apart; throws a usage error at `where`.
struct Assignment {
  std::string_view name, value;
};
Assignment parse_assignment(std::string_view text, std::string_view where);
/// The items of a comma-separated list, trimmed; empty items are an error.
std::vector<std::string_view> parse_list(std::string_view text, std::string_view where);

}  // namespace isoloop::law::detail
