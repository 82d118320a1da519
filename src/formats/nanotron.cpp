// The nanotron writer: the model part of a config in YAML, to be put into a run's config.
//
// Source: src/nanotron/config/models_config.py and src/nanotron/models/qwen.py of
// huggingface/nanotron: head size h / H, biases on q, k and v only, one window for every layer, a
// gate on every shared expert. Held by tests/formats/trainers_write_test.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "formats/targets.h"

namespace isoloop::formats {
namespace {

std::string moe_text(const std::vector<arch::Segment>& layers, const arch::Ffn& ffn) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i].ffn.moe) indices.push_back(i);
  std::string text = fmt::format(
      "    moe_config:\n      num_experts: {}\n      top_k: {}\n      moe_intermediate_size: {}\n"
      "      layers: [{}]\n      enable_shared_expert: {}\n",
      ffn.experts, ffn.top_k, ffn.expert_size, fmt::join(indices, ", "), ffn.shared_size > 0);
  if (ffn.shared_size > 0)
    text += fmt::format("      shared_expert_intermediate_size: {}\n", ffn.shared_size);
  return text + "      token_dispatcher_type: alltoall\n";
}

}  // namespace

Emitted emit_nanotron(const arch::Architecture& model, const Target& target,
                      const Sharding& sharding) {
  const std::vector<arch::Segment> layers = layers_of(model);
  const arch::Attention& attention = layers.front().attention;
  const arch::Ffn* dense = first_ffn(model, false);
  const arch::Ffn* moe = first_ffn(model, true);
  if (moe != nullptr && moe->shared_size > 0 && !moe->shared_gate)
    throw cannot(target, "", "a shared expert without a gate", "its shared expert has one always");
  std::string yaml = fmt::format(
      "# {}: the model section of a nanotron config.\nmodel:\n  dtype: bfloat16\n"
      "  init_method:\n    std: 0.02\n  make_vocab_size_divisible_by: 1\n  model_config:\n"
      "    is_qwen2_config: true\n    hidden_size: {}\n    num_hidden_layers: {}\n"
      "    num_attention_heads: {}\n    num_key_value_heads: {}\n    attention_bias: {}\n"
      "    intermediate_size: {}\n    hidden_act: silu\n    max_position_embeddings: {}\n"
      "    sliding_window_size: {}\n    tie_word_embeddings: {}\n    vocab_size: {}\n",
      slug(model.name), model.hidden, layers.size(), attention.heads, attention.kv_heads,
      attention.qkv_bias, dense != nullptr ? dense->size : moe->expert_size, model.context,
      attention.windows.empty() ? "null" : std::to_string(attention.windows.front()), model.tied,
      model.vocab);
  if (moe != nullptr) yaml += moe_text(layers, *moe);
  yaml += fmt::format(
      "parallelism:\n  dp: 1\n  tp: {}\n  pp: {}\n  expert_parallel_size: {}\n"
      "tokens:\n  sequence_length: {}\n",
      sharding.tp, sharding.pp, sharding.ep, model.context);
  Emitted result;
  result.files["config.yaml"] = yaml;
  result.train = "torchrun --nproc-per-node \"${GPUS_PER_NODE:-8}\" run_train.py --config-file config.yaml";
  result.notes.push_back(
      "config.yaml holds the sections model, parallelism and tokens; add data_stages, optimizer, "
      "checkpoints, general and tokenizer of your run.");
  return result;
}

}  // namespace isoloop::formats
