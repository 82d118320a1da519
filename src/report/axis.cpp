// Ends and ticks of axes.
//
// Source: ticks at 1, 2 or 5 times a power of ten (Heckbert, "Nice numbers for graph labels",
// Graphics Gems, 1990). Held by tests/report/axis_test.cpp.
#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "isoloop/base.h"

namespace isoloop::report {
namespace {

constexpr int wanted_ticks = 5;

/// 1, 2 or 5 times a power of ten, so that about `wanted_ticks` steps cover `span`.
double nice_step(double span) {
  const double rough = span / wanted_ticks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * 0.999) return factor * power;
  return 10 * power;
}

std::string trimmed(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

struct Prefix {
  double scale = 1;
  std::string_view letter;
};
Prefix prefix_of(double size) {
  constexpr std::array<Prefix, 5> prefixes = {
      {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}, {1, ""}}};
  for (const Prefix& p : prefixes)
    if (size >= p.scale) return p;
  return {};
}

std::string superscript(int number) {
  constexpr std::array<std::string_view, 10> digits = {"⁰", "¹", "²", "³", "⁴",
                                                       "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result = number < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(number))) result += digits[std::size_t(c - '0')];
  return result;
}

/// Minus sign as typesetters write it.
std::string typeset(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

/// A tick's number with the decimals its step needs, large ones with one letter for the whole axis.
std::string tick_text(double at, double step, double largest) {
  if (largest >= 1e15 || (largest > 0 && largest < 1e-4))
    return typeset(trimmed(fmt::format("{:.3g}", at)));
  const Prefix prefix = largest >= 1e4 ? prefix_of(largest) : Prefix{};
  const int decimals =
      std::clamp(static_cast<int>(std::ceil(-std::log10(step / prefix.scale) - 1e-9)), 0, 8);
  if (std::abs(at) < step / 2) return "0";
  return typeset(fmt::format("{:.{}f}{}", at / prefix.scale, decimals, prefix.letter));
}

Scale linear(double low, double high) {
  // Values closer than this are one to an axis: ticks between them could not be told apart, and
  // counting them in doubles would not move.
  constexpr double same = 1e-12, nothing = 1e-300;
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= std::max(same * size, nothing)) {
    const double margin = size <= nothing ? 1 : size * 0.1;
    low -= margin;
    high += margin;
  }
  const double step = nice_step(high - low);
  Scale scale;
  const auto first = static_cast<std::int64_t>(std::floor(low / step + 1e-9));
  const auto last = static_cast<std::int64_t>(std::ceil(high / step - 1e-9));
  scale.low = static_cast<double>(first) * step;
  scale.high = static_cast<double>(last) * step;
  const double largest = std::max(std::abs(scale.low), std::abs(scale.high));
  for (std::int64_t i = first; i <= last; ++i) {
    const double at = static_cast<double>(i) * step;
    scale.ticks.push_back({at, tick_text(at, step, largest)});
  }
  return scale;
}

std::string power_text(int exponent) {
  if (exponent >= -3 && exponent < 0) return trimmed(fmt::format("{:.3f}", std::pow(10, exponent)));
  if (exponent >= 0 && exponent <= 3) return fmt::format("{:.0f}", std::pow(10, exponent));
  return "10" + superscript(exponent);
}

/// Decades with a number each; less than two of them get 2 and 5 between, too.
Scale logarithmic(double low, double high) {
  Scale scale;
  scale.log = true;
  const double decades = std::log10(high / low);
  const bool dense = decades < 2;
  const std::array<double, 3> factors = {1, 2, 5};
  constexpr double near = 1e-6;           // of a stop: on it
  const auto below = [&](double value) {  // the last stop at or below
    const double power = std::pow(10, std::floor(std::log10(value) + near));
    double best = power;
    for (const double f : factors)
      if (f * power <= value * (1 + near)) best = f * power;
    return best;
  };
  const auto above = [&](double value) {
    const double power = std::pow(10, std::floor(std::log10(value) + near));
    for (const double f : factors)
      if (f * power >= value * (1 - near)) return f * power;
    return 10 * power;
  };
  scale.low = below(low);
  scale.high = above(high);
  if (scale.low == scale.high) scale.high = above(scale.low * 1.5);
  const int first = static_cast<int>(std::floor(std::log10(scale.low) + 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(scale.high) + 1e-9));
  const int every = std::max(1, (last - first + 7) / 8);
  for (int exponent = first; exponent <= last; ++exponent)
    for (const double f : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0}) {
      const double at = f * std::pow(10, exponent);
      if (at < scale.low * (1 - 1e-9) || at > scale.high * (1 + 1e-9)) continue;
      std::string text;
      if (f == 1 && (exponent - first) % every == 0) text = power_text(exponent);
      if (dense && (f == 2 || f == 5))
        text = exponent >= -3 && exponent <= 3 ? trimmed(fmt::format("{:.4f}", at))
                                               : fmt::format("{}·10{}", f, superscript(exponent));
      if (last - first < 8 || !text.empty()) scale.ticks.push_back({at, text});
    }
  return scale;
}

void add_values(const Series& series, bool x, std::vector<double>& values) {
  for (const Point& p : series.points) {
    values.push_back(x ? p.x : p.y);
    if (x || !p.y_range) continue;
    values.push_back(p.y_range->low);
    values.push_back(p.y_range->high);
  }
}

Scale plot_scale(const Plot& plot, bool x) {
  std::vector<double> values;
  for (const Series& s : plot.series) add_values(s, x, values);
  for (const Guide& g : plot.guides)
    if (g.vertical == x) values.push_back(g.at);
  return scale_of(x ? plot.x : plot.y, values);
}

}  // namespace

double Scale::fraction(double value) const {
  if (log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

Scale scale_of(const Axis& axis, const std::vector<double>& values) {
  for (const double v : values)
    if (!std::isfinite(v) || (axis.log && v <= 0))
      throw internal_error(fmt::format("{} cannot stand on the axis '{}'", v, axis.title));
  double low = 0, high = 1;
  if (!values.empty()) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    low = *least;
    high = *most;
  }
  if (axis.log) return values.empty() ? logarithmic(1, 10) : logarithmic(low, high);
  if (axis.from_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  return linear(low, high);
}

Scale x_scale(const Plot& plot) { return plot_scale(plot, true); }
Scale y_scale(const Plot& plot) { return plot_scale(plot, false); }

Scale panel_scale(const Panel& panel) {
  std::vector<double> values;
  for (const auto& series : panel.bars)
    for (const Bar& bar : series) {
      values.push_back(bar.value);
      if (!bar.range) continue;
      values.push_back(bar.range->low);
      values.push_back(bar.range->high);
    }
  return scale_of({panel.title, panel.unit, false, true}, values);
}

std::string value_text(double value) {
  const double size = std::abs(value);
  if (size != 0 && (size >= 1e15 || size < 1e-4)) return typeset(fmt::format("{:.4g}", value));
  if (size < 1e4) {
    const int before = size < 1 ? 0 : static_cast<int>(std::floor(std::log10(size)));
    const int after =
        size == 0 || size >= 1 ? 3 - before : 3 - static_cast<int>(std::floor(std::log10(size)));
    return typeset(trimmed(fmt::format("{:.{}f}", value + 0.0, std::max(after, 0))));
  }
  const Prefix prefix = prefix_of(size);
  return typeset(trimmed(fmt::format("{:.4g}", value / prefix.scale)) + std::string(prefix.letter));
}

std::string axis_title(const Axis& axis) {
  return axis.unit.empty() ? axis.title : axis.title + " (" + axis.unit + ")";
}

}  // namespace isoloop::report
