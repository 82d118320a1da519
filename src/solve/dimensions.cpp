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

std::vector<std::int64_t> values(const Range& range, Unknown unknown) {
  if (range.high > range.low && (range.high - range.low) / range.step >= max_values)
    throw usage_error(fmt::format("{} to {} in steps of {} are too many values for {}", range.low,
                                  range.high, range.step, name(unknown)),
                      fmt::format("--free {}", name(unknown)),
                      fmt::format("give a range of at most {} values, low:high:step", max_values));
  std::vector<std::int64_t> result;
  for (std::int64_t v = range.low; v <= range.high; v += range.step) result.push_back(v);
  return result;
}

/// The same range beginning at a multiple of its step.
Range aligned(const Range& range) {
  const std::int64_t low = std::max<std::int64_t>(range.low, 1);
  return {round_up(low, range.step).to_int64(), range.high, range.step};
}

/// Ranges wide enough that the answer does not lie on their edge: about a factor two to four
/// around the baseline.
Range default_range(const MatchRequest& r, Unknown unknown, std::int64_t base) {
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
  const auto fixed = request.fixed.find(unknown);
  const auto freed = request.freed.find(unknown);
  std::vector<std::int64_t> all;
  if (fixed != request.fixed.end())
    all = {fixed->second};
  else if (freed != request.freed.end() && freed->second)
    all = values(*freed->second, unknown);
  else if (freed != request.freed.end() || is_free_by_default(request.baseline, unknown))
    all = values(aligned(default_range(request, unknown, baseline)), unknown);
  else
    all = {baseline};
  if (all.empty())
    throw usage_error(fmt::format("no multiple is left for {}", name(unknown)), "--align, --min-head",
                      fmt::format("loosen them, or give a range: --free {}=LO:HI:STEP", name(unknown)));
  std::vector<std::int64_t> result;
  for (const std::int64_t v : all)
    if (shards(request, unknown, v)) result.push_back(v);
  if (!result.empty()) return result;
  throw usage_error(all.size() == 1 ? fmt::format("{} = {} does not shard", name(unknown), all.front())
                                    : fmt::format("no value of {} shards", name(unknown)),
                    "--tp, --ep", "the sizes must divide by the number of ranks");
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
