// Layer dimensions as unknowns: where they live in an architecture and which values they may take.
//
// Held by tests/solve/match_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "solve/statement.h"

namespace isoloop::solve::detail {
namespace {

/// The field an unknown stands for, or null where a segment does not have it.
template <class Segment>
auto field(Segment& s, Unknown unknown) -> decltype(&s.layers) {
  const bool gqa = s.attention.kind == arch::AttentionKind::gqa;
  switch (unknown) {
    case Unknown::heads: return &s.attention.heads;
    case Unknown::kv_heads: return gqa ? &s.attention.kv_heads : nullptr;
    case Unknown::head_size: return gqa ? &s.attention.head_size : nullptr;
    case Unknown::kv_rank: return gqa ? nullptr : &s.attention.kv_rank;
    case Unknown::expert_size: return s.ffn.moe ? &s.ffn.expert_size : nullptr;
    case Unknown::experts: return s.ffn.moe ? &s.ffn.experts : nullptr;
    case Unknown::top_k: return s.ffn.moe ? &s.ffn.top_k : nullptr;
    case Unknown::shared_size: return s.ffn.shared_size > 0 ? &s.ffn.shared_size : nullptr;
    case Unknown::ffn_size: return s.ffn.moe ? nullptr : &s.ffn.size;
    default: return nullptr;
  }
}

/// low, low + step, ..., where low is rounded up to a multiple of step.
std::vector<std::int64_t> multiples(std::int64_t low, std::int64_t high, std::int64_t step,
                                    Unknown unknown) {
  if ((high - low) / step >= max_values)
    throw usage_error(fmt::format("{} has more than {} values from {} to {}", name(unknown),
                                  max_values, low, high),
                      fmt::format("--free {}", name(unknown)),
                      fmt::format("give a range: --free {}=low:high:step", name(unknown)));
  std::vector<std::int64_t> result;
  for (std::int64_t v = round_up(std::max<std::int64_t>(low, 1), step).to_int64(); v <= high;
       v += step)
    result.push_back(v);
  return result;
}

struct Default {
  std::int64_t low, high, step;
};

/// Ranges wide enough that the answer does not lie on their edge: about a factor two to four
/// around the baseline.
Default default_range(const MatchRequest& r, Unknown unknown, std::int64_t base) {
  const Alignment& a = r.alignment;
  switch (unknown) {
    case Unknown::hidden: return {base / 4, 2 * base, a.hidden};
    case Unknown::heads: return {1, std::max<std::int64_t>(4 * base, 64), 1};
    case Unknown::kv_heads: return {1, std::max<std::int64_t>(2 * base, 8), 1};
    case Unknown::head_size:
      return {r.min_head_size, std::max<std::int64_t>(2 * base, 128), a.head};
    case Unknown::kv_rank: return {base / 4, 2 * base, a.head};
    case Unknown::expert_size: return {base / 4, 4 * base, a.expert};
    case Unknown::ffn_size: return {base / 4, 4 * base, a.expert};
    case Unknown::shared_size: return {base / 4, 4 * base, a.expert};
    case Unknown::experts: return {1, std::max<std::int64_t>(4 * base, 64), a.experts};
    case Unknown::top_k: return {1, 2 * base, 1};
    default: throw internal_error("not a layer dimension");
  }
}

/// Sizes that tensor and expert parallelism can split.
bool shards(const MatchRequest& r, Unknown unknown, std::int64_t value) {
  switch (unknown) {
    case Unknown::heads: return value % r.tensor_parallel == 0;
    case Unknown::kv_heads:
      return value % r.tensor_parallel == 0 || r.tensor_parallel % value == 0;
    case Unknown::hidden:
    case Unknown::shared_size:
    case Unknown::ffn_size: return value % r.tensor_parallel == 0;
    case Unknown::experts: return value % r.expert_parallel == 0;
    default: return true;
  }
}

}  // namespace

std::optional<std::int64_t> baseline_value(const arch::Architecture& baseline, Unknown unknown) {
  if (unknown == Unknown::hidden) return baseline.hidden;
  std::optional<std::int64_t> result;
  for (const arch::Segment& segment : baseline.segments) {
    const std::int64_t* value = field(segment, unknown);
    if (value == nullptr) continue;
    if (result && *result != *value)
      throw input_error(fmt::format("segments of '{}' differ in {}: {} and {}", baseline.name,
                                    name(unknown), *result, *value),
                        fmt::format("segment '{}'", segment.name),
                        "matching needs one value for all segments that have this dimension");
    result = *value;
  }
  return result;
}

void assign(arch::Architecture& architecture, Unknown unknown, std::int64_t value) {
  if (unknown == Unknown::hidden) architecture.hidden = value;
  for (arch::Segment& segment : architecture.segments)
    if (std::int64_t* target = field(segment, unknown)) *target = value;
}

bool is_free_by_default(const arch::Architecture& baseline, Unknown unknown) {
  const auto has_moe = [](const arch::Segment& s) { return s.ffn.moe; };
  const bool moe = std::any_of(baseline.segments.begin(), baseline.segments.end(), has_moe);
  switch (unknown) {
    case Unknown::hidden:
    case Unknown::heads:
    case Unknown::kv_heads:
    case Unknown::head_size:
    case Unknown::kv_rank:
    case Unknown::expert_size:
    case Unknown::experts: return true;
    case Unknown::ffn_size: return !moe;
    default: return false;
  }
}

std::vector<std::int64_t> domain_of(const MatchRequest& request, Unknown unknown,
                                    std::int64_t baseline) {
  if (const auto fixed = request.fixed.find(unknown); fixed != request.fixed.end()) {
    if (shards(request, unknown, fixed->second)) return {fixed->second};
    throw usage_error(fmt::format("{} = {} cannot be split over tp {}, ep {}", name(unknown),
                                  fixed->second, request.tensor_parallel, request.expert_parallel),
                      "--fix", "take a multiple of the parallelism");
  }
  const auto freed = request.freed.find(unknown);
  const bool asked = freed != request.freed.end();
  const std::string option = fmt::format("--free {}", name(unknown));
  if (!asked && !is_free_by_default(request.baseline, unknown)) {
    if (shards(request, unknown, baseline)) return {baseline};
    throw usage_error(
        fmt::format("the baseline's {} = {} cannot be split over tp {}, ep {}", name(unknown),
                    baseline, request.tensor_parallel, request.expert_parallel),
        option, "free it, or lower the parallelism");
  }
  const Default usual = default_range(request, unknown, baseline);
  std::vector<std::int64_t> all;
  if (asked && freed->second) {
    const Range& range = *freed->second;
    for (std::int64_t v = range.low; v <= range.high; v += range.step) all.push_back(v);
  } else {
    all = multiples(usual.low, usual.high, usual.step, unknown);
  }
  std::vector<std::int64_t> result;
  for (const std::int64_t v : all)
    if (shards(request, unknown, v)) result.push_back(v);
  if (result.empty())
    throw usage_error(fmt::format("no value is left for {}", name(unknown)), option,
                      "widen its range or loosen --align, --min-head, --tp or --ep");
  return result;
}

bool square(const MatchRequest& request) {
  if (request.square) return *request.square;
  for (const arch::Segment& segment : request.baseline.segments) {
    const arch::Attention& a = segment.attention;
    if (a.kind != arch::AttentionKind::gqa || a.experts > 0 ||
        a.heads * a.head_size != request.baseline.hidden)
      return false;
  }
  return true;
}

}  // namespace isoloop::solve::detail
