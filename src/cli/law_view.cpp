// Shared by isoloop fit and isoloop gain.
//
// Held by tests/cli/law_test.cpp.
#include "cli/law_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/input.h"
#include "cli/options.h"

namespace isoloop::cli {

std::string significant(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string percent_text(double fraction, int digits) {
  return fmt::format("{:.{}f} %", fraction * 100, digits);
}

law::Law load_law(const std::string& argument, const Context& context) {
  if (argument.find('=') != std::string::npos)
    return law::parse_law(law::Family::smelt, argument, "law");
  if (argument == "-" || argument.ends_with(".json") || argument.find('/') != std::string::npos)
    return law::read_law(read_text(argument, context),
                         argument == "-" ? "standard input" : argument);
  return law::built_in_law(argument, "law");
}

std::vector<double> numbers(const std::string& text, const std::string& option, double most) {
  std::vector<double> result;
  for (const std::string& word : split(text, ',')) {
    const Ratio exact = parse_ratio(word, option);
    const double value = exact.to_double();
    if (!(value >= 0) || value > most || !std::isfinite(value))
      throw usage_error(fmt::format("'{}' is not a number from 0 to {:g}", word, most), option,
                        "write a list, e.g. 1e20,1e21 or 0.85,0.95");
    result.push_back(value);
  }
  return result;
}

void add_warnings(const std::vector<law::Warning>& warnings, report::Document& document) {
  for (const law::Warning& warning : warnings)
    document.blocks.emplace_back(report::Paragraph{"Warning: " + warning.text, report::Tone::warn});
}

}  // namespace isoloop::cli
