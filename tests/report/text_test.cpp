// Text output, character by character.
//
// Source: the layout rules in report.h; expected texts laid out by hand. Holds src/report/text.cpp.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "isoloop/report.h"
#include "report/layout.h"

namespace isoloop::report {
namespace {

std::string text(const Document& document, const Style& style = {}) {
  return write(document, Format::text, style);
}

Table ledger() {
  Table table;
  table.title = "Ledger";
  table.columns = {{"part", "", Align::left}, {"stored", "params"}, {"share", "%"}};
  table.rows = {{"embedding", "525,336,576", "7.59"},
                {"attention · 12×", "402,653,184", "5.82"},
                {Cell("total", Tone::strong), "927,989,760", Cell("13.41", Tone::good)}};
  table.rules = {2};
  table.note = "Embedding is a lookup.";
  return table;
}

}  // namespace

TEST_CASE("text table aligns by code points, with units below the titles and thin rules") {
  CHECK(text({{ledger()}}) ==
        "Ledger\n"
        "part                  stored  share\n"
        "                      params      %\n"
        "───────────────────────────────────\n"
        "embedding        525,336,576   7.59\n"
        "attention · 12×  402,653,184   5.82\n"
        "───────────────────────────────────\n"
        "total            927,989,760  13.41\n"
        "Embedding is a lookup.\n");
}

TEST_CASE("text table without units, title and note has one header line") {
  Table table;
  table.columns = {{"segment", "", Align::left}, {"visits"}, {"remark", "", Align::left}};
  table.rows = {{"prelude", "1"}, {"recur", "6", "loop"}, {}};
  CHECK(text({{table}}) ==
        "segment  visits  remark\n"
        "───────────────────────\n"
        "prelude       1\n"
        "recur         6  loop\n"
        "\n");
}

TEST_CASE("text table draws a rule once, before its row or after the last") {
  Table table;
  table.columns = {{"n"}};
  table.rows = {{"1"}, {"2"}};
  table.rules = {0, 1, 1};
  CHECK(text({{table}}) == "n\n─\n1\n─\n2\n");
  table.rules = {2};
  CHECK(text({{table}}) == "n\n─\n1\n2\n─\n");
}

TEST_CASE("text facts align their values") {
  const Facts facts{{{"layers", "16"}, {"experts", "64, top-8"}, {"λ", "0.5"}, {"none", ""}}};
  CHECK(text({{facts}}) ==
        "layers   16\n"
        "experts  64, top-8\n"
        "λ        0.5\n"
        "none\n");
}

TEST_CASE("text paragraph wraps at the width of the page") {
  const Paragraph paragraph{"one two three × four averyveryverylongword five"};
  Style style;
  style.width = 15;
  CHECK(text({{paragraph}}, style) ==
        "one two three ×\n"
        "four\n"
        "averyveryverylongword\n"
        "five\n");
  style.width = 14;
  CHECK(text({{paragraph}}, style).starts_with("one two three\n× four\n"));
  CHECK(text({{Paragraph{"  - indented words wrap indented"}}}, style) ==
        "  - indented\n"
        "  words wrap\n"
        "  indented\n");
  CHECK(text({{Paragraph{"first\n\nsecond\n"}}}) == "first\n\nsecond\n");
}

TEST_CASE("text heading, code and the empty line between blocks") {
  const Document document{
      {Heading{"Größe"}, Code{"isoloop count \\\n\n  model.json\n"}, Facts{}, Paragraph{"end"}}};
  CHECK(text(document) ==
        "Größe\n"
        "─────\n"
        "\n"
        "  isoloop count \\\n"
        "\n"
        "    model.json\n"
        "\n"
        "end\n");
  CHECK(text({}) == "");
}

TEST_CASE("text colours only on request and never the padding") {
  Style style;
  style.colour = true;
  CHECK(text({{Paragraph{"careful", Tone::warn}, Paragraph{"plain"}}}, style) ==
        "\x1b[33mcareful\x1b[0m\n\nplain\n");
  Table table;
  table.columns = {{"a", "u", Align::left}, {"b"}};
  table.rows = {{Cell("x", Tone::bad), Cell("9", Tone::good)}, {"long", "100"}};
  CHECK(text({{table}}, style) ==
        "\x1b[1ma\x1b[0m       \x1b[1mb\x1b[0m\n"
        "\x1b[2mu\x1b[0m\n"
        "\x1b[2m─────────\x1b[0m\n"
        "\x1b[31mx\x1b[0m       \x1b[32m9\x1b[0m\n"
        "long  100\n");
  CHECK(text({{ledger()}}).find('\x1b') == std::string::npos);
}

TEST_CASE("text cells stay on their line and cannot carry control codes") {
  Table table;
  table.columns = {{"name", "", Align::left}, {"n"}};
  table.rows = {{"two\nlines", "1"}, {"\x1b[31mred", "2"}, {"tail  ", "3"}};
  CHECK(text({{table}}) ==
        "name       n\n"
        "────────────\n"
        "two lines  1\n"
        " [31mred   2\n"
        "tail       3\n");
}

TEST_CASE("text of random tables: no line ends in a space and numbers end in one column") {
  std::mt19937_64 random(6);
  for (int i = 0; i < 200; ++i) {
    Table table;
    table.columns = {{"näme", "", Align::left}, {"count", random() % 2 == 0 ? "×" : ""}};
    for (auto rows = random() % 6; rows > 0; --rows) {
      std::string name;
      for (auto letters = random() % 9; letters > 0; --letters) name += random() % 2 ? "a" : "é";
      table.rows.push_back({name, std::to_string(random() % 100'000 + 1)});
    }
    const std::string out = text({{table}});
    CHECK(out.find(" \n") == std::string::npos);
    std::size_t full = 0;
    for (std::size_t at = 0; at < out.size();) {
      const std::size_t end = out.find('\n', at);
      const std::size_t here = width(out.substr(at, end - at));
      if (full == 0) full = here;  // the header reaches to the last column
      CHECK(here == full);
      at = end + 1;
    }
  }
}

}  // namespace isoloop::report
