// From records to runs: which column is what, and which rows are no runs.
//
// Source: the definitions in law.h. Held by tests/law/runs_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isoloop/law.h"
#include "law/columns.h"
#include "law/numbers.h"
#include "law/records.h"

namespace isoloop::law {
namespace detail {

std::optional<double> value_of(const Run& run, Column column) {
  if (column == Column::loss) return run.loss;
  const auto member = info(column).member;
  return member ? run.*member : std::nullopt;
}

Column size_column(Family family) {
  return family == Family::smelt ? Column::flops : Column::params;
}

std::vector<Column> needed_columns(const Form& form) {
  std::vector<Column> out;
  if (form.size) out.push_back(size_column(form.family));
  if (form.size && form.sparsity && form.family == Family::smelt) out.push_back(Column::sparsity);
  if (form.data) out.push_back(Column::tokens);
  out.push_back(Column::loss);
  return out;
}

Column parse_column(std::string_view text, std::string_view where) {
  std::vector<std::string> known;
  for (const ColumnInfo& column : column_table) {
    if (text == column.name) return column.column;
    known.emplace_back(column.name);
  }
  throw unknown_name(ErrorKind::usage, "quantity", text, known, where);
}

}  // namespace detail

namespace {

using detail::ColumnInfo;
using detail::Records;

// Which column of the file is this quantity; none if the file has no such column.
std::optional<std::size_t> find_column(const Records& records, const ColumnInfo& wanted,
                                       const ColumnMap& map, std::string_view file) {
  const auto at = [&](std::string_view name) {
    return std::find(records.columns.begin(), records.columns.end(), name) -
           records.columns.begin();
  };
  const auto size = static_cast<std::ptrdiff_t>(records.columns.size());
  if (const auto mapped = map.find(wanted.column); mapped != map.end()) {
    if (at(mapped->second) == size)
      throw unknown_name(ErrorKind::input, "column", mapped->second, records.columns, file);
    return static_cast<std::size_t>(at(mapped->second));
  }
  std::optional<std::size_t> found;
  for (const std::string_view alias : wanted.aliases) {
    if (alias.empty() || at(alias) == size) continue;
    if (found)
      throw input_error(fmt::format("columns '{}' and '{}' may both be {}", records.columns[*found],
                                    alias, wanted.name),
                        std::string(file), fmt::format("say which: {}={}", wanted.name, alias));
    found = static_cast<std::size_t>(at(alias));
  }
  return found;
}

// Why a value cannot stand in this column; "" if it can.
std::string fault_of(Column column, double value) {
  const std::string shown = detail::number_text(value);
  if (std::isnan(value)) return "is NaN";
  if (std::isinf(value)) return "is infinite";
  if (column == Column::value) return "";
  if (column == Column::sparsity) {
    if (value >= 0 && value < 1) return "";
    return fmt::format("is {}; it is a fraction, at least 0 and below 1", shown);
  }
  if (!(value > 0)) return fmt::format("is {}; it must be positive", shown);
  if (column == Column::step_fraction && value > 1)
    return fmt::format("is {}; it is a fraction, at most 1", shown);
  return "";
}

// Where in the schedule a checkpoint is, in two columns.
struct Steps {
  std::optional<double> at, total;
};

// Puts one value where it belongs; says what is wrong with it, or nothing.
std::string store(Run& run, Steps& steps, const ColumnInfo& column, const std::string& text) {
  if (detail::is_text(column.column)) {
    (column.column == Column::cell ? run.cell : run.arch) = text;
    return "";
  }
  if (detail::trimmed(text).empty())
    return column.column == Column::loss ? fmt::format("{} is empty", column.name) : "";
  const auto number = detail::parse_number(text);
  if (!number) return fmt::format("{} is '{}', not a number", column.name, text);
  if (const std::string fault = fault_of(column.column, *number); !fault.empty())
    return fmt::format("{} {}", column.name, fault);
  if (column.member)
    run.*column.member = *number;
  else if (column.column == Column::loss)
    run.loss = *number;
  else
    (column.column == Column::step ? steps.at : steps.total) = *number;
  return "";
}

std::string place_in_schedule(Run& run, const Steps& steps) {
  if (!steps.at || !steps.total || run.step_fraction) return "";
  if (*steps.at > *steps.total)
    return fmt::format("step {} is beyond total_steps {}", detail::number_text(*steps.at),
                       detail::number_text(*steps.total));
  run.step_fraction = *steps.at / *steps.total;
  return "";
}

}  // namespace

ColumnMap parse_column_map(std::string_view text, std::string_view where) {
  ColumnMap map;
  for (const std::string_view item : detail::parse_list(text, where)) {
    const auto [quantity, column] = detail::parse_assignment(item, where);
    if (!map.emplace(detail::parse_column(quantity, where), column).second)
      throw usage_error(fmt::format("{} is given twice", quantity), std::string(where));
  }
  return map;
}

Runs read_runs(std::string_view text, std::string_view file, const ColumnMap& map) {
  const Records records = detail::read_records(text, file);
  Runs out;
  out.file = file;
  std::vector<std::pair<const ColumnInfo*, std::size_t>> found;
  for (const ColumnInfo& column : detail::column_table) {
    const auto at = find_column(records, column, map, file);
    if (!at) continue;
    found.emplace_back(&column, *at);
    out.columns[column.column] = records.columns[*at];
  }
  if (!out.columns.contains(Column::loss))
    throw input_error("no column holds the loss", out.file,
                      fmt::format("name it with loss=COLUMN; the columns are {}",
                                  fmt::join(records.columns, ", ")));
  for (const detail::Record& record : records.rows) {
    Run run;
    run.line = record.line;
    std::string fault = record.fault;
    Steps steps;
    for (const auto& [column, at] : found)
      if (fault.empty()) fault = store(run, steps, *column, record.values[at]);
    if (fault.empty()) fault = place_in_schedule(run, steps);
    if (fault.empty())
      out.rows.push_back(std::move(run));
    else
      out.skipped.push_back({record.line, std::move(fault)});
  }
  if (out.rows.empty()) {
    const std::string first = out.skipped.empty() ? "there are no rows"
                                                  : fmt::format("line {}: {}", out.skipped[0].line,
                                                                out.skipped[0].reason);
    throw input_error("no row can be used", out.file, first);
  }
  return out;
}

}  // namespace isoloop::law
