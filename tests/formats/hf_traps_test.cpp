// What is easily misread in each Hugging Face family: the facts of its class, and what its keys
// mean.
//
// Source: docs of the model classes as summed up in src/formats/hf_families.cpp; the figures are
// the published dimensions.
#include "formats/configs.h"

namespace isoloop::formats {

using arch::NormKind;
using arch::NormLayout;
using arch::QkNorm;
using test::config;
using test::model;
using test::with;
using test::without;

TEST_CASE("llama: plain grouped-query attention; biases only if a key says so") {
  const auto plain = model(config("llama-3-8b"));
  REQUIRE(plain.segments.size() == 1);
  const arch::Segment& layers = plain.segments[0];
  CHECK(layers.layers == 32);
  CHECK(layers.attention.heads == 32);
  CHECK(layers.attention.kv_heads == 8);
  CHECK(layers.attention.head_size == 128);
  CHECK(!layers.attention.qkv_bias);
  CHECK(!layers.ffn.moe);
  CHECK(layers.ffn.size == 14336);
  CHECK(plain.vocab == 128256);
  CHECK(!plain.tied);
  CHECK(plain.norm_layout == NormLayout::pre);
  CHECK(plain.context == 4096);

  auto biased = config("llama-3-8b");
  biased["attention_bias"] = true;
  biased["mlp_bias"] = true;
  const arch::Segment with_bias = model(biased).segments[0];
  CHECK(with_bias.attention.qkv_bias);
  CHECK(with_bias.attention.output_bias);
  CHECK(with_bias.ffn.bias);
  // The class: no key means as many kv heads as heads.
  CHECK(
      model(without(config("llama-3-8b"), "num_key_value_heads")).segments[0].attention.kv_heads ==
      32);
}

TEST_CASE("an explicit head size is kept although it is not hidden / heads") {
  CHECK(model(config("mistral-nemo-12b")).segments[0].attention.head_size == 128);  // not 160
  CHECK(model(config("qwen3-0.6b")).segments[0].attention.head_size == 128);        // not 64
  CHECK(model(config("gemma-2-27b")).segments[0].attention.head_size == 128);       // not 144
  CHECK(model(config("gpt-oss-20b")).segments[0].attention.head_size == 64);        // not 45
}

TEST_CASE("qwen2 has q, k, v biases without a key, qwen3 has none and norms q and k") {
  const auto qwen2 = model(config("qwen2.5-7b")).segments[0].attention;
  CHECK(qwen2.qkv_bias);
  CHECK(!qwen2.output_bias);
  CHECK(qwen2.qk_norm == QkNorm::none);
  const auto qwen3 = model(config("qwen3-8b")).segments[0].attention;
  CHECK(!qwen3.qkv_bias);
  CHECK(qwen3.qk_norm == QkNorm::per_head);
}

TEST_CASE("gemma: four norms, tied unless stated, q and k norms from the third on") {
  const auto gemma2 = model(without(config("gemma-2-2b"), "tie_word_embeddings"));
  CHECK(gemma2.norm_layout == NormLayout::sandwich);
  CHECK(gemma2.tied);
  CHECK(gemma2.segments[0].attention.qk_norm == QkNorm::none);
  CHECK(model(config("gemma-3-4b")).segments[0].attention.qk_norm == QkNorm::per_head);
  CHECK(!model(with(config("gemma-2-2b"), "tie_word_embeddings", false)).tied);
}

TEST_CASE("tying without a key is what each class assumes") {
  CHECK(!model(without(config("llama-3-8b"), "tie_word_embeddings")).tied);
  CHECK(!model(without(config("qwen3-30b-a3b"), "tie_word_embeddings")).tied);
  CHECK(model(without(config("smollm3-3b"), "tie_word_embeddings")).tied);
  CHECK(model(without(config("grok-1"), "tie_word_embeddings")).tied);
  CHECK(model(without(config("ernie-4.5-21b-a3b"), "tie_word_embeddings")).tied);
}

TEST_CASE("olmo2 and olmoe norm q and k over all heads; olmo2 norms after the blocks") {
  CHECK(model(config("olmo-2-7b")).norm_layout == NormLayout::post);
  CHECK(model(config("olmo-2-7b")).segments[0].attention.qk_norm == QkNorm::all_heads);
  CHECK(model(config("olmoe-1b-7b")).norm_layout == NormLayout::pre);
  CHECK(model(config("olmoe-1b-7b")).segments[0].attention.qk_norm == QkNorm::all_heads);
}

TEST_CASE("intermediate_size is the expert size where there is no dense layer") {
  for (const char* slug : {"mixtral-8x7b", "olmoe-1b-7b", "gpt-oss-20b", "granite-3.0-1b-a400m",
                           "minimax-m2", "grok-1"}) {
    CAPTURE(slug);
    const arch::Ffn ffn = model(config(slug)).segments[0].ffn;
    CHECK(ffn.moe);
    CHECK(ffn.expert_size == config(slug)["intermediate_size"].get<std::int64_t>());
    CHECK(ffn.size == 0);
  }
}

TEST_CASE("intermediate_size describes no layer of Qwen3-30B-A3B, though it is 8 experts wide") {
  const auto moe = model(config("qwen3-30b-a3b"));
  REQUIRE(moe.segments.size() == 1);
  CHECK(moe.segments[0].ffn.expert_size == 768);
  CHECK(moe.segments[0].ffn.experts == 128);
  CHECK(moe.segments[0].ffn.top_k == 8);
  CHECK(moe.segments[0].ffn.shared_size == 0);
  // It may be missing: nothing would be read from it.
  CHECK(model(without(config("qwen3-30b-a3b"), "intermediate_size")) == moe);
}

TEST_CASE(
    "DeepSeek-V3: dense size in the first layers, shared experts times expert size, MLA, MTP") {
  const auto v3 = model(config("deepseek-v3"));
  REQUIRE(v3.segments.size() == 2);
  CHECK(v3.segments[0].name == "dense");
  CHECK(v3.segments[0].layers == 3);
  CHECK(v3.segments[0].ffn.size == 18432);
  CHECK(v3.segments[1].name == "moe");
  CHECK(v3.segments[1].layers == 58);
  CHECK(v3.segments[1].ffn.expert_size == 2048);
  CHECK(v3.segments[1].ffn.shared_size == 2048);
  CHECK(v3.segments[1].ffn.selection_bias);
  CHECK(!v3.segments[1].ffn.router_bias);
  CHECK(v3.segments[1].attention.kind == arch::AttentionKind::mla);
  CHECK(v3.segments[1].attention.q_rank == 1536);
  CHECK(v3.segments[1].attention.kv_rank == 512);
  CHECK(v3.segments[1].attention.nope_size == 128);
  CHECK(v3.segments[1].attention.rope_size == 64);
  CHECK(v3.segments[1].attention.value_size == 128);
  CHECK(v3.segments[1].attention.kv_heads == 0);  // num_key_value_heads says nothing under MLA
  CHECK(v3.mtp_layers == 1);
  CHECK(model(config("deepseek-v2")).mtp_layers == 0);
  CHECK(!model(config("deepseek-v2")).segments[1].ffn.selection_bias);
  CHECK(model(config("deepseek-v2")).segments[1].ffn.shared_size == 2 * 1536);
  CHECK(model(config("deepseek-v2-lite")).segments[0].attention.q_rank == 0);  // null
}

TEST_CASE("Llama 4: expert size in intermediate_size, dense size in intermediate_size_mlp") {
  const auto scout = model(config("llama-4-scout"));
  REQUIRE(scout.segments.size() == 1);
  CHECK(scout.segments[0].ffn.expert_size == 8192);
  CHECK(scout.segments[0].ffn.shared_size == 8192);
  CHECK(!scout.segments[0].ffn.shared_gate);
  CHECK(scout.segments[0].attention.qk_norm == QkNorm::unweighted);
  auto every_second = config("llama-4-scout");
  every_second["text_config"]["interleave_moe_layer_step"] = 2;
  every_second["text_config"]["use_qk_norm"] = false;
  const auto maverick = model(every_second);
  REQUIRE(maverick.segments.size() == 48);
  CHECK(maverick.segments[0].name == "dense");
  CHECK(maverick.segments[0].ffn.size == 16384);
  CHECK(maverick.segments[1].name == "moe");
  CHECK(maverick.segments[47].name == "moe24");
  CHECK(maverick.segments[0].attention.qk_norm == QkNorm::none);
}

TEST_CASE("qwen2_moe: a gated shared expert of its own width") {
  const arch::Ffn ffn = model(config("qwen1.5-moe-a2.7b")).segments[0].ffn;
  CHECK(ffn.shared_size == 5632);
  CHECK(ffn.shared_gate);
  CHECK(ffn.expert_size == 1408);
  CHECK(model(config("qwen1.5-moe-a2.7b")).segments[0].attention.qkv_bias);
  const auto none = with(config("qwen1.5-moe-a2.7b"), "shared_expert_intermediate_size", 0);
  CHECK(!model(none).segments[0].ffn.shared_gate);
}

TEST_CASE("gpt-oss: biases everywhere, sinks") {
  const arch::Segment layers = model(config("gpt-oss-20b")).segments[0];
  CHECK(layers.attention.qkv_bias);
  CHECK(layers.attention.output_bias);
  CHECK(layers.attention.sinks);
  CHECK(layers.ffn.router_bias);
  CHECK(layers.ffn.bias);
  CHECK(!layers.ffn.selection_bias);
}

TEST_CASE("GLM-4.5: attention_bias leaves the output projection out; qk norm by key") {
  const auto glm = model(config("glm-4.5"));
  CHECK(glm.segments[0].attention.qkv_bias);
  CHECK(!glm.segments[0].attention.output_bias);
  CHECK(glm.segments[0].attention.qk_norm == QkNorm::per_head);
  CHECK(glm.mtp_layers == 1);
  CHECK(glm.segments[1].ffn.selection_bias);
  CHECK(model(config("glm-4.5-air")).segments[0].attention.qk_norm == QkNorm::none);
}

TEST_CASE("dots.llm1 norms q and k without a key") {
  CHECK(model(config("dots.llm1")).segments[0].attention.qk_norm == QkNorm::per_head);
  CHECK(model(config("dots.llm1")).segments[1].ffn.shared_size == 2 * 1408);
}

TEST_CASE("DBRX: nested keys, LayerNorm without bias, head size from hidden / heads") {
  const auto dbrx = model(config("dbrx"));
  CHECK(dbrx.hidden == 6144);
  CHECK(dbrx.norm == NormKind::layer_without_bias);
  CHECK(dbrx.segments[0].attention.kv_heads == 8);
  CHECK(dbrx.segments[0].attention.head_size == 128);
  CHECK(dbrx.segments[0].ffn.expert_size == 10752);
  CHECK(dbrx.segments[0].ffn.experts == 16);
  CHECK(dbrx.segments[0].ffn.top_k == 4);
}

TEST_CASE("MiniMax-M2: q, k norms over all heads or per head, MTP modules if they are used") {
  const auto m2 = model(config("minimax-m2"));
  CHECK(m2.segments[0].attention.qk_norm == QkNorm::all_heads);
  CHECK(m2.segments[0].ffn.selection_bias);
  CHECK(m2.mtp_layers == 3);
  CHECK(model(with(config("minimax-m2"), "use_mtp", false)).mtp_layers == 0);
  CHECK(
      model(with(config("minimax-m2"), "qk_norm_type", "per_head")).segments[0].attention.qk_norm ==
      QkNorm::per_head);
  CHECK(model(with(config("minimax-m2"), "use_qk_norm", false)).segments[0].attention.qk_norm ==
        QkNorm::none);
}

TEST_CASE("Ling: two generations under one model_type") {
  const auto first = model(config("ling-lite"));
  CHECK(first.segments.size() == 1);
  CHECK(first.segments[0].attention.qk_norm == QkNorm::none);
  CHECK(!first.segments[0].ffn.selection_bias);
  CHECK(first.segments[0].ffn.shared_size == 2 * 1408);
  CHECK(test::import(config("ling-lite")).family == "bailing_moe");
  const auto second = test::import(config("ling-flash-2.0"));
  CHECK(second.family == "bailing_moe_v2");
  CHECK(second.architecture.segments[1].attention.qk_norm == QkNorm::per_head);
  CHECK(second.architecture.segments[1].ffn.selection_bias);  // no key: the class has it
  auto by_class = without(config("ling-flash-2.0"), "use_qk_norm");
  by_class["architectures"] = {"BailingMoeV2ForCausalLM"};
  CHECK(test::import(by_class).family == "bailing_moe_v2");
  by_class["model_type"] = "bailing_moe_v2";
  CHECK(test::import(by_class).family == "bailing_moe_v2");
  const auto wider = with(config("ling-mini-2.0"), "moe_shared_expert_intermediate_size", 768);
  CHECK(model(wider).segments[1].ffn.shared_size == 768);
}

TEST_CASE("Hunyuan: keys that list one value for each layer") {
  const auto even = model(config("hunyuan-a13b"));
  REQUIRE(even.segments.size() == 1);
  CHECK(even.segments[0].ffn.top_k == 8);
  CHECK(even.segments[0].ffn.shared_size == 3072);
  auto mixed = config("hunyuan-a13b");
  for (int i = 16; i < 32; ++i) mixed["moe_topk"][i] = 4;
  const auto two = model(mixed);
  REQUIRE(two.segments.size() == 2);
  CHECK(two.segments[0].layers == 16);
  CHECK(two.segments[0].ffn.top_k == 8);
  CHECK(two.segments[1].name == "moe2");
  CHECK(two.segments[1].ffn.top_k == 4);
  CHECK(model(with(config("hunyuan-a13b"), "moe_topk", 8)) == even);
  CHECK(
      model(with(config("hunyuan-a13b"), "use_mixed_mlp_moe", false)).segments[0].ffn.shared_size ==
      0);
  CHECK(test::complaint(with(config("hunyuan-a13b"), "moe_topk", {8, 8})) ==
        "config.json: moe_topk: lists 2 values for 32 layers\n"
        "  hint: give one number, or one for each layer");
}

TEST_CASE("JetMoE: query and output projections are experts") {
  const arch::Segment layers = model(config("jetmoe-8b")).segments[0];
  CHECK(layers.attention.experts == 8);
  CHECK(layers.attention.top_k == 2);
  CHECK(layers.attention.heads == 32);
  CHECK(layers.attention.kv_heads == 16);
  CHECK(layers.attention.head_size == 128);
  CHECK(layers.attention.output_bias);
  CHECK(layers.ffn.output_bias);
  CHECK(!layers.ffn.bias);
  CHECK(test::complaint(with(config("jetmoe-8b"), "num_attention_heads", 16)) ==
        "config.json: num_attention_heads: is 16, but 2 active attention experts of 16 heads each "
        "make 32");
}

TEST_CASE("old and new names of the number of experts") {
  auto renamed = without(config("qwen3-30b-a3b"), "num_experts");
  renamed["num_local_experts"] = 128;
  CHECK(model(renamed) == model(config("qwen3-30b-a3b")));
  renamed["num_experts"] = 128;  // both, the same
  CHECK(model(renamed) == model(config("qwen3-30b-a3b")));
  renamed["num_experts"] = nullptr;
  CHECK(model(renamed) == model(config("qwen3-30b-a3b")));
  renamed["num_experts"] = 64;
  CHECK(test::complaint(renamed) ==
        "config.json: num_local_experts: differs from 'num_experts', another name of it\n"
        "  hint: keep one of the two");
}

TEST_CASE("rotary positions in the old and the new spelling change nothing") {
  auto old_spelling = config("llama-3-8b");
  old_spelling["rope_theta"] = 500000.0;
  old_spelling["rope_scaling"] = {{"rope_type", "llama3"}, {"factor", 8.0}};
  auto new_spelling = config("llama-3-8b");
  new_spelling["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 500000.0}};
  CHECK(model(old_spelling) == model(new_spelling));
  CHECK(test::import(new_spelling).warnings.empty());
}

}  // namespace isoloop::formats
