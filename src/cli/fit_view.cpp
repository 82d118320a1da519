// A fit as text: coefficients with intervals, how the search went, what was left out.
//
// Held by tests/cli/fit_test.cpp.
#include "cli/fit_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/law_view.h"

namespace isoloop::cli {
namespace {

using report::Align;

bool is_free(const law::Fit& fit, law::Coefficient which) {
  return std::find(fit.free.begin(), fit.free.end(), which) != fit.free.end();
}

report::Table coefficient_table(const FitView& view) {
  const law::Fit& fit = view.fit;
  report::Table table;
  table.title = law::equation(fit.form);
  table.columns = {{"coefficient", "", Align::left}, {"value"}, {"95 % interval", "", Align::left}};
  for (const law::Coefficient which : law::coefficients_of(fit.form)) {
    std::string range = is_free(fit, which) ? "" : "pinned";
    if (is_free(fit, which) && view.intervals)
      range = interval_text((*view.intervals)[static_cast<std::size_t>(which)]);
    table.rows.push_back({std::string(law::name(fit.form.family, which)),
                          significant(fit.coefficients[which], 8), range});
  }
  return table;
}

/// The pairs of coefficients that move together most.
std::string correlation_text(const law::Fit& fit) {
  constexpr std::size_t most = 3;
  std::vector<std::tuple<double, std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < fit.free.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) pairs.emplace_back(fit.correlations[i][j], j, i);
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& x, const auto& y) {
    return std::abs(std::get<0>(x)) > std::abs(std::get<0>(y));
  });
  std::string text;
  for (std::size_t k = 0; k < std::min(most, pairs.size()); ++k) {
    const auto& [r, i, j] = pairs[k];
    text += fmt::format("{}{} and {} {:+.3f}", text.empty() ? "" : ", ",
                        law::name(fit.form.family, fit.free[i]),
                        law::name(fit.form.family, fit.free[j]), r);
  }
  return text;
}

std::string objective_text(const law::Fit& fit) {
  std::string text =
      fmt::format("{} (sum of {}", significant(fit.objective, 13), law::name(fit.options.penalty));
  if (fit.options.penalty == law::Penalty::huber)
    text += fmt::format(", delta {} in log-loss; {} of the residuals inside",
                        significant(fit.options.delta), percent_text(fit.inside_delta));
  return text + ")";
}

std::string window_text(const law::Range& range) {
  return fmt::format("{} to {}", significant(range.low, 4), significant(range.high, 4));
}

void add_search(const law::Fit& fit, report::Facts& f) {
  f.lines.emplace_back("objective", objective_text(fit));
  f.lines.emplace_back("rmse", significant(fit.rmse_nats) + " nats");
  f.lines.emplace_back(
      "starts",
      fmt::format(
          "{} tried, {} reached the best optimum{}", fit.starts.tried, fit.starts.reached,
          fit.starts.dead > 0 ? fmt::format(", {} lost a term", fit.starts.dead) : std::string()));
  if (fit.second_basin)
    f.lines.emplace_back("next optimum",
                         fmt::format("{} x the best objective, reached by {}",
                                     significant(fit.second_basin->objective / fit.objective, 4),
                                     fit.second_basin->reached));
  f.lines.emplace_back(
      "stopped", fmt::format("{} after {} iterations, gradient {}, relative {}",
                             law::name(fit.stop), fit.iterations, significant(fit.gradient_norm, 2),
                             significant(fit.relative_gradient, 2)));
  f.lines.emplace_back(
      "condition", fmt::format("{} centred, {} in raw coefficients", significant(fit.condition, 3),
                               significant(fit.condition_raw, 3)));
  if (fit.free.size() > 1) f.lines.emplace_back("correlations", correlation_text(fit));
}

void add_rows(const FitView& view, report::Facts& f) {
  const law::Fit& fit = view.fit;
  f.lines.emplace_back("rows", fmt::format("{} used, {} skipped", fit.rows, fit.skipped.size()));
  if (!fit.options.size_meaning.empty())
    f.lines.emplace_back(fit.form.family == law::Family::smelt ? "F" : "N",
                         fit.options.size_meaning);
  if (fit.window.compute.high > 0)
    f.lines.emplace_back("fitted window", "C " + window_text(fit.window.compute));
  if (fit.compute_check)
    f.lines.emplace_back(
        "stated C", fmt::format("{} rows, {} of them more than 5 % off; at most {:+.1f} %, line {}",
                                fit.compute_check->rows, fit.compute_check->above,
                                100 * fit.compute_check->worst, fit.compute_check->line));
  for (const law::Excluded& e : fit.excluded)
    f.lines.emplace_back("excluded", fmt::format("{}: {} rows", e.rule, e.rows));
  for (const law::Skipped& s : fit.skipped)
    f.lines.emplace_back("skipped", fmt::format("line {}: {}", s.line, s.reason));
}

report::Facts facts(const FitView& view) {
  report::Facts f;
  add_rows(view, f);
  add_search(view.fit, f);
  if (const auto& draws = view.law.draws)
    f.lines.emplace_back("intervals", fmt::format("{} draws by {}, seed {}", draws->values.size(),
                                                  draws->by_cell ? "cell" : "row", draws->seed));
  return f;
}

report::Table refit_table(const law::Fit& fit, const RefitTable& refits) {
  report::Table table;
  table.title = refits.title;
  table.columns = {{refits.what, "", Align::left}, {"rows"}};
  for (const law::Coefficient which : fit.free)
    table.columns.push_back({std::string(law::name(fit.form.family, which))});
  table.columns.push_back({"objective"});
  std::vector<report::Cell> all = {"(this fit)", std::to_string(fit.rows)};
  for (const law::Coefficient which : fit.free)
    all.emplace_back(significant(fit.coefficients[which], 6));
  all.emplace_back(significant(fit.objective, 6));
  table.rows.push_back(std::move(all));
  table.rules.push_back(1);
  for (const law::Refit& refit : refits.sensitivity.refits) {
    std::vector<report::Cell> row = {refit.what, std::to_string(refit.rows)};
    for (const law::Coefficient which : fit.free)
      row.emplace_back(significant(refit.coefficients[which], 6));
    row.emplace_back(significant(refit.objective, 6));
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Table residual_table(const law::Fit& fit) {
  report::Table table;
  table.title = "Residuals";
  table.columns = {{"line"},
                   {"cell", "", Align::left},
                   {"observed", "nats"},
                   {"predicted", "nats"},
                   {"predicted / observed", "less 1"}};
  for (std::size_t i = 0; i < fit.residuals.size(); ++i) {
    const law::Residual& r = fit.residuals[i];
    table.rows.push_back({std::to_string(r.line), fit.used[i].cell, significant(r.observed, 6),
                          significant(r.predicted, 6),
                          fmt::format("{:+.3f} %", 100 * std::expm1(r.log_ratio))});
  }
  return table;
}

}  // namespace

report::Document fit_document(const FitView& view) {
  report::Document document;
  document.blocks.emplace_back(coefficient_table(view));
  document.blocks.emplace_back(facts(view));
  for (const RefitTable& refits : view.refits)
    document.blocks.emplace_back(refit_table(view.fit, refits));
  if (view.residuals) document.blocks.emplace_back(residual_table(view.fit));
  add_warnings(view.warnings, document);
  document.blocks.emplace_back(report::Paragraph{view.next});
  return document;
}

}  // namespace isoloop::cli
