// The time of a GEMM in a launch shape, and the fastest shape.
//
// A CTA computes one tile: main-loop steps over k, plus a prologue and epilogue worth `fill` steps.
// The SM with most tiles finishes last. Where two CTAs share an SM, one's fill hides behind the
// other's main loop. The launch takes the slowest of
//   compute   most tiles of an SM x (steps + fill) x time of a step: FLOPs over the sustained rate
//   of
//             an SM, or the operand bytes that its warps read from shared memory at 128 B per clock
//   memory    bytes of A, B and C, each once, over sustained bandwidth
//   l2        operand bytes of all tiles over L2 bandwidth
// and the launch itself. Source: arXiv 2401.14489 and NVIDIA's Matrix Multiplication Background
// guide for tile and wave quantisation; DeepGEMM's cost model for the L2 term. Rates are fitted.
//
// Held by tests/gpu/gemm_test.cpp and, against measurements, tests/gpu/accuracy_test.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/binomial.h"
#include "gpu/model.h"

namespace isoloop::gpu {
namespace {

std::int64_t up_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
double up(double x) { return std::ceil(x - 1e-9); }

/// Tiles that the rows of all groups need, whether the rows are fixed or random.
class RowTiles {
 public:
  RowTiles(const GemmProblem& p, RoutingTables& tables) : problem_(p), tables_(tables) {
    if (p.routing) rows_ = &tables.rows(*p.routing);
  }
  /// Expected tiles of `size` rows over all groups, with the backend's padding.
  double along(std::int64_t size) {
    for (const auto& [known, tiles] : memo_)
      if (known == size) return tiles;
    const double tiles = compute(size);
    memo_.emplace_back(size, tiles);
    return tiles;
  }
  double total_rows() const {
    const auto groups = static_cast<double>(problem_.groups);
    return groups * (rows_ ? rows_->mean() : static_cast<double>(random_dimension()));
  }
  double groups_hit() const {
    return static_cast<double>(problem_.groups) * (rows_ ? 1 - rows_->empty() : 1);
  }

 private:
  std::int64_t random_dimension() const { return problem_.rows_are_k ? problem_.k : problem_.m; }
  double compute(std::int64_t size) const {
    constexpr std::int64_t storage_rows = 128;  // DeepGEMM's contiguous layout
    const auto groups = static_cast<double>(problem_.groups);
    const bool padded =
        problem_.backend == GroupBackend::padded && size < storage_rows && storage_rows % size == 0;
    const std::int64_t unit = padded ? storage_rows : size;
    const double units = rows_ ? tables_.tiles(*problem_.routing, unit)
                               : static_cast<double>(up_div(random_dimension(), unit));
    return groups * units * static_cast<double>(unit / size);
  }

  const GemmProblem& problem_;
  RoutingTables& tables_;
  const Binomial* rows_ = nullptr;
  std::vector<std::pair<std::int64_t, double>> memo_;
};

struct Cost {
  double us = std::numeric_limits<double>::infinity();
  double compute = 0, memory = 0, l2 = 0;
  double tiles = 0, steps = 0, per_sm = 0, bytes = 0, fill_efficiency = 1;
};

/// What does not depend on the shape.
struct Fixed {
  double element = 0, launch_us = 0, fill = 0, us_per_flop = 0;
  double bytes = 0;  // A, B and C once
  double c_elements = 0;
  bool misaligned = false;
};

/// Bytes that a main-loop step moves through an SM's shared memory.
double smem_bytes_of_step(const TileShape& s, double element) {
  const double row = s.k * element, tile = (s.m + s.n) * row;
  switch (s.family) {
    case Family::wgmma:  // each consumer warpgroup reads its rows of A and all of B
      return tile + (s.m + s.consumer_groups * s.n) * row;
    case Family::tcgen05:  // one MMA per SM; a pair holds half of B each
      return (s.m + (s.two_sm ? s.n / 2 : s.n)) * row;
    default: {  // each warp reads its rows of A and B
      const double warps = s.warps_m * s.warps_n;
      return tile + warps * (s.m / s.warps_m + s.n / s.warps_n) * row;
    }
  }
}

/// How much longer products take in narrow tiles: more operand loads and instructions per product.
double narrowness(const TileShape& s) {
  const auto parts = [](double full, double size) { return std::max(full / size, 1.0) - 1; };
  if (s.family == Family::wgmma) return parts(128, s.n);
  if (s.family == Family::tcgen05) return parts(128, s.n) + parts(128, s.m);
  return parts(64, static_cast<double>(s.m) / s.warps_m) +
         parts(64, static_cast<double>(s.n) / s.warps_n);
}

bool is_misaligned(const GemmProblem& p) {
  const double element = bytes_per_element(p.precision);
  const auto odd = [](double bytes) { return std::fmod(bytes, 16) != 0; };
  // The contiguous dimension of each operand: k of A and B, n of C; m and n of a weight gradient.
  if (p.rows_are_k)
    return odd(static_cast<double>(p.m) * element) || odd(static_cast<double>(p.n) * element);
  return odd(static_cast<double>(p.k) * element) || odd(static_cast<double>(p.n) * p.output_bytes);
}

Fixed fixed_part(const DeviceModel& model, const GemmProblem& p, const RowTiles& rows) {
  Fixed f;
  const GemmRate& rate = model.rates.gemm[static_cast<std::size_t>(width_of(p.precision))];
  f.element = bytes_per_element(p.precision);
  f.launch_us = model.rates.memory.launch_us;
  f.fill = rate.fill;
  f.misaligned = is_misaligned(p);
  const double share = rate.share * (f.misaligned ? model.constants.misaligned : 1) *
                       (p.groups > 1 ? model.constants.grouped : 1);
  f.us_per_flop = model.sm_us_per_flop(p.precision, share);
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k), groups = static_cast<double>(p.groups);
  if (p.rows_are_k) {
    f.c_elements = groups * m * n;
    f.bytes = rows.total_rows() * (m + n) * f.element + f.c_elements * p.output_bytes;
  } else {
    f.c_elements = rows.total_rows() * n;
    const double weights = p.weights_cached ? 0 : rows.groups_hit() * n * k * f.element;
    f.bytes = rows.total_rows() * k * f.element + weights + f.c_elements * p.output_bytes;
  }
  return f;
}

Cost cost_of(const DeviceModel& model, const GemmProblem& p, const Fixed& f, RowTiles& rows,
             const TileShape& s, int split) {
  Cost c;
  const auto bm = static_cast<double>(s.m), bn = static_cast<double>(s.n),
             bk = static_cast<double>(s.k);
  const double tiles_n = static_cast<double>(up_div(p.n, s.n));
  double output_tiles = 0;
  if (p.rows_are_k) {
    output_tiles = static_cast<double>(p.groups * up_div(p.m, s.m)) * tiles_n;
    c.steps = rows.along(s.k) / static_cast<double>(p.groups) / split;
  } else {
    output_tiles = rows.along(s.m) * tiles_n;
    c.steps = static_cast<double>(up_div(up_div(p.k, s.k), split));
  }
  c.tiles = output_tiles * split;
  c.per_sm = up(c.tiles / model.device.sms);
  // Fill is counted in 128-byte steps; a resident neighbour hides it.
  const double fill_steps = f.fill * 128 / (bk * f.element);
  const double hidden = std::min(static_cast<double>(s.blocks_per_sm), c.per_sm);
  constexpr double smem_bytes_per_clock = 128;
  const double smem_us =
      smem_bytes_of_step(s, f.element) / (smem_bytes_per_clock * model.device.tensor_mhz);
  const double step_us = std::max(
      2 * bm * bn * bk * f.us_per_flop * (1 + model.constants.small_tile * narrowness(s)), smem_us);
  const double filled = c.steps + fill_steps / std::max(hidden, 1.0);
  c.compute = c.per_sm * filled * step_us;
  c.fill_efficiency = c.steps / filled;
  const double partial = split > 1 ? f.c_elements * split * 4 * 2 : 0;  // fp32, written and read
  c.bytes = f.bytes + partial;
  c.memory = c.bytes * model.memory_us_per_byte;
  const double loaded = bm + (s.two_sm ? bn / 2 : bn);
  c.l2 = c.tiles * c.steps * loaded * bk * f.element * model.l2_us_per_byte;
  c.us = f.launch_us + std::max({c.compute, c.memory, c.l2});
  return c;
}

bool usable(const GemmProblem& p, const TileShape& s) {
  // Groups stored in multiples of 128 rows need tiles that do not straddle two experts.
  return p.backend != GroupBackend::padded || p.rows_are_k || s.family != Family::wgmma ||
         s.m <= 128;
}

GemmLaunch launch_of(const DeviceModel& model, const GemmProblem& p, const Fixed& f, const Cost& c,
                     const TileShape& s, int split, RowTiles& rows) {
  GemmLaunch l;
  l.problem = p;
  l.tile = s;
  l.split_k = split;
  l.threads = s.threads;
  l.registers = s.registers;
  l.smem_bytes = s.smem_bytes;
  l.blocks_per_sm = s.blocks_per_sm;
  l.occupancy = s.occupancy;
  l.tiles = c.tiles;
  l.grid = static_cast<std::int64_t>(s.persistent ? std::min<double>(up(c.tiles), model.device.sms)
                                                  : up(c.tiles));
  if (s.two_sm) l.grid += l.grid % 2;
  l.waves = c.tiles / (static_cast<double>(model.device.sms) * s.blocks_per_sm);
  const double useful = p.rows_are_k ? static_cast<double>(p.m) * rows.total_rows()
                                     : rows.total_rows() * static_cast<double>(p.k);
  const double padded = c.tiles * c.steps * s.m * s.n * s.k;
  l.tile_efficiency = useful * static_cast<double>(p.n) / padded;
  l.wave_efficiency = c.tiles / (c.per_sm * model.device.sms);
  l.fill_efficiency = c.fill_efficiency;
  l.bytes = c.bytes;
  const double slowest = c.us - f.launch_us;
  l.bound = slowest < f.launch_us  ? Bound::latency
            : slowest == c.compute ? Bound::compute
            : slowest == c.memory  ? Bound::memory
                                   : Bound::l2;
  const GemmRate& rate = model.rates.gemm[static_cast<std::size_t>(width_of(p.precision))];
  const bool compute = slowest == c.compute;
  l.compute_limited = compute;
  l.measured = compute ? rate.points > 0 : model.rates.memory.points > 0;
  const Ranges& ranges = model.constants.ranges;
  l.time = banded(c.us, compute ? ranges.compute : ranges.memory, ranges.unmeasured, l.measured);
  // Walk along the side with fewer tiles, so that one wave covers a compact block of C.
  l.raster_along_m = static_cast<double>(up_div(p.n, s.n)) >=
                     c.tiles / static_cast<double>(split) / static_cast<double>(up_div(p.n, s.n));
  return l;
}

/// A pair of CTAs shares a tile of A or B by multicast where tiles pair up and no SM is left over.
void choose_cluster(const DeviceModel& model, const GemmProblem& p, GemmLaunch& l) {
  TileShape& s = l.tile;
  if (s.family != Family::wgmma || l.waves <= 1 || model.device.sms % 2 != 0) return;
  const bool even_m = p.groups == 1 && up_div(p.m, s.m) % 2 == 0;
  if (even_m)
    s.cluster_m = 2;
  else if (up_div(p.n, s.n) % 2 == 0)
    s.cluster_n = 2;
}

void check(const DeviceModel& model, const GemmProblem& p) {
  const auto positive = [](std::string_view field, std::int64_t value) {
    if (value < 1)
      throw input_error(fmt::format("is {}; expected at least 1", value), std::string(field));
  };
  if (!p.routing || p.rows_are_k) positive("m", p.m);
  positive("n", p.n);
  if (!p.routing || !p.rows_are_k) positive("k", p.k);
  positive("groups", p.groups);
  peak_flops(model.device, p.precision);
}

const std::vector<TileShape>& candidates(const DeviceModel& model, const GemmProblem& p,
                                         bool misaligned, std::optional<Family> family) {
  const auto width = static_cast<std::size_t>(width_of(p.precision));
  const bool own = family ? *family == model.family : !misaligned || model.fallback[width].empty();
  return own ? model.shapes[width] : model.fallback[width];
}

}  // namespace

GemmLaunch predict_gemm_shape(const DeviceModel& model, const GemmProblem& problem,
                              const TileShape& shape, int split_k) {
  check(model, problem);
  RoutingTables tables;
  RowTiles rows(problem, tables);
  const Fixed fixed = fixed_part(model, problem, rows);
  const Cost cost = cost_of(model, problem, fixed, rows, shape, split_k);
  return launch_of(model, problem, fixed, cost, shape, split_k, rows);
}

GemmLaunch predict_gemm(const DeviceModel& model, const GemmProblem& p,
                        std::optional<Family> family, RoutingTables* tables) {
  check(model, p);
  RoutingTables own;
  RowTiles rows(p, tables != nullptr ? *tables : own);
  const Fixed fixed = fixed_part(model, p, rows);
  const TileShape* best = nullptr;
  Cost best_cost;
  int best_split = 1;
  const auto consider = [&](const TileShape& shape, int split) {
    const Cost cost = cost_of(model, p, fixed, rows, shape, split);
    // Where traffic decides, many shapes take as long: the one with least arithmetic is best.
    const bool better =
        cost.us < best_cost.us || (cost.us == best_cost.us && cost.compute < best_cost.compute);
    if (!better) return cost;
    best = &shape;
    best_cost = cost;
    best_split = split;
    return cost;
  };
  for (const TileShape& shape : candidates(model, p, fixed.misaligned, family)) {
    if (!usable(p, shape)) continue;
    const Cost whole = consider(shape, 1);
    // Splitting k pays only where tiles leave SMs idle and each part keeps a main loop.
    if (p.groups > 1 || whole.tiles * 2 > model.device.sms) continue;
    for (int split = 2; split <= 16 && whole.steps / split >= 4; split *= 2) consider(shape, split);
  }
  if (best == nullptr) throw input_error("no launch shape fits " + model.device.name, "gemm");
  GemmLaunch launch = launch_of(model, p, fixed, best_cost, *best, best_split, rows);
  choose_cluster(model, p, launch);
  return launch;
}

GemmLaunch plan_gemm(const Device& device, const GemmProblem& problem,
                     std::optional<Family> family) {
  return predict_gemm(DeviceModel(device, efficiency()), problem, family);
}

}  // namespace isoloop::gpu
