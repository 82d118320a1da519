// Horizontal bars grouped by category, one panel per quantity, panels side by side.
//
// Held by tests/report/svg_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/axis.h"
#include "report/svg.h"

namespace isoloop::report {
namespace {

constexpr double bar_height = 11, group_gap = 9, panel_gap = 26, axis_space = 44, widest_name = 190;

/// As many numbers as fit, the first always.
std::string panel_axis(const Panel& panel, const Scale& scale, double left, double right,
                       double top, double base) {
  std::string out;
  double free_from = left - 30;
  for (const Tick& t : scale.ticks) {
    const double x = left + scale.fraction(t.at) * (right - left);
    out += line_at(x, top, x, base, "grid");
    const double half = text_width(t.text) / 2;
    if (x - half < free_from) continue;
    out += text_at(x, base + 15, Anchor::middle, t.text);
    free_from = x + half + 8;
  }
  const std::string title = axis_title({panel.title, panel.unit});
  return out +
         text_at((left + right) / 2, base + 35, Anchor::middle, fitted(title, right - left + 20));
}

struct Rows {
  double top, group;
  std::size_t series;
  double at(std::size_t category, std::size_t s) const {
    return top + static_cast<double>(category) * group + group_gap / 2 +
           static_cast<double>(s) * bar_height;
  }
};

std::string bar_of(const Bar& bar, const Scale& scale, double left, double right, double y,
                   std::size_t colour, const std::string& label) {
  const auto x = [&](double v) { return left + scale.fraction(v) * (right - left); };
  const double from = std::min(x(0), x(bar.value)), to = std::max(x(0), x(bar.value));
  std::string out = fmt::format("<g>{}{}", title_of(label + ": " + value_text(bar.value)),
                                rectangle(from, y, to - from, bar_height - 1, colour, "bar"));
  if (bar.range)
    out += line_at(x(bar.range->low), y + bar_height / 2 - 0.5, x(bar.range->high),
                   y + bar_height / 2 - 0.5, "axis");
  return out + "</g>\n";
}

}  // namespace

Drawing draw(const Bars& bars) {
  const std::size_t panels = std::max<std::size_t>(bars.panels.size(), 1);
  double names = 20;
  for (const std::string& c : bars.categories) names = std::max(names, text_width(c));
  names = std::min(names, widest_name) + 12;
  Drawing drawing;
  double top = 8;
  if (bars.series.size() > 1) {
    std::vector<LegendEntry> entries;
    for (std::size_t s = 0; s < bars.series.size(); ++s)
      entries.push_back({bars.series[s], s, LegendEntry::Kind::box, false});
    drawing.body = legend(entries, 8, svg_width - 8, top);
  }
  const Rows rows{top, bar_height * static_cast<double>(bars.series.size()) + group_gap,
                  bars.series.size()};
  const double base = top + rows.group * static_cast<double>(bars.categories.size());
  const double width = (svg_width - names - 18 - panel_gap * static_cast<double>(panels - 1)) /
                       static_cast<double>(panels);
  drawing.height = base + axis_space;
  for (std::size_t c = 0; c < bars.categories.size(); ++c)
    drawing.body += text_at(names - 6, rows.top + (static_cast<double>(c) + 0.5) * rows.group + 4,
                            Anchor::end, fitted(bars.categories[c], widest_name));
  for (std::size_t p = 0; p < bars.panels.size(); ++p) {
    const Panel& panel = bars.panels[p];
    const Scale scale = panel_scale(panel);
    const double left = names + static_cast<double>(p) * (width + panel_gap), right = left + width;
    drawing.body += panel_axis(panel, scale, left, right, top, base);
    for (std::size_t s = 0; s < panel.bars.size(); ++s)
      for (std::size_t c = 0; c < panel.bars[s].size(); ++c)
        drawing.body += bar_of(panel.bars[s][c], scale, left, right, rows.at(c, s), s,
                               bars.series[s] + ", " + bars.categories[c]);
    const double zero = left + scale.fraction(0) * width;
    drawing.body += line_at(zero, top, zero, base, "axis");
  }
  return drawing;
}

}  // namespace isoloop::report
