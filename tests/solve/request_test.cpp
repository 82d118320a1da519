// Requests that matching must refuse, with the full message, and requests whose answer used to
// trip the verifier. Defaults and their list of assumptions.
//
// Anchor: the contract of MatchRequest in isoloop/solve.h. Holds src/solve: match, dimensions,
// statement, unknown.
#include <doctest/doctest.h>

#include <algorithm>

#include "isoloop/grid.h"
#include "isoloop/solve.h"
#include "support/numbers.h"

namespace isoloop::solve {
namespace {

using test::error_of;

/// The 200M baseline with 192 experts of the published grid: hidden 1280, 20 heads of 64, 4 kv
/// heads, expert size 432, 12 layers.
MatchRequest request() {
  const grid::Grid grid = grid::load("smelt", "test");
  for (const grid::Cell& cell : grid.cells)
    if (cell.name == "200M-E192") {
      MatchRequest r;
      r.baseline = *cell.baseline.architecture;
      r.options = grid.options;
      r.alignment = parse_alignment("loose", "test");
      return r;
    }
  FAIL("no such cell");
  return {};
}

std::string refusal(const MatchRequest& r) {
  const Error error = error_of([&] { match(r); });
  CHECK(error.kind == ErrorKind::usage);
  return error.what();
}

bool assumed(const MatchResult& result, const std::string& text) {
  return std::find(result.assumptions.begin(), result.assumptions.end(), text) !=
         result.assumptions.end();
}

const std::vector<std::int64_t>& domain(const MatchResult& result, const std::string& name) {
  for (const auto& [unknown, values] : result.domains)
    if (unknown == name) return values;
  FAIL("no such unknown");
  return result.domains.front().second;
}

}  // namespace

TEST_CASE("match: contradictory or meaningless requests are refused with what would be right") {
  MatchRequest r = request();
  r.fixed[Unknown::hidden] = 1024;
  r.freed[Unknown::hidden] = std::nullopt;
  CHECK(refusal(r) == "--fix, --free: hidden is both fixed and freed\n  hint: keep one of the two");

  r = request();
  r.fixed[Unknown::top_k] = 0;
  CHECK(refusal(r) ==
        "--fix: top-k = 0 is not a size\n  hint: dimensions are positive whole numbers");
  r.fixed[Unknown::top_k] = std::int64_t{1} << 50;
  CHECK(refusal(r) ==
        "--fix: top-k = 1125899906842624 is not a size\n"
        "  hint: dimensions are positive whole numbers");

  r = request();
  r.freed[Unknown::experts] = Range{64, 32, 8};
  CHECK(refusal(r) ==
        "--free: experts=64:32:8 is not a range\n"
        "  hint: write low:high:step with low <= high and step >= 1");
  r.freed[Unknown::experts] = Range{1, 1'000'000'001, 1};
  CHECK(refusal(r) ==
        "--free: experts=1:1000000001:1 has more than 1000000 values\n"
        "  hint: take a larger step or a narrower range");
  r.freed[Unknown::experts] = Range{1, std::int64_t{1} << 62, std::int64_t{1} << 61};
  CHECK(refusal(r).starts_with("--free: experts=1:4611686018427387904:"));

  r = request();
  r.budgets = {{cost::Budget::flops, Ratio(-1, 100)}};
  CHECK(refusal(r) ==
        "--tol: a tolerance of -1.00 % for flops is negative\n"
        "  hint: tolerances are zero or more, e.g. flops=1%");
  r = request();
  r.top = 0;
  CHECK(refusal(r) == "--top: 0 answers asked for\n  hint: --top takes 1 or more");
}

TEST_CASE("match: parallelism, plausibility factors and alignment must make sense") {
  MatchRequest r = request();
  r.tensor_parallel = 0;
  CHECK(refusal(r) == "--tp: a parallelism of 0\n  hint: give 1 or more");
  r = request();
  r.pipeline_parallel = -1;
  CHECK(refusal(r) == "--pp: a parallelism of -1\n  hint: give 1 or more");
  r = request();
  r.gqa_low = 3;
  r.gqa_high = 2;
  CHECK(refusal(r) ==
        "--gqa: a GQA ratio from 3 to 2 times the baseline's\n"
        "  hint: write low:high with 0 < low <= high, e.g. 1:3");
  r = request();
  r.expert_ratio = 0;
  CHECK(refusal(r) ==
        "--expert-ratio: expert size / hidden within a factor of 0\n"
        "  hint: the factor is 1 or more, e.g. 2");
  r = request();
  r.attention_ratio = Ratio(1, 2);
  CHECK(refusal(r) ==
        "--attention-ratio: heads x head size / hidden within a factor of 1/2\n"
        "  hint: the factor is 1 or more, e.g. 2");
  r = request();
  r.alignment.head = 0;
  CHECK(refusal(r) ==
        "--align: an alignment of hidden=8,expert=8,head=0,experts=8\n"
        "  hint: steps are 1 or more");
  r = request();
  r.gqa_high = test::ratio("1e37");
  CHECK(error_of([&] { match(r); }).kind == ErrorKind::input);  // overflow, not a wrong answer
}

TEST_CASE("match: sizes that cannot be split are refused, not answered") {
  MatchRequest r = request();
  r.tensor_parallel = 4;
  r.fixed[Unknown::heads] = 18;
  CHECK(refusal(r) ==
        "--fix: heads = 18 cannot be split over tp 4, ep 1\n"
        "  hint: take a multiple of the parallelism");
  r = request();
  r.expert_parallel = 7;
  r.freed[Unknown::experts] = Range{8, 48, 8};
  CHECK(refusal(r) ==
        "--free experts: no value is left for experts\n"
        "  hint: widen its range or loosen --align, --min-head, --tp or --ep");
  r = request();
  r.pipeline_parallel = 5;
  CHECK(refusal(r).starts_with("--loop: no loop shape satisfies --loop, --fix and --free"));
  r = request();
  for (arch::Segment& s : r.baseline.segments) s.ffn.shared_size = 101;
  r.tensor_parallel = 2;
  CHECK(refusal(r) ==
        "--free shared-size: the baseline's shared-size = 101 cannot be split over "
        "tp 2, ep 1\n  hint: free it, or lower the parallelism");
}

TEST_CASE("match: unknowns that the baseline does not have are refused by name") {
  MatchRequest r = request();
  r.fixed[Unknown::kv_rank] = 64;
  CHECK(refusal(r) ==
        "--fix: 'smelt-200m-e192' has no kv-rank\n"
        "  hint: only dimensions that the baseline has can be fixed or freed");
  CHECK(std::string(error_of([] { parse_unknown("hiden", "--fix"); }).what()) ==
        "--fix: unknown dimension 'hiden'\n  hint: did you mean 'hidden'?");
  r = request();
  r.rank = {"hiden"};
  CHECK(refusal(r) == "--rank: unknown ranking key 'hiden'\n  hint: did you mean 'hidden'?");
}

TEST_CASE("alignments: named ones, by hand, and what is refused") {
  CHECK(alignment_text(parse_alignment("tensor-core", "--align")) ==
        "hidden=64,expert=64,head=16,experts=8");
  CHECK(alignment_text(parse_alignment("head=4,experts=1", "--align")) ==
        "hidden=8,expert=8,head=4,experts=1");
  const auto refused = [](const char* text) {
    return std::string(error_of([&] { parse_alignment(text, "--align"); }).what());
  };
  CHECK(refused("lose") == "--align: unknown alignment 'lose'\n  hint: did you mean 'loose'?");
  CHECK(refused("hiden=8") ==
        "--align: unknown alignment key 'hiden'\n  hint: did you mean 'hidden'?");
  CHECK(refused("hidden=0") ==
        "--align: '0' is not a step from 1 to 1048576\n"
        "  hint: steps are whole numbers, e.g. hidden=64");
  CHECK(refused("hidden=8,expert") ==
        "--align: 'expert' has no value\n"
        "  hint: write e.g. hidden=64,expert=32,head=16,experts=8");
}

TEST_CASE("match: the defaults are those of an expert, and all are listed") {
  const MatchResult result = match(request());
  CHECK(assumed(result, "heads x head size = hidden"));
  CHECK(assumed(result, "kv heads divide heads, GQA ratio 5 to 15"));
  CHECK(assumed(result, "head size at least 32"));
  CHECK(assumed(result, "expert-size / hidden from 0.169 to 0.675 (baseline 0.338)"));
  CHECK(domain(result, "top-k") == std::vector<std::int64_t>{8});
  for (const std::int64_t h : domain(result, "hidden")) CHECK(h % 8 == 0);
  CHECK(domain(result, "head-size").front() >= 32);
  REQUIRE(result.budgets.size() == 3);
  CHECK(result.budgets[0].tolerance == Ratio(1, 100));
  CHECK(result.budgets[2].tolerance == Ratio(2, 100));
  REQUIRE(!result.answers.empty());
  const MatchAnswer& answer = result.answers.front();
  CHECK(answer.depth == 12);
  CHECK(answer.loop == arch::Loop{4, 6, 2});
  CHECK(answer.architecture.segments[1].residual_scale == Ratio(1, 2));
}

TEST_CASE("match: an expert size left with one value keeps its proportion to the hidden size") {
  MatchRequest r = request();
  r.remedies = false;
  r.freed[Unknown::expert_size] = Range{1600, 1600, 8};  // 1.25 hidden; 0.675 is the limit
  CHECK(match(r).answers.empty());
  r.freed.clear();
  r.fixed[Unknown::expert_size] = 1600;  // a fixed size is the caller's own responsibility
  CHECK(!match(r).certificate.points.str().empty());
}

TEST_CASE("match: layer by layer over one layer is a block loop of that layer") {
  MatchRequest r = request();
  r.remedies = false;
  r.loop = "each 6-6x2";
  r.budgets = {{cost::Budget::flops, Ratio(1, 4)}};
  const MatchResult result = match(r);
  REQUIRE(!result.answers.empty());
  CHECK(result.answers.front().loop == arch::Loop{6, 1, 2, arch::Order::block});
}

TEST_CASE("match: a baseline may loop, gate, adapt and share caches itself") {
  MatchRequest r = request();
  r.remedies = false;
  r.budgets = {{cost::Budget::flops, Ratio(1, 10)},
               {cost::Budget::params, Ratio(1, 10)},
               {cost::Budget::kv, Ratio(1, 5)}};
  r.baseline = arch::with_loop(r.baseline, {4, 6, 3});
  arch::Segment& loop = r.baseline.segments[1];
  loop.visits.backward = Ratio(3, 2);
  loop.injection = arch::Injection::linear;
  loop.exit_gate = true;
  loop.adapter_rank = 8;
  loop.norms_per_visit = true;
  loop.kv_policy = arch::KvPolicy::modulo;
  loop.kv_slots = 2;
  const MatchResult result = match(r);
  REQUIRE(!result.answers.empty());
  CHECK(verify(r, result.answers.front()).empty());

  loop.adapter_rank = 0;
  loop.norms_per_visit = false;
  loop.visits = {Ratio(5, 2), Ratio(5, 4)};
  CHECK(verify(r, match(r).answers.at(0)).empty());
}

TEST_CASE("match: every budget can be held at once") {
  MatchRequest r = request();
  r.remedies = false;
  r.baseline.vocab = 100'277;
  for (const std::string& name : cost::budget_names())
    r.budgets.push_back({cost::parse_budget(name, "test"), Ratio(1, 2)});
  CHECK(match(r).answers.size() == 1);
}

TEST_CASE("match: asked for exact equality that does not exist, it shows the nearest miss") {
  MatchRequest r = request();
  r.remedies = false;
  r.budgets = {{cost::Budget::flops, 0}, {cost::Budget::params, 0}, {cost::Budget::kv, 0}};
  const MatchResult result = match(r);
  CHECK(result.answers.empty());
  REQUIRE(result.nearest);
  CHECK(result.nearest->largest > Ratio(0));
  CHECK(!result.nearest->within);
  CHECK(!result.binding.empty());
}

TEST_CASE("match: a baseline whose segments differ in a dimension is refused") {
  MatchRequest r = request();
  arch::Segment second = r.baseline.segments.front();
  second.name = "second";
  second.ffn.expert_size = 440;
  r.baseline.segments.push_back(second);
  const Error error = error_of([&] { match(r); });
  CHECK(error.kind == ErrorKind::input);
  CHECK(std::string(error.what()) ==
        "segment 'second': segments of 'smelt-200m-e192' differ in expert-size: 432 and 440\n"
        "  hint: matching needs one value for all segments that have this dimension");
}

}  // namespace isoloop::solve
