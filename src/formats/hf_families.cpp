// The table of Hugging Face model families.
//
// Source: see hf_families.h; the comment at an entry says what no key states. Held by
// tests/formats/published_counts_test.cpp and tests/formats/hf_traps_test.cpp.
#include "formats/hf_families.h"

#include <algorithm>

#include "formats/hf_special.h"

namespace isoloop::formats {
namespace {

using arch::NormKind;
using arch::NormLayout;
using arch::QkNorm;

constexpr Fact always() { return {true, {}}; }
constexpr Fact attention_bias() { return {false, {"attention_bias"}}; }
constexpr Fact mlp_bias() { return {false, {"mlp_bias"}}; }
constexpr Fact tied_unless_stated() { return {true, {"tie_word_embeddings"}}; }

/// n_routed_experts and n_shared_experts after first_k_dense_replace dense layers.
constexpr MoeRule deepseek_moe(bool selection_bias) {
  return {.layers = MoeLayers::after_first,
          .experts = {"n_routed_experts", "num_experts", "num_local_experts"},
          .shared_count = {"n_shared_experts"},
          .selection_bias = {selection_bias, {}}};
}

/// The expert size is called intermediate_size and there is no dense layer.
constexpr MoeRule all_moe() {
  return {.experts = {"num_local_experts", "num_experts"}, .size = {"intermediate_size"}};
}

constexpr Family mla(std::string_view type, bool selection_bias) {
  return {.type = type,
          .dense_size = {"intermediate_size"},
          .mla = true,
          .moe = deepseek_moe(selection_bias),
          .refuse = {Refusal{"attention_bias", "biases on the low-rank projections of MLA"}},
          .neutral = "head_dim qk_head_dim num_key_value_heads topk_method ep_size"};
}

/// Ling: dense layers first, shared experts of the expert size unless another is stated.
constexpr MoeRule ling_moe() {
  return {.layers = MoeLayers::after_first,
          .shared_count = {"num_shared_experts"},
          .shared_each = {"moe_shared_expert_intermediate_size"}};
}
constexpr MoeRule ling_v2_moe() {
  MoeRule rule = ling_moe();
  rule.selection_bias = {true, {"moe_router_enable_expert_bias"}};
  return rule;
}
constexpr std::array ling_refusals{Refusal{"use_bias", "biases on all linear maps"}, Refusal{},
                                   Refusal{}};

constexpr std::array table{
    Family{.type = "bailing_moe",  // Ling; the second generation carries the same model_type
           .qkv_bias = {false, {"use_qkv_bias"}},
           .moe = ling_moe(),
           .refuse = ling_refusals,
           .neutral = "norm_head norm_softmax multi_gate",
           .variant = ling_variant},
    Family{.type = "bailing_moe_v2",
           .qk_norm = QkNorm::per_head,
           .qk_norm_on = {true, {"use_qk_norm"}},
           .qkv_bias = {false, {"use_qkv_bias"}},
           .moe = ling_v2_moe(),
           .refuse = ling_refusals,
           .neutral = "norm_head norm_softmax rotary_dim score_function router_dtype use_rmsnorm "
                      "mtp_loss_scaling_factor"},
    Family{.type = "dbrx",  // nested keys, LayerNorm without bias
           .hidden = {"d_model"},
           .layers = {"n_layers"},
           .heads = {"n_heads"},
           .kv_heads = {"attn_config.kv_n_heads"},
           .head_size = {},
           .norm = NormKind::layer_without_bias,
           .moe = MoeRule{.experts = {"ffn_config.moe_num_experts"},
                          .top_k = {"ffn_config.moe_top_k"},
                          .size = {"ffn_config.ffn_hidden_size"}},
           .neutral =
               "max_seq_len attn_config.clip_qkv attn_config.rope_theta attn_config.attn_pdrop "
               "attn_config.model_type ffn_config.model_type ffn_config.ffn_act_fn "
               "ffn_config.moe_jitter_eps ffn_config.moe_loss_weight "
               "ffn_config.moe_normalize_expert_weights ffn_config.uniform_expert_assignment"},
    Family{.type = "deepseek",
           .kv_rule = KvHeads::as_heads,
           .head_size = {},
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .moe = deepseek_moe(false)},
    mla("deepseek_v2", false),
    mla("deepseek_v3", true),
    Family{.type = "dots1",  // q, k norms and a balancing bias per expert
           .kv_rule = KvHeads::if_null,
           .qk_norm = QkNorm::per_head,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .windows = WindowRule{.layers = Windows::from_max_window},
           .moe = deepseek_moe(true)},
    Family{.type = "ernie4_5_moe",  // a balancing bias per expert
           .kv_rule = KvHeads::if_null,
           .tied = tied_unless_stated(),
           .moe = MoeRule{.layers = MoeLayers::interval,
                          .experts = {"moe_num_experts"},
                          .top_k = {"moe_k"},
                          .shared_count = {"moe_num_shared_experts"},
                          .selection_bias = always()},
           .refuse = {Refusal{"use_bias", "biases on all linear maps of attention and experts"}},
           .neutral = "moe_capacity moe_gate moe_use_aux_free moe_norm_min"},
    Family{.type = "gemma2",  // windows alternate, the first layer has one
           .head_size_needed = true,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .layout = NormLayout::sandwich,
           .tied = tied_unless_stated(),
           .windows = WindowRule{.layers = Windows::even, .needed = true}},
    Family{.type = "gemma3",
           .also = {"gemma3_text"},
           .head_size_needed = true,
           .qk_norm = QkNorm::per_head,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .layout = NormLayout::sandwich,
           .tied = tied_unless_stated(),
           .windows = WindowRule{.layers = Windows::all_but_every_nth,
                                 .pattern = {"sliding_window_pattern", "_sliding_window_pattern"},
                                 .needed = true},
           .neutral = "use_bidirectional_attention"},
    Family{.type = "glm4_moe",  // attention_bias leaves the output projection out
           .head_size_needed = true,
           .qk_norm = QkNorm::per_head,
           .qk_norm_on = {false, {"use_qk_norm"}},
           .qkv_bias = attention_bias(),
           .moe = deepseek_moe(true)},
    Family{.type = "gpt_oss",  // biases on router and experts, one sink per head
           .head_size_needed = true,
           .qkv_bias = {true, {"attention_bias"}},
           .output_bias = {true, {"attention_bias"}},
           .sinks = always(),
           .windows = WindowRule{.layers = Windows::even, .needed = true},
           .moe = MoeRule{.experts = {"num_local_experts", "num_experts"},
                          .top_k = {"num_experts_per_tok", "experts_per_token"},
                          .size = {"intermediate_size"},
                          .router_bias = always(),
                          .expert_bias = always()},
           .neutral = "initial_context_length swiglu_limit"},
    Family{.type = "granite",
           .kv_rule = KvHeads::as_heads,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .ffn_bias = mlp_bias()},
    Family{.type = "granitemoe",
           .kv_rule = KvHeads::as_heads,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .moe = all_moe()},
    Family{.type =
               "grok-1",  // four norms a layer; no key states the tie, the library's default is yes
           .layout = NormLayout::sandwich,
           .tied = tied_unless_stated(),
           .moe = all_moe(),
           .neutral = "max_attn_value embedding_multiplier_scale output_multiplier_scale "
                      "attn_output_multiplier"},
    Family{.type = "hrm_text",  // two stacks in nested cycles, norms without weights, a full gate
           .kv_heads = {},
           .kv_rule = KvHeads::as_heads,
           .head_size_needed = true,
           .output_gate = always(),
           .norm = NormKind::unweighted,
           .refuse = {Refusal{"attention_bias", "a bias on the output gate"},
                      Refusal{"mlp_bias", "biases that no published model has"}},
           .neutral = "embedding_scale prefix_lm num_hidden_layers",
           .depth = hrm_depth,
           .finish = hrm},
    Family{.type = "huginn_raven",
           .hidden = {"n_embd", "hidden_size"},
           .heads = {"n_heads", "num_attention_heads"},
           .kv_rule = KvHeads::as_heads,
           .qkv_bias = {false, {"bias"}},
           .output_bias = {false, {"bias"}},
           .ffn_bias = {false, {"bias"}},
           .tied = {true, {"tie_embeddings", "tie_word_embeddings"}},
           .neutral = "norm_class_name nonlin_name state_init sampling_scheme block_size "
                      "effective_expected_depth architecture_class_name mcleish_throttle "
                      "test_time_noise test_time_noise_type activation_checkpoint_impl "
                      "randomize_positions_from loss_fn padding_multiple lockstep_n lockstep_k "
                      "attn_impl model_path",
           .depth = huginn_depth,
           .finish = huginn},
    Family{.type = "hunyuan_v1_moe",
           .kv_rule = KvHeads::as_heads,
           .head_size = {"head_dim", "attention_head_dim"},
           .qk_norm = QkNorm::per_head,
           .qk_norm_on = {true, {"use_qk_norm"}},
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .moe = MoeRule{.layers = MoeLayers::after_first,
                          .top_k = {"moe_topk", "num_experts_per_tok"},
                          .shared_count = {"num_shared_expert"},
                          .shared_on = {true, {"use_mixed_mlp_moe"}},
                          .first_dense = {"moe_layer_num_skipped"},
                          .first_dense_needed = false},
           .refuse = {Refusal{"use_cla", "key-value caches shared across layers"},
                      Refusal{"use_mla", "MLA in a family that is read as grouped-query attention"},
                      Refusal{"mlp_bias", "biases on shared experts"}},
           .neutral = "cla_share_factor org_vocab_size moe_drop_tokens group_limited_greedy "
                      "moe_random_routing_dropped_token kv_lora_rank q_lora_rank qk_nope_head_dim "
                      "qk_rope_head_dim v_head_dim capacity_factor"},
    Family{.type = "jetmoe",  // experts in attention too, one output bias per group of experts
           .heads = {"num_attention_heads"},
           .head_size = {"kv_channels"},
           .head_size_needed = true,
           .output_bias = {true, {"bias"}},
           .gated = {true, {"glu"}},
           .tied = tied_unless_stated(),
           .moe = MoeRule{.experts = {"moe_num_experts", "num_local_experts"},
                          .top_k = {"moe_top_k", "num_experts_per_tok"},
                          .size = {"ffn_hidden_size", "intermediate_size"},
                          .output_bias = {true, {"bias"}}},
           .finish = jetmoe},
    mla("kimi_k2", true),
    Family{.type = "llama",
           .kv_rule = KvHeads::as_heads,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .ffn_bias = mlp_bias()},
    Family{.type = "llama4",  // q, k norms without weights; one shared expert of the routed size
           .also = {"llama4_text"},
           .head_size_needed = true,
           .dense_size = {"intermediate_size_mlp"},
           .qk_norm = QkNorm::unweighted,
           .qk_norm_on = {true, {"use_qk_norm"}},
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .windows = WindowRule{.layers = Windows::all_but_every_nth,
                                 .size = {"attention_chunk_size"},
                                 .pattern = {"no_rope_layer_interval"},
                                 .by_layer = {"no_rope_layers"},
                                 .chunked = true},
           .moe = MoeRule{.layers = MoeLayers::interleaved,
                          .experts = {"num_local_experts", "num_experts"},
                          .size = {"intermediate_size"},
                          .one_shared = true},
           .neutral = "attn_temperature_tuning attn_scale floor_scale for_llm_compressor"},
    Family{.type = "minimax_m2",
           .head_size_needed = true,
           .qk_norm = QkNorm::all_heads,
           .qk_norm_on = {true, {"use_qk_norm"}},
           .moe = MoeRule{.experts = {"num_local_experts", "num_experts"},
                          .size = {"intermediate_size"},
                          .shared_width = {"shared_intermediate_size"},
                          .shared_optional = true,
                          .selection_bias = {true, {"use_routing_bias"}}},
           .mtp = {"num_mtp_modules"},
           .mtp_on = {true, {"use_mtp"}},
           .neutral = "qk_norm_type rotary_dim mtp_transformer_layers attn_type_list",
           .finish = minimax},
    Family{.type = "mistral",
           .kv_rule = KvHeads::if_null,
           .windows = WindowRule{.layers = Windows::all, .class_assumes_one = true}},
    Family{.type = "mixtral",
           .kv_rule = KvHeads::if_null,
           .windows = WindowRule{.layers = Windows::all},
           .moe = all_moe()},
    Family{.type = "nanbeige",  // the whole stack num_loops times, one final norm
           .kv_rule = KvHeads::as_heads,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .ffn_bias = mlp_bias(),
           .stack_visits = {"num_loops"},
           .neutral = "skip_loop_final_norm"},
    Family{.type = "olmo2",  // norms after the blocks
           .kv_rule = KvHeads::as_heads,
           .qk_norm = QkNorm::all_heads,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .layout = NormLayout::post},
    Family{.type = "olmoe",  // intermediate_size is the expert size
           .kv_rule = KvHeads::as_heads,
           .head_size = {},
           .qk_norm = QkNorm::all_heads,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .moe = all_moe()},
    Family{
        .type = "ouro",  // the whole stack total_ut_steps times, four norms a layer, an exit gate
        .kv_rule = KvHeads::if_null,
        .layout = NormLayout::sandwich,
        .windows = WindowRule{.layers = Windows::from_max_window, .only_if_used = true},
        .stack_visits = {"total_ut_steps"},
        .neutral = "early_exit_threshold early_exit_step",
        .finish = ouro},
    Family{.type = "phi3",  // the class hands its window to every layer
           .kv_rule = KvHeads::as_heads,
           .windows = WindowRule{.layers = Windows::all},
           .refuse = {Refusal{"lm_head_bias", "a bias on the output head"}},
           .neutral = "full_attn_mod interpolate_factor"},
    Family{.type = "qwen2",  // q, k and v have biases, the output projection has none
           .kv_rule = KvHeads::if_null,
           .qkv_bias = always(),
           .windows = WindowRule{.layers = Windows::from_max_window, .only_if_used = true}},
    Family{.type = "qwen2_moe",  // q, k and v have biases; the shared expert has a gate
           .qkv_bias = {true, {"qkv_bias"}},
           .windows = WindowRule{.only_if_used = true},
           .moe = MoeRule{.layers = MoeLayers::sparse_step,
                          .shared_width = {"shared_expert_intermediate_size"},
                          .shared_gate = always()}},
    Family{.type = "qwen3",
           .kv_rule = KvHeads::if_null,
           .head_size_needed = true,
           .qk_norm = QkNorm::per_head,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .windows = WindowRule{.layers = Windows::from_max_window, .only_if_used = true}},
    Family{.type = "qwen3_moe",
           .qk_norm = QkNorm::per_head,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .windows = WindowRule{.layers = Windows::all, .only_if_used = true},
           .moe = MoeRule{.layers = MoeLayers::sparse_step}},
    Family{.type = "smollm3",  // windows would go to the layers without rotary positions
           .kv_rule = KvHeads::if_null,
           .qkv_bias = attention_bias(),
           .output_bias = attention_bias(),
           .ffn_bias = mlp_bias(),
           .tied = tied_unless_stated(),
           .windows = WindowRule{.only_if_used = true},
           .neutral = "no_rope_layer_interval no_rope_layers"},
};
static_assert(std::is_sorted(table.begin(), table.end(),
                             [](const Family& a, const Family& b) { return a.type < b.type; }));

}  // namespace

std::span<const Family> families() { return table; }

const Family* find_family(std::string_view type) {
  for (const Family& family : table) {
    const bool other = std::find(family.also.begin(), family.also.end(), type) != family.also.end();
    if (family.type == type || other) return &family;
  }
  return nullptr;
}

}  // namespace isoloop::formats
