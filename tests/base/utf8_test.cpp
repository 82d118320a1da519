// UTF-8 against its definition: every code point written out, and what is ill-formed.
//
// Source: The Unicode Standard, tables 3-6 (bits of a character) and 3-7. Holds src/base/utf8.cpp.
#include "base/utf8.h"

#include <doctest/doctest.h>

#include <string>

namespace {

std::string written(unsigned code, std::size_t bytes) {
  if (bytes == 1) return {static_cast<char>(code)};
  std::string out;
  for (std::size_t i = 1; i < bytes; ++i, code >>= 6)
    out.insert(out.begin(), static_cast<char>(0x80 | (code & 0x3F)));
  constexpr unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  out.insert(out.begin(), static_cast<char>(lead[bytes] | code));
  return out;
}

}  // namespace

TEST_CASE("UTF-8: every code point in every length it could be written in") {
  constexpr unsigned room[] = {0, 0x80, 0x800, 0x10000, 0x200000};
  std::size_t wrong = 0;
  for (std::size_t bytes = 1; bytes <= 4; ++bytes)
    for (unsigned code = 0; code < room[bytes]; ++code) {
      const bool shortest = code >= (bytes == 1 ? 0 : room[bytes - 1]);
      const bool scalar = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
      const std::string text = written(code, bytes);
      wrong += isoloop::utf8_length(text + "x") != (shortest && scalar ? bytes : 0);
      if (bytes > 1) wrong += isoloop::utf8_length(text.substr(0, bytes - 1)) != 0;  // cut off
    }
  CHECK(wrong == 0);
}

TEST_CASE("UTF-8: nothing, a lone continuation, bytes that never occur") {
  CHECK(isoloop::utf8_length("") == 0);
  for (const unsigned byte : {0x80u, 0xBFu, 0xC0u, 0xC1u, 0xF5u, 0xFFu})
    CHECK(isoloop::utf8_length(std::string{static_cast<char>(byte), '\x80', '\x80', '\x80'}) == 0);
}
