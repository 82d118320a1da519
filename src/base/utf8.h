// Where a character of UTF-8 ends.
//
// Source: The Unicode Standard, table 3-7 (well-formed UTF-8 byte sequences). Held by
// tests/base/utf8_test.cpp.
#pragma once

#include <cstddef>
#include <string_view>

namespace isoloop {

/// Bytes of the character that `text` begins with, control characters included; 0 if it begins with
/// no well-formed one.
std::size_t utf8_length(std::string_view text);

}  // namespace isoloop
