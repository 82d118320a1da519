// isoloop fit: the coefficients of a scaling law, with intervals and every known trap checked.
//
// Held by tests/cli/law_test.cpp; the numbers by tests/law/fit_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/json_writer.h"
#include "cli/input.h"
#include "cli/law_view.h"
#include "cli/options.h"
#include "cli/output.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;

struct Flags {
  std::string runs, form = "smelt", map, penalty = "huber", delta = "1e-3", by = "auto", law_file,
                    size_meaning;
  std::vector<std::string> without, pins, exclude;
  std::size_t draws = 2000, drop_highest = 0;
  std::uint64_t seed = 1;
  int threads = 1;
  bool leave_one_out = false;
};

law::Form form_of(const Flags& flags) {
  law::Form form = law::parse_form(flags.form, "--form");
  for (const std::string& term : flags.without) law::leave_out(form, term, "--without");
  for (const std::string& assignment : flags.pins) law::pin(form, assignment, "--pin");
  return form;
}

law::FitOptions options_of(const Flags& flags) {
  law::FitOptions options;
  options.penalty = law::parse_penalty(flags.penalty, "--penalty");
  options.delta = numbers(flags.delta, "--delta", 10).front();
  for (const std::string& rule : flags.exclude)
    options.exclude.push_back(law::parse_exclusion(rule, "--exclude"));
  options.drop_highest_loss = flags.drop_highest;
  options.size_meaning = flags.size_meaning;
  options.threads = flags.threads;
  return options;
}

law::Resample resample_of(const std::string& text) {
  const std::vector<std::string> known = {"auto", "cell", "row"};
  const auto at = std::find(known.begin(), known.end(), text);
  if (at == known.end()) throw unknown_name(ErrorKind::usage, "value", text, known, "--by");
  return static_cast<law::Resample>(at - known.begin());
}

law::Progress progress(const Context& context, const char* what) {
  if (!context.streams.err_is_terminal || context.common.quiet) return {};
  return [&context, what](std::size_t done, std::size_t total) {
    context.streams.err << fmt::format("\r{} {} of {} ", what, done, total) << std::flush;
    if (done == total) context.streams.err << "\r\033[K" << std::flush;
  };
}

using Intervals = std::array<law::Interval, law::coefficient_count>;

report::Table coefficient_table(const law::Fit& fit, const std::optional<Intervals>& intervals) {
  report::Table table;
  table.title = law::equation(fit.form);
  table.columns = {{"coefficient", "", Align::left}, {"value"}, {"95 % interval", "", Align::left}};
  for (const law::Coefficient which : law::coefficients_of(fit.form)) {
    const bool free = std::find(fit.free.begin(), fit.free.end(), which) != fit.free.end();
    std::string range = free ? "" : "pinned";
    if (free && intervals) {
      const law::Interval& i = (*intervals)[static_cast<std::size_t>(which)];
      range = fmt::format("{} to {}", significant(i.low), significant(i.high));
    }
    table.rows.push_back({std::string(law::name(fit.form.family, which)),
                          significant(fit.coefficients[which], 8), range});
  }
  return table;
}

report::Facts facts(const law::Fit& fit, const law::Draws* draws) {
  report::Facts f;
  f.lines.emplace_back("rows", fmt::format("{} used, {} skipped", fit.rows, fit.skipped.size()));
  f.lines.emplace_back("objective",
                       fmt::format("{} ({}, delta {} in log-loss; {} of the residuals inside)",
                                   significant(fit.objective, 13), law::name(fit.options.penalty),
                                   significant(fit.options.delta), percent_text(fit.inside_delta)));
  f.lines.emplace_back("rmse", significant(fit.rmse_nats) + " nats");
  f.lines.emplace_back("starts", fmt::format("{} tried, {} reached the best optimum",
                                             fit.starts.tried, fit.starts.reached));
  f.lines.emplace_back(
      "stopped", fmt::format("{} after {} iterations, relative gradient {}", law::name(fit.stop),
                             fit.iterations, significant(fit.relative_gradient, 2)));
  f.lines.emplace_back(
      "condition", fmt::format("{} centred, {} in raw coefficients", significant(fit.condition, 3),
                               significant(fit.condition_raw, 3)));
  if (draws != nullptr)
    f.lines.emplace_back("intervals", fmt::format("{} draws by {}, seed {}", draws->values.size(),
                                                  draws->by_cell ? "cell" : "row", draws->seed));
  for (const law::Excluded& e : fit.excluded)
    f.lines.emplace_back("excluded", fmt::format("{}: {} rows", e.rule, e.rows));
  for (const law::Skipped& s : fit.skipped)
    f.lines.emplace_back("skipped", fmt::format("line {}: {}", s.line, s.reason));
  return f;
}

report::Table refit_table(const law::Fit& fit, const law::Sensitivity& sensitivity) {
  report::Table table;
  table.title = "Leaving one out";
  table.columns = {{"left out", "", Align::left}, {"rows"}};
  for (const law::Coefficient which : fit.free)
    table.columns.push_back({std::string(law::name(fit.form.family, which))});
  for (const law::Refit& refit : sensitivity.refits) {
    std::vector<report::Cell> row = {refit.what, std::to_string(refit.rows)};
    for (const law::Coefficient which : fit.free)
      row.emplace_back(significant(refit.coefficients[which], 6));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json fit_json(const law::Fit& fit, const std::optional<Intervals>& intervals,
              const std::vector<law::Warning>& warnings) {
  Json j;
  j["schema"] = "isoloop/fit/v1";
  j["form"] = law::equation(fit.form);
  for (const law::Coefficient which : law::coefficients_of(fit.form)) {
    const std::string name(law::name(fit.form.family, which));
    j["coefficients"][name] = fit.coefficients[which];
    if (!intervals) continue;
    const law::Interval& i = (*intervals)[static_cast<std::size_t>(which)];
    j["intervals"][name] = {{"low", i.low}, {"high", i.high}};
  }
  j["rows"] = fit.rows;
  j["objective"] = fit.objective;
  j["rmse"] = fit.rmse_nats;
  j["starts"] = {{"tried", fit.starts.tried}, {"reached", fit.starts.reached}};
  j["gradient_norm"] = fit.gradient_norm;
  j["iterations"] = fit.iterations;
  j["stop"] = law::name(fit.stop);
  j["skipped"] = Json::array();
  for (const law::Skipped& s : fit.skipped)
    j["skipped"].push_back({{"line", s.line}, {"reason", s.reason}});
  j["warnings"] = Json::array();
  for (const law::Warning& w : warnings) j["warnings"].push_back(w.text);
  return j;
}

void declare_options(CLI::App& app, Flags& f) {
  app.add_option("RUNS", f.runs, "CSV, JSON or JSON Lines, - for stdin")->required();
  app.add_option("--form", f.form, "smelt (default) or chinchilla")->type_name("NAME");
  app.add_option("--map", f.map, "Columns, e.g. flops=F,tokens=D,sparsity=S,loss=L,cell=run")
      ->type_name("LIST");
  app.add_option("--without", f.without, "Leave out a term: floor, size, sparsity, data")
      ->type_name("TERM");
  app.add_option("--pin", f.pins, "Pin a coefficient, e.g. E=1.45")->type_name("KEY=VALUE");
  app.add_option("--penalty", f.penalty, "huber (default), l1 or l2")->type_name("NAME");
  app.add_option("--delta", f.delta, "Huber's delta in log-loss (default 1e-3)")->type_name("X");
  app.add_option("--exclude", f.exclude, "Leave out rows, e.g. sparsity<=0")->type_name("RULE");
  app.add_option("--drop-highest", f.drop_highest, "Leave out the N rows of highest loss")
      ->type_name("N");
  app.add_option("--draws", f.draws, "Bootstrap draws, 0 for none (default 2000)")->type_name("N");
  app.add_option("--by", f.by, "Resample by cell, row or auto (default)")->type_name("NAME");
  app.add_option("--seed", f.seed, "Seed of the draws (default 1)")->type_name("N");
  app.add_option("--threads", f.threads, "Threads; the answer does not depend on them")
      ->type_name("N");
  app.add_option("--size-meaning", f.size_meaning, "Which F or N, e.g. \"active, non-embedding\"")
      ->type_name("WORDS");
  app.add_flag("--leave-one-out", f.leave_one_out, "Refit without each cell");
  app.add_option("--law", f.law_file, "Write the law for isoloop gain")->type_name("FILE");
}

}  // namespace

Action declare_fit(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  declare_options(app, *flags);
  return [flags](Context& context) {
    const law::Runs runs = law::read_runs(
        read_text(flags->runs, context), flags->runs == "-" ? "standard input" : flags->runs,
        flags->map.empty() ? law::ColumnMap{} : law::parse_column_map(flags->map, "--map"));
    law::FitOptions options = options_of(*flags);
    options.progress = progress(context, "start");
    const law::Fit fit = law::fit(runs, form_of(*flags), options);
    std::vector<law::Warning> warnings = fit.warnings;
    std::optional<law::Draws> draws;
    std::optional<Intervals> intervals;
    if (flags->draws > 0) {
      law::BootstrapOptions b{flags->draws, resample_of(flags->by), flags->seed, flags->threads,
                              progress(context, "draw")};
      draws = law::bootstrap(fit, b);
      intervals = law::intervals(*draws);
      warnings.insert(warnings.end(), draws->warnings.begin(), draws->warnings.end());
    }
    Answer answer;
    answer.document.blocks.emplace_back(coefficient_table(fit, intervals));
    answer.document.blocks.emplace_back(facts(fit, draws ? &*draws : nullptr));
    if (flags->leave_one_out)
      answer.document.blocks.emplace_back(
          refit_table(fit, law::leave_one_out(fit, resample_of(flags->by), flags->threads)));
    add_warnings(warnings, answer.document);
    answer.json = json::pretty(fit_json(fit, intervals, warnings));
    if (!flags->law_file.empty())
      write_file(flags->law_file, law::write_law(law::law_of(fit, flags->law_file, draws)),
                 context.common.force);
    return answer;
  };
}

}  // namespace isoloop::cli
