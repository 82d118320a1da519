// The words of the file format: one table per enum and one list of field names per object, used by
// the reader, the writer and the messages, so that they cannot disagree.
//
// Held by tests/arch/schema_test.cpp, which compares them with data/schemas/arch.schema.json.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/arch.h"

namespace isoloop::arch {

inline constexpr std::string_view schema_name = "isoloop/arch/v1";

template <class E>
struct Name {
  E value;
  std::string_view text;
};

inline constexpr auto attention_kinds =
    std::to_array<Name<AttentionKind>>({{AttentionKind::gqa, "gqa"}, {AttentionKind::mla, "mla"}});
inline constexpr auto ffn_kinds =  // Ffn::moe
    std::to_array<Name<bool>>({{false, "dense"}, {true, "moe"}});
inline constexpr auto qk_norms = std::to_array<Name<QkNorm>>({{QkNorm::none, "none"},
                                                              {QkNorm::unweighted, "unweighted"},
                                                              {QkNorm::per_head, "per_head"},
                                                              {QkNorm::all_heads, "all_heads"}});
inline constexpr auto orders =
    std::to_array<Name<Order>>({{Order::block, "block"}, {Order::layer, "layer"}});
inline constexpr auto injections =
    std::to_array<Name<Injection>>({{Injection::none, "none"},
                                    {Injection::add, "add"},
                                    {Injection::diagonal, "diagonal"},
                                    {Injection::linear, "linear"}});
inline constexpr auto kv_policies =
    std::to_array<Name<KvPolicy>>({{KvPolicy::per_visit, "per_visit"},
                                   {KvPolicy::first, "first"},
                                   {KvPolicy::last, "last"},
                                   {KvPolicy::modulo, "modulo"}});
inline constexpr auto norm_kinds =
    std::to_array<Name<NormKind>>({{NormKind::rms, "rms"},
                                   {NormKind::layer, "layer"},
                                   {NormKind::layer_without_bias, "layer_without_bias"},
                                   {NormKind::unweighted, "unweighted"}});
inline constexpr auto norm_layouts = std::to_array<Name<NormLayout>>(
    {{NormLayout::pre, "pre"}, {NormLayout::post, "post"}, {NormLayout::sandwich, "sandwich"}});

/// The word for a value; every value has one.
template <class E, std::size_t N>
std::string_view text_of(const std::array<Name<E>, N>& table, E value) {
  for (const Name<E>& row : table) {
    if (row.value == value) return row.text;
  }
  throw internal_error("an enum value has no name");
}

/// The value of a word; an unknown one is an error with the nearest known word.
template <class E, std::size_t N>
E value_of(const std::array<Name<E>, N>& table, std::string_view text, std::string_view what,
           const std::string& where) {
  std::vector<std::string> known;
  for (const Name<E>& row : table) {
    if (row.text == text) return row.value;
    known.emplace_back(row.text);
  }
  throw unknown_name(ErrorKind::input, what, text, known, where);
}

// Field names of each object, in the order the writer uses.
inline constexpr auto architecture_fields = std::to_array<std::string_view>(
    {"schema", "name", "hidden_size", "vocab_size", "tie_embeddings", "context", "norm",
     "norm_layout", "final_norm", "mtp_layers", "state_vectors", "segments", "loop", "schedule"});
inline constexpr auto segment_fields = std::to_array<std::string_view>(
    {"name", "layers", "visits", "order", "residual_scale", "injection", "kv_policy", "kv_slots",
     "norms_per_visit", "adapter_rank", "exit_gate", "attention", "ffn"});
inline constexpr auto visits_fields = std::to_array<std::string_view>({"forward", "backward"});
inline constexpr auto attention_fields = std::to_array<std::string_view>(
    {"kind", "heads", "kv_heads", "head_size", "q_rank", "kv_rank", "nope_size", "rope_size",
     "value_size", "qk_norm", "qkv_bias", "output_bias", "sinks", "output_gate", "experts", "top_k",
     "windows", "chunked"});
inline constexpr auto ffn_fields = std::to_array<std::string_view>(
    {"kind", "size", "experts", "top_k", "expert_size", "gated", "bias", "shared_size",
     "shared_gate", "router_bias", "selection_bias", "output_bias"});

}  // namespace isoloop::arch
