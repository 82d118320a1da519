// Keys that nobody reads: neutral ones pass in silence, every other one is named.
//
// Source: keys of public configs.
#include "formats/configs.h"

namespace isoloop::formats {

using test::config;
using test::import;
using test::with;
using test::without;
using Texts = std::vector<std::string>;

TEST_CASE("neutral keys of a whole public config pass in silence") {
  auto value = config("llama-3-8b");
  value["architectures"] = {"LlamaForCausalLM"};
  value["attention_bias"] = false;
  value["attention_dropout"] = 0.0;
  value["bos_token_id"] = 128000;
  value["eos_token_id"] = {128001, 128009};
  value["hidden_act"] = "silu";
  value["initializer_range"] = 0.02;
  value["max_position_embeddings"] = 8192;
  value["pretraining_tp"] = 1;
  value["rms_norm_eps"] = 1e-05;
  value["rope_scaling"] = nullptr;
  value["rope_theta"] = 500000.0;
  value["torch_dtype"] = "bfloat16";
  value["transformers_version"] = "4.40.0";
  value["use_cache"] = true;
  value["_name_or_path"] = "somewhere";
  value["mlp_bias"] = false;
  CHECK(import(value).warnings == Texts{});
  CHECK(import(value).architecture.context == 4096);  // an option, not a property of the model
}

TEST_CASE("neutral keys of DeepSeek-V3 and Granite") {
  auto v3 = config("deepseek-v3");
  for (const char* key : {"n_group", "topk_group", "routed_scaling_factor", "aux_loss_alpha",
                          "ep_size", "scoring_func", "topk_method", "norm_topk_prob", "seq_aux"})
    v3[key] = 1;
  CHECK(import(v3).warnings == Texts{});
  auto granite = config("granite-3.3-8b");
  for (const char* key :
       {"embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"})
    granite[key] = 0.5;
  CHECK(import(granite).warnings == Texts{});
}

TEST_CASE("any other key is named with its place") {
  CHECK(import(with(config("llama-3-8b"), "num_experts", 8)).warnings ==
        Texts{"config.json: num_experts: unknown key; if it changes the model, the count does not "
              "show it"});
  auto gemma = config("gemma-3-4b");
  gemma["text_config"]["laurel_rank"] = 64;
  gemma["projector_depth"] = 2;
  CHECK(import(gemma).warnings ==
        Texts{"config.json: text_config.laurel_rank: unknown key; if it changes the model, the "
              "count does not show it",
              "config.json: projector_depth: unknown key; if it changes the model, the count does "
              "not show it"});
  auto dbrx = config("dbrx");
  dbrx["ffn_config"]["shared_experts"] = 1;
  CHECK(import(dbrx).warnings ==
        Texts{"config.json: ffn_config.shared_experts: unknown key; if it changes the model, the "
              "count does not show it"});
}

TEST_CASE("null is no key, and a switch of other families that is off needs no mention") {
  CHECK(import(with(config("llama-3-8b"), "num_experts", nullptr)).warnings == Texts{});
  CHECK(import(with(config("mixtral-8x7b"), "attention_bias", false)).warnings == Texts{});
  CHECK(import(with(config("mixtral-8x7b"), "attention_bias", true)).warnings.size() == 1);
  CHECK(import(with(config("qwen3-30b-a3b"), "shared_expert_intermediate_size", 0)).warnings ==
        Texts{});
}

TEST_CASE("a window the class would assume is not assumed, and that is said") {
  CHECK(import(without(config("mistral-7b-v0.1"), "sliding_window")).warnings ==
        Texts{"config.json: sliding_window: missing, so every layer is read as full attention; the "
              "class itself assumes a window"});
  CHECK(import(with(config("mistral-7b-v0.1"), "sliding_window", nullptr)).warnings == Texts{});
}

}  // namespace isoloop::formats
