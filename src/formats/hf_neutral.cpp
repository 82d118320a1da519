// Keys of Hugging Face configs that change no count: numbers inside activations, positions, losses,
// token ids, how a file was written.
//
// Source: the configuration classes of the transformers library. Held by
// tests/formats/hf_warnings_test.cpp.
#include "formats/hf_neutral.h"

#include <algorithm>
#include <array>

namespace isoloop::formats {
namespace {

constexpr std::string_view names =
    " activation_function architectures attn_logit_softcapping auto_map aux_loss_alpha"
    " cache_implementation chunk_size_feed_forward clip_qkv compression_config dtype ep_size"
    " final_logit_softcapping gradient_checkpointing hidden_act hidden_activation id2label"
    " initializer_factor initializer_range is_decoder label2id logits_scaling"
    " max_position_embeddings max_sequence_length mm_tokens_per_image model_max_length model_type"
    " n_group name_or_path norm_topk_prob num_labels original_max_position_embeddings"
    " output_attentions output_hidden_states output_router_logits partial_rotary_factor"
    " pretraining_tp problem_type quantization_config query_pre_attn_scalar return_dict"
    " return_dict_in_generate routed_scaling_factor router_jitter_noise scoring_func seq_aux"
    " seq_length task_specific_params tokenizer_class topk_group torch_dtype transformers_version"
    " unsloth_fixed unsloth_version use_bfloat16 use_cache use_rmsnorm ";

// Switches and sizes of families that have them; off, they say what other families do anyway.
constexpr std::string_view names_when_off =
    " attention_bias attention_out_bias bias lm_head_bias mlp_bias qkv_bias"
    " shared_expert_intermediate_size use_bias use_qk_norm use_sliding_window ";

// Groups of names: rope_theta, rope_scaling, init_std, _name_or_path, eos_token_id, rms_norm_eps.
constexpr std::array<std::string_view, 5> starts{"_", "generation_", "init_", "rope_",
                                                 "rotary_base"};
constexpr std::array<std::string_view, 13> ends{
    "_token_id", "_token_ids", "_token_index", "_dropout",   "_dropout_prob", "_pdrop",
    "_eps",      "_epsilon",   "_multiplier",  "_loss_coef", "_loss_weight",  "_loss_coefficient",
    "_coef"};

}  // namespace

bool is_word(std::string_view key, std::string_view words) {
  if (key.empty() || key.find(' ') != std::string_view::npos) return false;
  for (std::size_t at = words.find(key); at != std::string_view::npos;
       at = words.find(key, at + 1)) {
    const std::size_t end = at + key.size();
    const bool starts_word = at == 0 || words[at - 1] == ' ';
    if (starts_word && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

bool is_neutral(std::string_view key, const json::Value& value) {
  if (is_word(key, names_when_off) && (value == false || value == 0)) return true;
  const auto starts_key = [&](std::string_view start) { return key.starts_with(start); };
  const auto ends_key = [&](std::string_view end) { return key.ends_with(end); };
  return is_word(key, names) || std::any_of(starts.begin(), starts.end(), starts_key) ||
         std::any_of(ends.begin(), ends.end(), ends_key);
}

}  // namespace isoloop::formats
