// Where an axis ends and where its ticks stand.
//
// One definition for both writers that draw. Held by tests/report/axis_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isoloop/report.h"

namespace isoloop::report {

struct Tick {
  double at = 0;
  std::string text;  // "" = a tick without a number
};
struct Scale {
  double low = 0, high = 1;
  bool log = false;
  std::vector<Tick> ticks;
  /// 0 at `low`, 1 at `high`.
  double fraction(double value) const;
};

/// A scale over the values, widened to round numbers. No values: 0 to 1 (log: 1 to 10). Values of a
/// log axis that are not positive are an Error (kind internal), as is what is not finite.
Scale scale_of(const Axis& axis, const std::vector<double>& values);
Scale x_scale(const Plot& plot);
Scale y_scale(const Plot& plot);
/// Of the values of a panel; zero is always on it.
Scale panel_scale(const Panel& panel);

/// A value for people: four significant digits, "1,234", "6.31M", "1.29e20".
std::string value_text(double value);
/// "FLOPs per token", "gain, %": title and unit.
std::string axis_title(const Axis& axis);

}  // namespace isoloop::report
