// report: a neutral document (headings, paragraphs, tables with a unit per column) and its writers.
//
// Writers only lay out: every number arrives as text, already rounded, with its unit on the
// column. Knows no other module than base and is known only by cli.
//
// Held by tests/report/*_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "isoloop/base.h"

namespace isoloop::report {

enum class Align { left, right };
enum class Tone { plain, good, bad, warn, dim, strong };

struct Cell {
  Cell() = default;
  Cell(std::string text_, Tone tone_ = Tone::plain) : text(std::move(text_)), tone(tone_) {}
  Cell(const char* text_) : text(text_) {}
  std::string text;
  Tone tone = Tone::plain;
};

struct Column {
  std::string title = {};
  std::string unit = {};  // "" = none; shown under or beside the title
  Align align = Align::right;
};

struct Table {
  std::string title;  // may be empty
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::size_t> rules;  // a line is drawn before these rows; rows.size(): after the last
  std::string note;                // one line below the table
};

struct Heading {
  std::string text;
};
/// Wrapped to the width of the page in text output.
struct Paragraph {
  std::string text;
  Tone tone = Tone::plain;
};
/// "name  value" lines, aligned; long values go on below their beginning.
struct Facts {
  std::vector<std::pair<std::string, Cell>> lines;
};
/// Verbatim lines (a command to run, a formula).
struct Code {
  std::string text;
};

using Block = std::variant<Heading, Paragraph, Facts, Code, Table>;

struct Document {
  std::vector<Block> blocks;
};

enum class Format { text, markdown, csv };
struct Style {
  bool colour = false;  // ANSI, only for a terminal
  int width = 100;      // columns for wrapping paragraphs
};

/// Lays a document out. CSV (RFC 4180) writes the tables only, separated by an empty line, units
/// in the header as "title (unit)". Markdown escapes what would break a table. Text never wraps a
/// table. Width is counted in code points so that "·" and "×" align.
std::string write(const Document& document, Format format, const Style& style = {});

}  // namespace isoloop::report
