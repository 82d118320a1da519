// The OLMo-core writer: a TransformerConfig in JSON.
//
// Source: src/olmo_core/nn/transformer/config.py, nn/attention, nn/moe, nn/feed_forward.py and
// nn/lm_head.py of allenai/OLMo-core. Its biases default to yes, so each is written. The first
// layer's block is the rule and every layer that differs is an override. Held by
// tests/formats/trainers_write_test.cpp.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "formats/targets.h"

namespace isoloop::formats {
namespace {

using Json = nlohmann::ordered_json;

Json of_class(std::string_view name) { return {{"_CLASS_", fmt::format("olmo_core.nn.{}", name)}}; }

Json norm_json(arch::NormKind kind) {
  Json norm = of_class("layer_norm.LayerNormConfig");
  norm["name"] = kind == arch::NormKind::rms ? "rms" : "default";
  norm["eps"] = 1e-6;
  norm["bias"] = kind == arch::NormKind::layer;
  return norm;
}

Json attention_json(const arch::Attention& a, const Target& target, std::string_view segment) {
  if (a.qkv_bias != a.output_bias)
    throw cannot(target, segment, "biases on some attention projections only",
                 "its attention has biases on q, k, v and the output, or on none");
  if (a.output_gate && a.qkv_bias)
    throw cannot(target, segment, "an output gate without a bias beside biased projections");
  Json out = of_class("attention.AttentionConfig");
  out["type"] = "attention";
  out["name"] = "default";
  out["n_heads"] = a.heads;
  out["n_kv_heads"] = a.kv_heads;
  out["head_dim"] = a.head_size;
  out["bias"] = a.qkv_bias;
  out["rope"] = of_class("rope.RoPEConfig");
  out["rope"]["theta"] = 500000;
  if (a.output_gate) {
    out["gate"] = of_class("attention.GateConfig");
    out["gate"]["granularity"] = "elementwise";
  }
  if (a.qk_norm != arch::QkNorm::none) {
    out["qk_norm"] = norm_json(arch::NormKind::rms);
    out["use_head_qk_norm"] = a.qk_norm == arch::QkNorm::per_head;
  }
  if (!a.windows.empty()) {
    Json window = of_class("attention.SlidingWindowAttentionConfig");
    window["pattern"] = Json::array({a.windows.front()});
    window["force_full_attention_on_first_layer"] = false;
    window["force_full_attention_on_last_layer"] = false;
    out["sliding_window"] = std::move(window);
  }
  return out;
}

Json feed_forward_json(std::int64_t size, bool bias) {
  Json out = of_class("feed_forward.FeedForwardConfig");
  out["name"] = "default";
  out["hidden_size"] = size;
  out["bias"] = bias;
  return out;
}

Json moe_json(const arch::Ffn& ffn) {
  Json out = of_class("moe.moe.MoEConfig");
  out["name"] = "dropless";
  out["num_experts"] = ffn.experts;
  out["hidden_size"] = ffn.expert_size;
  out["router"] = of_class("moe.router.MoERouterConfig");
  out["router"]["name"] = "default";
  out["router"]["top_k"] = ffn.top_k;
  if (ffn.selection_bias) out["router"]["bias_gamma"] = 0.001;
  if (ffn.shared_size > 0) out["shared_mlp"] = feed_forward_json(ffn.shared_size, false);
  return out;
}

std::string_view block_name(arch::NormLayout layout, bool moe, const Target& target) {
  switch (layout) {
    case arch::NormLayout::pre:
      return moe ? "moe" : "default";
    case arch::NormLayout::post:
      return moe ? "moe_reordered_norm" : "reordered_norm";
    case arch::NormLayout::sandwich:
      break;
  }
  if (moe) throw cannot(target, "", "sandwich norms around MoE layers", "only around dense ones");
  return "peri_norm";
}

Json block_json(const arch::Architecture& model, const arch::Segment& layer, const Target& target) {
  if ((layer.attention.qk_norm != arch::QkNorm::none) && model.norm != arch::NormKind::rms)
    throw cannot(target, "", "RMS norms of q and k beside LayerNorm");
  Json block = of_class("transformer.config.TransformerBlockConfig");
  block["name"] = block_name(model.norm_layout, layer.ffn.moe, target);
  block["sequence_mixer"] = attention_json(layer.attention, target, "");
  block["layer_norm"] = norm_json(model.norm);
  if (layer.ffn.moe)
    block["feed_forward_moe"] = moe_json(layer.ffn);
  else
    block["feed_forward"] = feed_forward_json(layer.ffn.size, layer.ffn.bias);
  return block;
}

}  // namespace

Emitted emit_olmo(const arch::Architecture& model, const Target& target, const Sharding&) {
  const std::vector<arch::Segment> layers = layers_of(model);
  Json config = of_class("transformer.config.TransformerConfig");
  config["name"] = first_ffn(model, true) != nullptr ? "moe" : "default";
  config["d_model"] = model.hidden;
  config["vocab_size"] = model.vocab;
  config["n_layers"] = layers.size();
  config["tie_word_embeddings"] = model.tied;
  config["block"] = block_json(model, layers.front(), target);
  for (std::size_t i = 1; i < layers.size(); ++i)
    if (layers[i] != layers.front())
      config["block_overrides"][std::to_string(i)] = block_json(model, layers[i], target);
  config["lm_head"] = of_class("lm_head.LMHeadConfig");
  config["lm_head"]["name"] = "default";
  config["lm_head"]["layer_norm"] = model.final_norm ? norm_json(model.norm) : Json(nullptr);
  config["lm_head"]["bias"] = false;
  config["dtype"] = "float32";
  Emitted result;
  result.files["model.json"] = json::pretty(config);
  result.train = "torchrun --nproc-per-node \"${GPUS_PER_NODE:-8}\" your_train_script.py model.json";
  result.notes.push_back(
      "TransformerConfig.from_dict(json.load(open(\"model.json\"))) in an OLMo-core training "
      "script "
      "builds the model; weights are kept in float32 and trained under autocast, as it does.");
  if (first_ffn(model, true) != nullptr && first_ffn(model, true)->shared_size > 0)
    result.notes.push_back("It averages the shared expert with the top-k routed ones.");
  return result;
}

}  // namespace isoloop::formats
