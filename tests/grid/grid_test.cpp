// The published grid: every reproducible figure to the printed digit, what the recovered values
// rest on, and a better match than the paper's in every cell.
//
// Anchor: the figures printed in arXiv 2609.01343 (data/grids/smelt.json) and its definitions of
// F, S and KV written out below with plain integers. Holds src/grid.
#include "isoloop/grid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "support/numbers.h"

namespace isoloop::grid {
namespace {

using test::error_of;
using test::ratio;

constexpr std::int64_t billion = 1'000'000'000;

const Grid& smelt() {
  static const Grid grid = load("smelt", "test");
  return grid;
}

/// A row of the paper's grid: hidden, layers, looped layers, experts, expert size, kv width.
/// heads x head size is the hidden size, so the split does not matter.
struct Stack {
  std::int64_t h, L, m, E, f, w;
};

struct Figures4 {
  Int total, active, flops, kv;
};

/// The paper's definitions: gated experts, top-8, router without bias, two norms of h a layer and
/// a last one; F over executed layers without norms and head; KV elements 2 L_eff K d.
Figures4 figures(const Stack& s, std::int64_t T) {
  const Int h = s.h, w = s.w;
  const Int attention = 2 * h * h + 2 * h * w, router = h * Int(s.E), expert = 3 * h * Int(s.f);
  const Int executed = s.L + s.m;
  return {Int(s.L) * (attention + router + Int(s.E) * expert + 2 * h) + h,
          Int(s.L) * (attention + router + 8 * expert + 2 * h) + h,
          executed * (6 * (attention + router + 8 * expert) + 12 * h * Int(T)), 2 * executed * w};
}

std::string in_billions(Int value, int digits) { return decimal(Ratio(value, billion), digits); }

/// 1 - (F/F0) N0/N
std::string sparsity(const Figures4& row, const Ratio& flops0, const Ratio& total0) {
  return decimal(Ratio(1) - Ratio(row.flops) / flops0 * (total0 / Ratio(row.total)), 3);
}

Stack stack_of(const arch::Architecture& model) {
  const auto loop = arch::loop_of(model);
  const arch::Segment& s = model.segments.front();
  return {model.hidden,  arch::depth(model), loop ? loop->span : 0,
          s.ffn.experts, s.ffn.expert_size,  s.attention.kv_heads * s.attention.head_size};
}

Stack baseline_of(const std::string& scale, std::int64_t experts) {
  for (const Cell& cell : smelt().cells)
    if (cell.scale == scale) {
      Stack s = stack_of(*cell.baseline.architecture);
      s.E = experts;
      return s;
    }
  FAIL("no such scale");
  return {};
}

/// Rows whose FLOPs ratio or baseline sparsity is not the printed one with mean attended length T.
int rows_off(std::int64_t T) {
  int off = 0;
  for (const Cell& cell : smelt().cells) {
    const Figures4 dense = figures(baseline_of(cell.scale, 8), T);
    const Figures4 base = figures(stack_of(*cell.baseline.architecture), T);
    off += sparsity(base, dense.flops, dense.total) != cell.baseline.published.sparsity ? 1 : 0;
    if (!cell.looped.architecture) continue;
    const Figures4 looped = figures(stack_of(*cell.looped.architecture), T);
    const Ratio flops(looped.flops, base.flops);
    off += decimal(flops, 3) != cell.looped.published.flops_ratio ? 1 : 0;
  }
  return off;
}

/// The hidden size printed for the looped row of a cell without geometry.
std::int64_t hidden_of_looped(const Cell& cell) {
  const std::vector<std::pair<std::string, std::int64_t>> printed = {
      {"100M", 576}, {"200M", 1056}, {"600M", 1408}, {"1.6B", 1848}};
  for (const auto& [scale, hidden] : printed)
    if (scale == cell.scale) return hidden;
  FAIL("no such scale");
  return 0;
}

/// The printed S = 0 looped model of a scale: FLOPs ratio and the interval of its total.
struct Control {
  std::string scale, flops_ratio;
  std::int64_t low, high;
};
const std::vector<Control> controls = {{"100M", "1.081", 98'560'000, 99'300'000},
                                       {"200M", "1.039", 204'870'000, 206'200'000},
                                       {"600M", "1.046", 662'780'000, 667'230'000},
                                       {"1.6B", "1.022", 1'635'930'000, 1'639'070'000}};

/// Whether all three sparse looped rows of a scale come out with the printed S.
bool control_fits(const Control& control, std::int64_t total0) {
  const Figures4 dense = figures(baseline_of(control.scale, 8), 392);
  const Ratio flops0 = ratio(control.flops_ratio) * Ratio(dense.flops);
  for (const Cell& cell : smelt().cells) {
    if (cell.scale != control.scale || !cell.looped.architecture) continue;
    const Figures4 looped = figures(stack_of(*cell.looped.architecture), 392);
    if (sparsity(looped, flops0, Ratio(total0)) != cell.looped.published.sparsity) return false;
  }
  return true;
}

/// All (expert size, kv width) that reproduce a baseline row; expert sizes in multiples of 8, kv
/// widths that divide the hidden size.
std::set<std::pair<std::int64_t, std::int64_t>> geometries_of_baseline(const Cell& cell) {
  const Figures& printed = cell.baseline.published;
  std::set<std::pair<std::int64_t, std::int64_t>> found;
  Stack s = stack_of(*cell.baseline.architecture);
  for (s.w = 1; s.w <= s.h; ++s.w) {
    if (s.h % s.w != 0) continue;
    for (s.f = 8; s.f <= 2 * s.h; s.f += 8) {
      const Figures4 row = figures(s, 392);
      if (in_billions(row.total, 2) != printed.total_b) continue;
      if (in_billions(row.active, 3) != printed.active_b) continue;
      Stack dense = s;
      dense.E = 8;
      const Figures4 control = figures(dense, 392);
      if (sparsity(row, control.flops, control.total) == printed.sparsity) found.emplace(s.f, s.w);
    }
  }
  return found;
}

/// The same for a looped row, whose ratios refer to its baseline; here any kv width.
std::set<std::pair<std::int64_t, std::int64_t>> geometries_of_looped(const Cell& cell) {
  const Figures& printed = cell.looped.published;
  const Figures4 base = figures(stack_of(*cell.baseline.architecture), 392);
  std::set<std::pair<std::int64_t, std::int64_t>> found;
  Stack s = stack_of(*cell.looped.architecture);
  for (s.w = 1; s.w <= s.h; ++s.w) {
    const Int kv = 2 * Int(s.L + s.m) * Int(s.w);
    if (decimal(Ratio(kv, base.kv), 3) != printed.kv_ratio) continue;
    for (s.f = 8; s.f <= 2 * s.h; s.f += 8) {
      const Figures4 row = figures(s, 392);
      if (in_billions(row.total, 2) == printed.total_b &&
          in_billions(row.active, 3) == printed.active_b &&
          decimal(Ratio(row.flops, base.flops), 3) == printed.flops_ratio)
        found.emplace(s.f, s.w);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("grid: 28 rows are reproduced to the printed digit") {
  int reproduced = 0;
  for (const Cell& cell : smelt().cells)
    for (const Row* row : {&cell.baseline, &cell.looped}) {
      if (!row->architecture) continue;
      CAPTURE(row->architecture->name);
      CHECK(row->reproduced.active_b == row->published.active_b);
      CHECK(row->reproduced.total_b == row->published.total_b);
      CHECK(row->reproduced.sparsity == row->published.sparsity);
      CHECK(row->reproduced.flops_ratio == row->published.flops_ratio);
      CHECK(row->reproduced.kv_ratio == row->published.kv_ratio);
      ++reproduced;
    }
  CHECK(smelt().cells.size() == 16);
  CHECK(reproduced == 28);
}

TEST_CASE("grid: the ledger counts what the paper's definitions count") {
  for (const arch::Architecture& model : built_in_architectures()) {
    CAPTURE(model.name);
    const Figures4 expected = figures(stack_of(model), 392);
    const cost::Count count = cost::count(model, smelt().options);
    CHECK(count.params_non_embedding.value() == expected.total);
    CHECK(count.active_non_embedding.value() == expected.active);
    CHECK(count.train.value() == Ratio(expected.flops));
    CHECK(count.kv_elements_per_token.value() == Ratio(expected.kv));
  }
}

TEST_CASE("grid: the four looped rows with 16 experts are not reproducible as printed") {
  std::vector<std::string> names, printed;
  for (const Cell& cell : smelt().cells) {
    if (cell.looped.architecture) continue;
    CAPTURE(cell.name);
    names.push_back(cell.name);
    printed.push_back(cell.looped.published.total_b);
    CHECK(cell.looped.experts == 16);
    CHECK(cell.looped.reproduced == Figures{});
  }
  CHECK(names == std::vector<std::string>{"100M-E8", "200M-E8", "600M-E8", "1.6B-E8"});
  CHECK(printed == std::vector<std::string>{"0.10", "0.21", "0.67", "1.64"});
}

TEST_CASE("grid: what 16 equal experts with the printed FLOPs and KV ratios would total") {
  std::vector<std::string> totals;
  for (const Cell& cell : smelt().cells) {
    if (cell.looped.architecture) continue;
    CAPTURE(cell.name);
    const Figures& printed = cell.looped.published;
    const Stack base = stack_of(*cell.baseline.architecture);
    const Figures4 control = figures(base, 392);
    Stack s = {hidden_of_looped(cell), base.L, base.L / 2, 16, 0, 0};
    for (s.w = 1; s.w <= s.h; ++s.w) {
      if (decimal(Ratio(Int(3 * s.w), Int(2 * base.w)), 3) != printed.kv_ratio) continue;
      for (s.f = 2; s.f <= s.h; s.f += 2) {
        const Figures4 row = figures(s, 392);
        if (decimal(Ratio(row.flops, control.flops), 3) != printed.flops_ratio) continue;
        totals.push_back(in_billions(row.total, 3));
        CHECK(s.f % 8 != 0);  // nor does any expert size on the grid of all other rows fit
      }
    }
  }
  // Printed: 0.10, 0.21, 0.67, 1.64.
  CHECK(totals == std::vector<std::string>{"0.134", "0.252", "0.830", "1.981"});
}

TEST_CASE("grid: a mean attended length of 390 to 394 reproduces every ratio, no other does") {
  for (std::int64_t T = 300; T <= 500; ++T) {
    CAPTURE(T);
    CHECK((rows_off(T) == 0) == (T >= 390 && T <= 394));
  }
}

TEST_CASE("grid: the control totals are exactly those that give the printed sparsities") {
  constexpr std::int64_t printed_step = 10'000;  // the file gives them to 0.01M, rounded inwards
  for (const Control& control : controls) {
    CAPTURE(control.scale);
    CHECK(control_fits(control, control.low));
    CHECK(control_fits(control, control.high));
    CHECK(!control_fits(control, control.low - printed_step));
    CHECK(!control_fits(control, control.high + printed_step));
    const std::string path = "\"scale\": \"" + control.scale + "\", \"flops_ratio\": \"" +
                             control.flops_ratio +
                             "\", \"total_low\": " + std::to_string(control.low) +
                             ", \"total_high\": " + std::to_string(control.high);
    CHECK(data_file("grids/smelt.json").find(path) != std::string_view::npos);
  }
}

TEST_CASE("grid: one geometry reproduces each sparse row") {
  for (const Cell& cell : smelt().cells) {
    CAPTURE(cell.name);
    const Stack base = stack_of(*cell.baseline.architecture);
    const auto baselines = geometries_of_baseline(cell);
    CHECK(baselines.contains({base.f, base.w}));
    // Alone, an 8-expert row (S = 0 by definition) leaves several; its scale shares one geometry.
    CHECK((baselines.size() == 1) == (base.E > 8));
    if (!cell.looped.architecture) continue;
    const Stack looped = stack_of(*cell.looped.architecture);
    CHECK(geometries_of_looped(cell) ==
          std::set<std::pair<std::int64_t, std::int64_t>>{{looped.f, looped.w}});
  }
}

TEST_CASE("grid: the printed mismatch of a cell is the largest of the three printed budgets") {
  std::vector<std::string> printed;
  for (const Cell& cell : smelt().cells) printed.push_back(percent(cell.published_mismatch, 1));
  // E.g. 100M-E8: FLOPs ratio 1.081; 1.6B-E64: KV ratio 0.984.
  CHECK(printed == std::vector<std::string>{"+8.1 %", "+3.6 %", "+3.6 %", "+3.9 %", "+3.9 %",
                                            "+3.1 %", "+3.1 %", "+3.7 %", "+4.6 %", "+3.1 %",
                                            "+2.4 %", "+3.1 %", "+2.2 %", "+1.6 %", "+1.6 %",
                                            "+1.6 %"});
}

TEST_CASE("grid: every cell has a proven match closer than the paper's") {
  for (const Cell& cell : smelt().cells) {
    CAPTURE(cell.name);
    const solve::MatchRequest request = grid::request(smelt(), cell);
    const solve::MatchResult result = solve::match(request);
    REQUIRE(result.answers.size() == 1);
    const solve::MatchAnswer& answer = result.answers.front();
    CHECK(answer.within);
    CHECK(answer.largest < cell.published_mismatch);
    CHECK(answer.largest <= Ratio(2, 100));
    CHECK(solve::verify(request, answer).empty());
    Int counted = result.certificate.visited;
    for (const auto& [by, points] : result.certificate.pruned) counted += points;
    CHECK(counted == result.certificate.points);
    // The paper's own loop: the middle half twice, depth and top-k kept.
    CHECK(answer.depth == arch::depth(request.baseline));
    CHECK(answer.loop.span == answer.depth / 2);
    CHECK(answer.loop.visits == 2);
    CHECK(answer.architecture.segments.front().ffn.top_k == 8);
    // Recounted with the definitions above.
    const Figures4 base = figures(stack_of(request.baseline), 392);
    const Figures4 own = figures(stack_of(answer.architecture), 392);
    CHECK(answer.mismatch[0] == Ratio(own.flops - base.flops, base.flops));
    CHECK(answer.mismatch[1] == Ratio(own.total - base.total, base.total));
    CHECK(answer.mismatch[2] == Ratio(own.kv - base.kv, base.kv));
  }
}

TEST_CASE("grid: the request asks the paper's question") {
  for (const Cell& cell : smelt().cells) {
    const solve::MatchRequest request = grid::request(smelt(), cell);
    CHECK(request.loop == "middle");
    CHECK(request.alignment.hidden == 8);
    CHECK(request.alignment.expert == 8);
    CHECK(request.alignment.head == 2);
    CHECK(request.alignment.experts == (cell.baseline.experts == 8 ? 1 : 8));
    CHECK(request.budgets.size() == 3);
    CHECK(request.options.attended == Ratio(392));
  }
}

TEST_CASE("grid: built-in architectures are valid and named after scale and experts") {
  std::set<std::string> names;
  for (const arch::Architecture& model : built_in_architectures()) {
    arch::validate(model);
    names.insert(model.name);
  }
  CHECK(names.size() == 28);
  CHECK(names.contains("smelt-200m-e192"));
  CHECK(names.contains("smelt-200m-e288-looped"));
  CHECK(names.contains("smelt-1.6b-e504-looped"));
}

TEST_CASE("grid: the 200M looped model is the middle half executed twice, residuals halved") {
  for (const arch::Architecture& model : built_in_architectures()) {
    if (model.name != "smelt-200m-e288-looped") continue;
    REQUIRE(model.segments.size() == 3);
    CHECK(model.segments[0].layers == 3);
    CHECK(model.segments[1].layers == 6);
    CHECK(model.segments[1].visits.forward == Ratio(2));
    CHECK(model.segments[1].residual_scale == Ratio(1, 2));
    CHECK(model.segments[2].layers == 3);
  }
}

TEST_CASE("grid: an unknown grid is refused by name") {
  const Error error = error_of([] { load("smlet", "GRID"); });
  CHECK(error.kind == ErrorKind::usage);
  CHECK(std::string(error.what()) == "GRID: unknown grid 'smlet'\n  hint: did you mean 'smelt'?");
}

}  // namespace isoloop::grid
