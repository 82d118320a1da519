// Texts the law commands share: numbers of a law, warnings, laws named on the command line.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "isoloop/law.h"

namespace isoloop::cli {

/// "1.4439", "1366", "5.26e+06": `digits` significant digits.
std::string significant(double value, int digits = 5);
std::string percent_text(double fraction, int digits = 1);
/// A law: built-in name, file written by fit --law, or "E=...,A=...,K=...,a=...,b=...,c=...".
law::Law load_law(const std::string& argument, const Context& context);
/// "1e20,1e21": positive numbers.
std::vector<double> numbers(const std::string& text, const std::string& option, double most);
void add_warnings(const std::vector<law::Warning>& warnings, report::Document& document);

}  // namespace isoloop::cli
