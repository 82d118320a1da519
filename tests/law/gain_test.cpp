// Compute-efficiency gain: against the definition, the published table, and its own shape.
//
// Source: arXiv 2609.01343, and 1 - C_target / C_reference at equal frontier loss. Holds
// src/law/gain.cpp.
#include "law/published.h"
#include "law/support.h"

namespace isoloop::law {

using enum WarningKind;
using test::text_of;

namespace {

constexpr double sparsities[] = {0.85, 0.95, 0.97};
constexpr double budgets[] = {1e20, 1e21, 1e22};

Law baseline() { return built_in_law("baseline", ""); }
Law looped() { return built_in_law("smelt", ""); }

// By the definition: the reference's budget for the target's loss, by bisection.
double by_definition(const Law& reference, const Law& target, double sparsity, double compute) {
  const double wanted = frontier_loss(target, sparsity, compute);
  double low = 20, high = 150;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (frontier_loss(reference, sparsity, std::exp(middle)) > wanted ? low : high) = middle;
  }
  return 1 - compute / std::exp(0.5 * (low + high));
}

}  // namespace

TEST_CASE("gains from the printed coefficients") {
  const Gain table = gain(baseline(), looped(), sparsities, budgets);
  REQUIRE(table.rows.size() == 9);
  const double expected[3][3] = {{9.857, 17.943, 23.374},
                                 {7.698, 15.676, 20.763},
                                 {6.661, 14.575, 19.479}};  // by sparsity, then budget
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(table.rows[i].sparsity == sparsities[i / 3]);
    CHECK(table.rows[i].compute == budgets[i % 3]);
    CHECK(std::abs(100 * table.rows[i].gain - expected[i / 3][i % 3]) < 5e-4);
  }
}

TEST_CASE("gain is what its definition says") {
  for (const double sparsity : sparsities)
    for (const double compute : budgets) {
      const double one[] = {sparsity}, other[] = {compute};
      const GainRow row = gain(baseline(), looped(), one, other).rows[0];
      CHECK(row.gain ==
            doctest::Approx(by_definition(baseline(), looped(), sparsity, compute)).epsilon(1e-9));
      CHECK(frontier_loss(baseline(), sparsity, row.reference_compute) ==
            doctest::Approx(row.loss).epsilon(1e-13));
    }
}

TEST_CASE("the published table is a little above ours, within what rounding allows") {
  const Published tables = published();
  REQUIRE(tables.gains.size() == 9);
  for (const PublishedGain& row : tables.gains) {
    const double sparsity[] = {row.sparsity}, compute[] = {row.compute};
    const double ours = gain(baseline(), looped(), sparsity, compute).rows[0].gain;
    CHECK(row.gain - ours > 0.0005);
    CHECK(row.gain - ours < 0.0015);
    CHECK(row.interval.low <= ours);
    CHECK(ours <= row.interval.high);
  }
}

TEST_CASE("trap: which side C belongs to") {
  const double sparsity[] = {0.95}, compute[] = {1e21};
  const Gain table = gain(baseline(), looped(), sparsity, compute);
  CHECK(table.side == "C is the budget of smelt; baseline needs C / (1 - gain) for the same loss");
  const GainRow& row = table.rows[0];
  CHECK(row.gain - row.gain_at_reference == doctest::Approx(0.005).epsilon(0.2));
  // With the reference's budget as C: the target reaches the same loss on less.
  const double cheaper = 1e21 * (1 - row.gain_at_reference);
  CHECK(frontier_loss(looped(), 0.95, cheaper) ==
        doctest::Approx(frontier_loss(baseline(), 0.95, 1e21)).epsilon(1e-12));
}

TEST_CASE("trap: E of the target above that of the reference: peak and sign change") {
  const Gain table = gain(baseline(), looped(), sparsities, budgets);
  REQUIRE(table.shapes.size() == 3);
  for (const GainShape& shape : table.shapes) {
    REQUIRE(shape.peak_compute);
    CHECK(*shape.peak_compute > 4e22);
    CHECK(*shape.peak_compute < 9e22);
    const double one[] = {shape.sparsity};
    const double around[] = {*shape.peak_compute / 1.1, *shape.peak_compute,
                             *shape.peak_compute * 1.1};
    const Gain near = gain(baseline(), looped(), one, around);
    CHECK(near.rows[1].gain == doctest::Approx(*shape.peak_gain));
    CHECK(near.rows[0].gain < near.rows[1].gain);
    CHECK(near.rows[2].gain < near.rows[1].gain);
    REQUIRE(shape.sign_changes.size() == 2);
    for (const double change : shape.sign_changes) {
      const double sides[] = {change * 0.99, change, change * 1.01};
      const Gain there = gain(baseline(), looped(), one, sides);
      CHECK(std::abs(there.rows[1].gain) < 1e-9);
      CHECK(there.rows[0].gain * there.rows[2].gain < 0);
    }
  }
  const auto warnings = test::texts(table.warnings, target_floor);
  REQUIRE(warnings.size() == 3);
  CHECK(warnings[1].starts_with(
      "E of smelt (1.4493) is above E of baseline (1.4439): at sparsity 0.95 the gain peaks at "));
  CHECK(warnings[1].find(" % near C = ") != std::string::npos);
  CHECK(warnings[1].find(" and turns negative beyond C = ") != std::string::npos);
}

TEST_CASE("a target that is worse everywhere") {
  Law worse = baseline();
  worse.name = "worse";
  worse.coefficients[Coefficient::E] += 0.1;
  const double one[] = {0.95}, compute[] = {1e21};
  const Gain table = gain(baseline(), worse, one, compute);
  CHECK(table.rows[0].gain < 0);
  CHECK(table.shapes[0].sign_changes.empty());
  CHECK(
      text_of(table.warnings, target_floor) ==
      "E of worse (1.5439) is above E of baseline (1.4439): at sparsity 0.95 the gain is negative "
      "on every budget");
}

TEST_CASE("E of the target below that of the reference: no peak, and losses out of reach") {
  const double sparsity[] = {0.95}, compute[] = {1e21, 1e30};
  const Gain table = gain(looped(), baseline(), sparsity, compute);
  CHECK(!table.shapes[0].peak_compute);
  CHECK(table.rows[0].gain < 0);
  Law lower = looped();
  lower.coefficients[Coefficient::E] = 1.40;
  const Gain far = gain(baseline(), lower, sparsity, compute);
  CHECK(std::isinf(far.rows[1].reference_compute));
  CHECK(far.rows[1].gain == 1);
  CHECK(text_of(far.warnings, never_reached).starts_with("baseline never reaches the loss 1.4"));
  CHECK(text_of(far.warnings, never_reached)
            .ends_with(" that smelt has at C = 1.0e+30: the gain there is 100 % in name only"));
}

TEST_CASE("a law has no gain over itself; the better law a constant factor") {
  const Gain same = gain(baseline(), baseline(), sparsities, budgets);
  for (const GainRow& row : same.rows) CHECK(std::abs(row.gain) < 1e-12);
  // Amplitudes scaled so that every loss is reached on 80 % of the budget.
  Law better = baseline();
  better.coefficients[Coefficient::A] *= std::pow(0.8, 0.3703);
  const Gain half = gain(baseline(), better, sparsities, budgets);
  for (const GainRow& row : half.rows) CHECK(row.gain == doctest::Approx(0.2).epsilon(1e-10));
}

TEST_CASE("rows beyond either window are marked") {
  const double sparsity[] = {0.95}, compute[] = {1e20, 2.1e21, 1e22};
  const Gain table = gain(baseline(), looped(), sparsity, compute);
  CHECK(!table.rows[0].extrapolated);
  CHECK(table.rows[1].extrapolated);  // the reference needs 2.5e21
  CHECK(table.rows[1].over_window > 1);
  CHECK(table.rows[2].extrapolated);
  CHECK(text_of(table.warnings, extrapolated)
            .starts_with("1 of 3 budgets lie outside the fitted window of smelt"));
}

TEST_CASE("paired draws: same cells and seed give narrower intervals than independent ones") {
  // Both laws share the noise of their cells, as two architectures trained on the same data do.
  const Fit x = fit(test::cell_runs(test::baseline_coefficients(), 3e-3, 5), Form{});
  const Fit y = fit(test::cell_runs(test::looped_coefficients(), 3e-3, 5), Form{});
  BootstrapOptions options;
  options.draws = 200;
  const Law reference = law_of(x, "reference", bootstrap(x, options));
  const Law target = law_of(y, "target", bootstrap(y, options));
  options.seed = 2;
  const Law other = law_of(y, "target", bootstrap(y, options));
  const double sparsity[] = {0.95}, compute[] = {1e21};
  const Gain paired = gain(reference, target, sparsity, compute);
  const Gain unpaired_gain = gain(reference, other, sparsity, compute);
  CHECK(paired.paired);
  CHECK(!unpaired_gain.paired);
  REQUIRE(paired.rows[0].interval);
  const auto width = [](const Interval& i) { return i.high - i.low; };
  CHECK(paired.rows[0].interval->low < paired.rows[0].gain);
  CHECK(paired.rows[0].gain < paired.rows[0].interval->high);
  CHECK(width(*paired.rows[0].interval) < 0.6 * width(*unpaired_gain.rows[0].interval));
  CHECK(text_of(paired.warnings, unpaired).empty());
  CHECK(text_of(unpaired_gain.warnings, unpaired) ==
        "the draws of the two laws are not paired (other cells, seed or lost draws): the intervals "
        "are too wide");
}

}  // namespace isoloop::law
