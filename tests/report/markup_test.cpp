// Text stays text in HTML, SVG and script elements, whatever it contains.
//
// Source: XML 1.0 (5th edition), 2.2 (characters) and 2.4 (markup). Holds src/report/markup.cpp.
#include "report/markup.h"

#include <doctest/doctest.h>

#include <random>

namespace isoloop::report {
namespace {

/// The five predefined entities and &#39; put back.
std::string unescaped(std::string text) {
  const std::pair<const char*, const char*> entities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, plain] : entities)
    for (std::size_t at = text.find(entity); at != text.npos; at = text.find(entity, at + 1))
      text.replace(at, std::string(entity).size(), plain);
  return text;
}

}  // namespace

TEST_CASE("markup in a name is escaped") {
  CHECK(escaped_markup("<script>alert(1)</script>") == "&lt;script&gt;alert(1)&lt;/script&gt;");
  CHECK(escaped_markup("\" onload='x' &") == "&quot; onload=&#39;x&#39; &amp;");
  CHECK(escaped_markup("α × 2") == "α × 2");
}

TEST_CASE("what XML cannot hold is replaced") {
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(escaped_markup(std::string("a\0b", 3)) == "a" + mark + "b");
  CHECK(escaped_markup("\x1b[31m") == mark + "[31m");
  CHECK(escaped_markup("\xff\xfe") == mark + mark);
  CHECK(escaped_markup("\xC0\xAF") == mark + mark);             // overlong
  CHECK(escaped_markup("\xED\xA0\x80") == mark + mark + mark);  // a surrogate
  CHECK(escaped_markup("\xEF\xBF\xBE") == mark + mark + mark);  // U+FFFE
  CHECK(escaped_markup("\xE2\x82") == mark + mark);             // cut short
  CHECK(escaped_markup("a\tb\nc") == "a\tb\nc");
}

TEST_CASE("random text comes back and never opens a tag") {
  std::mt19937 random(7);
  const std::string letters = "<>&\"'ab ;/!-=#0";
  for (int run = 0; run < 500; ++run) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += letters[random() % letters.size()];
    const std::string escaped = escaped_markup(text);
    CHECK(escaped.find_first_of("<>\"'") == escaped.npos);
    CHECK(unescaped(escaped) == text);
  }
}

TEST_CASE("JSON in a script element cannot end it") {
  CHECK(script_safe(R"(["</script><!--"])") == R"(["\u003c/script>\u003c!--"])");
}

}  // namespace isoloop::report
