// Texts and JSON the law commands share: numbers of a law, warnings, frontiers, laws named on the
// command line. docs/laws.md lists the JSON keys.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "isoloop/law.h"

namespace isoloop::cli {

/// "1.4439", "1366", "5.26e+06": `digits` significant digits.
std::string significant(double value, int digits = 5);
std::string percent_text(double fraction, int digits = 1);
/// "1.23 to 1.45"; "" for none.
std::string interval_text(const std::optional<law::Interval>& interval, int digits = 5);
/// A law: built-in name, file written by fit --law, or "E=...,A=...,K=...,a=...,b=...,c=..." (for
/// chinchilla "E=...,A=...,B=...,alpha=...,beta=..."). `where` is the argument's name.
law::Law load_law(const std::string& argument, const Context& context,
                  const std::string& where = "law");
std::int64_t whole_number(const std::string& text, const std::string& option, std::int64_t least,
                          std::int64_t most);
/// The law has the factor (1-S)^b.
bool has_sparsity(const law::Law& law);
/// "1e20,1e21": numbers from 0 to `most`.
std::vector<double> numbers(const std::string& text, const std::string& option, double most);
/// Budgets C in training FLOPs, above 0; throws Error (kind usage) at --compute.
std::vector<double> budgets_of(const std::string& text);
inline constexpr double largest_budget = 1e40;
/// Sparsities as given, at least 0 and below 1; the paper's three if nothing is given. Throws Error
/// (kind usage) at --sparsity.
std::vector<double> sparsities_of(const std::string& text);
inline constexpr const char* sparsity_help = "Sparsities S (default 0.85,0.95,0.97)";
/// Other sizes as F / F*, above 0; throws Error (kind usage) at --sizes.
std::vector<double> sizes_of(const std::string& text);
void add_warnings(const std::vector<law::Warning>& warnings, report::Document& document);
/// A progress line on a terminal, nothing elsewhere.
law::Progress progress(const Context& context, const char* what);

/// JSON has no infinity and no NaN: null.
nlohmann::ordered_json finite_json(double value);
/// {"low", "high"}, or null.
nlohmann::ordered_json interval_json(const std::optional<law::Interval>& interval);
nlohmann::ordered_json warnings_json(const std::vector<law::Warning>& warnings);
/// `count` budgets from low to high, evenly on a logarithmic scale.
std::vector<double> budgets_between(double low, double high, std::size_t count);
/// Budgets for a picture: the fitted window and a decade on.
std::vector<double> picture_budgets(const law::Law& law);
/// A frontier for every sparsity: {law, sparsity, gamma, points[]}; empty where there is no
/// optimum.
nlohmann::ordered_json frontiers_json(const law::Law& law, const std::vector<double>& sparsities,
                                      const std::vector<double>& budgets);

}  // namespace isoloop::cli
