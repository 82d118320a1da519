// MaxText, nanotron, OLMo-core and torchtitan: small cases whole, and their own refusals.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "formats/targets.h"

using namespace isoloop;
using namespace isoloop::formats;

namespace {

arch::Architecture mixed() {
  arch::Architecture m;
  m.name = "tiny one";
  m.hidden = 64;
  m.vocab = 1000;
  m.tied = true;
  arch::Segment dense;
  dense.name = "dense";
  dense.layers = 1;
  dense.attention = {.heads = 4, .kv_heads = 2, .head_size = 16};
  dense.ffn = {.size = 96};
  arch::Segment moe = dense;
  moe.name = "moe";
  moe.layers = 2;
  moe.ffn = {.moe = true, .experts = 8, .top_k = 2, .expert_size = 32};
  m.segments = {dense, moe};
  return m;
}

std::string text(const arch::Architecture& m, std::string_view target, const std::string& file) {
  return emit(m, find_target(target, ""), {2, 4, 1}).files.at(file);
}

}  // namespace

TEST_CASE("nanotron: the whole file") {
  CHECK(text(mixed(), "nanotron", "config.yaml") ==
        R"(# tiny-one: the model section of a nanotron config.
model:
  dtype: bfloat16
  init_method:
    std: 0.02
  make_vocab_size_divisible_by: 1
  model_config:
    is_qwen2_config: true
    hidden_size: 64
    num_hidden_layers: 3
    num_attention_heads: 4
    num_key_value_heads: 2
    attention_bias: false
    intermediate_size: 96
    hidden_act: silu
    max_position_embeddings: 4096
    sliding_window_size: null
    tie_word_embeddings: true
    vocab_size: 1000
    moe_config:
      num_experts: 8
      top_k: 2
      moe_intermediate_size: 32
      layers: [1, 2]
      enable_shared_expert: false
      token_dispatcher_type: alltoall
parallelism:
  dp: 1
  tp: 2
  pp: 1
  expert_parallel_size: 4
tokens:
  sequence_length: 4096
)");
}

TEST_CASE("maxtext: the whole file, and the blocks it has not") {
  arch::Architecture m = mixed();
  CHECK_THROWS_WITH_AS(text(m, "maxtext", "model.yml"),
                       "maxtext cannot say dense layers, shared experts or a selection bias beside "
                       "grouped-query attention\n"
                       "  hint: its decoder block for them has multi-head latent attention",
                       Error);
  m.segments.erase(m.segments.begin());
  CHECK(text(m, "maxtext", "model.yml") == R"(# tiny-one: a MaxText config.
base_config: "base.yml"
decoder_block: "mixtral"
global_parameter_scale: 1
base_emb_dim: 64
base_num_decoder_layers: 2
base_num_query_heads: 4
base_num_kv_heads: 2
head_dim: 16
use_qk_norm: false
base_mlp_dim: 32
base_moe_mlp_dim: 32
num_experts: 8
num_experts_per_tok: 2
mlp_activations: ["silu", "linear"]
vocab_size: 1000
logits_via_embedding: true
normalize_embedding_logits: false
enable_dropout: false
max_target_length: 4096
ici_tensor_parallelism: 2
ici_expert_parallelism: 4
ici_pipeline_parallelism: 1
)");
}

TEST_CASE("olmo: block, overrides, no bias by default") {
  const auto config = nlohmann::json::parse(text(mixed(), "olmo", "model.json"));
  CHECK(config["_CLASS_"] == "olmo_core.nn.transformer.config.TransformerConfig");
  CHECK(config["name"] == "moe");
  CHECK(config["n_layers"] == 3);
  CHECK(config["block"]["feed_forward"]["hidden_size"] == 96);
  CHECK(config["block"]["feed_forward"]["bias"] == false);
  CHECK(config["block_overrides"].size() == 2);
  CHECK(config["block_overrides"]["1"]["name"] == "moe");
  CHECK(config["block_overrides"]["2"]["feed_forward_moe"]["router"]["top_k"] == 2);
  CHECK(config["lm_head"]["bias"] == false);
}

TEST_CASE("olmo: sandwich norms around MoE are refused") {
  arch::Architecture m = mixed();
  m.norm_layout = arch::NormLayout::sandwich;
  CHECK_THROWS_WITH_AS(text(m, "olmo", "model.json"),
                       "olmo cannot say sandwich norms around MoE layers\n"
                       "  hint: only around dense ones",
                       Error);
}

TEST_CASE("torchtitan: runs of equal layers as data") {
  const std::string module = text(mixed(), "torchtitan", "isoloop_tiny_one.py");
  CHECK(
      module.find("HIDDEN, VOCAB, CONTEXT, TIED = 64, 1000, 4096, True\n"
                  "RUNS = [  # runs of equal layers, in order\n"
                  "    dict(layers=1, heads=4, kv_heads=2, head_size=16, qk_norm=False, ffn=96),\n"
                  "    dict(layers=2, heads=4, kv_heads=2, head_size=16, qk_norm=False,\n"
                  "         experts=8, top_k=2, expert_size=32, shared_size=0, "
                  "router_bias=False, selection_bias=False),\n"
                  "]\n") != std::string::npos);
}

TEST_CASE("nanotron: a shared expert has a gate") {
  arch::Architecture m = mixed();
  m.segments[1].ffn.shared_size = 32;
  CHECK_THROWS_WITH_AS(text(m, "nanotron", "config.yaml"),
                       "nanotron cannot say a shared expert without a gate\n"
                       "  hint: its shared expert has one always",
                       Error);
}
