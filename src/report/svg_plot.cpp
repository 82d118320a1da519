// Points and curves over two axes, with error bars, bands and guides.
//
// Held by tests/report/svg_test.cpp; that the page's drawing agrees by tests/page/page_test.py.
#include <fmt/format.h>

#include <algorithm>

#include "report/axis.h"
#include "report/svg.h"

namespace isoloop::report {
namespace {

constexpr double plot_height = 330, bottom = 50, right_margin = 18;

struct Frame {
  Scale x, y;
  double left, right, top, base;
  double px(double value) const { return left + x.fraction(value) * (right - left); }
  double py(double value) const { return base - y.fraction(value) * (base - top); }
};

std::vector<LegendEntry> entries_of(const Plot& plot) {
  std::vector<LegendEntry> entries;
  if (plot.series.size() < 2) return entries;
  for (const Series& s : plot.series) {
    if (s.name.empty()) continue;
    entries.push_back({s.name, s.colour,
                       s.mark == Mark::dots ? LegendEntry::Kind::dot : LegendEntry::Kind::line,
                       s.dashed});
  }
  return entries;
}

std::string axes(const Plot& plot, const Frame& f) {
  std::string out;
  for (const Tick& t : f.y.ticks) {
    if (t.text.empty()) continue;
    out += line_at(f.left, f.py(t.at), f.right, f.py(t.at), "grid");
    out += text_at(f.left - 7, f.py(t.at) + 4, Anchor::end, t.text);
  }
  for (const Tick& t : f.x.ticks) {
    const bool major = !t.text.empty();
    out += line_at(f.px(t.at), f.base, f.px(t.at), f.base + (major ? 6 : 3), "axis");
    if (major) out += text_at(f.px(t.at), f.base + 19, Anchor::middle, t.text);
  }
  out += line_at(f.left, f.base, f.right, f.base, "axis");
  out += line_at(f.left, f.top, f.left, f.base, "axis");
  out += text_at((f.left + f.right) / 2, f.base + 40, Anchor::middle, axis_title(plot.x));
  const std::string title = axis_title(plot.y);
  const double middle = (f.top + f.base) / 2;
  out += fmt::format(
      "<text class=\"ink\" fill=\"#1b1f24\" text-anchor=\"middle\" "
      "transform=\"translate(14,{}) rotate(-90)\">{}</text>\n",
      coordinate(middle), fitted_markup(title, f.base - f.top));
  return out;
}

std::string guide(const Guide& g, const Frame& f) {
  const double at = g.vertical ? f.px(g.at) : f.py(g.at);
  std::string out = g.vertical ? line_at(at, f.top, at, f.base, "guide")
                               : line_at(f.left, at, f.right, at, "guide");
  if (g.text.empty()) return out;
  if (!g.vertical) return out + text_at(f.right - 4, at - 5, Anchor::end, g.text, "dim");
  const bool flip = at + text_width(g.text) + 8 > f.right;
  return out + text_at(at + (flip ? -5 : 5), f.top + 12, flip ? Anchor::end : Anchor::start, g.text,
                       "dim");
}

std::string path_of(const std::vector<Point>& points, const Frame& f) {
  std::string d;
  for (const Point& p : points)
    d +=
        fmt::format("{}{},{}", d.empty() ? "M" : "L", coordinate(f.px(p.x)), coordinate(f.py(p.y)));
  return d;
}

std::string band_path(const std::vector<Point>& points, const Frame& f) {
  std::string d;
  for (const Point& p : points)
    d += fmt::format("{}{},{}", d.empty() ? "M" : "L", coordinate(f.px(p.x)),
                     coordinate(f.py(p.y_range->high)));
  for (auto p = points.rbegin(); p != points.rend(); ++p)
    d += fmt::format("L{},{}", coordinate(f.px(p->x)), coordinate(f.py(p->y_range->low)));
  return d + "Z";
}

std::string curve(const Series& s, const Frame& f) {
  std::string out;
  const bool banded = std::all_of(s.points.begin(), s.points.end(),
                                  [](const Point& p) { return p.y_range.has_value(); });
  if (s.points.empty()) return out;
  if (banded)
    out += fmt::format("<path {} fill-opacity=\"0.16\" d=\"{}\"/>\n", fill_of(s.colour, "band"),
                       band_path(s.points, f));
  return out + fmt::format("<path {} d=\"{}\"/>\n", stroke_of(s.colour, "curve", s.dashed),
                           path_of(s.points, f));
}

std::string dots(const Series& s, const Frame& f) {
  std::string out;
  for (const Point& p : s.points) {
    if (p.y_range)
      out += fmt::format("<path {} d=\"M{},{}V{}\"/>\n", stroke_of(s.colour, "error", false),
                         coordinate(f.px(p.x)), coordinate(f.py(p.y_range->low)),
                         coordinate(f.py(p.y_range->high)));
    out += fmt::format("<path {} transform=\"translate({},{})\" d=\"{}\">{}</path>\n",
                       fill_of(s.colour, "dot", s.dashed), coordinate(f.px(p.x)),
                       coordinate(f.py(p.y)), symbol(s.colour), title_of(p.label));
  }
  return out;
}

}  // namespace

Drawing draw(const Plot& plot) {
  Frame f{x_scale(plot), y_scale(plot), 0, svg_width - right_margin, 8, 0};
  double widest = 0;
  for (const Tick& t : f.y.ticks) widest = std::max(widest, text_width(t.text));
  f.left = widest + 34;
  Drawing drawing;
  drawing.body = legend(entries_of(plot), f.left, f.right, f.top);
  f.base = f.top + plot_height;
  drawing.height = f.base + bottom;
  drawing.body += axes(plot, f);
  for (const Guide& g : plot.guides) drawing.body += guide(g, f);
  bool any = false;
  for (const Series& s : plot.series) {
    any = any || !s.points.empty();
    if (s.mark == Mark::line) drawing.body += curve(s, f);
  }
  for (const Series& s : plot.series)
    if (s.mark == Mark::dots) drawing.body += dots(s, f);
  if (!any)
    drawing.body += text_at((f.left + f.right) / 2, (f.top + f.base) / 2, Anchor::middle,
                            "nothing to draw", "dim");
  return drawing;
}

}  // namespace isoloop::report
