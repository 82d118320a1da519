// Leave-one-out, highest losses, delta: against fits of the rows that remain.
//
// Source: fit() itself on the smaller table. Holds src/law/sensitivity.cpp.
#include "law/support.h"

namespace isoloop::law {

using enum WarningKind;
using test::error_of;
using test::text_of;

namespace {

Runs some_runs() { return test::cell_runs(test::baseline_coefficients()); }

void check_same(const Coefficients& x, const Coefficients& y) {
  for (const Coefficient which : all_coefficients) CHECK(test::close(x[which], y[which], 1e-6));
}

}  // namespace

TEST_CASE("leaving one cell out is fitting the others") {
  const Runs runs = some_runs();
  const Fit all = fit(runs, Form{});
  const Sensitivity table = leave_one_out(all);
  REQUIRE(table.refits.size() == 12);
  CHECK(table.refits[0].what == "cell 10200M-85");
  CHECK(table.refits[0].rows == 66);
  Runs others = runs;
  std::erase_if(others.rows, [](const Run& run) { return run.cell == "10200M-85"; });
  const Fit without = fit(others, Form{});
  check_same(table.refits[0].coefficients, without.coefficients);
  CHECK(table.refits[0].objective == doctest::Approx(without.objective).epsilon(1e-9));
  const Sensitivity threads = leave_one_out(all, Resample::automatic, 3);
  for (std::size_t i = 0; i < 12; ++i)
    CHECK(threads.refits[i].coefficients == table.refits[i].coefficients);
}

TEST_CASE("leaving one row out names its line") {
  const Sensitivity table = leave_one_out(fit(some_runs(), Form{}), Resample::row);
  REQUIRE(table.refits.size() == 72);
  CHECK(table.refits[3].what == "line 5");
  CHECK(table.refits[3].rows == 71);
}

TEST_CASE("trap: a few rows of high loss decide an exponent") {
  // The three shortest runs of the smallest model, spoiled. Huber shrugs; least squares do not.
  Runs runs = some_runs();
  for (Run& run : runs.rows)
    if (*run.flops < 1e9 && *run.tokens < 2.1e10) run.loss *= 1.06;
  FitOptions options;
  CHECK(drop_highest(fit(runs, Form{}, options), std::array<std::size_t, 1>{3}).warnings.empty());
  options.penalty = Penalty::l2;
  const Fit all = fit(runs, Form{}, options);
  const std::size_t counts[] = {0, 3, 6};
  const Sensitivity table = drop_highest(all, counts);
  REQUIRE(table.refits.size() == 3);
  check_same(table.refits[0].coefficients, all.coefficients);
  CHECK(table.refits[1].rows == 69);
  options.drop_highest_loss = 3;
  check_same(table.refits[1].coefficients, fit(runs, Form{}, options).coefficients);
  const std::string text = text_of(table.warnings, high_leverage);
  CHECK(text.starts_with("without the "));
  CHECK(text.find(" highest losses c moves from ") != std::string::npos);
  CHECK(text.ends_with(": a few rows decide it"));
  CHECK(drop_highest(fit(some_runs(), Form{}), std::array<std::size_t, 1>{1}).warnings.empty());
  CHECK(error_of([&] { drop_highest(all, std::array<std::size_t, 1>{70}); }).message ==
        "without the 70 highest losses 2 rows are left; 6 coefficients are free");
}

TEST_CASE("trap: another delta moves the answer") {
  const Fit all = fit(some_runs(), Form{});
  std::array<Interval, coefficient_count> wide{}, narrow{};
  for (const Coefficient which : all_coefficients) {
    const double value = all.coefficients[which];
    wide[static_cast<std::size_t>(which)] = {0.1 * value, 10 * value};
    narrow[static_cast<std::size_t>(which)] = {value, value};
  }
  narrow[0] = {all.coefficients.values[0] * 0.999999, all.coefficients.values[0] * 1.000001};
  for (std::size_t i = 1; i < coefficient_count; ++i) narrow[i] = wide[i];
  const Sensitivity quiet = delta_sensitivity(all, wide);
  CHECK(quiet.warnings.empty());
  REQUIRE(quiet.refits.size() == 3);
  CHECK(quiet.refits[0].what == "delta 0.0001");
  CHECK(quiet.refits[1].what == "delta 0.001");
  CHECK(quiet.refits[2].what == "delta 0.01");
  check_same(quiet.refits[1].coefficients, all.coefficients);
  FitOptions options;
  options.delta = 0.01;
  check_same(quiet.refits[2].coefficients, fit(some_runs(), Form{}, options).coefficients);
  const Sensitivity loud = delta_sensitivity(all, narrow);
  REQUIRE(loud.warnings.size() == 2);
  CHECK(loud.warnings[0].kind == delta_matters);
  CHECK(loud.warnings[0].text.starts_with("with delta 0.0001 (of the log-loss) E is "));
  CHECK(loud.warnings[0].text.find(", outside its interval ") != std::string::npos);
}

TEST_CASE("only the Huber loss has a delta") {
  FitOptions options;
  options.penalty = Penalty::l2;
  const Fit squares = fit(some_runs(), Form{}, options);
  CHECK(error_of([&] { delta_sensitivity(squares, {}); }).message ==
        "only the Huber loss has a delta");
}

}  // namespace isoloop::law
