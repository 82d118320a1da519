// Drawing in SVG: what the three kinds of chart share.
//
// Every mark has its colour as an attribute, right on white paper and for programs that know no
// style sheets, and a class, by which the page's style sheet sets it for light and dark.
//
// Held by tests/report/svg_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isoloop/report.h"

namespace isoloop::report {

inline constexpr double svg_width = 680, font_size = 12, line_height = 16;

/// A drawing `width` wide and `height` high.
struct Drawing {
  double width = svg_width, height = 0;
  std::string body;
};

Drawing draw(const Plot& plot);
Drawing draw(const Bars& bars);
Drawing draw(const Stacks& stacks);

/// The svg element of a chart. `in_page`: without its title, which the page shows beside it.
std::string svg(const Chart& chart, bool in_page);

/// A coordinate: one decimal.
std::string coordinate(double value);
/// About how wide a text is in the 12 px sans serif.
double text_width(std::string_view text);
/// The text cut to a width, with an ellipsis.
std::string fitted(std::string_view text, double width);

enum class Anchor { start, middle, end };
/// Markup of a text cut to a width, and of a title element, which is nothing for an empty text.
std::string fitted_markup(std::string_view text, double width);
std::string title_of(std::string_view text);
std::string text_at(double x, double y, Anchor anchor, std::string_view text,
                    std::string_view css = "ink");
std::string line_at(double x1, double y1, double x2, double y2, std::string_view css);
/// A closed rectangle filled in the colour of a series.
std::string rectangle(double x, double y, double width, double height, std::size_t colour,
                      std::string_view css);
/// Attributes of a mark in the colour of a series: class and fill or stroke.
std::string fill_of(std::size_t colour, std::string_view css, bool hollow = false);
std::string stroke_of(std::size_t colour, std::string_view css, bool dashed);
/// A dot's outline around the origin; each colour has its own.
std::string_view symbol(std::size_t colour);

struct LegendEntry {
  std::string name;
  std::size_t colour = 0;
  enum class Kind { dot, line, box } kind = Kind::dot;
  bool dashed = false;  // or hollow
};
/// Rows of entries from `left` at `top`; adds their height to `top`.
std::string legend(const std::vector<LegendEntry>& entries, double left, double right, double& top);

}  // namespace isoloop::report
