// Markdown output, character by character.
//
// Source: GitHub Flavored Markdown spec 0.29, 4.10 (tables), 4.5 (code), 2.4 (escapes). Holds
// src/report/markdown.cpp.
#include <doctest/doctest.h>

#include <string>

#include "isoloop/report.h"

namespace isoloop::report {
namespace {

std::string markdown(const Document& document) { return write(document, Format::markdown); }

}  // namespace

TEST_CASE("markdown table has units in the header and an alignment row") {
  Table table;
  table.title = "Ledger";
  table.columns = {{"part", "", Align::left}, {"stored", "params"}, {"r"}};
  table.rows = {{"attention · 12×", "402,653,184", "1"},
                {Cell("total", Tone::strong), Cell("9", Tone::good)}};
  table.rules = {1};
  table.note = "Embedding is a lookup.";
  CHECK(markdown({{table}}) ==
        "**Ledger**\n"
        "\n"
        "| part            | stored (params) |   r |\n"
        "| --------------- | --------------: | --: |\n"
        "| attention · 12× |     402,653,184 |   1 |\n"
        "| **total**       |               9 |     |\n"
        "\n"
        "Embedding is a lookup.\n");
}

TEST_CASE("markdown cells cannot break the table") {
  Table table;
  table.columns = {{"a|b", "", Align::left}};
  table.rows = {{"x | y"}, {"back\\|slash"}, {"two\r\nlines"}};
  CHECK(markdown({{table}}) ==
        "| a\\|b          |\n"
        "| ------------- |\n"
        "| x \\| y        |\n"
        "| back\\\\\\|slash |\n"
        "| two<br>lines  |\n");
}

TEST_CASE("markdown text is not taken for markup") {
  CHECK(markdown({{Paragraph{"H*d and K*d, kv_heads, _x_, `c`, <b>, ~5, $f$"}}}) ==
        "H\\*d and K\\*d, kv_heads, \\_x\\_, \\`c\\`, \\<b>, \\~5, \\$f\\$\n");
  CHECK(markdown({{Paragraph{"no such model", Tone::strong}}}) == "**no such model**\n");
  CHECK(markdown({{Paragraph{"no such model", Tone::bad}}}) == "no such model\n");
}

TEST_CASE("markdown heading, facts, code and the empty line between blocks") {
  const Document document{{Heading{"Cost"},
                           Facts{{{"layers", "16"}, {"verdict", Cell("equal", Tone::strong)}}},
                           Facts{}, Code{"isoloop count m.json"}, Code{"```\nfenced\n```\n"}}};
  CHECK(markdown(document) ==
        "## Cost\n"
        "\n"
        "- layers: 16\n"
        "- verdict: **equal**\n"
        "\n"
        "```\n"
        "isoloop count m.json\n"
        "```\n"
        "\n"
        "````\n"
        "```\n"
        "fenced\n"
        "```\n"
        "````\n");
  CHECK(markdown({}) == "");
}

}  // namespace isoloop::report
