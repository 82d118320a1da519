// CSV output: exact records, and every table read back by an independent RFC 4180 reader.
//
// Source: RFC 4180. Holds src/report/csv.cpp.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "isoloop/report.h"

namespace isoloop::report {
namespace {

using Records = std::vector<std::vector<std::string>>;

std::string csv(const Document& document) { return write(document, Format::csv); }

/// Reads one table: the grammar of RFC 4180 section 2, as a small state machine.
Records read(const std::string& text) {
  Records records(1);
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      records.back().push_back(std::exchange(field, {}));
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      records.back().push_back(std::exchange(field, {}));
      records.emplace_back();
      ++i;
    } else {
      field += c;
    }
  }
  records.pop_back();
  return records;
}

}  // namespace

TEST_CASE("csv table has units in the header, CRLF ends and quotes where needed") {
  Table table;
  table.title = "not written";
  table.columns = {{"part", "", Align::left}, {"stored", "params"}, {"note"}};
  table.rows = {{"attention · 12×", "402,653,184", "say \"loop\""},
                {Cell("total", Tone::strong), "1"},
                {"two\nlines", "", "x"}};
  table.rules = {1};
  table.note = "not written";
  CHECK(csv({{table}}) ==
        "part,stored (params),note\r\n"
        "attention · 12×,402653184,\"say \"\"loop\"\"\"\r\n"
        "total,1,\r\n"
        "\"two\nlines\",,x\r\n");
}

TEST_CASE("csv writes the tables only, separated by an empty line") {
  Table one, two;
  one.columns = {{"a"}};
  one.rows = {{"1"}, {""}};
  two.columns = {{"b"}, {"c"}};
  CHECK(csv({{Heading{"x"}, one, Paragraph{"y"}, Facts{{{"n", "v"}}}, Code{"z"}, two}}) ==
        "a\r\n1\r\n\"\"\r\n\r\nb,c\r\n");
  CHECK(csv({{Heading{"x"}}}) == "");
}

TEST_CASE("csv numbers lose the commas of their groups, other text keeps its commas") {
  Table table;
  table.columns = {{"value"}};
  for (const char* text : {"1,234", "-1,234,567.50", "+12,345", "12,34", "1234,567", "1,2345", "1,234 B", "8,16,32", "1,234."})
    table.rows.push_back({text});
  CHECK(csv({{table}}) ==
        "value\r\n1234\r\n-1234567.50\r\n+12345\r\n\"12,34\"\r\n\"1234,567\"\r\n\"1,2345\"\r\n"
        "\"1,234 B\"\r\n\"8,16,32\"\r\n\"1,234.\"\r\n");
}

TEST_CASE("csv of random cells reads back as those cells") {
  std::mt19937_64 random(7);
  const std::string letters = "a1,\"\r\n ×";
  for (int i = 0; i < 300; ++i) {
    Table table;
    Records expected(1);
    const auto columns = random() % 4 + 1;
    for (auto c = columns; c > 0; --c) {
      table.columns.push_back({"t"});
      expected[0].push_back("t");
    }
    for (auto rows = random() % 4; rows > 0; --rows) {
      auto& cells = table.rows.emplace_back();
      auto& texts = expected.emplace_back();
      for (auto c = columns; c > 0; --c) {
        std::string text;
        for (auto size = random() % 6; size > 0; --size) text += letters[random() % letters.size()];
        cells.emplace_back(text);
        texts.push_back(text);
      }
    }
    CHECK(read(csv({{table}})) == expected);
  }
}

}  // namespace isoloop::report
