// Checking pairs: what passes, what fails, and which row moved since the counts were recorded.
//
// Anchor: differences of counts, worked out from the change made to a file. Holds
// src/pairs/check.cpp.
#include <doctest/doctest.h>

#include <map>

#include "isoloop/grid.h"
#include "isoloop/pairs.h"
#include "support/numbers.h"

namespace isoloop::pairs {
namespace {

using Files = std::map<std::string, arch::Architecture>;

Open from(const Files& files) {
  return [&files](const std::string& file) { return files.at(file); };
}

/// The published pair of 200M, 192 against 288 experts: FLOPs +2.9 %, KV +3.1 %.
Files published() {
  Files files;
  for (const arch::Architecture& model : grid::built_in_architectures()) {
    if (model.name == "smelt-200m-e192") files["base.json"] = model;
    if (model.name == "smelt-200m-e288-looped") files["match.json"] = model;
  }
  return files;
}

Manifest manifest(const Ratio& flops) {
  Manifest m;
  m.options.convention = convention::find("smelt", "test");
  m.tolerance = {{cost::Budget::flops, flops},
                 {cost::Budget::params, Ratio(1, 100)},
                 {cost::Budget::kv, Ratio(4, 100)}};
  m.pairs = {{"200M", "base.json", "match.json", {}, {}, {}}};
  return m;
}

}  // namespace

TEST_CASE("check: a pair within its tolerances passes, with exact figures") {
  const Files files = published();
  const auto checks = check(manifest(Ratio(3, 100)), from(files));
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].ok);
  CHECK(!checks[0].recorded);
  CHECK(!checks[0].moved);
  REQUIRE(checks[0].budgets.size() == 3);
  CHECK(decimal(checks[0].budgets[0].mismatch, 3) == "0.029");
  // 18 executed layers of 2 x 4 x 44 against 12 of 2 x 4 x 64 elements, two bytes each.
  CHECK(checks[0].budgets[2].match == Ratio(18 * 2 * 176 * 2));
  CHECK(checks[0].budgets[2].baseline == Ratio(12 * 2 * 256 * 2));
  CHECK(checks[0].budgets[2].mismatch == Ratio(18 * 176 - 12 * 256, 12 * 256));
}

TEST_CASE("check: outside one tolerance the pair fails in that budget only") {
  const Files files = published();
  const auto checks = check(manifest(Ratio(2, 100)), from(files));
  CHECK(!checks[0].ok);
  CHECK(!checks[0].budgets[0].ok);
  CHECK(checks[0].budgets[1].ok);
  CHECK(checks[0].budgets[2].ok);
}

TEST_CASE("check: a tolerance is inclusive, and a pair's own overrides the manifest's") {
  const Files files = published();
  Manifest m = manifest(Ratio(2, 100));
  const Ratio exact = check(m, from(files))[0].budgets[0].mismatch;
  m.pairs[0].tolerance = {{cost::Budget::flops, exact}};
  const auto checks = check(m, from(files));
  CHECK(checks[0].ok);
  CHECK(checks[0].budgets.size() == 1);
  m.pairs[0].tolerance[0].tolerance = exact - Ratio(1, 1'000'000'000);
  CHECK(!check(m, from(files))[0].ok);
}

TEST_CASE("check: nothing moved right after recording, also through the file") {
  const Files files = published();
  const Manifest recorded = record(manifest(Ratio(3, 100)), from(files));
  for (const Manifest& m : {recorded, from_json(to_json(recorded), "pairs.json")}) {
    const auto checks = check(m, from(files));
    CHECK(checks[0].recorded);
    CHECK(!checks[0].moved);
    for (const BudgetCheck& b : checks[0].budgets) {
      CHECK(b.moved_row.empty());
      CHECK(b.moved_side.empty());
    }
  }
}

TEST_CASE("check: names the row that moved most, its side, and from what to what") {
  Files files = published();
  const Manifest m = record(manifest(Ratio(3, 100)), from(files));
  for (arch::Segment& s : files["match.json"].segments) s.ffn.experts = 352;
  const auto checks = check(m, from(files));
  CHECK(!checks[0].ok);
  CHECK(checks[0].moved);
  const BudgetCheck& params = checks[0].budgets[1];
  CHECK(!params.ok);
  CHECK(params.moved_side == "match");
  CHECK(params.moved_row == "recur / routed experts");  // 6 of 12 layers
  CHECK(params.moved_from == Ratio(test::ratio("6") * Ratio(3 * 1056 * 352) * Ratio(288)));
  CHECK(params.moved_to == Ratio(test::ratio("6") * Ratio(3 * 1056 * 352) * Ratio(352)));
  // FLOPs moved by the router alone, twice executed; the cache did not move.
  CHECK(checks[0].budgets[0].moved_row == "recur / router");
  CHECK(checks[0].budgets[0].moved_to - checks[0].budgets[0].moved_from ==
        Ratio(6 * 12 * 1056 * 64));
  CHECK(checks[0].budgets[2].moved_row.empty());
}

TEST_CASE("check: a change of the baseline is named as such; so are rows that come and go") {
  Files files = published();
  const Manifest m = record(manifest(Ratio(3, 100)), from(files));
  for (arch::Segment& s : files["base.json"].segments) s.ffn.shared_size = 64;
  auto moved = check(m, from(files))[0].budgets[1];
  CHECK(moved.moved_side == "baseline");
  CHECK(moved.moved_row == "layers / shared expert");
  CHECK(moved.moved_from == Ratio(0));
  CHECK(moved.moved_to == Ratio(12 * 3 * 1280 * 64));

  const Manifest with_shared = record(m, from(files));
  for (arch::Segment& s : files["base.json"].segments) s.ffn.shared_size = 0;
  moved = check(with_shared, from(files))[0].budgets[1];
  CHECK(moved.moved_row == "layers / shared expert");
  CHECK(moved.moved_to == Ratio(0));
}

TEST_CASE("check: a budget added after recording has nothing to compare with") {
  const Files files = published();
  Manifest m = record(manifest(Ratio(3, 100)), from(files));
  m.tolerance.push_back({cost::Budget::active, 1});
  const auto checks = check(m, from(files));
  CHECK(!checks[0].moved);
  CHECK(checks[0].budgets.back().moved_row.empty());
}

TEST_CASE("check: a budget that is zero in the baseline is refused") {
  Files files = published();
  Manifest m = manifest(Ratio(3, 100));
  m.options.convention = convention::find("smelt", "test");
  for (cost::Budget b : {cost::Budget::activation_bytes}) m.tolerance = {{b, 1}};
  files["base.json"].segments[0].visits.backward = 0;  // nothing is kept for a backward pass
  const Error error = test::error_of([&] { check(m, from(files)); });
  CHECK(error.kind == ErrorKind::input);
  CHECK(std::string(error.what()) ==
        "pair '200M': the activation_bytes of 'base.json' is zero\n  hint: leave this budget out");
}

TEST_CASE("check: pairs are checked in the order of the manifest, a file error passes through") {
  const Files files = published();
  Manifest m = manifest(Ratio(3, 100));
  m.pairs.push_back({"turned", "match.json", "base.json", {}, {}, {}});
  const auto checks = check(m, from(files));
  REQUIRE(checks.size() == 2);
  CHECK(checks[1].name == "turned");
  CHECK(checks[1].budgets[0].mismatch < Ratio(0));
  const Open missing = [](const std::string& file) -> arch::Architecture {
    throw input_error("cannot be read", file);
  };
  CHECK(std::string(test::error_of([&] { check(m, missing); }).what()) ==
        "base.json: cannot be read");
}

}  // namespace isoloop::pairs
