// Choosing the rows of a fit; see select.h.
//
// Source: a term of the law is known only where its axis takes several values. Held by
// tests/law/select_test.cpp.
#include "law/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "law/columns.h"
#include "law/numbers.h"

namespace isoloop::law {
namespace detail {
namespace {

bool matches(const Exclusion& rule, const Run& run) {
  const auto value = value_of(run, rule.column);
  if (!value) return false;
  switch (rule.op) {
    case Exclusion::Op::less:
      return *value < rule.value;
    case Exclusion::Op::at_most:
      return *value <= rule.value;
    case Exclusion::Op::equal:
      return *value == rule.value;
    case Exclusion::Op::at_least:
      return *value >= rule.value;
    default:
      return *value > rule.value;
  }
}

std::string named(Column column) {
  return fmt::format("{} ({})", info(column).name, info(column).letter);
}

void need_columns(const Runs& runs, const Form& form) {
  for (const Column column : needed_columns(form)) {
    const auto has = [&](const Run& run) { return value_of(run, column).has_value(); };
    if (runs.columns.contains(column) || std::any_of(runs.rows.begin(), runs.rows.end(), has))
      continue;
    throw input_error(
        fmt::format("no column holds {}, which {} needs", named(column), equation(form)), runs.file,
        fmt::format("name it with {}=COLUMN", info(column).name));
  }
}

// Takes the rows of highest loss out; of equal losses the later line goes first.
void drop_highest_loss(Selection& out, std::size_t count) {
  if (count == 0) return;
  std::vector<std::size_t> order(out.rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](auto i, auto j) { return out.rows[i].loss < out.rows[j].loss; });
  order.resize(order.size() - std::min(order.size(), count));
  std::sort(order.begin(), order.end());
  std::vector<Run> kept;
  for (const std::size_t i : order) kept.push_back(std::move(out.rows[i]));
  out.excluded.push_back({fmt::format("{} highest losses", count), out.rows.size() - kept.size()});
  out.rows = std::move(kept);
}

std::set<double> values_on(const std::vector<Run>& rows, Column column) {
  std::set<double> out;
  for (const Run& run : rows) out.insert(*value_of(run, column));
  return out;
}

void check_count(const Runs& runs, const Form& form, const std::vector<Run>& rows) {
  const std::size_t free = free_coefficients(form).size();
  const std::vector<Column> axes = needed_columns(form);
  std::set<std::vector<double>> points;
  for (const Run& run : rows) {
    std::vector<double> point;
    for (const Column axis : axes)
      if (axis != Column::loss) point.push_back(*value_of(run, axis));
    points.insert(std::move(point));
  }
  if (points.size() >= free) return;
  throw input_error(
      fmt::format("{} rows at {} different points can be used; {} has {} free coefficients",
                  rows.size(), points.size(), equation(form), free),
      runs.file, "pin coefficients or leave terms out");
}

// With one value on an axis a term is one number, so at most one of its unknowns can be told.
void check_axis(const Runs& runs, const Form& form, const std::vector<Run>& rows, Column axis,
                std::initializer_list<Coefficient> unknowns, std::string_view term,
                std::string_view what) {
  const std::set<double> values = values_on(rows, axis);
  const std::vector<Coefficient> free = free_coefficients(form);
  const auto is_free = [&](Coefficient which) {
    return std::find(free.begin(), free.end(), which) != free.end();
  };
  const auto count = std::count_if(unknowns.begin(), unknowns.end(), is_free);
  const bool no_effect = axis == Column::sparsity && values == std::set<double>{0};
  if (values.size() > 1 || count == 0 || (count == 1 && !no_effect)) return;
  throw input_error(fmt::format("{} has one value, {}, in all {} rows: {} cannot be fitted",
                                named(axis), number_text(*values.begin()), rows.size(), what),
                    runs.file, fmt::format("leave {} out, or pin its coefficients", term));
}

void check_axes(const Runs& runs, const Form& form, const std::vector<Run>& rows) {
  using enum Coefficient;
  const std::string_view size = name(form.family, a), tokens = name(form.family, c);
  if (form.size && form.family == Family::smelt && form.sparsity)
    check_axis(runs, form, rows, Column::sparsity, {A, b}, "the sparsity factor",
               "the factor (1-S)^b");
  if (form.size)
    check_axis(runs, form, rows, size_column(form.family), {A, a}, "the size term",
               fmt::format("the term {} / {}^{}", name(form.family, A),
                           info(size_column(form.family)).letter, size));
  if (form.data)
    check_axis(runs, form, rows, Column::tokens, {E, K, c}, "the data term",
               fmt::format("the term {} / D^{}", name(form.family, K), tokens));
}

}  // namespace

Selection select(const Runs& runs, const Form& form, const FitOptions& options) {
  need_columns(runs, form);
  Selection out;
  out.skipped = runs.skipped;
  for (const Exclusion& rule : options.exclude) out.excluded.push_back({text(rule), 0});
  for (const Run& run : runs.rows) {
    std::size_t rule = 0;
    while (rule < options.exclude.size() && !matches(options.exclude[rule], run)) ++rule;
    if (rule < options.exclude.size()) {
      ++out.excluded[rule].rows;
      continue;
    }
    const std::vector<Column> needed = needed_columns(form);
    const auto missing = std::find_if(needed.begin(), needed.end(),
                                      [&](Column column) { return !value_of(run, column); });
    if (missing == needed.end())
      out.rows.push_back(run);
    else
      out.skipped.push_back({run.line, fmt::format("{} is empty", info(*missing).name)});
  }
  std::stable_sort(out.skipped.begin(), out.skipped.end(),
                   [](const Skipped& x, const Skipped& y) { return x.line < y.line; });
  drop_highest_loss(out, options.drop_highest_loss);
  check_count(runs, form, out.rows);
  check_axes(runs, form, out.rows);
  return out;
}

}  // namespace detail

Exclusion parse_exclusion(std::string_view text, std::string_view where) {
  using Op = Exclusion::Op;
  const auto at = text.find_first_of("<>=");
  if (at == std::string_view::npos)
    throw usage_error(fmt::format("'{}' is no rule", text), std::string(where),
                      "write a quantity, one of < <= = >= >, and a number: sparsity<=0");
  const bool two = at + 1 < text.size() && text[at + 1] == '=' && text[at] != '=';
  Exclusion rule;
  rule.column = detail::parse_column(detail::trimmed(text.substr(0, at)), where);
  if (text[at] == '<') rule.op = two ? Op::at_most : Op::less;
  if (text[at] == '>') rule.op = two ? Op::at_least : Op::greater;
  const std::string_view number = detail::trimmed(text.substr(at + (two ? 2 : 1)));
  const auto value = detail::parse_number(number);
  if (detail::is_text(rule.column))
    throw usage_error(fmt::format("{} is text and has no order", detail::info(rule.column).name),
                      std::string(where));
  if (rule.column == Column::step || rule.column == Column::total_steps)
    throw usage_error(fmt::format("{} cannot be compared", detail::info(rule.column).name),
                      std::string(where), "write step_fraction<1");
  if (!value) throw usage_error(fmt::format("'{}' is no number", number), std::string(where));
  rule.value = *value;
  return rule;
}

std::string text(const Exclusion& rule) {
  constexpr std::array<std::string_view, 5> ops = {"<", "<=", "=", ">=", ">"};
  return fmt::format("{} {} {}", detail::info(rule.column).name,
                     ops[static_cast<std::size_t>(rule.op)], detail::number_text(rule.value));
}

}  // namespace isoloop::law
