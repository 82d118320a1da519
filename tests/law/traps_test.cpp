// The known ways in which scaling-law fits go wrong: each has its guard and its words.
//
// Source: arXiv 2404.10102 (stopping early, rounding, leverage), 2406.19146 and 2406.12907 (which N
// and C), 2405.18392 (checkpoints inside a schedule). Holds src/law/checks.cpp and diagnose.cpp;
// the traps of intervals, gains and laws are in resample_test, sensitivity_test, gain_test,
// laws_test.
#include "law/support.h"

namespace isoloop::law {

using enum WarningKind;
using test::text_of;

namespace {

// A good set of runs; each test spoils one thing.
Runs good() { return test::cell_runs(test::baseline_coefficients()); }

FitOptions named() {
  FitOptions options;
  options.size_meaning = "training FLOPs, attention included";
  return options;
}

Fit fitted(const Runs& runs, const Form& form = {}, const FitOptions& options = named()) {
  return fit(runs, form, options);
}

}  // namespace

TEST_CASE("good runs give no warning") {
  const Fit result = fitted(good());
  for (const Warning& warning : result.warnings) MESSAGE(warning.text);
  CHECK(result.warnings.empty());
}

TEST_CASE("trap: a mean in place of the sum stops early; ours stops on the relative gradient") {
  // As a mean over 240 rows every gradient is 240 times smaller; the reported one is not.
  const Runs once = good();
  Runs often = once;
  for (int i = 0; i < 9; ++i)
    often.rows.insert(often.rows.end(), once.rows.begin(), once.rows.end());
  const Fit x = fitted(once), y = fitted(often);
  CHECK(y.objective == doctest::Approx(10 * x.objective).epsilon(1e-10));
  for (const Coefficient which : all_coefficients)
    CHECK(test::close(y.coefficients[which], x.coefficients[which], 1e-7));
  for (const Fit* result : {&x, &y}) {
    CHECK(result->stop == StopReason::gradient);
    CHECK(result->relative_gradient < 1e-8);
    CHECK(result->gradient_norm < 1e-8);
    CHECK(result->iterations > 0);
  }
  FitOptions hasty = named();
  hasty.max_iterations = 1;
  hasty.starts.values = {{{3}, {10}, {10}, {1}, {1}, {1}}};
  const Fit stopped = fitted(good(), {}, hasty);
  CHECK(stopped.stop == StopReason::iterations);
  const std::string text = text_of(stopped.warnings, not_converged);
  CHECK(text.starts_with("stopped at the iteration limit with a relative gradient of "));
}

TEST_CASE("trap: few starts reach the best optimum") {
  FitOptions options = named();
  options.starts.values[3] = {0.35};
  options.starts.values[4] = {0.15};
  options.starts.values[5] = {0.6};
  const Fit result = fitted(good(), {}, options);
  CHECK(text_of(result.warnings, few_starts) ==
        "1 of 1 starts reached the best optimum: it may not be the global one");
}

TEST_CASE("trap: a second basin within 1 %") {
  // E + A / F^a + K / D^c on runs with F = D is symmetric: exchanging the terms is as good.
  Runs runs;
  test::Noise random(3);
  for (int i = 0; i < 12; ++i) {
    Run run;
    run.flops = run.tokens = 1e8 * std::pow(3.0, i);
    run.loss = (1.5 + 3000 / std::pow(*run.flops, 0.4) + 50 / std::pow(*run.tokens, 0.2)) *
               std::exp(1e-3 * random.normal());
    runs.rows.push_back(run);
  }
  Form form;
  leave_out(form, "sparsity", "");
  const Fit result = fitted(runs, form);
  REQUIRE(result.second_basin);
  CHECK(test::close(result.second_basin->coefficients[Coefficient::a],
                    result.coefficients[Coefficient::c], 1e-2));
  CHECK(result.second_basin->reached > 0);
  const std::string text = text_of(result.warnings, second_basin);
  CHECK(text.starts_with("another optimum lies 0.00 % above the best: E "));
}

TEST_CASE("trap: ill-conditioned runs") {
  // D = 20 N on every run and a narrow range: floor and slopes hardly differ.
  Runs runs;
  test::Noise random(3);
  for (int i = 0; i < 20; ++i) {
    Run run;
    run.flops = 1e9 * std::pow(1.05, i);
    run.tokens = 20 * *run.flops / 6 * (1 + 0.001 * random.normal());
    run.sparsity = 0.8 + 0.01 * (i % 7);
    run.loss = loss(test::smelt_law(test::baseline_coefficients()), *run.flops, *run.sparsity,
                    *run.tokens);
    runs.rows.push_back(run);
  }
  const Fit result = fitted(runs);
  CHECK(result.condition > 1e6);
  const std::string text = text_of(result.warnings, ill_conditioned);
  CHECK(text.starts_with("condition number "));
  CHECK(text.ends_with(" with centred axes: the rows hardly tell the coefficients apart"));
}

TEST_CASE("trap: a Huber loss that is an L1 fit in truth") {
  FitOptions options = named();
  options.delta = 1e-6;
  const Fit result = fitted(good(), {}, options);
  CHECK(result.inside_delta < 0.1);
  options.delta = 1e-8;
  options.penalty = Penalty::huber;
  const Fit tiny = fitted(test::noisy_baseline(), {}, options);
  CHECK(text_of(tiny.warnings, nearly_l1).empty() == (tiny.inside_delta >= 0.05));
  Runs many = test::grid_runs(test::baseline_coefficients(), {1e8, 3e8, 1e9, 3e9, 1e10, 3e10},
                              {0.8, 0.85, 0.9, 0.95, 0.97}, {1e9, 1e10, 3e10, 1e11, 3e11}, 3e-3);
  const Fit large = fitted(many, {}, options);
  CHECK(large.inside_delta == doctest::Approx(6.0 / 150));
  CHECK(text_of(large.warnings, nearly_l1) ==
        "4.0 % of the residuals lie inside delta = 1e-08 (of the log-loss): nearly an L1 fit");
}

TEST_CASE("trap: rows twice") {
  Runs runs = good();
  runs.rows.push_back(runs.rows[4]);
  runs.rows.back().line = 90;
  CHECK(text_of(fitted(runs).warnings, duplicates) ==
        "1 rows repeat another one (first: lines 6 and 90): each counts again");
}

TEST_CASE("trap: seeds of one point, without cells") {
  Runs runs = good();
  runs.rows.push_back(runs.rows[4]);
  runs.rows.back().line = 90;
  runs.rows.back().loss *= 1.001;
  CHECK(text_of(fitted(runs).warnings, repeated_points).empty());  // they are in one cell
  for (Run& run : runs.rows) run.cell.clear();
  CHECK(text_of(fitted(runs).warnings, repeated_points) ==
        "1 rows repeat the point of another with another loss (first: lines 6 and 90): seeds are "
        "not independent; name a cell column");
}

TEST_CASE("trap: which F, which N") {
  CHECK(text_of(fit(good(), Form{}).warnings, size_unnamed) ==
        "it is not said which F this is: with or without attention, with or without embeddings");
  Runs runs = good();
  for (Run& run : runs.rows) run.params = *run.flops / 6;
  CHECK(text_of(fit(runs, parse_form("chinchilla", "")).warnings, size_unnamed) ==
        "it is not said which N this is: total or active, with or without embeddings");
}

TEST_CASE("trap: C against F D") {
  Runs runs = good();
  for (Run& run : runs.rows) run.compute = 1.04 * *run.flops * *run.tokens;
  Fit result = fitted(runs);
  CHECK(text_of(result.warnings, compute_mismatch).empty());
  REQUIRE(result.compute_check);
  CHECK(result.compute_check->rows == 72);
  CHECK(result.compute_check->worst == doctest::Approx(0.04));
  runs.rows[7].compute = 0.8 * *runs.rows[7].compute;
  runs.rows[8].compute = 1.1 * *runs.rows[8].compute;
  result = fitted(runs);
  CHECK(result.compute_check->above == 2);
  CHECK(result.compute_check->line == 9);
  CHECK(text_of(result.warnings, compute_mismatch) ==
        "C differs from F D by more than 5 % in 2 of 72 rows (most in line 9: -16.8 %): "
        "embeddings, attention or tokens are counted differently in the two");
  for (Run& run : runs.rows) run.params = *run.flops / 6;
  const Fit chinchilla = fitted(runs, parse_form("chinchilla", ""));
  CHECK(text_of(chinchilla.warnings, compute_mismatch).starts_with("C differs from 6 N D by more"));
  CHECK(!fitted(good()).compute_check);
}

TEST_CASE("trap: checkpoints inside a decaying schedule") {
  Runs runs = good();
  for (Run& run : runs.rows) run.step_fraction = 1;
  CHECK(text_of(fitted(runs).warnings, inside_schedule).empty());
  runs.rows[2].step_fraction = 0.5;
  runs.rows[3].step_fraction = 0.9;
  CHECK(text_of(fitted(runs).warnings, inside_schedule) ==
        "2 rows are checkpoints inside a learning-rate schedule (first: line 4, step fraction "
        "0.5): their loss is above that of a finished run");
}

TEST_CASE("trap: other units") {
  Runs runs = good();
  for (Run& run : runs.rows) run.tokens = *run.tokens / 1e9;
  CHECK(text_of(fitted(runs).warnings, units) == "tokens is 20.5 in line 2: is it in tokens?");
}

TEST_CASE("rows that were not used are counted and the first is named") {
  Runs runs = good();
  runs.skipped = {{80, "loss is NaN"}, {81, "tokens is 0; it must be positive"}};
  CHECK(text_of(fitted(runs).warnings, skipped_rows) ==
        "2 rows cannot be used (first: line 80, loss is NaN)");
}

TEST_CASE("a term that the rows do not show") {
  // Pure power law in F and D: no floor.
  const Runs runs = test::grid_runs(test::coefficients(0, 1366, 1.975e6, 0.25, 0.15, 0.66),
                                    {1e8, 1e9, 1e10, 1e11}, {0.85, 0.95}, {1e9, 1e10, 1e11}, 1e-3);
  const Fit result = fitted(runs);
  const std::string text = text_of(result.warnings, vanished_term);
  if (result.coefficients[Coefficient::E] < 1e-4)
    CHECK(text == "E has vanished: the rows show no such term; leave it out or pin it");
  // A floor below nothing cannot be: losses that fall faster than a power law.
  Runs steep = runs;
  for (Run& run : steep.rows) run.loss -= 0.5 * 1366 * std::pow(1e11, -0.25);
  const Fit below = fitted(steep);
  CHECK(text_of(below.warnings, vanished_term) ==
        "E has vanished: the rows show no such term; leave it out or pin it");
}

TEST_CASE("an exponent with the wrong sign") {
  const Runs runs = test::grid_runs(test::coefficients(1.4, 300, 1.975e6, 0.37, -0.1, 0.66),
                                    {1e8, 1e9, 1e10, 1e11}, {0.5, 0.85, 0.95}, {1e9, 1e10, 1e11});
  const Fit result = fitted(runs);
  CHECK(text_of(result.warnings, odd_exponent) == "b is -0.1: a positive exponent was expected");
}

}  // namespace isoloop::law
