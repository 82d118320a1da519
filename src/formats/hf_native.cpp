// An architecture as the config of a native Hugging Face class.
//
// The table of families says under which key everything goes, so the writer is the reader turned
// round; whether it fits is decided by reading back what was written.
// Source: see hf_families.h and hf_native.h. Held by tests/formats/hf_write_test.cpp.
#include "formats/hf_native.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "formats/hf.h"
#include "formats/targets.h"

namespace isoloop::formats {
namespace {

using Json = nlohmann::ordered_json;
using Layers = std::vector<arch::Segment>;

constexpr std::string_view silu = R"({"hidden_act": "silu"})";
constexpr std::string_view deepseek_v2 =
    R"({"hidden_act": "silu", "moe_layer_freq": 1, "n_group": null, "topk_group": null,
        "topk_method": "greedy", "norm_topk_prob": false, "routed_scaling_factor": 1.0})";
constexpr std::string_view deepseek_v3 =
    R"({"hidden_act": "silu", "n_group": 1, "topk_group": 1, "norm_topk_prob": true,
        "routed_scaling_factor": 1.0})";

constexpr std::array table{
    Native{"llama", "LlamaForCausalLM", silu},
    Native{"qwen2", "Qwen2ForCausalLM", silu},
    Native{"qwen3", "Qwen3ForCausalLM", silu},
    Native{"mistral", "MistralForCausalLM", silu},
    Native{"olmo2", "Olmo2ForCausalLM", silu},
    Native{"gemma2", "Gemma2ForCausalLM", R"({"hidden_activation": "gelu_pytorch_tanh"})"},
    Native{"gemma3_text", "Gemma3ForCausalLM", R"({"hidden_activation": "gelu_pytorch_tanh"})"},
    Native{"mixtral", "MixtralForCausalLM", silu},
    Native{"qwen3_moe", "Qwen3MoeForCausalLM", R"({"hidden_act": "silu", "norm_topk_prob": true})"},
    Native{"olmoe", "OlmoeForCausalLM", R"({"hidden_act": "silu", "norm_topk_prob": false})"},
    Native{"qwen2_moe", "Qwen2MoeForCausalLM",
           R"({"hidden_act": "silu", "norm_topk_prob": false})"},
    Native{"gpt_oss", "GptOssForCausalLM", silu},
    Native{"deepseek_v2", "DeepseekV2ForCausalLM", deepseek_v2},
    Native{"deepseek_v3", "DeepseekV3ForCausalLM", deepseek_v3},
    Native{"glm4_moe", "Glm4MoeForCausalLM", deepseek_v3},
    Native{"dots1", "Dots1ForCausalLM", deepseek_v3},
};

template <class T>
void put(Json& config, const Keys& keys, const T& value) {
  if (!keys.empty()) config[std::string(keys.front())] = value;
}

void state(Json& config, const Fact& fact, bool value) { put(config, fact.keys, value); }

void put_attention(Json& config, const Family& family, const arch::Attention& a) {
  put(config, family.heads, a.heads);
  if (family.mla) {
    config["num_key_value_heads"] = a.heads;  // no cache is sized by it, but the class divides
    config["q_lora_rank"] = a.q_rank == 0 ? Json(nullptr) : Json(a.q_rank);
    config["kv_lora_rank"] = a.kv_rank;
    config["qk_nope_head_dim"] = a.nope_size;
    config["qk_rope_head_dim"] = a.rope_size;
    config["v_head_dim"] = a.value_size;
    config["attention_bias"] = false;
    return;
  }
  put(config, family.kv_heads, a.kv_heads);
  put(config, family.head_size, a.head_size);
  state(config, family.qk_norm_on, a.qk_norm != arch::QkNorm::none);
  state(config, family.qkv_bias, a.qkv_bias);
  state(config, family.output_bias, a.output_bias);
  state(config, family.sinks, a.sinks);
  state(config, family.output_gate, a.output_gate);
}

std::string_view kind_of(const arch::Attention& attention) {
  if (attention.windows.empty()) return "full_attention";
  return attention.chunked ? "chunked_attention" : "sliding_attention";
}

void put_windows(Json& config, const WindowRule& rule, const Layers& layers) {
  std::int64_t size = 0, unwindowed = 0;
  Json types = Json::array();
  for (const arch::Segment& layer : layers) {
    const std::vector<std::int64_t>& windows = layer.attention.windows;
    size = windows.empty() ? size : windows.front();
    unwindowed += windows.empty() ? 1 : 0;
    types.push_back(kind_of(layer.attention));
  }
  put(config, rule.size, size == 0 ? Json(nullptr) : Json(size));
  if (rule.only_if_used) config["use_sliding_window"] = size > 0;
  if (size == 0 || rule.layers == Windows::all) return;
  if (rule.layers == Windows::from_max_window) config["max_window_layers"] = unwindowed;
  config["layer_types"] = std::move(types);
}

void put_moe_layers(Json& config, const MoeRule& rule, const Layers& layers) {
  if (rule.layers == MoeLayers::after_first) put(config, rule.first_dense, leading_dense(layers));
  if (rule.layers != MoeLayers::sparse_step) return;
  Json dense = Json::array();
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (!layers[i].ffn.moe) dense.push_back(i);
  config["decoder_sparse_step"] = 1;
  config["mlp_only_layers"] = std::move(dense);
}

/// False if the class would build a shared expert that the model does not have, or not as wide.
bool put_shared(Json& config, const MoeRule& rule, const arch::Ffn& ffn) {
  const bool always = !rule.shared_count.empty() || !rule.shared_width.empty();
  if (always && ffn.shared_size == 0) return false;
  put(config, rule.shared_width, ffn.shared_size);
  if (!rule.shared_count.empty()) {
    if (ffn.shared_size % ffn.expert_size != 0) return false;
    put(config, rule.shared_count, ffn.shared_size / ffn.expert_size);
  }
  return true;
}

bool put_moe(Json& config, const MoeRule& rule, const arch::Ffn& ffn, const Layers& layers) {
  put(config, rule.experts, ffn.experts);
  put(config, rule.top_k, ffn.top_k);
  put(config, rule.size, ffn.expert_size);
  state(config, rule.router_bias, ffn.router_bias);
  state(config, rule.selection_bias, ffn.selection_bias);
  state(config, rule.expert_bias, ffn.bias);
  state(config, rule.output_bias, ffn.output_bias);
  put_moe_layers(config, rule, layers);
  return put_shared(config, rule, ffn);
}

bool put_ffns(Json& config, const Family& family, const arch::Architecture& model,
              const Layers& layers) {
  const arch::Ffn* dense = first_ffn(model, false);
  const arch::Ffn* moe = first_ffn(model, true);
  if ((moe != nullptr) != family.moe.has_value()) return false;
  state(config, family.gated, dense != nullptr ? dense->gated : moe->gated);
  // Without dense layers the key is not used; the width of the active experts is a fair figure.
  put(config, family.dense_size, dense != nullptr ? dense->size : moe->top_k * moe->expert_size);
  state(config, family.ffn_bias, dense != nullptr && dense->bias);
  return moe == nullptr || put_moe(config, *family.moe, *moe, layers);
}

}  // namespace

std::span<const Native> natives() { return table; }

std::optional<Json> write_native(const Native& native, const arch::Architecture& model) {
  const Family& family = *find_family(native.type);
  const arch::Attention& attention = model.segments.front().attention;
  // The classes leave MTP layers out of the model they build.
  if (model.mtp_layers > 0 || is_looped(model)) return std::nullopt;
  if (family.mla != (attention.kind == arch::AttentionKind::mla)) return std::nullopt;
  const Layers layers = layers_of(model);
  Json config;
  config["architectures"] = Json::array({native.class_name});
  config["model_type"] = native.type;
  put(config, family.hidden, model.hidden);
  put(config, family.layers, static_cast<std::int64_t>(layers.size()));
  put_attention(config, family, attention);
  if (!put_ffns(config, family, model, layers)) return std::nullopt;
  if (family.windows) put_windows(config, *family.windows, layers);
  put(config, family.vocab, model.vocab);
  config["tie_word_embeddings"] = model.tied;
  config["max_position_embeddings"] = model.context;
  config["torch_dtype"] = "bfloat16";
  config.update(Json::parse(native.constants));
  try {
    const Import back = read_hf(json::Value(config), "config.json", "", model.name);
    if (same_model(back.architecture, model)) return config;
  } catch (const Error&) {  // the family cannot say it, in its own words
  }
  return std::nullopt;
}

}  // namespace isoloop::formats
