// Sustained rates of a device, and the predictors that need nothing else.
//
// Held by tests/gpu/accuracy_test.cpp and tests/gpu/plan_test.cpp.
#include "gpu/model.h"

#include <algorithm>
#include <cmath>

#include "gpu/shapes.h"

namespace isoloop::gpu {

DeviceModel::DeviceModel(const Device& d, const Efficiency& e)
    : device(d), family(family_of(d.limits)), rates(rates_of(e, d.limits)), constants(e) {
  constants.generations.clear();
  memory_us_per_byte = 1e6 / (d.memory_bytes_per_s * rates.memory.share);
  // The cap was measured on one-die devices; sm_100 has two dies and no such figure.
  const double per_sm = e.l2_bytes_per_clock_per_sm * d.sms;
  const double l2_bytes_per_clock =
      family == Family::tcgen05 ? per_sm : std::min(per_sm, e.l2_bytes_per_clock);
  l2_us_per_byte = 1 / (l2_bytes_per_clock * d.tensor_mhz);
  for (std::size_t w = 0; w < width_count; ++w) {
    shapes[w] = shapes_of_family(d.limits, static_cast<Width>(w), family).fitting;
    if (family == Family::wgmma || family == Family::tcgen05)
      fallback[w] = shapes_of_family(d.limits, static_cast<Width>(w), Family::mma_sync).fitting;
  }
}

double DeviceModel::sm_us_per_flop(Precision precision, double share) const {
  return 1e6 * device.sms / (peak_flops(device, precision) * share);
}

Time banded(double mid, const Range& range, double unmeasured, bool measured) {
  const double wider = measured ? 1 : unmeasured;
  return {mid * range.low / wider, mid, mid * range.high * wider};
}

Launch predict_elementwise(const DeviceModel& model, double bytes) {
  constexpr int threads = 256, registers = 40, bytes_per_block = threads * 16 * 4;
  Launch l;
  l.threads = threads;
  l.registers = registers;
  l.blocks_per_sm = model.device.limits.max_threads_per_sm / threads;
  l.occupancy =
      static_cast<double>(l.blocks_per_sm) * threads / model.device.limits.max_threads_per_sm;
  l.grid = static_cast<std::int64_t>(std::ceil(std::max(bytes / bytes_per_block, 1.0)));
  l.tiles = static_cast<double>(l.grid);
  l.waves = l.tiles / (model.device.sms * l.blocks_per_sm);
  l.bytes = bytes;
  const double stream =
      1e6 * bytes / (model.device.memory_bytes_per_s * model.constants.elementwise_share);
  l.bound = stream > model.rates.memory.launch_us ? Bound::memory : Bound::latency;
  l.time =
      banded(model.rates.memory.launch_us + stream, model.constants.ranges.elementwise, 1, true);
  return l;
}

Launch predict_link(const DeviceModel& model, double bytes, double gbs_both_ways, double steps) {
  Launch l;
  l.bytes = bytes;
  l.bound = Bound::link;
  const double one_way = gbs_both_ways * 1e9 / 2 * model.constants.link_share;
  const double mid = model.constants.link_latency_us * std::max(steps, 1.0) + 1e6 * bytes / one_way;
  l.time = banded(mid, model.constants.ranges.link, 1, true);
  l.time.low = 0;  // hidden behind computation
  return l;
}

}  // namespace isoloop::gpu
