// isoloop fit: the coefficients of a scaling law, with intervals and every known trap checked; or,
// with --form sigmoid, the curve from loss to a benchmark.
//
// Held by tests/cli/law_test.cpp and fit_test.cpp; the numbers by tests/law/fit_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/fit_inputs.h"
#include "cli/fit_sigmoid.h"
#include "cli/fit_view.h"
#include "cli/input.h"
#include "cli/law_view.h"
#include "cli/options.h"
#include "cli/output.h"

namespace isoloop::cli {
namespace {

constexpr std::string_view sigmoid = "sigmoid";
constexpr std::int64_t most_rows = 1'000'000'000;

struct Flags {
  std::string runs, form = "smelt", map, penalty = "huber", delta = "1e-3", by = "auto", law_file,
                    size_meaning, against, direction = "score", deltas, drops;
  std::vector<std::string> without, pins, shares, exclude, archs;
  // Whole numbers as given.
  std::string draws = "2000", drop_highest = "0", seed = "1", threads = "1";
  bool leave_one_out = false, residuals = false;
  CountFlags count;
};

law::Form form_of(const Flags& flags, const Context& context, std::vector<law::Warning>& warnings) {
  const std::vector<std::string> known = {"smelt", "chinchilla", std::string(sigmoid)};
  if (std::find(known.begin(), known.end(), flags.form) == known.end())
    throw unknown_name(ErrorKind::usage, "form", flags.form, known, "--form");
  law::Form form = law::parse_form(flags.form, "--form");
  for (const std::string& term : flags.without) law::leave_out(form, term, "--without");
  for (const std::string& text : flags.shares) share_coefficients(form, text, context, warnings);
  for (const std::string& assignment : flags.pins) law::pin(form, assignment, "--pin");
  return form;
}

/// Positive thresholds of Huber's loss.
std::vector<double> deltas_of(const std::string& text, const char* option) {
  std::vector<double> out = numbers(text, option, 10);
  for (const double delta : out)
    if (!(delta > 0))
      throw usage_error(fmt::format("'{}' is not a positive number", delta), option,
                        "write e.g. 1e-3: a deviation of 0.1 % of the loss");
  return out;
}

int threads_of(const Flags& flags) {
  return static_cast<int>(whole_number(flags.threads, "--threads", 1, 1024));
}

law::FitOptions options_of(const Flags& flags, const Context& context) {
  law::FitOptions options;
  options.penalty = law::parse_penalty(flags.penalty, "--penalty");
  const std::vector<double> delta = deltas_of(flags.delta, "--delta");
  if (delta.size() != 1)
    throw usage_error("takes one value", "--delta",
                      fmt::format("--deltas {} sets several side by side", flags.delta));
  options.delta = delta.front();
  for (const std::string& rule : flags.exclude)
    options.exclude.push_back(law::parse_exclusion(rule, "--exclude"));
  options.drop_highest_loss =
      static_cast<std::size_t>(whole_number(flags.drop_highest, "--drop-highest", 0, most_rows));
  options.size_meaning = flags.size_meaning;
  options.threads = threads_of(flags);
  options.progress = progress(context, "start");
  return options;
}

law::Resample resample_of(const std::string& text) {
  const std::vector<std::string> known = {"auto", "cell", "row"};
  const auto at = std::find(known.begin(), known.end(), text);
  if (at == known.end()) throw unknown_name(ErrorKind::usage, "value", text, known, "--by");
  return static_cast<law::Resample>(at - known.begin());
}

std::vector<std::size_t> counts_of(const std::string& text) {
  std::vector<std::size_t> out;
  for (const std::string& word : split(text, ','))
    out.push_back(static_cast<std::size_t>(whole_number(word, "--drops", 1, most_rows)));
  return out;
}

law::Runs read(const std::string& path, const std::string& map, const Context& context) {
  return law::read_runs(read_text(path, context), path == "-" ? "standard input" : path,
                        map.empty() ? law::ColumnMap{} : law::parse_column_map(map, "--map"));
}

void add_draws(const Flags& flags, const Context& context, FitView& view) {
  constexpr std::int64_t most_draws = 1'000'000;
  const law::BootstrapOptions options{
      static_cast<std::size_t>(whole_number(flags.draws, "--draws", 0, most_draws)),
      resample_of(flags.by),
      static_cast<std::uint64_t>(
          whole_number(flags.seed, "--seed", 0, std::numeric_limits<std::int64_t>::max())),
      threads_of(flags), progress(context, "draw")};
  if (options.draws == 0) return;
  view.law.draws = about("--by", [&] { return law::bootstrap(view.fit, options); });
  if (!view.law.draws->values.empty()) view.intervals = law::intervals(*view.law.draws);
  const auto& warnings = view.law.draws->warnings;
  view.warnings.insert(view.warnings.end(), warnings.begin(), warnings.end());
}

/// Without draws no coefficient can leave its interval.
CoefficientIntervals anything() {
  CoefficientIntervals out;
  out.fill({-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()});
  return out;
}

void add_refits(const Flags& flags, FitView& view) {
  const law::Fit& fit = view.fit;
  const auto add = [&](const char* option, RefitTable table, const auto& refit) {
    table.sensitivity = about(option, refit);
    view.refits.push_back(std::move(table));
  };
  if (!flags.drops.empty())
    add("--drops", {"drop_highest", "Without the highest losses", "left out", {}},
        [&] { return law::drop_highest(fit, counts_of(flags.drops)); });
  if (!flags.deltas.empty())
    add("--deltas", {"delta", "Other thresholds of Huber's loss", "delta in log-loss", {}}, [&] {
      return law::delta_sensitivity(fit, view.intervals.value_or(anything()),
                                    deltas_of(flags.deltas, "--deltas"));
    });
  if (flags.leave_one_out)
    add("--leave-one-out", {"leave_one_out", "Leaving one out", "left out", {}},
        [&] { return law::leave_one_out(fit, resample_of(flags.by), threads_of(flags)); });
  for (const RefitTable& refits : view.refits)
    view.warnings.insert(view.warnings.end(), refits.sensitivity.warnings.begin(),
                         refits.sensitivity.warnings.end());
}

/// What a law is called: its file's name, or that of the runs.
std::string name_of(const Flags& flags) {
  const std::string& path = flags.law_file.empty() ? flags.runs : flags.law_file;
  return path == "-" ? "fit" : std::filesystem::path(path).stem().string();
}

Answer fit_answer(const Flags& flags, const Context& context) {
  if (!flags.law_file.empty()) check_file(flags.law_file, context.common.force);
  law::Runs runs = read(flags.runs, flags.map, context);
  const std::string counted = set_flops(runs, flags.archs, flags.count, context);
  FitView view;
  const law::Form form = form_of(flags, context, view.warnings);
  law::FitOptions options = options_of(flags, context);
  if (options.size_meaning.empty()) options.size_meaning = counted;
  view.fit = law::fit(runs, form, options);
  view.law = law::law_of(view.fit, name_of(flags));
  view.warnings.insert(view.warnings.end(), view.fit.warnings.begin(), view.fit.warnings.end());
  add_draws(flags, context, view);
  add_refits(flags, view);
  view.residuals = flags.residuals;
  view.next = flags.law_file.empty()
                  ? "Next: --law FILE keeps the law for isoloop allocate and isoloop gain."
                  : fmt::format("Next: isoloop allocate {} --compute 1e21", flags.law_file);
  Answer answer;
  answer.document = fit_document(view);
  answer.json = json::pretty(fit_json(view));
  if (!flags.law_file.empty())
    write_file(flags.law_file, law::write_law(view.law), context.common.force);
  return answer;
}

/// A curve from loss to a benchmark knows no terms, no draws and no F.
Answer calibration_answer(const Flags& flags, const Context& context) {
  const std::pair<bool, const char*> others[] = {
      {!flags.without.empty(), "--without"},    {!flags.pins.empty(), "--pin"},
      {!flags.shares.empty(), "--share"},       {!flags.exclude.empty(), "--exclude"},
      {!flags.archs.empty(), "--arch"},         {!flags.deltas.empty(), "--deltas"},
      {!flags.drops.empty(), "--drops"},        {flags.drop_highest != "0", "--drop-highest"},
      {flags.leave_one_out, "--leave-one-out"}, {!flags.law_file.empty(), "--law"}};
  for (const auto& [given, name] : others)
    if (given)
      throw usage_error("is for a law of the loss, not for --form sigmoid", name, "leave it out");
  std::optional<law::Runs> against;
  if (!flags.against.empty()) against = read(flags.against, flags.map, context);
  return sigmoid_answer(read(flags.runs, flags.map, context), against, flags.direction);
}

void declare_rows(CLI::App& app, Flags& f) {
  app.add_option("RUNS", f.runs, "CSV, JSON or JSON Lines, - for stdin")->required();
  app.add_option("--map", f.map, "Columns, e.g. flops=F,tokens=D,sparsity=S,loss=L,cell=run")
      ->type_name("LIST");
  app.add_option("--arch", f.archs, "F of a cell's rows from its architecture; may be repeated")
      ->allow_extra_args(false)
      ->type_name("CELL=ARCH");
  app.add_option("--convention", f.count.convention, "What F counts, with --arch (default causal)")
      ->type_name("NAME");
  app.add_option("--context", f.count.context,
                 "Sequence length, with --arch (default: the model's)")
      ->type_name("N");
  app.add_option("--attended", f.count.attended, "Mean attended tokens instead, with --arch")
      ->type_name("N");
  app.add_option("--size-meaning", f.size_meaning, "Which F or N, e.g. \"active, non-embedding\"")
      ->type_name("WORDS");
  app.add_option("--exclude", f.exclude, "Leave out rows, e.g. sparsity<=0; may be repeated")
      ->allow_extra_args(false)
      ->type_name("RULE");
  app.add_option("--drop-highest", f.drop_highest, "Leave out the N rows of highest loss")
      ->type_name("N");
}

void declare_form(CLI::App& app, Flags& f) {
  app.add_option("--form", f.form, "smelt (default), chinchilla, or sigmoid: loss to a benchmark")
      ->type_name("NAME");
  app.add_option("--without", f.without, "Leave out a term: floor, size, sparsity, data")
      ->allow_extra_args(false)
      ->type_name("TERM");
  app.add_option("--pin", f.pins, "Pin a coefficient, e.g. E=1.45; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  app.add_option("--share", f.shares, "Pin a, b and c, or those named, to another law's")
      ->allow_extra_args(false)
      ->type_name("[KEYS=]LAW");
  app.add_option("--penalty", f.penalty, "huber (default), l1 or l2")->type_name("NAME");
  app.add_option("--delta", f.delta, "Huber's delta in log-loss (default 1e-3)")->type_name("X");
  app.add_option("--against", f.against, "With sigmoid: points of a second architecture")
      ->type_name("FILE");
  app.add_option("--direction", f.direction, "With sigmoid: the benchmark is a score or a loss")
      ->type_name("score|loss");
}

void declare_certainty(CLI::App& app, Flags& f) {
  app.add_option("--draws", f.draws, "Bootstrap draws, 0 for none (default 2000)")->type_name("N");
  app.add_option("--by", f.by, "Resample by cell, row or auto (default)")->type_name("NAME");
  app.add_option("--seed", f.seed, "Seed of the draws (default 1)")->type_name("N");
  app.add_flag("--leave-one-out", f.leave_one_out, "Refit without each cell");
  app.add_option("--drops", f.drops, "Refit without the N highest losses, e.g. 5,10,30")
      ->type_name("N,...");
  app.add_option("--deltas", f.deltas, "Refit with other deltas, e.g. 1e-4,1e-3,1e-2")
      ->type_name("X,...");
  app.add_flag("--residuals", f.residuals, "List every row with its residual");
  app.add_option("--threads", f.threads, "Threads; the answer does not depend on them")
      ->type_name("N");
  app.add_option("--law", f.law_file, "Write the law for isoloop gain and isoloop allocate")
      ->type_name("FILE");
}

}  // namespace

Action declare_fit(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  declare_rows(app, *flags);
  declare_form(app, *flags);
  declare_certainty(app, *flags);
  return [flags](Context& context) {
    if (flags->form == sigmoid) return calibration_answer(*flags, context);
    if (!flags->against.empty())
      throw usage_error("is for --form sigmoid", "--against", "add --form sigmoid");
    return fit_answer(*flags, context);
  };
}

}  // namespace isoloop::cli
