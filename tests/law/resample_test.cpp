// Bootstrap: draws that depend on the seed alone, percentiles, coverage, pairing.
//
// Source: SplitMix64's published sequence; percentiles as numpy's default; coverage on simulated
// runs. Holds src/law/resample.cpp and random.h.
#include "law/resample.h"

#include <numeric>

#include "law/random.h"
#include "law/support.h"

namespace isoloop::law {

using enum WarningKind;
using test::error_of;
using test::text_of;

namespace {

Fit fitted(double noise = 3e-3, std::uint64_t seed = 1) {
  return fit(test::cell_runs(test::baseline_coefficients(), noise, seed), Form{});
}

BootstrapOptions draws_of(std::size_t draws, std::uint64_t seed = 1, int threads = 1) {
  BootstrapOptions options;
  options.draws = draws;
  options.seed = seed;
  options.threads = threads;
  return options;
}

}  // namespace

TEST_CASE("the generator gives the published numbers") {
  // Seed 1234567, from the reference implementation of SplitMix64.
  detail::Random random(1234567);
  CHECK(random.next() == 6457827717110365317U);
  CHECK(random.next() == 3203168211198807973U);
  CHECK(random.next() == 9817491932198370423U);
}

TEST_CASE("bounded numbers are uniform") {
  detail::Random random(5, 6);
  std::vector<int> count(7, 0);
  for (int i = 0; i < 70000; ++i) ++count[random.below(7)];
  for (const int n : count) CHECK(std::abs(n - 10000) < 500);
  CHECK(detail::Random(1).below(1) == 0);
}

TEST_CASE("percentiles are linear between order statistics") {
  std::vector<double> values(101);
  std::iota(values.rbegin(), values.rend(), 0);
  CHECK(percentile(values).low == doctest::Approx(2.5));
  CHECK(percentile(values).high == doctest::Approx(97.5));
  CHECK(percentile({1, 2, 3, 4}, 0.5).low == doctest::Approx(1.75));
  CHECK(percentile({1, 2, 3, 4}, 0.5).high == doctest::Approx(3.25));
  CHECK(percentile({7}).low == 7);
  CHECK(std::isinf(percentile({1, INFINITY, INFINITY}).high));
}

TEST_CASE("a draw takes whole cells, as many as there are") {
  const Fit result = fitted();
  const detail::Units units = detail::units_of(result, Resample::automatic);
  CHECK(units.by_cell);
  CHECK(units.rows.size() == 12);
  for (std::size_t draw = 0; draw < 50; ++draw) {
    const auto weights = detail::draw_weights(units, 72, 1, draw);
    CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == 72);
    for (const auto& rows : units.rows)
      for (const std::size_t row : rows) CHECK(weights[row] == weights[rows[0]]);
  }
}

TEST_CASE("draws depend on the seed, not on threads or the order of rows") {
  const Fit result = fitted();
  const Draws one = bootstrap(result, draws_of(40));
  const Draws three = bootstrap(result, draws_of(40, 1, 3));
  CHECK(one.values == three.values);
  CHECK(one.values.size() == 40);
  CHECK(one.failed == 0);
  CHECK(!(bootstrap(result, draws_of(40, 2)).values == one.values));
  // More draws begin with the same ones.
  const Draws more = bootstrap(result, draws_of(60));
  CHECK(std::equal(one.values.begin(), one.values.end(), more.values.begin()));

  Runs reversed = test::cell_runs(test::baseline_coefficients());
  std::reverse(reversed.rows.begin(), reversed.rows.end());
  const Draws other = bootstrap(fit(reversed, Form{}), draws_of(40));
  for (std::size_t i = 0; i < 40; ++i)
    for (const Coefficient which : all_coefficients)
      CHECK(test::close(other.values[i][which], one.values[i][which], 1e-5));
}

TEST_CASE("a draw is the fit of its rows") {
  const Fit result = fitted();
  const Draws draws = bootstrap(result, draws_of(3));
  const detail::Units units = detail::units_of(result, Resample::automatic);
  for (std::size_t draw = 0; draw < 3; ++draw) {
    Runs runs;
    const auto weights = detail::draw_weights(units, 72, 1, draw);
    for (std::size_t i = 0; i < 72; ++i)
      for (int k = 0; k < weights[i]; ++k) runs.rows.push_back(result.used[i]);
    const Fit again = fit(runs, Form{});
    for (const Coefficient which : all_coefficients)
      CHECK(test::close(draws.values[draw][which], again.coefficients[which], 1e-6));
  }
}

TEST_CASE("intervals hold the truth about as often as they say") {
  int inside = 0;
  constexpr int trials = 30;
  for (int i = 0; i < trials; ++i) {
    const Fit result = fitted(3e-3, 100 + static_cast<std::uint64_t>(i));
    const auto interval = intervals(bootstrap(result, draws_of(100)));
    const Interval& a = interval[static_cast<std::size_t>(Coefficient::a)];
    CHECK(a.low < a.high);
    if (a.low <= 0.3703 && 0.3703 <= a.high) ++inside;
  }
  CHECK(inside >= 24);  // 28 expected; the percentile interval of 12 cells is somewhat narrow
}

TEST_CASE("pinned coefficients stay pinned in every draw") {
  Form form;
  pin(form, "E=1.45", "");
  const Draws draws =
      bootstrap(fit(test::cell_runs(test::baseline_coefficients()), form), draws_of(20));
  for (const Coefficients& c : draws.values) CHECK(c[Coefficient::E] == 1.45);
}

TEST_CASE("trap: rows are not independent") {
  Runs runs = test::cell_runs(test::baseline_coefficients());
  for (std::size_t i = 0; i < runs.rows.size(); ++i) runs.rows[i].cell = i < 36 ? "one" : "two";
  CHECK(text_of(bootstrap(fit(runs, Form{}), draws_of(5)).warnings, few_cells) ==
        "only 2 cells: percentile intervals of so few are rough");
  runs.rows[0].cell.clear();
  const Fit result = fit(runs, Form{});
  const Draws by_row = bootstrap(result, draws_of(5));
  CHECK(!by_row.by_cell);
  CHECK(text_of(by_row.warnings, no_cells) ==
        "rows are resampled one by one: horizons and seeds of one run are not independent, and the "
        "intervals are then too narrow; name a cell column");
  BootstrapOptions options = draws_of(5);
  options.by = Resample::cell;
  CHECK(std::string(error_of([&] { bootstrap(result, options); }).what()) ==
        "rows without a cell cannot be resampled by cell\n  hint: name the column with "
        "cell=COLUMN, or resample rows");
}

TEST_CASE("trap: draws that do not converge are left out and counted") {
  Fit hasty = fitted();
  hasty.options.max_iterations = 1;  // for the draws, not for the fit
  const Draws draws = bootstrap(hasty, draws_of(20));
  REQUIRE(draws.failed > 0);
  CHECK(draws.values.size() + draws.failed == 20);
  CHECK(text_of(draws.warnings, failed_draws) ==
        std::to_string(draws.failed) + " of 20 draws did not converge and are left out");
}

TEST_CASE("progress reaches the number of draws; no draws are no bootstrap") {
  BootstrapOptions options = draws_of(10);
  std::size_t last = 0;
  options.progress = [&](std::size_t done, std::size_t) { last = done; };
  bootstrap(fitted(), options);
  CHECK(last == 10);
  CHECK(error_of([] { bootstrap(fitted(), draws_of(0)); }).message ==
        "draws and threads must be positive");
  CHECK(BootstrapOptions{}.draws == 2000);
}

}  // namespace isoloop::law
