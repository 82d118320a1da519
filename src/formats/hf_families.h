// What the reader has to know about each Hugging Face model class: one entry of one table.
//
// A family says under which keys its dimensions are found, and the facts of its class that no key
// states (Qwen2's biases, the norm layout, what a missing key means). Everything that all families
// do alike is in the reader. Adding a family is adding an entry to hf_families.cpp.
//
// Source: the configuration and modeling classes of the transformers library, or of the model's own
// repository where it has none there. Held by tests/formats/published_counts_test.cpp.
#pragma once

#include <optional>
#include <span>

#include "formats/hf_config.h"
#include "isoloop/arch.h"

namespace isoloop::formats {

/// What the class does without num_key_value_heads.
enum class KvHeads {
  needed,    // an error
  if_null,   // null means as many as query heads; no key at all is an error
  as_heads,  // no key or null: as many as query heads
};

/// Which layers have a window where no layer_types key says so.
enum class Windows {
  all,                // every layer
  from_max_window,    // layers from max_window_layers on
  even,               // layers 0, 2, 4, ...
  all_but_every_nth,  // (i + 1) % pattern != 0
  unknown,            // the class has windows, but only layer_types can say where
};

struct WindowRule {
  Windows layers = Windows::unknown;
  Keys size{"sliding_window"};
  Keys pattern{};             // Windows::all_but_every_nth: n
  Keys by_layer{};            // a list with 1 where a layer has a window, before any other rule
  bool only_if_used = false;  // use_sliding_window must be true
  bool needed = false;        // no size is an error
  bool class_assumes_one = false;  // without the key the class has a window; this reader says so
  bool chunked = false;
};

/// Which layers are MoE layers.
enum class MoeLayers {
  all,
  after_first,  // from first_k_dense_replace on, where i % moe_layer_freq == 0 (or a list of 0, 1)
  sparse_step,  // not in mlp_only_layers and (i + 1) % decoder_sparse_step == 0
  interleaved,  // listed in moe_layers, else (i + 1) % interleave_moe_layer_step == 0
  interval,     // in moe_layer_start_index..moe_layer_end_index, (i + 1) % moe_layer_interval == 0
};

struct MoeRule {
  MoeLayers layers = MoeLayers::all;
  Keys experts{"num_experts", "num_local_experts"};
  Keys top_k{"num_experts_per_tok"};
  Keys size{"moe_intermediate_size"};
  // Shared experts: so many of the expert size (or of shared_each), or a total width.
  Keys shared_count{}, shared_each{}, shared_width{};
  bool one_shared = false;       // always one of the expert size
  bool shared_optional = false;  // a missing key means none
  Fact shared_on{true, {}};
  Fact shared_gate{}, router_bias{}, selection_bias{}, expert_bias{}, output_bias{};
  Keys first_dense{"first_k_dense_replace"};
  bool first_dense_needed = true;
};

/// What a family's own function may change after the generic reader is done.
struct Draft {
  Config& config;
  arch::Architecture& model;
  std::vector<std::string>& left_out;
};

/// A key that, when true, puts something into the model that an architecture cannot say.
struct Refusal {
  std::string_view key, what;
};

struct Family {
  std::string_view type;  // model_type
  Keys also{};            // other model types of the same layout

  Keys hidden{"hidden_size"}, layers{"num_hidden_layers"}, vocab{"vocab_size"};
  Keys heads{"num_attention_heads"}, kv_heads{"num_key_value_heads"};
  KvHeads kv_rule = KvHeads::needed;
  Keys head_size{"head_dim"};
  bool head_size_needed = false;  // otherwise hidden / heads is the class's own rule
  Keys dense_size{"intermediate_size"};

  bool mla = false;
  arch::QkNorm qk_norm = arch::QkNorm::none;
  Fact qk_norm_on{true, {}};
  Fact qkv_bias{}, output_bias{}, ffn_bias{}, sinks{}, output_gate{};
  Fact gated{true, {}};

  arch::NormKind norm = arch::NormKind::rms;
  arch::NormLayout layout = arch::NormLayout::pre;
  Fact tied{false, {"tie_word_embeddings"}};

  std::optional<WindowRule> windows{};
  std::optional<MoeRule> moe{};
  Keys mtp{"num_nextn_predict_layers"};
  Fact mtp_on{true, {}};
  Keys stack_visits{};  // the whole stack runs so often
  std::array<Refusal, 3> refuse{};
  std::string_view neutral{};  // keys that change no cost, separated by spaces

  /// Chooses another entry from what the config holds; "" keeps this one.
  std::string_view (*variant)(Config&) = nullptr;
  /// Physical layers, where they are not one key.
  std::int64_t (*depth)(Config&) = nullptr;
  /// What the table cannot say.
  void (*finish)(Draft&) = nullptr;
};

/// All families, sorted by type.
std::span<const Family> families();
/// The entry for a model type or one of its other names, or null.
const Family* find_family(std::string_view type);

/// Why a model type cannot be read: "Mamba-2 layers". Empty if nothing is known about it.
std::string_view refusal(std::string_view type);

}  // namespace isoloop::formats
