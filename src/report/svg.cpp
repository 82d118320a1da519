// The svg element, text, legends and colours.
//
// Source: SVG 1.1 (second edition). Colours: after Okabe and Ito's set for colour-blind readers,
// darkened until each has a contrast of 3:1 on white (WCAG 2.1, 1.4.11); shapes and dashes say the
// same without colour. Held by tests/report/svg_test.cpp.
#include "report/svg.h"

#include <fmt/format.h>

#include <array>
#include <variant>

#include "report/layout.h"
#include "report/markup.h"

namespace isoloop::report {
namespace {

constexpr std::array<std::string_view, 6> palette = {"#0072b2", "#d55e00", "#007a5a",
                                                     "#a8447e", "#8a6d00", "#5a6270"};
constexpr std::array<std::string_view, 6> symbols = {
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",                    // circle
    "M-3.6,-3.6h7.2v7.2h-7.2z",                               // square
    "M0,-4.8L4.6,3.4H-4.6z",                                  // triangle
    "M0,-5.2L4,0L0,5.2L-4,0z",                                // diamond
    "M0,4.8L4.6,-3.4H-4.6z",                                  // triangle, point down
    "M-1.5,-4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z"};  // cross
constexpr std::string_view ink = "#1b1f24", dim = "#5a6270", rule = "#d5d9df";

std::string_view colour_of(std::string_view css) {
  if (css == "dim") return dim;
  if (css == "grid") return rule;
  return ink;
}

}  // namespace

std::string coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.erase(text.size() - 2);
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text) {
  double units = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
    if (std::string_view("iljtf.,:;|!'() []").find(c) != std::string_view::npos)
      units += 0.34;
    else if (std::string_view("mwMW%@").find(c) != std::string_view::npos)
      units += 0.92;
    else if (c >= 'A' && c <= 'Z')
      units += 0.7;
    else
      units += 0.61;
  }
  return units * font_size;
}

std::string fitted(std::string_view text, double limit) {
  if (text_width(text) <= limit) return std::string(text);
  std::string cut(text);
  while (!cut.empty() && text_width(cut) + font_size > limit) {
    while (cut.size() > 1 && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80)
      cut.pop_back();
    cut.pop_back();
  }
  return cut + "…";
}

std::string fitted_markup(std::string_view text, double limit) {
  return escaped_markup(fitted(text, limit));
}

std::string title_of(std::string_view text) {
  return text.empty() ? "" : "<title>" + escaped_markup(text) + "</title>";
}

std::string text_at(double x, double y, Anchor anchor, std::string_view text,
                    std::string_view css) {
  constexpr std::array<std::string_view, 3> names = {"start", "middle", "end"};
  return fmt::format(
      "<text class=\"{}\" x=\"{}\" y=\"{}\" fill=\"{}\" text-anchor=\"{}\">{}</text>\n", css,
      coordinate(x), coordinate(y), colour_of(css), names[static_cast<std::size_t>(anchor)],
      escaped_markup(text));
}

std::string line_at(double x1, double y1, double x2, double y2, std::string_view css) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\"{}/>\n", css,
      coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2),
      css == "guide" ? dim : colour_of(css), css == "guide" ? " stroke-dasharray=\"5 4\"" : "");
}

std::string fill_of(std::size_t colour, std::string_view css, bool hollow) {
  const std::string_view value = palette[colour % palette.size()];
  return fmt::format("class=\"{} c{}{}\" fill=\"{}\"{}", css, colour % palette.size(),
                     hollow ? " hollow" : "", hollow ? "none" : value,
                     hollow ? fmt::format(" stroke=\"{}\" stroke-width=\"1.5\"", value) : "");
}

std::string stroke_of(std::size_t colour, std::string_view css, bool dashed) {
  return fmt::format("class=\"{} c{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}", css,
                     colour % palette.size(), palette[colour % palette.size()],
                     dashed ? " stroke-dasharray=\"6 4\"" : "");
}

std::string rectangle(double x, double y, double width, double height, std::size_t colour,
                      std::string_view css) {
  return fmt::format("<rect {} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                     fill_of(colour, css), coordinate(x), coordinate(y), coordinate(width),
                     coordinate(height));
}

std::string_view symbol(std::size_t colour) { return symbols[colour % symbols.size()]; }

std::string legend(const std::vector<LegendEntry>& entries, double left, double right,
                   double& top) {
  constexpr double mark = 22, gap = 18;
  std::string out;
  double x = left;
  for (const LegendEntry& e : entries) {
    const std::string name = fitted(e.name, right - left - mark);
    const double needed = mark + text_width(name);
    if (x > left && x + needed > right) {
      x = left;
      top += line_height + 2;
    }
    const double y = top + line_height / 2;
    if (e.kind == LegendEntry::Kind::line)
      out += fmt::format("<path {} d=\"M{},{}h16\"/>\n", stroke_of(e.colour, "curve", e.dashed),
                         coordinate(x), coordinate(y));
    else if (e.kind == LegendEntry::Kind::box)
      out += rectangle(x + 3, y - 5, 10, 10, e.colour, "bar");
    else
      out += fmt::format("<path {} transform=\"translate({},{})\" d=\"{}\"/>\n",
                         fill_of(e.colour, "dot", e.dashed), coordinate(x + 8), coordinate(y),
                         symbol(e.colour));
    out += text_at(x + mark, y + 4, Anchor::start, name);
    x += needed + gap;
  }
  if (!entries.empty()) top += line_height + 8;
  return out;
}

std::string svg(const Chart& chart, bool in_page) {
  const Drawing drawing = std::visit([](const auto& body) { return draw(body); }, chart.body);
  const bool titled = !in_page && !chart.title.empty();
  const bool noted = !in_page && !chart.note.empty();
  const double above = titled ? 28 : 0, below = noted ? 24 : 0;
  const double height = drawing.height + above + below;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
      "sans-serif\" font-size=\"{2}\">\n<title>{3}</title>\n",
      coordinate(drawing.width), coordinate(height), font_size, escaped_markup(chart.title));
  if (!in_page)
    out += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n",
                       coordinate(drawing.width), coordinate(height));
  if (titled)
    out += fmt::format(
        "<text x=\"8\" y=\"19\" font-size=\"14\" font-weight=\"bold\" fill=\"{}\">{}</text>\n", ink,
        escaped_markup(fitted(chart.title, drawing.width * 12 / 14 - 16)));
  if (above > 0) out += fmt::format("<g transform=\"translate(0,{})\">\n", coordinate(above));
  out += drawing.body;
  if (above > 0) out += "</g>\n";
  if (noted)
    out += text_at(8, height - 9, Anchor::start, fitted(chart.note, drawing.width - 16), "dim");
  return out + "</svg>\n";
}

std::string write_svg(const Chart& chart) {
  check(chart);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + svg(chart, false);
}

}  // namespace isoloop::report
