// Prices against printed figures, the law written out, and the planner asked directly.
//
// Anchors: the sparsities printed in arXiv 2609.01343; the law's equation; ratios by hand. Holds
// src/space/price.cpp.
#include <doctest/doctest.h>

#include <cmath>

#include "isoloop/grid.h"
#include "isoloop/space.h"
#include "support/numbers.h"

namespace isoloop::space {
namespace {

/// 12 layers, hidden 1280, 192 experts of 432.
arch::Architecture baseline() {
  return *grid::load("smelt", "test").cells.at(6).baseline.architecture;
}

TEST_CASE("the sparsity of every baseline of the grid is the one the paper prints") {
  const grid::Grid g = grid::load("smelt", "test");
  for (const grid::Cell& cell : g.cells) {
    CAPTURE(cell.name);
    CHECK(decimal(sparsity(*cell.baseline.architecture, g.options), 3) ==
          cell.baseline.published.sparsity);
  }
}

TEST_CASE("a dense model has no sparsity") {
  arch::Architecture model = baseline();
  model.segments.front().ffn = {};
  model.segments.front().ffn.size = 4096;
  CHECK(sparsity(model, {}) == Ratio(0));
}

TEST_CASE("predicted loss is the law's equation at F, S and D") {
  const grid::Grid g = grid::load("smelt", "test");
  const arch::Architecture& model = *g.cells[1].baseline.architecture;
  const law::Law law = law::built_in_law("smelt", "test");
  const double f = cost::total(cost::ledger(model, g.options), cost::Budget::flops, g.options).to_double();
  const double s = sparsity(model, g.options).to_double();
  const auto by_hand = [&](double tokens) {
    return 1.4493 + 1.963e3 * std::pow(1 - s, 0.1460) / std::pow(f, 0.3892) +
           5.264e6 / std::pow(tokens, 0.7011);
  };
  const Price tokens = predicted_loss("loss", law, g.options, {100e9, std::nullopt}, model);
  CHECK(tokens.make()(model).mid == doctest::Approx(by_hand(100e9)));
  CHECK(tokens.baseline.mid == doctest::Approx(by_hand(100e9)));
  CHECK(tokens.meaning ==
        "loss under the law 'smelt' at 1e+11 tokens; the law knows only F, S and D: no shape, no loop");
  const Price compute = predicted_loss("loss", law, g.options, {std::nullopt, 1e21}, model);
  CHECK(compute.make()(model).mid == doctest::Approx(by_hand(1e21 / f)));
}

TEST_CASE("step time is the planner's ratio, and infinite where nothing can be planned") {
  const auto model = baseline();
  const gpu::Device& device = gpu::find_device("h100-sxm5", "test");
  const Price price = step_time("step-time", device, {}, model);
  CHECK(price.make()(model).mid == doctest::Approx(1));
  arch::Architecture deeper = arch::with_depth(model, 60);
  CHECK(price.make()(deeper).mid ==
        doctest::Approx(gpu::plan(deeper, device, {}).step_ms.mid / gpu::plan(model, device, {}).step_ms.mid));
  deeper.segments.front().attention.head_size = 4096;
  CHECK(std::isinf(price.make()(deeper).mid));
}

TEST_CASE("distance is the factor of the proportion that moved most") {
  arch::Architecture base = baseline();
  CHECK(distance(base, base) == Ratio(1));
  arch::Architecture other = base;
  other.segments.front().ffn.experts *= 3;
  CHECK(distance(other, base) == Ratio(3));
  CHECK(distance(base, other) == Ratio(3));
  other.segments.front().ffn.expert_size *= 5;
  CHECK(distance(other, base) == Ratio(5));
  // Twice the executed depth at half the width is four times as deep for its width.
  other = arch::with_depth(base, 2 * arch::depth(base));
  other.hidden /= 2;
  CHECK(distance(other, base) == Ratio(4));
}

TEST_CASE("a requirement is a key and the most it may be") {
  const Requirement r = parse_requirement("step-time@b200<=1.02", "--require");
  CHECK(r.key == "step-time@b200");
  CHECK(r.at_most == 1.02);
  const Error none = test::error_of([] { parse_requirement("step-time", "--require"); });
  CHECK(std::string(none.what()) ==
        "--require: 'step-time' is not a requirement\n  hint: write e.g. --require 'step-time<=1.02'");
  const Error never = test::error_of([] { parse_requirement("loss<=0", "--require"); });
  CHECK(std::string(never.what()) ==
        "--require: 'loss<=0' can never hold\n  hint: write e.g. --require 'step-time<=1.02'");
}

}  // namespace
}  // namespace isoloop::space
