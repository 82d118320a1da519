// Layer stacks side by side: input at the bottom, one slab per layer, arrows back for loops.
//
// Held by tests/report/svg_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "report/svg.h"

namespace isoloop::report {
namespace {

constexpr double tallest = 300, slab_width = 110, gap = 8, head = 44, foot = 30;

std::size_t layers_of(const Stack& stack) {
  std::size_t sum = 0;
  for (const Layers& b : stack.blocks) sum += b.count;
  return sum;
}

bool repeated(const Stack& stack, std::size_t block) {
  return std::any_of(stack.repeats.begin(), stack.repeats.end(),
                     [&](const Repeat& r) { return r.first <= block && block <= r.last; });
}

/// From the top of the repeated blocks round to their bottom.
std::string arrow(const Repeat& r, double x, double high, double low) {
  return fmt::format(
             "<path {} d=\"M{},{}h14a8,8 0 0 1 8,8V{}a8,8 0 0 1 -8,8h-11\"/>\n"
             "<path {} d=\"M{},{}l9,-4.5v9z\"/>\n",
             stroke_of(1, "curve", false), coordinate(x), coordinate(high + 4),
             coordinate(low - 12), fill_of(1, "head"), coordinate(x), coordinate(low - 4)) +
         text_at(x + 30, (high + low) / 2 + 4, Anchor::start, "× " + r.times);
}

}  // namespace

Drawing draw(const Stacks& stacks) {
  std::size_t most = 1;
  double gaps = 0;
  for (const Stack& s : stacks.stacks) {
    most = std::max(most, layers_of(s));
    gaps = std::max(gaps, gap * static_cast<double>(s.blocks.size()));
  }
  const double slab = std::min(16.0, tallest / static_cast<double>(most));
  const double base = head + slab * static_cast<double>(most) + gaps;
  const double column =
      svg_width / static_cast<double>(std::max<std::size_t>(stacks.stacks.size(), 1));
  Drawing drawing;
  drawing.height = base + foot;
  for (std::size_t i = 0; i < stacks.stacks.size(); ++i) {
    const Stack& stack = stacks.stacks[i];
    const double left = column * static_cast<double>(i) + std::min(column * 0.25, 90.0);
    const double width = std::min(slab_width, column * 0.4);
    double y = base;
    std::vector<double> lows, highs;
    for (std::size_t b = 0; b < stack.blocks.size(); ++b) {
      const Layers& block = stack.blocks[b];
      lows.push_back(y);
      const double each = std::max(slab - (slab > 4 ? 1.5 : 0.3), 0.3);
      for (std::size_t l = 0; l < block.count; ++l) {
        y -= slab;
        drawing.body += rectangle(left, y, width, each, repeated(stack, b) ? 1 : 0, "slab");
      }
      highs.push_back(y);
      const double middle = (lows.back() + y) / 2;
      drawing.body += text_at(left - 8, middle + 1, Anchor::end,
                              fitted(block.name, left - column * static_cast<double>(i) - 8));
      drawing.body +=
          text_at(left - 8, middle + 15, Anchor::end,
                  fmt::format("{} layer{}", block.count, block.count == 1 ? "" : "s"), "dim");
      y -= gap;
    }
    for (const Repeat& r : stack.repeats)
      if (r.first < highs.size() && r.last < highs.size())
        drawing.body += arrow(r, left + width + 4, highs[r.last], lows[r.first]);
    const double middle = column * (static_cast<double>(i) + 0.5);
    drawing.body += text_at(middle, 16, Anchor::middle, fitted(stack.name, column - 10));
    drawing.body += text_at(middle, 33, Anchor::middle, fitted(stack.text, column - 10), "dim");
    drawing.body += text_at(left + width / 2, base + 20, Anchor::middle, "tokens in", "dim");
  }
  return drawing;
}

}  // namespace isoloop::report
