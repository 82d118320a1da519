// Advice: which dimension to move to which multiple, and what it gains.
//
// A dimension is moved to the multiples next to it that tiles, alignment and attention templates
// favour, and the step is planned again. A moved dimension changes the work, so what counts is time
// per useful multiply-accumulate. Larger sizes are a little better at that whatever their
// multiples, and that is no advice: a size counts as badly chosen only if it is slower than the
// straight line between the multiples on both sides. Multiples: NVIDIA's matrix multiply guide (64
// elements of 16 bit fill a 128-byte row), 128 and 256 for tiles; FlashAttention's templates.
//
// Held by tests/gpu/advice_test.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "gpu/attention_shapes.h"

namespace isoloop::gpu {
namespace {

using arch::Architecture;

constexpr double least_gain = 0.005;

/// The favoured sizes on both sides of a dimension; 0 = none near.
struct Neighbours {
  std::int64_t below = 0, above = 0;
};

/// A dimension by name: where it lies, what is wrong with it, and what it may become.
struct Dimension {
  std::string name, reason;
  std::int64_t value = 0;
  std::vector<Neighbours> neighbours;
  std::function<void(Architecture&, std::int64_t)> set;
};

/// Multiples next to `value`, none further off than a quarter: beyond, it is another model.
void add_multiples(Dimension& d, std::int64_t parts) {
  for (const std::int64_t unit : {64 * parts, 128 * parts, 256 * parts}) {
    Neighbours n{d.value / unit * unit, (d.value / unit + 1) * unit};
    if (n.below == d.value) continue;
    if (4 * n.below < 3 * d.value) n.below = 0;
    if (4 * n.above > 5 * d.value) n.above = 0;
    if (n.below + n.above > 0) d.neighbours.push_back(n);
  }
}

std::string why_slow(std::int64_t value, std::int64_t parts, const PlanOptions& options) {
  const double element = bytes_per_element(tensor_precision(options.dtype));
  const double bytes = static_cast<double>(value) / static_cast<double>(parts) * element;
  const std::string split = parts > 1 ? fmt::format(" on each of {} GPUs", parts) : "";
  if (static_cast<std::int64_t>(bytes) % 16 != 0)
    return fmt::format(
        "its rows of {:.0f} bytes{} are no multiple of 16 bytes, which fast loads need", bytes,
        split);
  if (static_cast<std::int64_t>(bytes) % 128 != 0)
    return fmt::format("its rows of {:.0f} bytes{} are no multiple of 128 bytes", bytes, split);
  return "it fills the last tile or the last wave of tiles badly";
}

/// Sets a dimension in every segment that has the same value.
template <class Field>
auto in_all_segments(std::int64_t from, Field field) {
  return [from, field](Architecture& a, std::int64_t to) {
    for (arch::Segment& s : a.segments)
      if (field(s) == from) field(s) = to;
  };
}

bool known(const std::vector<Dimension>& list, const std::string& name, std::int64_t value) {
  return std::ranges::any_of(
      list, [&](const Dimension& d) { return d.name == name && d.value == value; });
}

template <class Field>
void add_segment_dimension(std::vector<Dimension>& out, const Architecture& a,
                           const std::string& name, std::int64_t parts, const PlanOptions& options,
                           Field field) {
  for (const arch::Segment& segment : a.segments) {
    arch::Segment copy = segment;
    const std::int64_t value = field(copy);
    if (value == 0 || known(out, name, value)) continue;
    Dimension d{name, why_slow(value, parts, options), value, {}, in_all_segments(value, field)};
    add_multiples(d, parts);
    out.push_back(std::move(d));
  }
}

/// Head sizes that the planned kernel pads; those it does not pad are left alone.
void add_head_sizes(std::vector<Dimension>& out, const Architecture& a, const Device& device,
                    const Plan& plan) {
  for (const arch::Segment& segment : a.segments) {
    const std::int64_t value = segment.attention.head_size;
    if (value == 0 || known(out, "head size", value)) continue;
    for (const Kernel& k : plan.kernels) {
      const auto* launch = std::get_if<AttentionLaunch>(&k.detail);
      if (launch == nullptr || launch->problem.head_size != value) continue;
      if (launch->kernel_head_size == value) break;
      Dimension d{"head size",
                  fmt::format("{} pads it to {}", name(launch->kernel), launch->kernel_head_size),
                  value,
                  {},
                  in_all_segments(
                      value, [](arch::Segment & s) -> auto& { return s.attention.head_size; })};
      d.neighbours.push_back(
          {largest_unpadded_head(device, launch->problem), launch->kernel_head_size});
      out.push_back(std::move(d));
      break;
    }
  }
}

std::vector<Dimension> dimensions(const Architecture& a, const Device& device,
                                  const PlanOptions& options, const Plan& plan) {
  std::vector<Dimension> out;
  Dimension hidden{"hidden size", why_slow(a.hidden, 1, options), a.hidden, {}, {}};
  hidden.set = [](Architecture& m, std::int64_t to) { m.hidden = to; };
  add_multiples(hidden, 1);
  out.push_back(std::move(hidden));
  const std::int64_t tp = options.tp;
  add_segment_dimension(
      out, a, "expert size", 1, options,
      [](arch::Segment & s) -> auto& { return s.ffn.expert_size; });
  add_segment_dimension(
      out, a, "shared expert size", tp, options,
      [](arch::Segment & s) -> auto& { return s.ffn.shared_size; });
  add_segment_dimension(
      out, a, "FFN size", tp, options, [](arch::Segment & s) -> auto& { return s.ffn.size; });
  add_head_sizes(out, a, device, plan);
  const std::int64_t unit = 64 * tp;
  if (a.vocab > 0 && a.vocab % unit != 0) {
    Dimension vocab{"vocabulary", why_slow(a.vocab, tp, options), a.vocab, {}, {}};
    vocab.set = [](Architecture& m, std::int64_t to) { m.vocab = to; };
    vocab.neighbours.push_back({0, (a.vocab / unit + 1) * unit});
    out.push_back(std::move(vocab));
  }
  return out;
}

double time_per_mac(const Plan& plan) { return plan.step_ms.mid / plan.useful_macs.to_double(); }

/// The largest of the usual units that divides `value`.
std::string multiple_text(std::int64_t value) {
  for (const std::int64_t unit : {256, 128, 64, 32, 16, 8})
    if (value % unit == 0) return fmt::format(", a multiple of {}", unit);
  return {};
}

/// Plans the architecture with one dimension moved.
class Mover {
 public:
  Mover(const Planner& planner, const Architecture& architecture)
      : planner_(planner), architecture_(architecture) {}
  /// None if `to` is 0 or makes no possible architecture.
  std::optional<Plan> moved(const Dimension& d, std::int64_t to) const {
    if (to == 0) return std::nullopt;
    Architecture other = architecture_;
    d.set(other, to);
    try {
      return planner_.plan(other);
    } catch (const Error& error) {
      if (error.kind == ErrorKind::internal) throw;
      return std::nullopt;
    }
  }

 private:
  const Planner& planner_;
  const Architecture& architecture_;
};

/// Whether `now` takes longer per work than the straight line between its neighbours.
bool badly_chosen(const Dimension& d, const Neighbours& n, const Plan& now,
                  const std::optional<Plan>& below, const std::optional<Plan>& above) {
  if (!below && !above) return false;
  const double at = time_per_mac(now);
  double line = time_per_mac(below ? *below : *above);
  if (below && above) {
    const double along =
        static_cast<double>(d.value - n.below) / static_cast<double>(n.above - n.below);
    line += along * (time_per_mac(*above) - line);
  }
  return 1 - line / at > least_gain;
}

struct Move {
  std::int64_t to = 0;
  double gain = 0, step_ms = 0;
};

void consider(std::vector<Move>& moves, std::int64_t to, const Plan& now,
              const std::optional<Plan>& then) {
  if (!then) return;
  const double gain = 1 - time_per_mac(*then) / time_per_mac(now);
  if (gain > least_gain) moves.push_back({to, gain, then->step_ms.mid});
}

/// The nearest size that gains most of what the best one does: small moves keep the model.
const Move& preferred(const std::vector<Move>& moves, std::int64_t value) {
  constexpr double most = 0.8;
  const double best = std::ranges::max(moves, {}, &Move::gain).gain;
  const Move* chosen = nullptr;
  const auto distance = [&](const Move& m) { return std::abs(m.to - value); };
  for (const Move& m : moves)
    if (m.gain >= most * best && (chosen == nullptr || distance(m) < distance(*chosen)))
      chosen = &m;
  return *chosen;
}

Advice advice_of(const Dimension& d, const Move& move, const Plan& now) {
  Advice a;
  a.text = fmt::format(
      "{} {} -> {}{}: {:.1f} % less time for the same work; the step goes from {:.2f} to {:.2f} "
      "ms. Why: {}",
      d.name, d.value, move.to, multiple_text(move.to), 100 * move.gain, now.step_ms.mid,
      move.step_ms, d.reason);
  a.gain = move.gain;
  a.dimension = d.name;
  a.reason = d.reason;
  a.from = d.value;
  a.to = move.to;
  a.step_ms = move.step_ms;
  return a;
}

}  // namespace

std::vector<Advice> advice(const Architecture& architecture, const Device& device,
                           const PlanOptions& options) {
  const Planner planner(device, options);
  const Plan now = planner.plan(architecture);
  const Mover mover(planner, architecture);
  std::vector<Advice> result;
  for (const Dimension& d : dimensions(architecture, device, options, now)) {
    std::vector<Move> moves;
    for (const Neighbours& n : d.neighbours) {
      const auto below = mover.moved(d, n.below), above = mover.moved(d, n.above);
      if (!badly_chosen(d, n, now, below, above)) continue;
      consider(moves, n.below, now, below);
      consider(moves, n.above, now, above);
    }
    if (!moves.empty()) result.push_back(advice_of(d, preferred(moves, d.value), now));
  }
  std::ranges::stable_sort(result,
                           [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
  return result;
}

}  // namespace isoloop::gpu
