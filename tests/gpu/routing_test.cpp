// Random routing against reference sums (tests/gpu/data/ORIGIN.md) and identities.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "isoloop/gpu.h"
#include "support/csv.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

double rows_over_real(const Routing& r, std::int64_t unit) {
  return expected_tiles(r, unit) * static_cast<double>(unit) / routing_stats(r).mean;
}

bool printed(double value, const std::string& text) {
  return std::abs(value - std::stod(text)) < 0.00051;
}

}  // namespace

#if defined(__unix__)
TEST_CASE("routing leaves the global sign of lgamma alone, which threads share") {
  signgam = 7;
  CHECK(routing_stats({8192, 192, 8}).mean > 0);
  CHECK(signgam == 7);
}
#endif

TEST_CASE("routing: every reference row holds") {
  const auto rows = test::csv("gpu/data/moe_stats.csv");
  REQUIRE(rows.size() == 40);
  for (const auto& row : rows) {
    const Routing r{std::stoll(row.at("tokens")), std::stoll(row.at("experts")),
                    std::stoll(row.at("topk"))};
    CAPTURE(r.tokens);
    CAPTURE(r.experts);
    const RoutingStats s = routing_stats(r);
    CHECK(printed(s.mean, row.at("mean_per_expert")));
    CHECK(printed(s.sd, row.at("sd")));
    CHECK(std::abs(s.empty - std::stod(row.at("prob_expert_empty"))) < 0.000051);
    for (const int unit : {8, 16, 32, 64, 128, 224}) {
      CAPTURE(unit);
      CHECK(printed(rows_over_real(r, unit),
                    row.at("pad" + std::to_string(unit) + "_random_over_real")));
    }
    // The column of largest experts was simulated with whole tokens; ours takes experts as
    // independent, which understates it most for one token.
    const double largest = std::stod(row.at("expected_max_over_mean"));
    CHECK(s.max_over_mean == doctest::Approx(largest).epsilon(0.045));
  }
}

TEST_CASE("routing: tiles of one row are rows, and tiles sum the binomial term by term") {
  const Routing r{300, 16, 3};
  CHECK(expected_tiles(r, 1) == doctest::Approx(routing_stats(r).mean));
  const double p = 3.0 / 16;
  for (const std::int64_t unit : {7, 32, 100, 400}) {
    double sum = 0;
    for (int x = 0; x <= 300; ++x) {
      const double term =
          std::exp(std::lgamma(301.0) - std::lgamma(x + 1.0) - std::lgamma(301.0 - x) +
                   x * std::log(p) + (300 - x) * std::log(1 - p));
      sum += term * std::ceil(static_cast<double>(x) / static_cast<double>(unit));
    }
    CHECK(expected_tiles(r, unit) == doctest::Approx(sum).epsilon(1e-9));
  }
}

TEST_CASE("routing: every token to every expert is no chance") {
  CHECK(expected_tiles({100, 4, 4}, 64) == 2);
  CHECK(routing_stats({100, 4, 4}).max_over_mean == 1);
  CHECK(expected_tiles({0, 4, 2}, 64) == 0);
}

TEST_CASE("routing: what cannot be routed is refused") {
  CHECK(std::string(test::error_of([] {
                      routing_stats({8, 4, 5});
                    }).what()) == "top_k: top-5 of 4 experts cannot be routed");
  CHECK(std::string(test::error_of([] {
                      expected_tiles({8, 4, 2}, 0);
                    }).what()) == "rows: is 0; expected at least 1");
}
