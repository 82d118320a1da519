// isoloop report: from the JSON of other commands to one document. One file per kind of result.
//
// Held by tests/cli/report_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "isoloop/arch.h"
#include "isoloop/cost.h"
#include "isoloop/report.h"

namespace isoloop::cli {

/// The document while results are added to it.
struct Page {
  report::Document document;
  std::string prefix;  // of chart names and table ids of the present result: "grid", "grid-2"

  template <class Block>
  void add(Block block) {
    document.blocks.emplace_back(std::move(block));
  }
  std::string name(std::string_view part) const { return prefix + "-" + std::string(part); }
};

/// Each adds the sections of one result. Throws Error (kind input) naming a field that is missing
/// or has another type.
void add_count(json::Fields& result, Page& page);
void add_match(json::Fields& result, Page& page);
void add_check(json::Fields& result, Page& page);
void add_grid(json::Fields& result, Page& page);
void add_sweep(json::Fields& result, Page& page);
void add_explore(json::Fields& result, Page& page);
void add_plan(json::Fields& result, Page& page);
void add_fit(json::Fields& result, Page& page);
void add_gain(json::Fields& result, Page& page);
void add_allocate(json::Fields& result, Page& page);

// ---- Shared by several results
// -------------------------------------------------------------------

/// A number as it stands in the result: "1,633,904,640", or six significant digits; "" if absent.
std::string number_text(json::Fields& fields, std::string_view key);
/// Fixed decimals, rounded half away from zero as everywhere else.
std::string fixed(double value, int digits);
/// A fraction in percent without its sign of percent, which stands on the column: "+0.439".
std::string signed_percent(double fraction);
/// Letters and digits of a name in small letters, others as hyphens: for chart names.
std::string chart_word(std::string_view text);
/// The texts of a list as "a, b, c".
std::string list_text(const std::vector<std::string>& texts);

arch::Architecture architecture(json::Fields& fields, std::string_view key);
std::optional<arch::Architecture> optional_architecture(json::Fields& fields, std::string_view key);
/// What a result was counted with: convention, context, packing, types, as add_counting() wrote it.
cost::Options counting(json::Fields& result);

/// Numbers by name, budgets first and in the order of the budgets' table.
using Values = std::vector<std::pair<std::string, double>>;
Values values_of(json::Fields& fields, std::string_view key);
double value_or(const Values& values, std::string_view name, double otherwise);

/// Columns "layers", "hidden", ... of an architecture's first segment, and its cells.
std::vector<report::Column> shape_columns();
void add_shape(const arch::Architecture& model, std::vector<report::Cell>& row);

struct Named {
  std::string name;
  arch::Architecture model;
};
/// Work, parameters and cache by row of the ledger, one series per architecture.
report::Chart budget_bars(std::string name, std::string title, const std::vector<Named>& models,
                          const cost::Options& options);
/// Whether recounting gives the mismatch a result states: its options may be unknown to us.
/// `targets`: budgets whose target is this many times the baseline's (a control's).
bool recounts(const Named& baseline, const Named& match, const Values& mismatch,
              const cost::Options& options, const Values& targets = {});
report::Chart layer_stacks(std::string name, std::string title, const std::vector<Named>& models);

/// A pair of a table: bars and stacks shown when its row is selected. Bars are left out, and false
/// returned, where recounting does not give the stated mismatch.
bool add_pair(Page& page, const std::string& table, std::size_t row, const Named& baseline,
              const Named& match, const Values& mismatch, const cost::Options& options,
              const Values& targets = {});
/// Names the pairs whose bars were left out, and why; nothing if there are none.
void say_left_out(Page& page, const std::vector<std::string>& names);
/// FLOPs against parameters of every row that has both, with the tolerance as a box.
struct MismatchPoint {
  std::string label, series;
  Values mismatch;
  std::size_t row = 0;
};
report::Chart mismatch_plot(std::string name, const std::string& table,
                            const std::vector<MismatchPoint>& points, const Values& tolerance);
/// "x" of every point whose series is `name`, made if it is not there yet.
report::Series& series_of(report::Plot& plot, const std::string& name);

// ---- Shared by laws
// ------------------------------------------------------------------------------

void add_warnings(json::Fields& result, Page& page);
/// The colour of a sparsity: points and frontier of one are alike. A new one is added to `known`.
std::size_t colour_of(std::vector<double>& known, double sparsity);
/// The result's frontiers as curves. With their laws' names, those of the first law are dashed.
void add_frontiers(json::Fields& result, report::Plot& plot, std::vector<double>& sparsities,
                   bool name_laws);

}  // namespace isoloop::cli
