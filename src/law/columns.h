// The columns of a table of runs: what they are called, what they may hold, how a run keeps them.
//
// Held by tests/law/runs_test.cpp.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/law.h"

namespace isoloop::law::detail {

struct ColumnInfo {
  Column column;
  std::string_view name;                    // in column maps and messages
  std::string_view letter;                  // in formulas
  std::array<std::string_view, 5> aliases;  // usual names in files
  std::optional<double> Run::*member;       // null for loss, step, total_steps and texts
};
/// By Column.
inline constexpr std::array<ColumnInfo, 12> column_table = {{
    {Column::flops,
     "flops",
     "F",
     {"flops", "flops_per_token", "F", "F_per_token_train", "train_flops_per_token"},
     &Run::flops},
    {Column::params, "params", "N", {"params", "parameters", "N"}, &Run::params},
    {Column::tokens, "tokens", "D", {"tokens", "D", "D_tokens"}, &Run::tokens},
    {Column::sparsity, "sparsity", "S", {"sparsity", "S"}, &Run::sparsity},
    {Column::loss, "loss", "L", {"loss", "L", "val_loss"}, nullptr},
    {Column::compute, "compute", "C", {"compute", "C", "train_flops"}, &Run::compute},
    {Column::step_fraction, "step_fraction", "", {"step_fraction"}, &Run::step_fraction},
    {Column::step, "step", "", {"step"}, nullptr},
    {Column::total_steps, "total_steps", "", {"total_steps"}, nullptr},
    {Column::value, "value", "", {}, &Run::value},
    {Column::cell, "cell", "", {"cell", "run", "run_id"}, nullptr},
    {Column::arch, "arch", "", {}, nullptr},
}};
constexpr const ColumnInfo& info(Column column) {
  return column_table[static_cast<std::size_t>(column)];
}
constexpr bool is_text(Column column) { return column == Column::cell || column == Column::arch; }

/// The value of a numeric column; nothing if the run has none.
std::optional<double> value_of(const Run& run, Column column);

/// "flops", "tokens", ... as in column maps; throws a usage error with the nearest name.
Column parse_column(std::string_view text, std::string_view where);

/// The column of the form's size term, F or N.
Column size_column(Family family);
/// Columns without which the form cannot be fitted, loss included.
std::vector<Column> needed_columns(const Form& form);

}  // namespace isoloop::law::detail
