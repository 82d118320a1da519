// The time of fused attention.
//
// Key blocks are visited whole, so a causal or windowed mask costs the blocks it touches. A block
// of m x n scores takes the two products (five in backward) at a sustained rate and the part of the
// softmax that the products do not hide; the exponential unit gives 16 results per clock and SM and
// has not grown with the tensor cores, which is why small heads run below large ones. A query tile
// adds `fill` blocks. Decoding reads the cache once: keys are split over SMs until they are busy.
//
// Source: arXiv 2307.08691, 2407.08608; rates are fitted on published charts. Held by
// tests/gpu/attention_test.cpp and, against measurements, tests/gpu/accuracy_test.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gpu/attention_shapes.h"
#include "gpu/model.h"

namespace isoloop::gpu {
namespace {

std::int64_t up_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Key blocks over all query tiles of one head, and of the longest tile.
struct Blocks {
  std::int64_t tiles = 0;
  double total = 0, longest = 0;
};

/// Keys the rows [first, last] of a causal problem see: [from, to).
std::pair<std::int64_t, std::int64_t> seen(const AttentionProblem& p, std::int64_t first,
                                           std::int64_t last) {
  const std::int64_t shift = p.keys - p.queries;  // causal aligns the ends
  const std::int64_t to = p.causal ? std::min(p.keys, last + shift + 1) : p.keys;
  std::int64_t from = 0;
  if (p.window > 0 && p.chunked)
    from = (first + shift) / p.window * p.window;
  else if (p.window > 0)
    from = std::max<std::int64_t>(0, first + shift - p.window + 1);
  return {from, std::max(to, from)};
}

Blocks count_blocks(const AttentionProblem& p, std::int64_t m, std::int64_t n) {
  Blocks b;
  b.tiles = up_div(p.queries, m);
  if (!p.causal && p.window == 0) {
    b.longest = static_cast<double>(up_div(p.keys, n));
    b.total = b.longest * static_cast<double>(b.tiles);
    return b;
  }
  for (std::int64_t tile = 0; tile < b.tiles; ++tile) {
    const std::int64_t last = std::min(p.queries, (tile + 1) * m) - 1;
    const auto range = seen(p, tile * m, last);
    const auto blocks = static_cast<double>(up_div(range.second, n) - range.first / n);
    b.total += blocks;
    b.longest = std::max(b.longest, blocks);
  }
  return b;
}

/// Scores that count, of one head.
double useful_scores(const AttentionProblem& p) {
  const auto q = static_cast<double>(p.queries), k = static_cast<double>(p.keys);
  if (!p.causal) return q * k;
  const auto triangle = [](double n) { return n * (n + 1) / 2; };
  const auto w = static_cast<double>(p.window);
  if (p.window == 0 || w >= k) return triangle(k) - triangle(k - q);
  if (p.chunked) {
    const double whole = std::floor(k / w);
    return whole * triangle(w) + triangle(k - whole * w);
  }
  const double start = k - q;  // positions before the first query
  const auto sum = [&](double n) { return n <= w ? triangle(n) : triangle(w) + (n - w) * w; };
  return sum(k) - sum(start);
}

/// Multiply-accumulates per score.
double macs_per_score(const AttentionProblem& p, double d, double dv) {
  return p.backward ? 3 * d + 2 * dv : d + dv;
}

double kv_bytes(const AttentionProblem& p) {
  const double element = bytes_per_element(p.precision);
  const auto keys = static_cast<double>(p.sequences * p.keys * p.kv_heads);
  const auto d = static_cast<double>(p.head_size), dv = static_cast<double>(p.value_size);
  return keys * element * (p.shared_latent ? d : d + dv);
}

double traffic(const AttentionProblem& p) {
  const double element = std::max(2.0, bytes_per_element(p.precision));
  const auto rows = static_cast<double>(p.sequences * p.queries * p.heads);
  const auto d = static_cast<double>(p.head_size), dv = static_cast<double>(p.value_size);
  if (!p.backward) return rows * element * (d + dv) + kv_bytes(p);
  // Q, O, dO read, dQ written and accumulated in fp32; K, V read, dK, dV written.
  return rows * (element * (2 * d + 2 * dv) + 8 * d) + 2 * kv_bytes(p);
}

void check(const DeviceModel& model, const AttentionProblem& p) {
  const auto positive = [](std::string_view field, std::int64_t value) {
    if (value < 1)
      throw input_error(fmt::format("is {}; expected at least 1", value),
                        "attention." + std::string(field));
  };
  positive("sequences", p.sequences);
  positive("heads", p.heads);
  positive("kv_heads", p.kv_heads);
  positive("queries", p.queries);
  positive("keys", p.keys);
  positive("head_size", p.head_size);
  positive("value_size", p.value_size);
  peak_flops(model.device, p.precision);
}

void fill_occupancy(const DeviceModel& model, const AttentionShape& s, AttentionLaunch& l) {
  l.kernel = s.kernel;
  l.tile_m = s.m;
  l.tile_n = s.n;
  l.stages = s.stages;
  l.kernel_head_size = s.head_size;
  l.kernel_value_size = s.value_size;
  l.threads = s.threads;
  l.registers = s.registers;
  l.smem_bytes = s.smem_bytes;
  const Occupancy o = occupancy(model.device.limits, {s.threads, s.registers, 0, s.smem_bytes});
  l.blocks_per_sm = o.blocks_per_sm;
  l.occupancy = o.fraction;
}

const AttentionRate& rate_of(const DeviceModel& model, AttentionKernel kernel,
                             const AttentionProblem& p) {
  const std::size_t width = bytes_per_element(p.precision) == 1 ? 1 : 0;
  return model.rates.attention[static_cast<std::size_t>(kernel)][p.backward ? 1 : 0][width];
}

/// Microseconds one SM needs for a block of scores.
double block_us(const DeviceModel& model, const AttentionProblem& p, const AttentionShape& s,
                const AttentionRate& rate) {
  const double flops = 2 * macs_per_score(p, s.head_size, s.value_size);
  double products = flops * model.sm_us_per_flop(p.precision, rate.share);
  if (s.kernel == AttentionKernel::flash2 && !p.backward && s.rows_per_warp < 32)
    products *= 1 + model.constants.narrow_warp;
  const double softmax = rate.softmax_clocks / model.device.tensor_mhz;
  return static_cast<double>(s.m) * s.n * (products + softmax);
}

AttentionLaunch full_attention(const DeviceModel& model, const AttentionProblem& p,
                               const AttentionShape& s) {
  AttentionLaunch l;
  fill_occupancy(model, s, l);
  const AttentionRate& rate = rate_of(model, s.kernel, p);
  // Backward walks over keys outside and queries inside; the blocks are the same.
  const Blocks b = p.backward && !p.causal && p.window == 0
                       ? Blocks{up_div(p.keys, s.n),
                                static_cast<double>(up_div(p.keys, s.n) * up_div(p.queries, s.m)),
                                static_cast<double>(up_div(p.queries, s.m))}
                       : count_blocks(p, s.m, s.n);
  const double heads = static_cast<double>(p.sequences * p.heads);
  const std::int64_t outer = p.backward ? up_div(p.keys, s.n) : b.tiles;
  const double ctas = heads * static_cast<double>(outer), sms = model.device.sms;
  const double work = heads * b.total + ctas * rate.fill;
  // Equal tiles come in waves; unequal ones are dealt longest first.
  const bool equal = !p.causal && p.window == 0;
  const double tail = equal ? std::ceil(ctas / sms - 1e-9) * (b.longest + rate.fill)
                            : std::max(work / sms, b.longest + rate.fill);
  const double compute = tail * block_us(model, p, s, rate);
  l.tiles = ctas;
  l.grid = s.persistent ? std::min<std::int64_t>(static_cast<std::int64_t>(ctas), model.device.sms)
                        : static_cast<std::int64_t>(ctas);
  l.waves = ctas / (sms * l.blocks_per_sm);
  l.wave_efficiency = work / sms / tail;
  l.fill_efficiency = heads * b.total / work;
  const double useful = useful_scores(p) * macs_per_score(p, static_cast<double>(p.head_size),
                                                          static_cast<double>(p.value_size));
  const double spent = b.total * s.m * s.n * macs_per_score(p, s.head_size, s.value_size);
  l.tile_efficiency = useful / spent;
  l.padded_share = 1 - l.tile_efficiency;
  l.bytes = traffic(p);
  const double memory = l.bytes * model.memory_us_per_byte;
  const double launches = model.rates.memory.launch_us * (p.backward ? 3 : 1);  // dO*O, dQ cast
  const double mid = launches + std::max(compute, memory);
  l.bound = std::max(compute, memory) < launches ? Bound::latency
            : compute >= memory                  ? Bound::compute
                                                 : Bound::memory;
  l.measured = rate.points > 0;
  const Ranges& ranges = model.constants.ranges;
  l.time = banded(mid, ranges.attention, ranges.unmeasured, l.measured);
  return l;
}

/// One query per sequence against a cache: split-KV, query rows packed over the heads that share a
/// key head.
AttentionLaunch decode_attention(const DeviceModel& model, const AttentionProblem& p,
                                 const AttentionShape& s) {
  AttentionLaunch l;
  fill_occupancy(model, s, l);
  const std::int64_t kept = p.window > 0 ? std::min(p.keys, p.window) : p.keys;
  const std::int64_t packed = up_div(p.queries * (p.heads / p.kv_heads), s.m);
  const std::int64_t tiles = p.sequences * p.kv_heads * packed, blocks = up_div(kept, s.n);
  l.splits = static_cast<int>(std::clamp<std::int64_t>(model.device.sms / tiles, 1, blocks));
  l.grid = tiles * l.splits;
  l.tiles = static_cast<double>(l.grid);
  l.waves = l.tiles / (static_cast<double>(model.device.sms) * l.blocks_per_sm);
  const double per_sm = std::ceil(l.tiles / model.device.sms);
  l.wave_efficiency = l.tiles / (per_sm * model.device.sms);
  const AttentionRate& rate = rate_of(model, s.kernel, p);
  const double steps = static_cast<double>(up_div(blocks, l.splits));
  const double compute = per_sm * (steps + rate.fill) * block_us(model, p, s, rate);
  AttentionProblem read = p;
  read.keys = kept;
  l.bytes = traffic(read) + (l.splits > 1 ? static_cast<double>(p.sequences * p.heads * l.splits) *
                                                8.0 * s.value_size
                                          : 0);
  const double useful =
      static_cast<double>(p.heads * kept) *
      macs_per_score(p, static_cast<double>(p.head_size), static_cast<double>(p.value_size));
  const double spent = static_cast<double>(p.kv_heads * packed * s.m * blocks * s.n) *
                       macs_per_score(p, s.head_size, s.value_size);
  l.tile_efficiency = useful / spent;
  l.padded_share = 1 - l.tile_efficiency;
  const double memory = l.bytes * model.memory_us_per_byte;
  const double launches = model.rates.memory.launch_us * (l.splits > 1 ? 2 : 1);
  l.bound = std::max(compute, memory) < launches ? Bound::latency
            : compute > memory                   ? Bound::compute
                                                 : Bound::memory;
  const Ranges& ranges = model.constants.ranges;  // no decode points: the band of attention, wider
  l.time = banded(launches + std::max(compute, memory), ranges.attention, ranges.unmeasured, false);
  return l;
}

}  // namespace

AttentionLaunch predict_attention(const DeviceModel& model, const AttentionProblem& problem,
                                  std::optional<AttentionKernel> kernel) {
  check(model, problem);
  const AttentionShape shape = attention_shape(model.device, problem, kernel);
  const bool decode = problem.queries == 1 && problem.keys > 1;
  AttentionLaunch launch =
      decode ? decode_attention(model, problem, shape) : full_attention(model, problem, shape);
  launch.problem = problem;
  return launch;
}

AttentionLaunch plan_attention(const Device& device, const AttentionProblem& problem,
                               std::optional<AttentionKernel> kernel) {
  return predict_attention(DeviceModel(device, efficiency()), problem, kernel);
}

}  // namespace isoloop::gpu
