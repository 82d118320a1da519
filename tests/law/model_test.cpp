// The objective and its derivatives against the definition and against finite differences.
//
// Source: L = E + A (1-S)^b / F^a + K / D^c and huber(r) written out. Holds src/law/model.cpp.
#include "law/model.h"

#include "law/support.h"

namespace isoloop::law {

using namespace detail;

namespace {

Runs some_runs() {
  return test::grid_runs(test::baseline_coefficients(), {1e8, 7e8, 4e9}, {0, 0.85, 0.97},
                         {3e9, 2e10, 2e11}, 0.02, 5);
}

double huber(double r, double delta) {
  return std::abs(r) <= delta ? r * r / 2 : delta * (std::abs(r) - delta / 2);
}

// Largest error of gradient and Hessian against central differences, relative to their size.
void check_derivatives(const Table& table, const Vector& at, double delta) {
  Model model(table);
  Evaluation here, above, below;
  const auto evaluate = [&](const Vector& p, Evaluation& out) {
    model.value(p, delta);
    model.derivatives(Curvature::exact, out);
  };
  evaluate(at, here);
  const double h = 1e-6;
  for (int j = 0; j < max_free; ++j) {
    CAPTURE(j);
    if (!table.free[static_cast<std::size_t>(j)]) {
      CHECK(here.gradient[j] == 0);
      CHECK(here.hessian.row(j) == Matrix::Identity().row(j));
      continue;
    }
    Vector up = at, down = at;
    up[j] += h;
    down[j] -= h;
    evaluate(up, above);
    evaluate(down, below);
    CHECK((above.objective - below.objective) / (2 * h) ==
          doctest::Approx(here.gradient[j]).epsilon(1e-6).scale(here.force));
    for (int i = 0; i < max_free; ++i)
      if (table.free[static_cast<std::size_t>(i)])
        CHECK((above.gradient[i] - below.gradient[i]) / (2 * h) ==
              doctest::Approx(here.hessian(i, j)).epsilon(1e-5).scale(here.force));
  }
}

Vector away(const Table& table, const Coefficients& c) {
  Vector p = table.parameters(c);
  for (int i = 0; i < max_free; ++i)
    if (table.free[static_cast<std::size_t>(i)]) p[i] += 0.05 * (i % 2 == 0 ? 1 : -1.5);
  return p;
}

}  // namespace

TEST_CASE("objective is the sum of Huber losses of log-residuals, as written in the definition") {
  const Runs runs = some_runs();
  const Coefficients c = test::coefficients(1.6, 900, 3e6, 0.35, 0.2, 0.68);
  const Table table(Form{}, runs.rows);
  Model model(table);
  for (const double delta : {1e-3, 0.05, 10.0}) {
    double expected = 0;
    for (const Run& run : runs.rows)
      expected += huber(std::log(loss(test::smelt_law(c), *run.flops, *run.sparsity, *run.tokens)) -
                            std::log(run.loss),
                        delta);
    CHECK(model.value(table.parameters(c), delta) == doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("gradient and Hessian agree with finite differences") {
  const Runs runs = some_runs();
  const Coefficients c = test::baseline_coefficients();
  Form form;
  SUBCASE("all six") {}
  SUBCASE("E pinned") { pin(form, "E=1.4", ""); }
  SUBCASE("A pinned: its axes are not centred") { pin(form, "A=1366", ""); }
  SUBCASE("exponents pinned") { form = share_exponents(form, c); }
  SUBCASE("without floor") { leave_out(form, "floor", ""); }
  SUBCASE("without sparsity") { leave_out(form, "sparsity", ""); }
  SUBCASE("size term only") {
    leave_out(form, "data", "");
    leave_out(form, "floor", "");
  }
  const Table table(form, runs.rows);
  // Large and infinite delta: no residual changes sides within the step of the differences.
  check_derivatives(table, away(table, c), 1e3);
  check_derivatives(table, away(table, c), std::numeric_limits<double>::infinity());
  check_derivatives(table, away(table, c), 1e-9);
}

TEST_CASE("coefficients survive the way to centred parameters and back") {
  const Runs runs = some_runs();
  const Coefficients c = test::looped_coefficients();
  Form pinned;
  pin(pinned, "K=5264000", "");
  for (const Form& form : {Form{}, pinned}) {
    const Table table(form, runs.rows);
    const Coefficients back = table.coefficients(table.parameters(c));
    for (const Coefficient which : all_coefficients)
      CHECK(test::close(back[which], c[which], 1e-13));
  }
  CHECK(Table(pinned, runs.rows).coefficients(Vector::Zero())[Coefficient::K] == 5264000);
}

TEST_CASE("to_raw is the derivative of the coefficients") {
  const Runs runs = some_runs();
  const Table table(Form{}, runs.rows);
  const Vector at = table.parameters(test::baseline_coefficients());
  const Matrix m = table.to_raw();
  const auto raw = [&](const Vector& p) {
    const Coefficients c = table.coefficients(p);
    Vector out;
    out << std::log(c.values[0]), std::log(c.values[1]), std::log(c.values[2]), c.values[3],
        c.values[4], c.values[5];
    return out;
  };
  for (int j = 0; j < max_free; ++j) {
    Vector up = at, down = at;
    up[j] += 1e-5;
    down[j] -= 1e-5;
    const Vector slope = (raw(up) - raw(down)) / 2e-5;
    for (int i = 0; i < max_free; ++i) CHECK(slope[i] == doctest::Approx(m(i, j)).epsilon(1e-6));
  }
}

TEST_CASE("weights are repeated rows") {
  const Runs runs = some_runs();
  std::vector<double> weights(runs.rows.size(), 1);
  std::vector<Run> repeated;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<double>(i % 3);
    for (std::size_t k = 0; k < i % 3; ++k) repeated.push_back(runs.rows[i]);
  }
  const Coefficients c = test::looped_coefficients();
  const Table all(Form{}, runs.rows), some = all.weighted(weights), copies(Form{}, repeated);
  CHECK(some.rows() == 18);
  CHECK(Model(some).value(some.parameters(c), 1e-3) ==
        doctest::Approx(Model(copies).value(copies.parameters(c), 1e-3)).epsilon(1e-12));
}

TEST_CASE("far-off parameters overflow nowhere") {
  const Runs runs = some_runs();
  const Table table(Form{}, runs.rows);
  Model model(table);
  Evaluation out;
  for (const double far : {-1e4, -700.0, 700.0, 1e4}) {
    CAPTURE(far);
    CHECK(std::isfinite(model.value(Vector::Constant(far), 1e-3)));
    model.derivatives(Curvature::exact, out);
    CHECK(out.gradient.allFinite());
    CHECK(out.hessian.allFinite());
  }
}

}  // namespace isoloop::law
