// F of runs from architectures, and coefficients shared with another law.
//
// F is the train FLOPs per token of isoloop count. Held by tests/cli/fit_test.cpp.
#include "cli/fit_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/input.h"
#include "cli/law_view.h"
#include "isoloop/cost.h"

namespace isoloop::cli {
namespace {

/// F of every architecture, each counted once.
class Flops {
 public:
  Flops(const CountFlags& flags, const Context& context)
      : options_(flags.options()), context_(context) {}

  double of(const std::string& architecture) {
    const auto [at, is_new] = known_.emplace(architecture, 0);
    if (is_new)
      at->second = about(architecture, [&] {
        return cost::count(load(architecture, context_).architecture, options_)
            .train.value()
            .to_double();
      });
    return at->second;
  }
  std::string meaning() const {
    std::string text =
        fmt::format("training FLOPs per token counted from architectures, convention {}",
                    options_.convention.name);
    if (options_.attended)
      text += fmt::format(", {:g} tokens attended", options_.attended->to_double());
    else if (options_.context > 0)
      text += fmt::format(", context {}", options_.context);
    return text;
  }

 private:
  cost::Options options_;
  const Context& context_;
  std::map<std::string, double> known_;
};

/// "cell=ARCH" by cell; every cell must occur.
std::map<std::string, std::string> architectures_of(const law::Runs& runs,
                                                    const std::vector<std::string>& given) {
  std::vector<std::string> cells;
  for (const law::Run& run : runs.rows)
    if (!run.cell.empty() && std::find(cells.begin(), cells.end(), run.cell) == cells.end())
      cells.push_back(run.cell);
  std::map<std::string, std::string> out;
  for (const std::string& item : given) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size())
      throw usage_error(fmt::format("'{}' is no assignment", item), "--arch",
                        "write CELL=ARCH, e.g. --arch 200M=smelt-200m-e192");
    const std::string cell = item.substr(0, equals);
    if (cells.empty())
      throw usage_error("the rows name no cells", "--arch",
                        "name the column with --map cell=COLUMN");
    if (std::find(cells.begin(), cells.end(), cell) == cells.end())
      throw unknown_name(ErrorKind::usage, "cell", cell, cells, "--arch");
    if (!out.emplace(cell, item.substr(equals + 1)).second)
      throw usage_error(fmt::format("cell {} is given twice", cell), "--arch",
                        "name one architecture per cell");
  }
  return out;
}

}  // namespace

std::string set_flops(law::Runs& runs, const std::vector<std::string>& given,
                      const CountFlags& count, const Context& context) {
  const auto by_cell = architectures_of(runs, given);
  const bool has_column = runs.columns.contains(law::Column::arch);
  if (by_cell.empty() && !has_column) return "";
  if (const auto column = runs.columns.find(law::Column::flops); column != runs.columns.end())
    throw usage_error(
        fmt::format("F is given by the column '{}' and by architectures", column->second),
        by_cell.empty() ? "--map" : "--arch", "keep one of the two");
  Flops flops(count, context);
  for (law::Run& run : runs.rows) {
    const auto at = by_cell.find(run.cell);
    const std::string& architecture = at != by_cell.end() ? at->second : run.arch;
    if (!architecture.empty()) run.flops = flops.of(architecture);
  }
  return flops.meaning();
}

void share_coefficients(law::Form& form, const std::string& text, const Context& context,
                        std::vector<law::Warning>& warnings) {
  const std::size_t equals = text.find('=');
  const bool named = equals != std::string::npos;
  if (named && text.find('=', equals + 1) != std::string::npos)
    throw usage_error("takes a law's name or file", "--share",
                      "pin pasted values with --pin a=0.37");
  const law::Law law = load_law(named ? text.substr(equals + 1) : text, context, "--share");
  if (law.form.family != form.family)
    throw usage_error(fmt::format("{} is of the form {}, the fit of {}", law.name,
                                  law::name(law.form.family), law::name(form.family)),
                      "--share", "share between laws of one form");
  std::vector<law::Coefficient> which;
  if (named)
    for (const std::string& name : split(text.substr(0, equals), ','))
      which.push_back(law::parse_coefficient(form.family, name, "--share"));
  else
    which = {law::Coefficient::a, law::Coefficient::b, law::Coefficient::c};
  const auto has = [](const law::Form& f, law::Coefficient c) {
    const auto all = law::coefficients_of(f);
    return std::find(all.begin(), all.end(), c) != all.end();
  };
  for (const law::Coefficient c : which) {
    if (!named && !has(form, c)) continue;
    if (!has(form, c) || !has(law.form, c))
      throw usage_error(fmt::format("{} has no {}", has(form, c) ? law.name : "the form",
                                    law::name(form.family, c)),
                        "--share", "name what both have, e.g. --share a,c=LAW");
    form.pinned[static_cast<std::size_t>(c)] = law.coefficients[c];
  }
  if (law::is_rounded(law))
    warnings.push_back(
        {law::WarningKind::rounded,
         fmt::format("the coefficients shared with {} are rounded as printed", law.name)});
}

}  // namespace isoloop::cli
