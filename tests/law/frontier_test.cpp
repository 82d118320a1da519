// The frontier in closed form against brute force, and against the published figures.
//
// Source: minimising the loss over F directly; arXiv 2609.01343 (tokens per parameter). Holds
// src/law/frontier.cpp.
#include "law/published.h"
#include "law/support.h"

namespace isoloop::law {

using enum WarningKind;
using test::close;
using test::error_of;
using test::text_of;

namespace {

Law baseline() { return built_in_law("baseline", ""); }
Law looped() { return built_in_law("smelt", ""); }

// The least loss over the size of the model at one budget, by golden-section search on its log.
struct Least {
  double size, loss;
};
Least brute_force(const Law& law, double sparsity, double compute, double flops_per_size) {
  const auto at = [&](double x) {
    const double size = std::exp(x);
    return loss(law, size, sparsity, compute / (flops_per_size * size));
  };
  double low = -60, high = 100;
  const double golden = (std::sqrt(5.0) - 1) / 2;
  while (high - low > 1e-8) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    (at(left) < at(right) ? high : low) = at(left) < at(right) ? right : left;
  }
  return {std::exp(0.5 * (low + high)), at(0.5 * (low + high))};
}

}  // namespace

TEST_CASE("the closed form is the least loss on the budget") {
  test::Noise random(17);
  for (int i = 0; i < 200; ++i) {
    const Law law = test::smelt_law(
        test::coefficients(2 * random.uniform(), std::exp(3 + 8 * random.uniform()),
                           std::exp(5 + 12 * random.uniform()), 0.1 + 0.6 * random.uniform(),
                           random.uniform(), 0.1 + 0.8 * random.uniform()));
    const double sparsity = 0.99 * random.uniform(), compute = std::exp(35 + 25 * random.uniform());
    const FrontierPoint point = frontier(law, sparsity, std::span(&compute, 1)).points.at(0);
    const Least least = brute_force(law, sparsity, compute, 1);
    CHECK(close(point.loss, least.loss, 1e-12));
    CHECK(close(point.flops_per_token, least.size, 1e-4));
    CHECK(close(point.flops_per_token * point.tokens, compute, 1e-12));
    CHECK(close(loss(law, point.flops_per_token, sparsity, point.tokens), point.loss, 1e-12));
    CHECK(close(frontier_loss(law, sparsity, compute), point.loss, 1e-15));
    const double excess = point.loss - law.coefficients[Coefficient::E];
    CHECK(close(frontier_compute(law, sparsity, point.loss), compute,
                1e-12 + 1e-13 * point.loss / excess));
  }
}

TEST_CASE("chinchilla spends C = 6 N D") {
  Law law;
  law.form = parse_form("chinchilla", "");
  law.coefficients = test::coefficients(1.8172, 482.01, 2085.43, 0.3478, 0, 0.3658);
  const double compute = 5.76e23;
  const FrontierPoint point = frontier(law, 0, std::span(&compute, 1)).points.at(0);
  const Least least = brute_force(law, 0, compute, 6);
  CHECK(close(point.loss, least.loss, 1e-12));
  CHECK(close(point.params, least.size, 1e-4));
  CHECK(close(6 * point.params * point.tokens, compute, 1e-12));
  // arXiv 2404.10102 finds about 20 tokens per parameter at this budget.
  CHECK(point.tokens_per_param > 15);
  CHECK(point.tokens_per_param < 30);
}

TEST_CASE("gamma and tokens per parameter from the printed coefficients") {
  const double compute = 1e21;
  const auto point = [&](const Law& law, double sparsity) {
    return frontier(law, sparsity, std::span(&compute, 1));
  };
  CHECK(point(baseline(), 0.85).gamma == doctest::Approx(0.23713297).epsilon(1e-8));
  CHECK(point(looped(), 0.85).gamma == doctest::Approx(0.25026884).epsilon(1e-8));
  const double sparsities[] = {0.85, 0.95, 0.97};
  const double first[] = {56.45, 78.25, 91.07}, second[] = {56.12, 75.32, 86.37};
  for (int i = 0; i < 3; ++i) {
    const double x = point(baseline(), sparsities[i]).points[0].tokens_per_param;
    const double y = point(looped(), sparsities[i]).points[0].tokens_per_param;
    CHECK(std::abs(x - first[i]) < 0.005);
    CHECK(std::abs(y - second[i]) < 0.005);
  }
}

TEST_CASE("tokens per parameter are the published ones to the digit") {
  const Published tables = published();
  CHECK(tables.tpp.size() == 6);
  for (const PublishedTpp& row : tables.tpp) {
    const double compute = tables.tpp_compute;
    const Law law = built_in_law(row.law, "");
    const double ours =
        frontier(law, row.sparsity, std::span(&compute, 1)).points[0].tokens_per_param;
    CHECK(std::round(ours) == row.tokens_per_param);
    CHECK(row.interval.low < ours);
    CHECK(ours < row.interval.high);
  }
}

TEST_CASE("trap: beyond the fitted window points are marked") {
  const double budgets[] = {1e18, 1e20, 2.2e21, 1e22};
  const Frontier result = frontier(baseline(), 0.95, budgets);
  CHECK(result.points[0].extrapolated);
  CHECK(!result.points[1].extrapolated);
  CHECK(!result.points[2].extrapolated);
  CHECK(result.points[3].extrapolated);
  CHECK(result.points[3].over_window == doctest::Approx(1e22 / 2.2e21));
  CHECK(text_of(result.warnings, extrapolated) ==
        "2 of 4 budgets lie outside the fitted window of baseline, 1.3e+19 .. 2.2e+21; 1.0e+22 is "
        "4.5 C_max: trust the interval, not the point; pinning E may help");
  CHECK(text_of(result.warnings, rounded) ==
        "the coefficients of baseline are rounded as printed: see the rounding line for how far "
        "answers may be off");
  const double within[] = {1e20};
  CHECK(test::texts(frontier(baseline(), 0.95, within).warnings, extrapolated).empty());
}

TEST_CASE("intervals come from the draws, and hold the point") {
  const Fit result = fit(test::cell_runs(test::baseline_coefficients()), Form{});
  BootstrapOptions options;
  options.draws = 100;
  const Law law = law_of(result, "mine", bootstrap(result, options));
  const double budgets[] = {1e20, 1e22};
  const Frontier line = frontier(law, 0.95, budgets);
  REQUIRE(line.gamma_interval);
  CHECK(line.gamma_interval->low < line.gamma);
  CHECK(line.gamma < line.gamma_interval->high);
  for (const FrontierPoint& point : line.points) {
    REQUIRE(point.loss_interval);
    CHECK(point.loss_interval->low < point.loss);
    CHECK(point.loss < point.loss_interval->high);
    CHECK(point.flops_interval->low < point.flops_per_token);
    CHECK(point.tokens_interval->high > point.tokens);
    CHECK(point.tokens_per_param_interval->high > point.tokens_per_param);
  }
  const auto width = [](const Interval& i) { return i.high - i.low; };
  CHECK(width(*line.points[1].loss_interval) > width(*line.points[0].loss_interval));
  CHECK(!frontier(baseline(), 0.9, budgets).points[0].loss_interval);
}

TEST_CASE("allocation: another size on the same budget costs loss") {
  const double factors[] = {0.25, 0.5, 1, 2, 4};
  const Allocation result = allocate(baseline(), 0.95, 1e21, factors);
  CHECK(result.best.compute == 1e21);
  CHECK(result.gamma == doctest::Approx(0.23713297));
  REQUIRE(result.rows.size() == 5);
  for (const AllocationRow& row : result.rows) {
    CHECK(close(row.flops_per_token * row.tokens, 1e21, 1e-12));
    CHECK(close(row.loss, loss(baseline(), row.flops_per_token, 0.95, row.tokens), 1e-13));
    CHECK(row.extra_loss == doctest::Approx(row.loss - result.best.loss));
    if (row.size_factor == 1) {
      CHECK(row.extra_loss == doctest::Approx(0).scale(1));
      CHECK(row.extra_compute == doctest::Approx(0).scale(1));
    } else {
      CHECK(row.extra_loss > 0);
      CHECK(
          close(frontier_loss(baseline(), 0.95, 1e21 / (1 + row.extra_compute)), row.loss, 1e-10));
    }
  }
  CHECK(result.rows[0].tokens_per_param == doctest::Approx(16 * result.rows[2].tokens_per_param));
}

TEST_CASE("laws and questions without an optimum are refused") {
  Law law = baseline();
  const double budgets[] = {1e20};
  law.form.data = false;
  CHECK(std::string(error_of([&] { frontier(law, 0.9, budgets); }).what()) ==
        "baseline has no compute-optimal point: it needs a size term and a data term\n"
        "  hint: take a law with E, A, a, K and c, or fit one without dropping terms");
  law = baseline();
  law.coefficients[Coefficient::c] = -0.1;
  CHECK(std::string(error_of([&] { frontier(law, 0.9, budgets); }).what()) ==
        "baseline has no compute-optimal point: its amplitudes and exponents must be positive\n"
        "  hint: take a law whose A, a, K and c are positive: isoloop list laws");
  CHECK(error_of([&] { frontier(baseline(), 95, budgets); }).message ==
        "sparsity is 95; it is a fraction, at least 0 and below 1");
  const double zero[] = {0.0};
  CHECK(error_of([&] { frontier(baseline(), 0.9, zero); }).message ==
        "compute is 0; it must be positive training FLOPs");
  CHECK(error_of([&] { allocate(baseline(), 0.9, 1e20, zero); }).message ==
        "size factor 0 must be positive");
  CHECK(std::isinf(frontier_compute(baseline(), 0.9, 1.4)));
}

}  // namespace isoloop::law
