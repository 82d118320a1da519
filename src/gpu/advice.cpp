// Advice: which dimension to move to which multiple, and what it gains.
//
// Each dimension is moved to the multiples that tiles, alignment and attention templates favour,
// and the step is planned again. A moved dimension changes the work too, so what counts is time per
// useful multiply-accumulate, not time. Multiples: NVIDIA's matrix multiply guide (64 elements of
// 16 bit fill a 128-byte row), 128 and 256 for tiles; FlashAttention's head-size templates.
//
// Held by tests/gpu/advice_test.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "isoloop/gpu.h"

namespace isoloop::gpu {
namespace {

using arch::Architecture;

/// A dimension by name: where it lies, and what it may become.
struct Dimension {
  std::string name, reason;
  std::int64_t value = 0;
  std::vector<std::int64_t> candidates;
  std::function<void(Architecture&, std::int64_t)> set;
};

void add_multiples(Dimension& d, std::initializer_list<std::int64_t> units) {
  for (const std::int64_t unit : units) {
    const std::int64_t below = d.value / unit * unit;
    if (below == d.value) continue;
    if (below > 0) d.candidates.push_back(below);
    d.candidates.push_back(below + unit);
  }
}

/// Sets a dimension in every segment that has the same value.
template <class Field>
auto in_all_segments(std::int64_t from, Field field) {
  return [from, field](Architecture& a, std::int64_t to) {
    for (arch::Segment& s : a.segments)
      if (field(s) == from) field(s) = to;
  };
}

template <class Field>
void add_segment_dimension(std::vector<Dimension>& out, const Architecture& a,
                           const std::string& name, Field field) {
  for (const arch::Segment& segment : a.segments) {
    arch::Segment copy = segment;
    const std::int64_t value = field(copy);
    const bool known = std::ranges::any_of(
        out, [&](const Dimension& d) { return d.name == name && d.value == value; });
    if (value == 0 || known) continue;
    Dimension d{name, "tiles and 128-byte rows", value, {}, in_all_segments(value, field)};
    add_multiples(d, {64, 128, 256});
    out.push_back(std::move(d));
  }
}

void add_head_sizes(std::vector<Dimension>& out, const Architecture& a) {
  for (const arch::Segment& segment : a.segments) {
    const std::int64_t value = segment.attention.head_size;
    const bool known = std::ranges::any_of(
        out, [&](const Dimension& d) { return d.name == "head size" && d.value == value; });
    if (value == 0 || known) continue;
    Dimension d{"head size", "an attention template", value, {}, {}};
    std::int64_t below = 0, above = 0;
    for (const std::int64_t size : {32, 48, 64, 80, 96, 112, 128, 192, 256}) {
      if (size < value) below = size;
      if (size > value && above == 0) above = size;
    }
    if (below > 0) d.candidates.push_back(below);
    if (above > 0) d.candidates.push_back(above);
    d.set = in_all_segments(
        value, [](arch::Segment & s) -> auto& { return s.attention.head_size; });
    out.push_back(std::move(d));
  }
}

std::vector<Dimension> dimensions(const Architecture& a, const PlanOptions& options) {
  std::vector<Dimension> out;
  Dimension hidden{"hidden size", "tiles and 128-byte rows", a.hidden, {}, {}};
  hidden.set = [](Architecture& m, std::int64_t to) { m.hidden = to; };
  add_multiples(hidden, {64, 128, 256});
  out.push_back(std::move(hidden));
  add_segment_dimension(
      out, a, "expert size", [](arch::Segment & s) -> auto& { return s.ffn.expert_size; });
  add_segment_dimension(
      out, a, "shared expert size", [](arch::Segment & s) -> auto& { return s.ffn.shared_size; });
  add_segment_dimension(
      out, a, "FFN size", [](arch::Segment & s) -> auto& { return s.ffn.size; });
  add_head_sizes(out, a);
  if (a.vocab > 0) {
    Dimension vocab{"vocabulary", "aligned rows of the head", a.vocab, {}, {}};
    vocab.set = [](Architecture& m, std::int64_t to) { m.vocab = to; };
    const std::int64_t unit = 64 * options.tp;
    if (a.vocab % unit != 0) vocab.candidates.push_back((a.vocab / unit + 1) * unit);
    out.push_back(std::move(vocab));
  }
  return out;
}

double time_per_mac(const Plan& plan) { return plan.step_ms.mid / plan.useful_macs.to_double(); }

/// The largest of the usual units that divides `value`.
std::string multiple_text(std::int64_t value) {
  for (const std::int64_t unit : {256, 128, 64, 32, 16, 8})
    if (value % unit == 0) return fmt::format(" (a multiple of {})", unit);
  return {};
}

}  // namespace

std::vector<Advice> advice(const Architecture& architecture, const Device& device,
                           const PlanOptions& options) {
  constexpr double least_gain = 0.005;
  const Planner planner(device, options);
  const Plan now = planner.plan(architecture);
  std::vector<Advice> result;
  for (const Dimension& d : dimensions(architecture, options)) {
    Advice best;
    for (const std::int64_t candidate : d.candidates) {
      Architecture moved = architecture;
      d.set(moved, candidate);
      try {
        const Plan plan = planner.plan(moved);
        const double gain = 1 - time_per_mac(plan) / time_per_mac(now);
        if (gain <= std::max(best.gain, least_gain)) continue;
        best.gain = gain;
        best.text = fmt::format(
            "{} {} -> {}{}: {:.1f} % less time for the same work ({}); the step goes from {:.2f} "
            "to {:.2f} ms",
            d.name, d.value, candidate, multiple_text(candidate), 100 * gain, d.reason,
            now.step_ms.mid, plan.step_ms.mid);
      } catch (const Error& error) {
        if (error.kind == ErrorKind::internal) throw;  // otherwise: not a possible architecture
      }
    }
    if (!best.text.empty()) result.push_back(std::move(best));
  }
  std::ranges::stable_sort(result,
                           [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
  return result;
}

}  // namespace isoloop::gpu
