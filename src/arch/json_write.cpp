// Writes schema isoloop/arch/v1: fields at their defaults are left out, the order is fixed, and
// reading the text back gives the same architecture.
//
// Held by tests/arch/json_write_test.cpp.
#include <nlohmann/json.hpp>

#include "arch/names.h"
#include "base/json_writer.h"

namespace isoloop::arch {
namespace {

using Object = nlohmann::ordered_json;

template <class T>
void put(Object& object, const char* key, const T& value, const T& otherwise) {
  if (!(value == otherwise)) object[key] = value;
}

template <class E, std::size_t N>
void put_name(Object& object, const char* key, const std::array<Name<E>, N>& table, E value,
              E otherwise) {
  if (value != otherwise) object[key] = text_of(table, value);
}

// A JSON number where it is whole, else the exact ratio as text.
Object exact(const Ratio& value) {
  if (value.is_integer()) return value.num().to_int64();
  return value.str();
}

Object visits_json(const Visits& visits) {
  if (visits.forward == visits.backward) return exact(visits.forward);
  Object object;
  object["forward"] = exact(visits.forward);
  object["backward"] = exact(visits.backward);
  return object;
}

Object attention_json(const Attention& attention) {
  const Attention none;
  Object object;
  object["kind"] = text_of(attention_kinds, attention.kind);
  object["heads"] = attention.heads;
  put(object, "kv_heads", attention.kv_heads, none.kv_heads);
  put(object, "head_size", attention.head_size, none.head_size);
  put(object, "q_rank", attention.q_rank, none.q_rank);
  put(object, "kv_rank", attention.kv_rank, none.kv_rank);
  put(object, "nope_size", attention.nope_size, none.nope_size);
  // Always stated for mla: a forgotten rotary part would silently shrink the cache.
  if (attention.kind == AttentionKind::mla) object["rope_size"] = attention.rope_size;
  put(object, "value_size", attention.value_size, none.value_size);
  put_name(object, "qk_norm", qk_norms, attention.qk_norm, none.qk_norm);
  put(object, "qkv_bias", attention.qkv_bias, none.qkv_bias);
  put(object, "output_bias", attention.output_bias, none.output_bias);
  put(object, "sinks", attention.sinks, none.sinks);
  put(object, "output_gate", attention.output_gate, none.output_gate);
  put(object, "experts", attention.experts, none.experts);
  put(object, "top_k", attention.top_k, none.top_k);
  put(object, "windows", attention.windows, none.windows);
  put(object, "chunked", attention.chunked, none.chunked);
  return object;
}

Object ffn_json(const Ffn& ffn) {
  const Ffn none;
  Object object;
  object["kind"] = text_of(ffn_kinds, ffn.moe);
  put(object, "size", ffn.size, none.size);
  put(object, "experts", ffn.experts, none.experts);
  put(object, "top_k", ffn.top_k, none.top_k);
  put(object, "expert_size", ffn.expert_size, none.expert_size);
  put(object, "gated", ffn.gated, none.gated);
  put(object, "bias", ffn.bias, none.bias);
  put(object, "shared_size", ffn.shared_size, none.shared_size);
  put(object, "shared_gate", ffn.shared_gate, none.shared_gate);
  put(object, "router_bias", ffn.router_bias, none.router_bias);
  put(object, "selection_bias", ffn.selection_bias, none.selection_bias);
  put(object, "output_bias", ffn.output_bias, none.output_bias);
  return object;
}

Object segment_json(const Segment& segment) {
  const Segment none;
  Object object;
  object["name"] = segment.name;
  object["layers"] = segment.layers;
  if (segment.visits != none.visits) object["visits"] = visits_json(segment.visits);
  put_name(object, "order", orders, segment.order, none.order);
  if (segment.residual_scale) object["residual_scale"] = exact(*segment.residual_scale);
  put_name(object, "injection", injections, segment.injection, none.injection);
  put_name(object, "kv_policy", kv_policies, segment.kv_policy, none.kv_policy);
  put(object, "kv_slots", segment.kv_slots, none.kv_slots);
  put(object, "norms_per_visit", segment.norms_per_visit, none.norms_per_visit);
  put(object, "adapter_rank", segment.adapter_rank, none.adapter_rank);
  put(object, "exit_gate", segment.exit_gate, none.exit_gate);
  object["attention"] = attention_json(segment.attention);
  object["ffn"] = ffn_json(segment.ffn);
  return object;
}

}  // namespace

std::string to_json(const Architecture& architecture) {
  const Architecture none;
  Object object;
  object["schema"] = schema_name;
  put(object, "name", architecture.name, none.name);
  object["hidden_size"] = architecture.hidden;
  put(object, "vocab_size", architecture.vocab, none.vocab);
  put(object, "tie_embeddings", architecture.tied, none.tied);
  put(object, "context", architecture.context, none.context);
  put_name(object, "norm", norm_kinds, architecture.norm, none.norm);
  put_name(object, "norm_layout", norm_layouts, architecture.norm_layout, none.norm_layout);
  put(object, "final_norm", architecture.final_norm, none.final_norm);
  put(object, "mtp_layers", architecture.mtp_layers, none.mtp_layers);
  put(object, "state_vectors", architecture.state_vectors, none.state_vectors);
  object["segments"] = Object::array();
  for (const Segment& segment : architecture.segments) {
    object["segments"].push_back(segment_json(segment));
  }
  put(object, "schedule", architecture.schedule, none.schedule);
  return json::pretty(object);
}

}  // namespace isoloop::arch
