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

inline constexpr std::array attention_kinds{Name{AttentionKind::gqa, "gqa"},
                                            Name{AttentionKind::mla, "mla"}};
inline constexpr std::array ffn_kinds{Name{false, "dense"}, Name{true, "moe"}};  // Ffn::moe
inline constexpr std::array qk_norms{
    Name{QkNorm::none, "none"}, Name{QkNorm::unweighted, "unweighted"},
    Name{QkNorm::per_head, "per_head"}, Name{QkNorm::all_heads, "all_heads"}};
inline constexpr std::array orders{Name{Order::block, "block"}, Name{Order::layer, "layer"}};
inline constexpr std::array injections{Name{Injection::none, "none"}, Name{Injection::add, "add"},
                                       Name{Injection::diagonal, "diagonal"},
                                       Name{Injection::linear, "linear"}};
inline constexpr std::array kv_policies{
    Name{KvPolicy::per_visit, "per_visit"}, Name{KvPolicy::first, "first"},
    Name{KvPolicy::last, "last"}, Name{KvPolicy::modulo, "modulo"}};
inline constexpr std::array norm_kinds{Name{NormKind::rms, "rms"}, Name{NormKind::layer, "layer"},
                                       Name{NormKind::layer_without_bias, "layer_without_bias"},
                                       Name{NormKind::unweighted, "unweighted"}};
inline constexpr std::array norm_layouts{Name{NormLayout::pre, "pre"},
                                         Name{NormLayout::post, "post"},
                                         Name{NormLayout::sandwich, "sandwich"}};

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
