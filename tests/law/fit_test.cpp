// Fits with known answers.
//
// Source: tests/law/data/README.md for the exact columns; the values of the noisy columns come from
// an independent fit with scipy's L-BFGS-B. Holds src/law/fit.cpp and diagnose.cpp.
#include "law/support.h"

namespace isoloop::law {

namespace {

void check_coefficients(const Fit& fit, const Coefficients& expected, double relative) {
  for (const Coefficient which : coefficients_of(fit.form)) {
    CAPTURE(name(fit.form.family, which));
    CAPTURE(fit.coefficients[which]);
    CHECK(test::close(fit.coefficients[which], expected[which], relative));
  }
}

}  // namespace

TEST_CASE("the exact columns follow from their coefficients") {
  for (const auto& [file, c] : {std::pair("synthetic_baseline.csv", test::baseline_coefficients()),
                                std::pair("synthetic_looped.csv", test::looped_coefficients())}) {
    const Runs runs = test::synthetic(file, "loss_exact");
    CHECK(runs.rows.size() == 75);
    for (const Run& run : runs.rows)
      CHECK(loss(test::smelt_law(c), *run.flops, *run.sparsity, *run.tokens) ==
            doctest::Approx(run.loss).epsilon(1e-11));
  }
}

TEST_CASE("exact runs give all six coefficients back to six digits") {
  for (const auto& [file, c] : {std::pair("synthetic_baseline.csv", test::baseline_coefficients()),
                                std::pair("synthetic_looped.csv", test::looped_coefficients())}) {
    const Fit result = fit(test::synthetic(file, "loss_exact"), Form{});
    check_coefficients(result, c, 1e-8);
    CHECK(result.rmse_nats < 1e-11);
    CHECK(result.starts.reached == result.starts.tried);
    CHECK(result.inside_delta == 1);
  }
}

TEST_CASE("noisy runs give the known optimum: baseline") {
  const Fit result = fit(test::noisy_baseline(), Form{});
  check_coefficients(
      result, test::coefficients(1.458802, 1401.5, 2.60527e6, 0.371827, 0.154193, 0.672764), 1e-4);
  CHECK(test::close(result.objective, 2.108155210794e-4, 1e-9));
  CHECK(result.stop == StopReason::gradient);
  CHECK(result.relative_gradient < 1e-8);
  CHECK(result.starts.tried == 144);
  CHECK(result.starts.reached > 100);
  CHECK(!result.second_basin);
  CHECK(result.rows == 75);
}

TEST_CASE("noisy runs give the known optimum: looped") {
  const Fit result = fit(test::noisy_looped(), Form{});
  check_coefficients(
      result, test::coefficients(1.456294, 2063.6, 5.66446e6, 0.392210, 0.147067, 0.704281), 1e-4);
  CHECK(test::close(result.objective, 1.878656357049e-4, 1e-9));
}

TEST_CASE("the 4,500 customary starts lead to no better optimum") {
  FitOptions options;
  options.starts = chinchilla_starts();
  options.starts.values[4] = {0.15};
  const Fit many = fit(test::noisy_baseline(), Form{}, options);
  CHECK(many.starts.tried == 4500);
  CHECK(many.starts.dead > 0);  // exponents of 0 and amplitudes of 1 lead nowhere
  CHECK(test::close(many.objective, 2.108155210794e-4, 1e-9));
}

TEST_CASE("a fit does not depend on the number of threads") {
  FitOptions options;
  const Fit one = fit(test::noisy_baseline(), Form{}, options);
  for (const int threads : {2, 5}) {
    options.threads = threads;
    const Fit several = fit(test::noisy_baseline(), Form{}, options);
    CHECK(several.coefficients == one.coefficients);
    CHECK(several.objective == one.objective);
    CHECK(several.iterations == one.iterations);
    CHECK(several.starts.reached == one.starts.reached);
  }
}

TEST_CASE("a chinchilla law in its own letters") {
  const Law truth = [] {
    Law law;
    law.form = parse_form("chinchilla", "");
    law.coefficients = test::coefficients(1.8172, 482.01, 2085.43, 0.3478, 0, 0.3658);
    return law;
  }();
  Runs runs;
  for (const double params : {5e7, 2e8, 1e9, 7e9})
    for (const double tokens : {1e9, 1e10, 6e10, 3e11}) {
      Run run;
      run.params = params;
      run.tokens = tokens;
      run.loss = loss(truth, params, 0, tokens);
      runs.rows.push_back(run);
    }
  check_coefficients(fit(runs, truth.form), truth.coefficients, 1e-6);
}

TEST_CASE("sub-forms: left-out terms and pinned coefficients") {
  using enum Coefficient;
  const Runs runs = test::synthetic("synthetic_baseline.csv", "loss_exact");
  const Coefficients truth = test::baseline_coefficients();
  Form form;
  for (const char* assignment :
       {"E=1.4439", "A=1366", "K=1975000", "a=0.3703", "b=0.153", "c=0.6594"}) {
    CAPTURE(assignment);
    Form pinned;
    pin(pinned, assignment, "");
    const Fit result = fit(runs, pinned);
    check_coefficients(result, truth, 1e-7);
    CHECK(result.free.size() == 5);
  }
  pin(form, "E=1.5", "");
  const Fit wrong = fit(runs, form);
  CHECK(wrong.coefficients[E] == 1.5);
  CHECK(wrong.objective > 1e-6);

  Form without;
  leave_out(without, "sparsity", "");
  const Runs sparse = test::grid_runs(test::coefficients(1.4, 1000, 2e6, 0.37, 0, 0.66),
                                      {1e8, 1e9, 1e10}, {0}, {1e9, 1e10, 1e11});
  check_coefficients(fit(sparse, without), test::coefficients(1.4, 1000, 2e6, 0.37, 0, 0.66), 1e-6);
}

TEST_CASE("categories share exponents: E, A and K are refitted") {
  const Coefficients shared = test::baseline_coefficients();
  const Coefficients category = test::coefficients(1.1, 900, 4e6, 0.3703, 0.1530, 0.6594);
  const Fit result = fit(test::cell_runs(category, 0), share_exponents({}, shared));
  check_coefficients(result, category, 1e-8);
  CHECK(result.free.size() == 3);
  CHECK(result.starts.tried == 7);  // the solved amplitudes, and each of them moved
  CHECK(test::text_of(result.warnings, WarningKind::few_starts).empty());
}

TEST_CASE("penalties: L1 and L2 have their own optimum and their own objective") {
  FitOptions options;
  options.penalty = Penalty::l2;
  const Fit squares = fit(test::noisy_baseline(), Form{}, options);
  double expected = 0;
  for (const Residual& r : squares.residuals) expected += r.log_ratio * r.log_ratio / 2;
  CHECK(squares.objective == doctest::Approx(expected).epsilon(1e-12));
  CHECK(squares.inside_delta == 1);
  options.penalty = Penalty::l1;
  const Fit absolute = fit(test::noisy_baseline(), Form{}, options);
  expected = 0;
  for (const Residual& r : absolute.residuals) expected += std::abs(r.log_ratio);
  CHECK(absolute.objective == doctest::Approx(expected).epsilon(1e-6));
  // An L1 optimum of six coefficients goes through about six rows.
  int exact = 0;
  for (const Residual& r : absolute.residuals) exact += std::abs(r.log_ratio) < 2e-8;
  CHECK(exact == 6);
}

TEST_CASE("residuals, rmse and window are those of the rows") {
  const Fit result = fit(test::noisy_looped(), Form{});
  REQUIRE(result.residuals.size() == 75);
  double squares = 0;
  for (const Residual& r : result.residuals) {
    CHECK(std::log(r.predicted / r.observed) == doctest::Approx(r.log_ratio).epsilon(1e-9));
    squares += (r.predicted - r.observed) * (r.predicted - r.observed);
  }
  CHECK(result.residuals[0].line == 2);
  CHECK(result.rmse_nats == doctest::Approx(std::sqrt(squares / 75)).epsilon(1e-12));
  CHECK(result.window.sparsity == Range{0.85, 0.97});
  CHECK(result.window.compute.low == doctest::Approx(1e18).epsilon(1e-6));
  CHECK(result.window.compute.high == doctest::Approx(1e20).epsilon(1e-6));
}

TEST_CASE("correlations and condition say what can be told apart") {
  const Fit result = fit(test::noisy_baseline(), Form{});
  REQUIRE(result.correlations.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(result.correlations[i][i] == 1);
    for (std::size_t j = 0; j < 6; ++j) {
      CHECK(std::abs(result.correlations[i][j]) <= 1 + 1e-12);
      CHECK(result.correlations[i][j] == doctest::Approx(result.correlations[j][i]));
    }
  }
  CHECK(result.correlations[1][3] > 0.99);  // A and a
  CHECK(result.correlations[2][5] > 0.99);  // K and c
  CHECK(result.condition > 100);
  CHECK(result.condition < 1e5);
  CHECK(result.condition_raw > 1000 * result.condition);
}

TEST_CASE("correlations agree with the spread of refits of noisy copies") {
  const Coefficients truth = test::baseline_coefficients();
  FitOptions options;
  options.penalty = Penalty::l2;
  options.starts.values = {{{}, {}, {}, {0.4}, {0.15}, {0.6}}};
  std::vector<double> a, c;
  double mean_a = 0, mean_c = 0;
  constexpr int copies = 200;
  Fit last;
  for (int seed = 0; seed < copies; ++seed) {
    last = fit(test::cell_runs(truth, 1e-4, 1000 + seed), Form{}, options);
    a.push_back(last.coefficients[Coefficient::E]);
    c.push_back(last.coefficients[Coefficient::a]);
    mean_a += a.back() / copies;
    mean_c += c.back() / copies;
  }
  double aa = 0, ac = 0, cc = 0;
  for (int i = 0; i < copies; ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    ac += (a[i] - mean_a) * (c[i] - mean_c);
    cc += (c[i] - mean_c) * (c[i] - mean_c);
  }
  CHECK(ac / std::sqrt(aa * cc) == doctest::Approx(last.correlations[0][3]).epsilon(0.05));
}

TEST_CASE("progress reaches the number of starts") {
  FitOptions options;
  std::size_t last = 0;
  options.progress = [&](std::size_t done, std::size_t total) {
    CHECK(total == 144);
    last = done;
  };
  fit(test::noisy_baseline(), Form{}, options);
  CHECK(last == 144);
}

}  // namespace isoloop::law
