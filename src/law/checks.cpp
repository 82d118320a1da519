// What the rows alone give reason to warn of; see select.h.
//
// Source: arXiv 2406.19146 and 2406.12907 (which N, which C), 2405.18392 (checkpoints inside a
// schedule), 2404.10102 (rows). Held by tests/law/traps_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "law/columns.h"
#include "law/numbers.h"
#include "law/select.h"

namespace isoloop::law::detail {
namespace {

constexpr double compute_tolerance = 0.05;

// C as the form has it: F D, or 6 N D.
std::optional<double> compute_of(const Form& form, const Run& run) {
  const auto size = value_of(run, size_column(form.family));
  if (!size || !run.tokens) return {};
  return (form.family == Family::smelt ? 1 : 6) * *size * *run.tokens;
}

std::vector<double> point_of(const Form& form, const Run& run) {
  std::vector<double> point;
  for (const Column column : needed_columns(form))
    if (column != Column::loss) point.push_back(*value_of(run, column));
  return point;
}

void warn_of_repeats(const Form& form, const std::vector<Run>& rows, std::vector<Warning>& out) {
  std::map<std::vector<double>, const Run*> seen;
  std::string duplicate, repeated;
  std::size_t duplicates = 0, repeats = 0;
  for (const Run& run : rows) {
    const auto [at, is_new] = seen.emplace(point_of(form, run), &run);
    if (is_new) continue;
    const bool same = at->second->loss == run.loss;
    std::string& first = same ? duplicate : repeated;
    if (first.empty()) first = fmt::format("lines {} and {}", at->second->line, run.line);
    ++(same ? duplicates : repeats);
  }
  if (duplicates > 0)
    out.push_back({WarningKind::duplicates,
                   fmt::format("{} rows repeat another one (first: {}): each counts again",
                               duplicates, duplicate)});
  const bool has_cells =
      std::any_of(rows.begin(), rows.end(), [](const Run& run) { return !run.cell.empty(); });
  if (repeats > 0 && !has_cells)
    out.push_back({WarningKind::repeated_points,
                   fmt::format("{} rows repeat the point of another with another loss (first: {}): "
                               "seeds are not independent; name a cell column",
                               repeats, repeated)});
}

void warn_of_compute(const Form& form, const std::vector<Run>& rows, std::vector<Warning>& out) {
  const auto check = check_compute(form, rows);
  if (!check || check->above == 0) return;
  out.push_back({WarningKind::compute_mismatch,
                 fmt::format("C differs from {} by more than 5 % in {} of {} rows (most in line "
                             "{}: {:+.1f} %): embeddings, attention or tokens are counted "
                             "differently in the two",
                             form.family == Family::smelt ? "F D" : "6 N D", check->above,
                             check->rows, check->line, 100 * check->worst)});
}

void warn_of_schedule(const std::vector<Run>& rows, std::vector<Warning>& out) {
  const auto inside = [](const Run& run) { return run.step_fraction.value_or(1) < 1; };
  const auto first = std::find_if(rows.begin(), rows.end(), inside);
  if (first == rows.end()) return;
  out.push_back(
      {WarningKind::inside_schedule,
       fmt::format("{} rows are checkpoints inside a learning-rate schedule (first: line {}, step "
                   "fraction {}): their loss is above that of a finished run",
                   std::count_if(rows.begin(), rows.end(), inside), first->line,
                   number_text(*first->step_fraction))});
}

// Values so far off that the unit is likely another one.
void warn_of_units(const Form& form, const std::vector<Run>& rows, std::vector<Warning>& out) {
  struct Bound {
    Column column;
    double low, high;
    std::string_view unit;
  };
  constexpr Bound bounds[] = {{Column::flops, 1e5, 1e16, "training FLOPs per token"},
                              {Column::params, 1e4, 1e15, "parameters"},
                              {Column::tokens, 1e5, 1e17, "tokens"},
                              {Column::loss, 1e-3, 20, "nats per token"}};
  for (const Column column : needed_columns(form)) {
    const auto bound = std::find_if(std::begin(bounds), std::end(bounds),
                                    [&](const Bound& b) { return b.column == column; });
    if (bound == std::end(bounds)) continue;
    const auto off = std::find_if(rows.begin(), rows.end(), [&](const Run& run) {
      const double value = *value_of(run, column);
      return value < bound->low || value > bound->high;
    });
    if (off == rows.end()) continue;
    out.push_back({WarningKind::units,
                   fmt::format("{} is {} in line {}: is it in {}?", info(column).name,
                               number_text(*value_of(*off, column)), off->line, bound->unit)});
  }
}

void warn_of_size(const Form& form, const FitOptions& options, std::vector<Warning>& out) {
  if (!form.size || !options.size_meaning.empty()) return;
  const bool smelt = form.family == Family::smelt;
  out.push_back(
      {WarningKind::size_unnamed,
       fmt::format("it is not said which {} this is: {}, with or without embeddings",
                   smelt ? "F" : "N", smelt ? "with or without attention" : "total or active")});
}

}  // namespace

std::optional<ComputeCheck> check_compute(const Form& form, const std::vector<Run>& rows) {
  ComputeCheck check;
  for (const Run& run : rows) {
    const auto expected = compute_of(form, run);
    if (!run.compute || !expected) continue;
    ++check.rows;
    const double difference = *run.compute / *expected - 1;
    if (std::abs(difference) > compute_tolerance) ++check.above;
    if (check.line != 0 && std::abs(difference) <= std::abs(check.worst)) continue;
    check.worst = difference;
    check.line = run.line;
  }
  if (check.rows == 0) return {};
  return check;
}

Window window_of(const Form& form, const std::vector<Run>& rows) {
  Window window;
  const auto include = [](Range& range, const std::optional<double>& value) {
    if (!value) return;
    const bool empty = range == Range{};
    range = {empty ? *value : std::min(range.low, *value),
             empty ? *value : std::max(range.high, *value)};
  };
  for (const Run& run : rows) {
    const auto compute = compute_of(form, run);
    include(window.compute, compute ? compute : run.compute);
    include(window.size, value_of(run, size_column(form.family)));
    include(window.tokens, run.tokens);
    include(window.sparsity, run.sparsity);
    include(window.loss, run.loss);
  }
  return window;
}

std::vector<Warning> warnings_of(const Form& form, const Selection& selection,
                                 const FitOptions& options) {
  std::vector<Warning> out;
  if (!selection.skipped.empty())
    out.push_back(
        {WarningKind::skipped_rows,
         fmt::format("{} rows cannot be used (first: line {}, {})", selection.skipped.size(),
                     selection.skipped[0].line, selection.skipped[0].reason)});
  warn_of_size(form, options, out);
  warn_of_units(form, selection.rows, out);
  warn_of_compute(form, selection.rows, out);
  warn_of_schedule(selection.rows, out);
  warn_of_repeats(form, selection.rows, out);
  return out;
}

}  // namespace isoloop::law::detail
