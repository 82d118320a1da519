// Shared by isoloop fit, isoloop gain and isoloop allocate.
//
// Held by tests/cli/law_test.cpp, fit_test.cpp and allocate_test.cpp.
#include "cli/law_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/input.h"
#include "cli/options.h"

namespace isoloop::cli {

using Json = nlohmann::ordered_json;

std::string significant(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string percent_text(double fraction, int digits) {
  return fmt::format("{:.{}f} %", fraction * 100, digits);
}

std::string interval_text(const std::optional<law::Interval>& interval, int digits) {
  if (!interval) return "";
  return fmt::format("{} to {}", significant(interval->low, digits),
                     significant(interval->high, digits));
}

law::Law load_law(const std::string& argument, const Context& context, const std::string& where) {
  if (argument.find('=') != std::string::npos) {
    const bool chinchilla =
        argument.find("alpha") != std::string::npos || argument.find("beta") != std::string::npos;
    law::Law law =
        law::parse_law(chinchilla ? law::Family::chinchilla : law::Family::smelt, argument, where);
    law.name = "pasted law";
    return law;
  }
  if (argument == "-" || argument.ends_with(".json") || argument.find('/') != std::string::npos)
    return law::read_law(read_text(argument, context),
                         argument == "-" ? "standard input" : argument);
  return law::built_in_law(argument, where);
}

std::int64_t whole_number(const std::string& text, const std::string& option, std::int64_t least,
                          std::int64_t most) {
  const Ratio value = parse_ratio(text, option);
  if (!value.is_integer() || value < Ratio(least) || value > Ratio(most))
    throw usage_error(fmt::format("'{}' is not a whole number from {} to {}", text, least, most),
                      option);
  return value.num().to_int64();
}

bool has_sparsity(const law::Law& law) {
  const auto all = law::coefficients_of(law.form);
  return std::find(all.begin(), all.end(), law::Coefficient::b) != all.end();
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

namespace {

/// Throws for the first that `wanted` does not take.
template <class F>
std::vector<double> checked(std::vector<double> values, const char* option, const char* expected,
                            const char* hint, F wanted) {
  for (const double value : values)
    if (!wanted(value))
      throw usage_error(fmt::format("{:g} is not {}", value, expected), option, hint);
  return values;
}

}  // namespace

std::vector<double> budgets_of(const std::string& text) {
  return checked(numbers(text, "--compute", largest_budget), "--compute",
                 "a positive number of training FLOPs", "write a list, e.g. 1e20,1e21",
                 [](double value) { return value > 0; });
}

std::vector<double> sparsities_of(const std::string& text) {
  return checked(numbers(text.empty() ? "0.85,0.95,0.97" : text, "--sparsity", 1), "--sparsity",
                 "a fraction of at least 0 and below 1", "write a list, e.g. 0.85,0.95",
                 [](double value) { return value < 1; });
}

std::vector<double> sizes_of(const std::string& text) {
  constexpr double largest_size = 1e6;
  return checked(numbers(text, "--sizes", largest_size), "--sizes", "a positive share of F*",
                 "write a list, e.g. 0.5,2", [](double value) { return value > 0; });
}

void add_warnings(const std::vector<law::Warning>& warnings, report::Document& document) {
  for (const law::Warning& warning : warnings)
    document.blocks.emplace_back(report::Paragraph{"Warning: " + warning.text, report::Tone::warn});
}

law::Progress progress(const Context& context, const char* what) {
  if (!context.streams.err_is_terminal || context.common.quiet) return {};
  return [&context, what](std::size_t done, std::size_t total) {
    context.streams.err << fmt::format("\r{} {} of {} ", what, done, total) << std::flush;
    if (done == total) context.streams.err << "\r\033[K" << std::flush;
  };
}

Json finite_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json interval_json(const std::optional<law::Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", finite_json(interval->low)}, {"high", finite_json(interval->high)}};
}

Json warnings_json(const std::vector<law::Warning>& warnings) {
  Json out = Json::array();
  for (const law::Warning& warning : warnings) out.push_back(warning.text);
  return out;
}

std::vector<double> budgets_between(double low, double high, std::size_t count) {
  std::vector<double> out;
  const double step = std::log(high / low) / static_cast<double>(count - 1);
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(low * std::exp(step * static_cast<double>(i)));
  return out;
}

std::vector<double> picture_budgets(const law::Law& law) {
  constexpr std::size_t count = 33;
  const law::Range& window = law.window.compute;
  if (!(window.low > 0)) return budgets_between(1e18, 1e24, count);
  return budgets_between(window.low, 10 * window.high, count);
}

namespace {

Json frontier_points(const law::Frontier& frontier) {
  Json out = Json::array();
  for (const law::FrontierPoint& p : frontier.points)
    out.push_back({{"compute", p.compute},
                   {"loss_nats", p.loss},
                   {"low", p.loss_interval ? finite_json(p.loss_interval->low) : Json(nullptr)},
                   {"high", p.loss_interval ? finite_json(p.loss_interval->high) : Json(nullptr)},
                   {"flops_per_token", p.flops_per_token},
                   {"tokens", p.tokens},
                   {"extrapolated", p.extrapolated}});
  return out;
}

/// Nothing where the law has no optimum: a term is missing, an exponent is not positive.
std::optional<law::Frontier> frontier_of(const law::Law& law, double sparsity,
                                         const std::vector<double>& budgets) {
  try {
    return law::frontier(law, sparsity, budgets);
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    return {};
  }
}

}  // namespace

Json frontiers_json(const law::Law& law, const std::vector<double>& sparsities,
                    const std::vector<double>& budgets) {
  Json out = Json::array();
  for (const double sparsity : sparsities)
    if (const auto frontier = frontier_of(law, sparsity, budgets))
      out.push_back({{"law", law.name},
                     {"sparsity", sparsity},
                     {"gamma", frontier->gamma},
                     {"gamma_interval", interval_json(frontier->gamma_interval)},
                     {"points", frontier_points(*frontier)}});
  return out;
}

}  // namespace isoloop::cli
