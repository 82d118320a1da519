// The MaxText writer: a model config in YAML over its base.yml.
//
// Source: src/maxtext/configs/base.yml, configs/models/ and models/ of AI-Hypercomputer/maxtext.
// The decoder block decides what else holds: llama2 (dense), qwen3 and qwen3_moe (a norm of q and k
// per head), mixtral (MoE everywhere), deepseek (MLA, dense layers first, shared experts of the
// expert size, a selection bias). Held by tests/formats/trainers_write_test.cpp.
#include <fmt/format.h>

#include "formats/targets.h"

namespace isoloop::formats {
namespace {

std::string_view decoder_block(const arch::Architecture& model, const Target& target) {
  const arch::Attention& a = model.segments.front().attention;
  const arch::Ffn* dense = first_ffn(model, false);
  const arch::Ffn* moe = first_ffn(model, true);
  const bool mla = a.kind == arch::AttentionKind::mla;
  const bool normed = a.qk_norm == arch::QkNorm::per_head;
  const bool plain_moe =
      moe != nullptr && dense == nullptr && moe->shared_size == 0 && !moe->selection_bias && !mla;
  if (moe == nullptr && !mla) return normed ? "qwen3" : "llama2";
  if (plain_moe) return normed ? "qwen3_moe" : "mixtral";
  if (!mla)
    throw cannot(target, "",
                 "dense layers, shared experts or a selection bias beside grouped-query attention",
                 "its decoder block for them has multi-head latent attention");
  if (moe == nullptr || moe->shared_size == 0 || moe->shared_size % moe->expert_size != 0)
    throw cannot(target, "", "MLA without shared experts of the expert size",
                 "its decoder block with MLA has them always");
  return "deepseek";
}

std::string attention_text(const arch::Attention& a) {
  if (a.kind != arch::AttentionKind::mla)
    return fmt::format(
        "base_num_query_heads: {}\nbase_num_kv_heads: {}\nhead_dim: {}\nuse_qk_norm: {}\n", a.heads,
        a.kv_heads, a.head_size, a.qk_norm == arch::QkNorm::per_head);
  return fmt::format(
      "base_num_query_heads: {}\nbase_num_kv_heads: {}\nattention_type: \"mla\"\nq_lora_rank: {}\n"
      "kv_lora_rank: {}\nqk_nope_head_dim: {}\nqk_rope_head_dim: {}\nv_head_dim: {}\n",
      a.heads, a.heads, a.q_rank, a.kv_rank, a.nope_size, a.rope_size, a.value_size);
}

std::string ffn_text(const arch::Architecture& model) {
  const arch::Ffn* dense = first_ffn(model, false);
  const arch::Ffn* moe = first_ffn(model, true);
  // A model of MoE layers only has to give the expert size under both names.
  std::string text =
      fmt::format("base_mlp_dim: {}\n", dense != nullptr ? dense->size : moe->expert_size);
  if (moe == nullptr) return text;
  text += fmt::format("base_moe_mlp_dim: {}\nnum_experts: {}\nnum_experts_per_tok: {}\n",
                      moe->expert_size, moe->experts, moe->top_k);
  if (dense != nullptr)
    text += fmt::format("first_num_dense_layers: {}\n", leading_dense(layers_of(model)));
  if (moe->shared_size > 0)
    text += fmt::format("shared_experts: {}\n", moe->shared_size / moe->expert_size);
  if (moe->selection_bias)
    text += "routed_bias: true\nrouted_bias_update_rate: 0.001\nrouted_score_func: \"sigmoid\"\n";
  return text;
}

}  // namespace

Emitted emit_maxtext(const arch::Architecture& model, const Target& target,
                     const Sharding& sharding) {
  const std::string_view block = decoder_block(model, target);
  Emitted result;
  result.files["model.yml"] = fmt::format(
      "# {}: a MaxText config.\nbase_config: \"base.yml\"\ndecoder_block: "
      "\"{}\"\nglobal_parameter_scale: 1\n"
      "base_emb_dim: {}\nbase_num_decoder_layers: {}\n{}{}mlp_activations: [\"silu\", \"linear\"]\n"
      "vocab_size: {}\nlogits_via_embedding: {}\nnormalize_embedding_logits: false\n"
      "enable_dropout: false\nmax_target_length: {}\nici_tensor_parallelism: {}\n"
      "ici_expert_parallelism: {}\nici_pipeline_parallelism: {}\n",
      slug(model.name), block, model.hidden, arch::depth(model),
      attention_text(model.segments.front().attention), ffn_text(model), model.vocab, model.tied,
      model.context, sharding.tp, sharding.ep, sharding.pp);
  result.train =
      "python -m maxtext.trainers.pre_train.train model.yml run_name=run "
      "base_output_directory=out dataset_type=synthetic";
  result.notes.push_back(
      "MaxText looks for base.yml beside the file: copy model.yml into its folder configs/.");
  return result;
}

}  // namespace isoloop::formats
