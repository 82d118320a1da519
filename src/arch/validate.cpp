// The rules an architecture must keep, each refused with its path, what is wrong and what would be
// right. Ratio limits exist so that later exact arithmetic cannot overflow on a typing error.
//
// Held by tests/arch/validate_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "arch/names.h"
#include "arch/rules.h"

namespace isoloop::arch {
namespace {

constexpr std::int64_t max_denominator = 1'000'000'000;

void check_range(std::int64_t value, json::Range range, const std::string& where) {
  if (json::in_range(value, range)) return;
  throw json::out_of_range(where, fmt::format("{}", value), value < range.least, range);
}

// "1, 2, 4, 5, 10, 20", or the ones around `near` if there are many.
std::string divisors(std::int64_t number, std::int64_t near) {
  constexpr std::ptrdiff_t shown = 12;
  std::set<std::int64_t> all;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d == 0) all.insert({d, number / d});
  }
  std::vector<std::int64_t> list(all.begin(), all.end());
  if (std::ssize(list) > shown) {
    const auto middle = std::lower_bound(list.begin(), list.end(), near) - list.begin();
    const auto begin = std::clamp<std::ptrdiff_t>(middle - shown / 2, 0, std::ssize(list) - shown);
    list = std::vector<std::int64_t>(list.begin() + begin, list.begin() + begin + shown);
    return fmt::format("{}, …", fmt::join(list, ", "));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

void check_divides(std::int64_t divisor, std::string_view field, std::int64_t heads,
                   const std::string& path) {
  if (heads % divisor == 0) return;
  throw input_error(fmt::format("is {}, which does not divide the {} heads", divisor, heads),
                    path + "." + std::string(field),
                    fmt::format("{} can be {}", field, divisors(heads, divisor)));
}

void check_top_k(std::int64_t top_k, std::int64_t experts, const std::string& path) {
  if (top_k <= experts) return;
  throw input_error(fmt::format("is {}, more than the {} experts", top_k, experts), path + ".top_k",
                    fmt::format("top_k can be 1 to {}", experts));
}

struct FieldUse {
  std::string_view field;
  bool used;
};

void check_unused(std::initializer_list<FieldUse> fields, std::string_view kind,
                  std::string_view other_kind, const std::string& path) {
  for (const FieldUse& field : fields) {
    if (field.used) throw not_of_kind(path + "." + std::string(field.field), kind, other_kind);
  }
}

void check_attention_experts(const Attention& attention, const std::string& path) {
  check_range(attention.experts, optional_range, path + ".experts");
  check_range(attention.top_k, optional_range, path + ".top_k");
  if ((attention.experts == 0) != (attention.top_k == 0)) {
    throw input_error("experts and top_k of attention must be given together", path,
                      "give both for a mixture of attention heads, neither for plain attention");
  }
  if (attention.experts == 0) return;
  check_top_k(attention.top_k, attention.experts, path);
  check_divides(attention.top_k, "top_k", attention.heads, path);
}

void check_gqa(const Attention& attention, const std::string& path) {
  check_unused({{"q_rank", attention.q_rank != 0},
                {"kv_rank", attention.kv_rank != 0},
                {"nope_size", attention.nope_size != 0},
                {"rope_size", attention.rope_size != 0},
                {"value_size", attention.value_size != 0}},
               "gqa", "mla", path);
  check_range(attention.kv_heads, dimension_range, path + ".kv_heads");
  check_range(attention.head_size, dimension_range, path + ".head_size");
  check_divides(attention.kv_heads, "kv_heads", attention.heads, path);
  check_attention_experts(attention, path);
}

void check_mla(const Attention& attention, const std::string& path) {
  check_unused({{"kv_heads", attention.kv_heads != 0},
                {"head_size", attention.head_size != 0},
                {"qk_norm", attention.qk_norm != QkNorm::none},
                {"experts", attention.experts != 0},
                {"top_k", attention.top_k != 0}},
               "mla", "gqa", path);
  check_range(attention.q_rank, optional_range, path + ".q_rank");
  check_range(attention.kv_rank, dimension_range, path + ".kv_rank");
  check_range(attention.nope_size, dimension_range, path + ".nope_size");
  check_range(attention.rope_size, optional_range, path + ".rope_size");
  check_range(attention.value_size, dimension_range, path + ".value_size");
}

void check_attention(const Attention& attention, const std::string& path) {
  check_range(attention.heads, dimension_range, path + ".heads");
  if (attention.kind == AttentionKind::gqa) {
    check_gqa(attention, path);
  } else {
    check_mla(attention, path);
  }
  for (std::size_t i = 0; i < attention.windows.size(); ++i) {
    if (json::in_range(attention.windows[i], optional_range)) continue;
    check_range(attention.windows[i], optional_range, fmt::format("{}.windows[{}]", path, i));
  }
  if (attention.chunked && attention.windows.empty())
    throw input_error("is true, but there is no window", path + ".chunked",
                      "give the chunk sizes as windows, or leave chunked out");
}

void check_ffn(const Ffn& ffn, const std::string& path) {
  if (!ffn.moe) {
    check_unused({{"experts", ffn.experts != 0},
                  {"top_k", ffn.top_k != 0},
                  {"expert_size", ffn.expert_size != 0},
                  {"shared_size", ffn.shared_size != 0},
                  {"shared_gate", ffn.shared_gate},
                  {"router_bias", ffn.router_bias},
                  {"selection_bias", ffn.selection_bias},
                  {"output_bias", ffn.output_bias}},
                 "dense", "moe", path);
    check_range(ffn.size, dimension_range, path + ".size");
    return;
  }
  check_unused({{"size", ffn.size != 0}}, "moe", "dense", path);
  check_range(ffn.experts, dimension_range, path + ".experts");
  check_range(ffn.top_k, dimension_range, path + ".top_k");
  check_range(ffn.expert_size, dimension_range, path + ".expert_size");
  check_range(ffn.shared_size, optional_range, path + ".shared_size");
  check_top_k(ffn.top_k, ffn.experts, path);
  if (ffn.shared_gate && ffn.shared_size == 0) {
    throw input_error("gates a shared expert, but there is none", path + ".shared_gate",
                      "give shared_size, or remove shared_gate");
  }
}

void check_denominator(const Ratio& value, const std::string& where) {
  if (value.den() <= Int(max_denominator)) return;
  throw input_error(fmt::format("is {}; expected a ratio whose denominator is at most {}",
                                value.str(), max_denominator),
                    where, "round it");
}

void check_visits(const Visits& visits, const std::string& path) {
  if (visits.forward < Ratio(1)) {
    throw input_error(fmt::format("is {}; expected at least 1 visit", visits.forward.str()),
                      path + ".visits", "1 means no loop; to leave the layers out, remove them");
  }
  if (visits.forward > Ratio(max_visits)) {
    throw input_error(
        fmt::format("is {}; expected at most {} visits", visits.forward.str(), max_visits),
        path + ".visits");
  }
  if (visits.backward <= Ratio(0) || visits.backward > visits.forward) {
    throw input_error(fmt::format("is {}; expected more than 0 and at most the {} forward visits",
                                  visits.backward.str(), visits.forward.str()),
                      path + ".visits.backward", "leave it out if every visit is back-propagated");
  }
  check_denominator(visits.forward, path + ".visits");
  check_denominator(visits.backward, path + ".visits.backward");
}

void check_kv_policy(const Segment& segment, const std::string& path) {
  const bool modulo = segment.kv_policy == KvPolicy::modulo;
  if (modulo && segment.kv_slots == 0) {
    throw input_error("is modulo, which needs kv_slots", path + ".kv_policy",
                      "visit i uses slot i mod kv_slots");
  }
  if (!modulo && segment.kv_slots != 0) {
    throw input_error(fmt::format("applies to kv_policy \"modulo\" only, but kv_policy is \"{}\"",
                                  text_of(kv_policies, segment.kv_policy)),
                      path + ".kv_slots", "remove kv_slots, or set kv_policy to \"modulo\"");
  }
  check_range(segment.kv_slots, optional_range, path + ".kv_slots");
}

// Weights stored once per visit: there is no weight for half a visit.
void check_per_visit(bool stored_per_visit, std::string_view field, const Segment& segment,
                     const std::string& path) {
  if (!stored_per_visit || segment.visits.forward.is_integer()) return;
  throw input_error(fmt::format("is stored once per visit, but there are {} visits",
                                segment.visits.forward.str()),
                    path + "." + std::string(field), "make visits whole, or remove it");
}

void check_segment(const Segment& segment, const std::string& path) {
  if (segment.name.empty()) throw input_error("is empty", path + ".name", "name the segment");
  check_range(segment.layers, layers_range, path + ".layers");
  check_visits(segment.visits, path);
  if (segment.residual_scale) {
    if (*segment.residual_scale <= Ratio(0)) {
      throw input_error(fmt::format("is {}; expected more than 0", segment.residual_scale->str()),
                        path + ".residual_scale", "inside a loop of r visits it is usually 1/r");
    }
    check_denominator(*segment.residual_scale, path + ".residual_scale");
    if (*segment.residual_scale > Ratio(max_dimension)) {
      throw input_error(
          fmt::format("is {}; expected at most {}", segment.residual_scale->str(), max_dimension),
          path + ".residual_scale");
    }
  }
  check_kv_policy(segment, path);
  check_range(segment.adapter_rank, optional_range, path + ".adapter_rank");
  check_per_visit(segment.norms_per_visit, "norms_per_visit", segment, path);
  check_per_visit(segment.adapter_rank > 0, "adapter_rank", segment, path);
  check_attention(segment.attention, path + ".attention");
  check_ffn(segment.ffn, path + ".ffn");
}

void check_names(const Architecture& architecture) {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < architecture.segments.size(); ++i) {
    const std::string& name = architecture.segments[i].name;
    const auto at = first.emplace(name, i);
    if (at.second) continue;
    throw input_error(
        fmt::format("'{}' is already the name of segments[{}]", name, at.first->second),
        fmt::format("segments[{}].name", i), "give every segment its own name");
  }
}

void check_scheduled(const Segment& segment, std::int64_t times, const std::string& path) {
  if (segment.order == Order::layer && segment.visits.forward > Ratio(1)) {
    throw input_error("is layer, but a schedule runs whole segments", path + ".order",
                      "remove the schedule, or use order \"block\"");
  }
  if (segment.visits.forward == Ratio(times)) return;
  throw input_error(fmt::format("names '{}' {} time{}, but its visits are {}", segment.name, times,
                                times == 1 ? "" : "s", segment.visits.forward.str()),
                    "schedule",
                    segment.visits.forward.is_integer()
                        ? "name each segment as often as it is visited"
                        : "a schedule needs whole visits");
}

void check_schedule(const Architecture& architecture) {
  if (architecture.schedule.empty()) return;
  std::map<std::string_view, std::int64_t> times;
  std::vector<std::string> names;
  for (const Segment& segment : architecture.segments) {
    times[segment.name] = 0;
    names.push_back(segment.name);
  }
  for (std::size_t i = 0; i < architecture.schedule.size(); ++i) {
    const auto found = times.find(architecture.schedule[i]);
    if (found == times.end()) {
      throw unknown_name(ErrorKind::input, "segment", architecture.schedule[i], names,
                         fmt::format("schedule[{}]", i));
    }
    ++found->second;
  }
  for (std::size_t i = 0; i < architecture.segments.size(); ++i) {
    const Segment& segment = architecture.segments[i];
    check_scheduled(segment, times[segment.name], fmt::format("segments[{}]", i));
  }
}

}  // namespace

Error not_of_kind(std::string where, std::string_view kind, std::string_view other_kind) {
  return input_error(
      fmt::format("belongs to kind \"{}\", but the kind is \"{}\"", other_kind, kind),
      std::move(where), fmt::format("remove it, or set kind to \"{}\"", other_kind));
}

void validate(const Architecture& architecture) {
  check_range(architecture.hidden, dimension_range, "hidden_size");
  check_range(architecture.vocab, optional_range, "vocab_size");
  check_range(architecture.context, dimension_range, "context");
  check_range(architecture.mtp_layers, optional_range, "mtp_layers");
  check_range(architecture.state_vectors, optional_range, "state_vectors");
  if (architecture.segments.empty()) {
    throw input_error("is empty; expected at least one segment", "segments");
  }
  for (std::size_t i = 0; i < architecture.segments.size(); ++i) {
    check_segment(architecture.segments[i], fmt::format("segments[{}]", i));
  }
  check_names(architecture);
  if (const std::int64_t layers = depth(architecture); layers > max_layers) {
    throw input_error(fmt::format("have {} layers in all; expected at most {}", layers, max_layers),
                      "segments");
  }
  check_schedule(architecture);
}

}  // namespace isoloop::arch
