// Laws as values: from a fit, from pasted coefficients, and what rounding does to their answers.
//
// Source: the digits as printed decide half a unit of the last place. Held by
// tests/law/laws_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "isoloop/law.h"
#include "law/frontier.h"
#include "law/numbers.h"

namespace isoloop::law {
namespace detail {

void warn_of_law(const Law& law, std::vector<Warning>& out) {
  if (!is_rounded(law)) return;
  out.push_back({WarningKind::rounded,
                 fmt::format("the coefficients of {} are rounded as printed: see the rounding line "
                             "for how far answers may be off",
                             law.name.empty() ? "the law" : law.name)});
}

void warn_of_extrapolation(const Law& law, std::span<const double> budgets,
                           std::vector<Warning>& out) {
  const auto beyond = [&](double compute) { return is_extrapolated(law, compute); };
  const auto count = std::count_if(budgets.begin(), budgets.end(), beyond);
  if (count == 0) return;
  const double most = *std::max_element(budgets.begin(), budgets.end());
  const Range& window = law.window.compute;
  std::string how_far;
  if (most > window.high)
    how_far = fmt::format("; {:.1e} is {:.1f} C_max", most, most / window.high);
  out.push_back({WarningKind::extrapolated,
                 fmt::format("{} of {} budgets lie outside the fitted window of {}, {:.1e} .. "
                             "{:.1e}{}: trust the interval, not the point; pinning E may help",
                             count, budgets.size(), law.name.empty() ? "the law" : law.name,
                             window.low, window.high, how_far)});
}

}  // namespace detail

bool is_rounded(const Law& law) {
  return std::any_of(law.half_units.values.begin(), law.half_units.values.end(),
                     [](double half) { return half > 0; });
}

Law law_of(const Fit& fit, std::string name, std::optional<Draws> draws) {
  Law law;
  law.name = std::move(name);
  law.form = fit.form;
  law.coefficients = fit.coefficients;
  law.source = fmt::format("fitted to {} runs", fit.rows);
  law.size_meaning = fit.options.size_meaning;
  law.window = fit.window;
  law.draws = std::move(draws);
  return law;
}

Law parse_law(Family family, std::string_view text, std::string_view where) {
  Law law;
  law.form.family = family;
  law.source = "given as text";
  std::array<bool, coefficient_count> seen{};
  for (const std::string_view item : detail::parse_list(text, where)) {
    const auto [left, right] = detail::parse_assignment(item, where);
    const Coefficient which = parse_coefficient(family, left, where);
    const auto value = detail::parse_number(right);
    if (!value || !std::isfinite(*value))
      throw usage_error(fmt::format("'{}' is no number", right), std::string(where));
    if (std::exchange(seen[static_cast<std::size_t>(which)], true))
      throw usage_error(fmt::format("{} is given twice", left), std::string(where));
    law.coefficients[which] = *value;
    law.half_units[which] = detail::half_unit(right);
  }
  const auto has = [&](Coefficient which) { return seen[static_cast<std::size_t>(which)]; };
  law.form.floor = has(Coefficient::E);
  law.form.size = has(Coefficient::A) || has(Coefficient::a);
  law.form.sparsity = has(Coefficient::b);
  law.form.data = has(Coefficient::K) || has(Coefficient::c);
  for (const Coefficient which : coefficients_of(law.form))
    if (!has(which))
      throw usage_error(fmt::format("{} is missing", isoloop::law::name(family, which)),
                        std::string(where));
  return law;
}

Rounding rounding(std::span<const Law> laws,
                  const std::function<double(std::span<const Law>)>& answer) {
  std::vector<Law> changed(laws.begin(), laws.end());
  Rounding out;
  out.value = answer(changed);
  for (std::size_t i = 0; i < changed.size(); ++i)
    for (const Coefficient which : coefficients_of(changed[i].form)) {
      const double half = changed[i].half_units[which];
      if (half == 0) continue;
      changed[i].coefficients[which] += half;
      const double change = answer(changed) - out.value;
      changed[i].coefficients[which] = laws[i].coefficients[which];
      out.lines.push_back(
          {fmt::format("{} of {}", name(laws[i].form.family, which), laws[i].name), half, change});
      out.total += std::abs(change);
    }
  return out;
}

}  // namespace isoloop::law
