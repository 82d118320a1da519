// Escaping for HTML, SVG and embedded JSON.
//
// Source: XML 1.0 (5th edition) 2.2 and 2.4; HTML Living Standard, "Restrictions for contents of
// script elements". Held by tests/report/markup_test.cpp.
#include "report/markup.h"

#include <cstddef>

#include "base/utf8.h"

namespace isoloop::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// Bytes of the character at the front that XML can hold; 0 if it is none.
std::size_t character_length(std::string_view text) {
  const std::size_t length = utf8_length(text);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length == 1 && byte(0) < 0x20) return byte(0) == '\t' || byte(0) == '\n' || byte(0) == '\r';
  if (length == 1 && byte(0) == 0x7F) return 0;
  if (length == 3 && byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE) return 0;  // U+FFFE
  return length;
}

}  // namespace

std::string escaped_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i));
    if (length == 0) {
      out += replacement;
      ++i;
      continue;
    }
    switch (text[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

std::string script_safe(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace isoloop::report
