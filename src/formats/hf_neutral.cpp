// Keys of Hugging Face configs that change no count: numbers inside activations, positions, losses,
// token ids, how a file was written.
//
// Source: the configuration classes of the transformers library. Held by
// tests/formats/hf_warnings_test.cpp.
#include "formats/hf_neutral.h"

#include <algorithm>
#include <array>
#include <span>

namespace isoloop::formats {
namespace {

constexpr std::array<std::string_view, 55> neutral_names{
    "architectures",
    "auto_map",
    "activation_function",
    "hidden_act",
    "hidden_activation",
    "model_type",
    "transformers_version",
    "torch_dtype",
    "dtype",
    "use_cache",
    "use_bfloat16",
    "max_position_embeddings",
    "max_sequence_length",
    "model_max_length",
    "seq_length",
    "original_max_position_embeddings",
    "partial_rotary_factor",
    "initializer_range",
    "initializer_factor",
    "pretraining_tp",
    "quantization_config",
    "compression_config",
    "logits_scaling",
    "clip_qkv",
    "query_pre_attn_scalar",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "cache_implementation",
    "output_router_logits",
    "output_attentions",
    "output_hidden_states",
    "return_dict",
    "return_dict_in_generate",
    "norm_topk_prob",
    "scoring_func",
    "n_group",
    "topk_group",
    "routed_scaling_factor",
    "aux_loss_alpha",
    "seq_aux",
    "router_jitter_noise",
    "ep_size",
    "is_decoder",
    "name_or_path",
    "gradient_checkpointing",
    "problem_type",
    "id2label",
    "label2id",
    "num_labels",
    "chunk_size_feed_forward",
    "unsloth_version",
    "unsloth_fixed",
    "mm_tokens_per_image",
    "task_specific_params",
    "tokenizer_class",
};

// Whole groups of names: rope_theta, rope_scaling, init_std, _name_or_path.
constexpr std::array<std::string_view, 5> neutral_starts{
    "_", "init_", "rope_", "rotary_base", "generation_",
};

constexpr std::array<std::string_view, 13> neutral_ends{
    "_token_id", "_token_ids", "_token_index", "_dropout",   "_dropout_prob", "_pdrop",
    "_eps",      "_epsilon",   "_multiplier",  "_loss_coef", "_loss_weight",  "_loss_coefficient",
    "_coef",
};

// Switches of families that have them; off, they say what the other families do anyway.
constexpr std::array<std::string_view, 8> neutral_when_off{
    "attention_bias", "attention_out_bias", "bias",        "lm_head_bias",
    "mlp_bias",       "use_bias",           "use_qk_norm", "use_sliding_window",
};

bool contains(std::span<const std::string_view> names, std::string_view key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

}  // namespace

bool is_neutral(std::string_view key, const json::Value& value) {
  if (contains(neutral_when_off, key) && value == false) return true;
  return contains(neutral_names, key) ||
         std::any_of(neutral_starts.begin(), neutral_starts.end(),
                     [&](std::string_view start) { return key.starts_with(start); }) ||
         std::any_of(neutral_ends.begin(), neutral_ends.end(),
                     [&](std::string_view end) { return key.ends_with(end); });
}

}  // namespace isoloop::formats
