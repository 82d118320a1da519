// report: a neutral document (headings, paragraphs, tables with a unit per column, charts) and its
// writers.
//
// Writers only lay out: every number of a table arrives as text, already rounded, with its unit on
// the column. What a chart contains is said once, in its Chart; the page and the SVG file draw the
// same one, over the same axes. Knows no other module than base and is known only by cli.
//
// Held by tests/report/*_test.cpp.
#pragma once

#include <cstddef>
#include <optional>
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
  std::string id = {};             // charts that belong to the table name it; "" if none do
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

// ---- Charts ------------------------------------------------------------------------------------

struct Range {
  double low = 0, high = 0;
};

/// Where an axis ends and where its ticks stand follows from what is drawn: see scale_of().
struct Axis {
  std::string title, unit = {};
  bool log = false;        // then every value is positive
  bool from_zero = false;  // zero is on the axis
};

enum class Mark { dots, line };
struct Point {
  double x = 0, y = 0;
  std::optional<Range> y_range = {};     // dots: an error bar; lines: a band, if every point has one
  std::string label = {};                // what the point is, for people
  std::optional<std::size_t> row = {};  // of the chart's table
};
struct Series {
  std::string name;
  Mark mark = Mark::dots;
  std::size_t colour = 0;  // series of one colour belong together
  bool dashed = false;     // lines; dots: hollow
  std::vector<Point> points;
};
/// A straight line across the plot.
struct Guide {
  bool vertical = false;
  double at = 0;
  std::string text = {};
};
struct Plot {
  Axis x, y;
  std::vector<Series> series;
  std::vector<Guide> guides;
};

struct Bar {
  double value = 0;
  std::optional<Range> range = {};
};
/// Bars over one axis of their own: bars[series][category].
struct Panel {
  std::string title, unit;
  std::vector<std::vector<Bar>> bars;
};
/// Horizontal bars, grouped by category; panels stand side by side over the same categories.
struct Bars {
  std::vector<std::string> categories, series;
  std::vector<Panel> panels;
};

/// Equal layers of a stack, in order of execution.
struct Layers {
  std::string name;
  std::size_t count = 0;
  std::string text = {};
};
/// Blocks first..last (0-based, both included) run several times.
struct Repeat {
  std::size_t first = 0, last = 0;
  std::string times;  // "2"
};
struct Stack {
  std::string name, text = {};
  std::vector<Layers> blocks;
  std::vector<Repeat> repeats;
};
/// Layer stacks side by side, drawn to one scale.
struct Stacks {
  std::vector<Stack> stacks;
};

struct Chart {
  std::string name;  // unique within a document: letters, digits and hyphens
  std::string title, note = {};
  std::variant<Plot, Bars, Stacks> body;
  std::string table = {};               // id of the table its points are rows of
  std::optional<std::size_t> row = {};  // about this row of the table: shown when it is selected
};

using Block = std::variant<Heading, Paragraph, Facts, Code, Table, Chart>;

struct Document {
  std::vector<Block> blocks;
  std::string title = {};  // of the page
};

enum class Format { text, markdown, csv, html };
struct Style {
  bool colour = false;  // ANSI, only for a terminal
  int width = 100;      // columns for wrapping paragraphs
};

/// Lays a document out. CSV (RFC 4180) writes the tables only, separated by an empty line, units
/// in the header as "title (unit)". Markdown escapes what would break a table. Text never wraps a
/// table. Width is counted in code points so that "·" and "×" align. HTML is one page that needs
/// nothing beside it; without scripts it is complete, with them tables sort and filter and charts
/// answer. Text, Markdown and CSV cannot hold a chart and leave it out.
std::string write(const Document& document, Format format, const Style& style = {});

/// One chart as an SVG file.
std::string write_svg(const Chart& chart);
/// The document as JSON, schema "isoloop/report/v1".
std::string write_json(const Document& document);

/// Names of the document's charts in order.
std::vector<std::string> chart_names(const Document& document);

}  // namespace isoloop::report
