// Which rows a fit uses, and what it refuses by name.
//
// Source: counting unknowns; the messages are part of the contract. Holds src/law/select.cpp and
// the rank test of diagnose.cpp.
#include "law/support.h"

namespace isoloop::law {

using test::error_of;

namespace {

std::string message(const Runs& runs, const Form& form = {}, const FitOptions& options = {}) {
  return error_of([&] { fit(runs, form, options); }).what();
}

Runs runs_with(std::initializer_list<double> flops, std::initializer_list<double> sparsities,
               std::initializer_list<double> tokens) {
  return test::grid_runs(test::baseline_coefficients(), flops, sparsities, tokens, 3e-3);
}

}  // namespace

TEST_CASE("missing columns are named with the form that needs them") {
  Runs runs = read_runs("tokens,sparsity,loss\n1e10,0.9,2\n", "runs.csv");
  CHECK(message(runs) ==
        "runs.csv: no column holds flops (F), which L = E + A (1-S)^b / F^a + K / D^c needs\n"
        "  hint: name it with flops=COLUMN");
  CHECK(message(runs, parse_form("chinchilla", "")) ==
        "runs.csv: no column holds params (N), which L = E + A / N^alpha + B / D^beta needs\n"
        "  hint: name it with params=COLUMN");
  runs = read_runs("flops,tokens,loss\n1e9,1e10,2\n", "runs.csv");
  CHECK(error_of([&] { fit(runs, Form{}); }).message.starts_with("no column holds sparsity (S)"));
}

TEST_CASE("fewer points than coefficients") {
  const Runs runs = runs_with({1e8, 1e9}, {0.9}, {1e10, 1e11});
  CHECK(message(runs) ==
        "grid.csv: 4 rows at 4 different points can be used; L = E + A (1-S)^b / F^a + K / D^c has "
        "6 free coefficients\n  hint: pin coefficients or leave terms out");
  Runs same = runs;
  for (int i = 0; i < 3; ++i) same.rows.insert(same.rows.end(), runs.rows.begin(), runs.rows.end());
  CHECK(error_of([&] {
          fit(same, Form{});
        }).message.starts_with("16 rows at 4 different points can be used;"));
}

TEST_CASE("one value on an axis: the term is refused by name") {
  CHECK(message(runs_with({1e8, 1e9, 1e10}, {0.8, 0.9, 0.95}, {2e10})) ==
        "grid.csv: tokens (D) has one value, 2e+10, in all 9 rows: the term K / D^c cannot be "
        "fitted\n  hint: leave the data term out, or pin its coefficients");
  CHECK(message(runs_with({1e9}, {0.8, 0.9, 0.95}, {1e9, 1e10, 1e11})) ==
        "grid.csv: flops (F) has one value, 1e+09, in all 9 rows: the term A / F^a cannot be "
        "fitted\n  hint: leave the size term out, or pin its coefficients");
  CHECK(message(runs_with({1e8, 1e9, 1e10}, {0.9}, {1e9, 1e10, 1e11})) ==
        "grid.csv: sparsity (S) has one value, 0.9, in all 9 rows: the factor (1-S)^b cannot be "
        "fitted\n  hint: leave the sparsity factor out, or pin its coefficients");
}

TEST_CASE("one value on an axis is no harm where nothing is fitted on it") {
  const Coefficients truth = test::baseline_coefficients();
  Form form;
  pin(form, "b=0.153", "");
  const Runs one_sparsity = test::grid_runs(truth, {1e8, 1e9, 1e10}, {0.9}, {1e9, 1e10, 1e11});
  CHECK(test::close(fit(one_sparsity, form).coefficients[Coefficient::a], 0.3703, 1e-6));
  Form constant;
  pin(constant, "c=0.6594", "");
  pin(constant, "E=1.4439", "");
  const Runs one_length = test::grid_runs(truth, {1e8, 5e8, 1e9, 1e10}, {0.8, 0.9, 0.95}, {2e10});
  CHECK(test::close(fit(one_length, constant).coefficients[Coefficient::K], 1.975e6, 1e-5));
  // With b alone free it is told by any sparsity but 0.
  Form only_b = share_exponents({}, truth);
  only_b.pinned[4] = {};
  pin(only_b, "A=1366", "");
  CHECK(test::close(fit(one_sparsity, only_b).coefficients[Coefficient::b], 0.153, 1e-6));
  const Runs dense = test::grid_runs(truth, {1e8, 1e9, 1e10}, {0}, {1e9, 1e10, 1e11});
  CHECK(
      error_of([&] { fit(dense, only_b); }).message.starts_with("sparsity (S) has one value, 0,"));
}

TEST_CASE("two values on an axis do not tell floor, amplitude and exponent apart") {
  const Runs runs = runs_with({1e8, 1e9, 1e10, 1e11}, {0.8, 0.9, 0.95}, {1e10, 1e11});
  CHECK(message(runs) ==
        "grid.csv: the rows cannot tell E, K, c apart, whatever their losses are\n"
        "  hint: pin one of them, leave a term out, or add runs at other values");
  Form form;
  pin(form, "E=1.4439", "");
  CHECK_NOTHROW(fit(runs, form));
}

TEST_CASE("rules leave rows out and are named with what they took") {
  Runs runs = runs_with({1e8, 1e9, 1e10, 1e11}, {0, 0.9, 0.95}, {1e9, 1e10, 3e10, 1e11});
  FitOptions options;
  options.exclude = {parse_exclusion("sparsity<=0", ""), parse_exclusion("loss>3", "")};
  options.drop_highest_loss = 2;
  const Fit result = fit(runs, Form{}, options);
  REQUIRE(result.excluded.size() == 3);
  CHECK(result.excluded[0].rule == "sparsity <= 0");
  CHECK(result.excluded[0].rows == 16);
  CHECK(result.excluded[1].rule == "loss > 3");
  CHECK(result.excluded[1].rows > 0);
  CHECK(result.excluded[2].rule == "2 highest losses");
  CHECK(result.excluded[2].rows == 2);
  CHECK(result.rows + 18 + result.excluded[1].rows == 48);
  double highest = 0;
  for (const Run& run : result.used) {
    CHECK(*run.sparsity > 0);
    highest = std::max(highest, run.loss);
  }
  CHECK(highest <= 3);
}

TEST_CASE("rows without a needed value are named, those without another are used") {
  Runs runs = runs_with({1e8, 1e9, 1e10, 1e11}, {0.8, 0.9, 0.95}, {1e9, 1e10, 1e11});
  runs.rows[3].tokens.reset();
  runs.skipped.push_back({40, "loss is NaN"});
  const Fit result = fit(runs, Form{});
  CHECK(result.rows == 35);
  REQUIRE(result.skipped.size() == 2);
  CHECK(result.skipped[0].line == 5);
  CHECK(result.skipped[0].reason == "tokens is empty");
  CHECK(result.skipped[1].line == 40);
}

TEST_CASE("options that make no sense") {
  const Runs runs = test::noisy_baseline();
  FitOptions options;
  options.delta = 0;
  CHECK(message(runs, {}, options) == "delta is 0; it must be positive");
  options = {};
  options.threads = 0;
  CHECK(message(runs, {}, options) == "tolerance, iterations and threads must be positive");
  options = {};
  options.starts.values[3] = {0.3, std::nan("")};
  CHECK(message(runs, {}, options) == "starting values must be finite");
  Form nothing;
  nothing.floor = nothing.size = nothing.data = false;
  CHECK(message(runs, nothing) == "the form has no term left");
  Form pinned = share_exponents({}, test::baseline_coefficients());
  for (const char* text : {"E=1", "A=1", "K=1"}) pin(pinned, text, "");
  CHECK(message(runs, pinned) == "every coefficient is pinned; there is nothing to fit");
  CHECK(error_of([&] { fit(runs, pinned); }).kind == ErrorKind::usage);
}

}  // namespace isoloop::law
