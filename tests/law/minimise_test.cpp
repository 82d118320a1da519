// The minimiser against independent answers: medians, a direct search, and rows used many times.
//
// Source: the L1 line through weighted medians; compass search (Kolda, Lewis, Torczon 2003) on the
// objective written out. Holds src/law/minimise.cpp and starts.cpp.
#include "law/minimise.h"

#include <algorithm>
#include <limits>

#include "law/starts.h"
#include "law/support.h"

namespace isoloop::law {

using namespace detail;

namespace {

// Slow and simple: steps along random directions, halved when none helps.
double direct_search(Model& model, Vector p, double delta, double step) {
  test::Noise random(99);
  double best = model.value(p, delta);
  while (step > 1e-10) {
    bool better = false;
    for (int trial = 0; trial < 200; ++trial) {
      Vector q = p;
      for (int i = 0; i < max_free; ++i)
        if (model.table().free[static_cast<std::size_t>(i)]) q[i] += step * random.normal();
      const double value = model.value(q, delta);
      if (value < best) {
        best = value;
        p = q;
        better = true;
      }
    }
    if (!better) step /= 2;
  }
  return best;
}

Outcome best_from_grid(const Table& table, double delta) {
  Model model(table);
  Outcome best;
  best.objective = std::numeric_limits<double>::infinity();
  for (const Vector& start : starting_points(table, {})) {
    const Outcome out = minimise(model, start, {delta, 1e-8, 200, true});
    if (out.objective < best.objective) best = out;
  }
  return best;
}

}  // namespace

TEST_CASE("direct search finds nothing better, whatever the noise and the outliers") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Runs runs = test::cell_runs(test::baseline_coefficients(), 4e-3, seed);
    for (std::size_t i = 0; i < 6; ++i) runs.rows[11 * i].loss *= 1.2;  // outliers, one-sided
    const Table table(Form{}, runs.rows);
    const Outcome best = best_from_grid(table, 1e-3);
    CHECK(best.relative_gradient < 1e-8);
    Model model(table);
    const double found = direct_search(model, best.parameters, 1e-3, 0.01);
    CHECK(found >= best.objective * (1 - 1e-9));
    // And from the true coefficients, which the search knows nothing of.
    const double other =
        direct_search(model, table.parameters(test::baseline_coefficients()), 1e-3, 0.1);
    CHECK(other >= best.objective * (1 - 1e-9));
  }
}

TEST_CASE("outliers do not move a Huber fit as they move least squares") {
  Runs runs = test::cell_runs(test::baseline_coefficients(), 1e-4);
  runs.rows[5].loss *= 1.5;
  const Table table(Form{}, runs.rows);
  const Coefficients robust = table.coefficients(best_from_grid(table, 1e-3).parameters);
  CHECK(test::close(robust[Coefficient::a], 0.3703, 0.02));
  const double infinity = std::numeric_limits<double>::infinity();
  const Coefficients squares = table.coefficients(best_from_grid(table, infinity).parameters);
  CHECK(!test::close(squares[Coefficient::a], 0.3703, 0.05));
}

TEST_CASE("a lone floor is the median of the losses under L1, their mean logarithm under L2") {
  Runs runs;
  for (const double loss : {2.0, 2.1, 2.5, 3.0, 9.0}) {
    Run run;
    run.loss = loss;
    runs.rows.push_back(run);
  }
  Form form;
  form.size = form.data = form.sparsity = false;
  const Table table(form, runs.rows);
  Model model(table);
  const Vector start = table.parameters(test::coefficients(20, 1, 1, 1, 1, 1));
  const Outcome l1 = minimise(model, start, {1e-8, 1e-8, 200, true});
  CHECK(table.coefficients(l1.parameters)[Coefficient::E] == doctest::Approx(2.5).epsilon(1e-7));
  const Outcome l2 =
      minimise(model, start, {std::numeric_limits<double>::infinity(), 1e-12, 200, true});
  CHECK(table.coefficients(l2.parameters)[Coefficient::E] ==
        doctest::Approx(std::pow(2.0 * 2.1 * 2.5 * 3 * 9, 0.2)).epsilon(1e-9));
}

TEST_CASE("neither the number of copies of the rows nor their weight changes where it stops") {
  const Runs runs = test::noisy_baseline();
  const Table once(Form{}, runs.rows);
  const Table often = once.weighted(std::vector<double>(runs.rows.size(), 1000));
  const Table rarely = once.weighted(std::vector<double>(runs.rows.size(), 1.0 / 75));  // the mean
  const Vector start = starting_points(once, {}).front();
  const Target target;
  Model a(once), b(often), c(rarely);
  const Outcome x = minimise(a, start, target), y = minimise(b, start, target),
                z = minimise(c, start, target);
  CHECK(y.objective == doctest::Approx(1000 * x.objective).epsilon(1e-12));
  CHECK(z.objective == doctest::Approx(x.objective / 75).epsilon(1e-12));
  CHECK((y.parameters - x.parameters).norm() < 1e-9);
  CHECK((z.parameters - x.parameters).norm() < 1e-9);
}

TEST_CASE("the model stays at the answer") {
  const Runs runs = test::noisy_looped();
  const Table table(Form{}, runs.rows);
  Model model(table);
  const Outcome out = minimise(model, starting_points(table, {}).front(), {});
  const Eigen::ArrayXd residuals = model.residuals();
  Model other(table);
  other.value(out.parameters, 1e-3);
  CHECK((residuals == other.residuals()).all());
}

TEST_CASE("a start without hope is given up as vanished") {
  const Runs runs = test::noisy_baseline();
  const Table table(Form{}, runs.rows);
  Model model(table);
  // So steep in D that the data term is nothing anywhere.
  const Outcome out = minimise(
      model, table.parameters(test::coefficients(1.5, 1400, 1e-30, 0.37, 0.15, 0.6)), Target{});
  CHECK(out.stop == StopReason::vanished);
  CHECK(out.iterations < 200);
}

TEST_CASE("starts: the grid, pinned coefficients, and amplitudes by least squares") {
  const Runs runs = test::synthetic("synthetic_baseline.csv", "loss_exact");
  const Table table(Form{}, runs.rows);
  CHECK(starting_points(table, {}).size() == 6 * 6 * 4);
  CHECK(starting_points(table, chinchilla_starts()).size() == 4500 * 4);
  Form chinchilla = parse_form("chinchilla", "");
  Runs sized = runs;
  for (Run& run : sized.rows) run.params = *run.flops / 6;
  CHECK(starting_points(Table(chinchilla, sized.rows), chinchilla_starts()).size() == 4500);
  CHECK(starting_points(Table(share_exponents({}, test::baseline_coefficients()), runs.rows), {})
            .size() == 7);  // the solved amplitudes, and each of them larger and smaller

  // With the exponents of an exact law its amplitudes follow.
  StartGrid grid;
  grid.values = {{{}, {}, {}, {0.3703}, {0.1530}, {0.6594}}};
  const Coefficients solved = table.coefficients(starting_points(table, grid).at(0));
  CHECK(test::close(solved[Coefficient::E], 1.4439, 1e-9));
  CHECK(test::close(solved[Coefficient::A], 1366, 1e-9));
  CHECK(test::close(solved[Coefficient::K], 1.975e6, 1e-9));

  // With one of them given, the others follow from the rest.
  grid.values[0] = {1.4439};
  const Coefficients given = table.coefficients(starting_points(table, grid).at(0));
  CHECK(given[Coefficient::E] == doctest::Approx(1.4439));
  CHECK(test::close(given[Coefficient::A], 1366, 1e-9));
}

}  // namespace isoloop::law
