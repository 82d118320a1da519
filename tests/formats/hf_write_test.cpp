// The Hugging Face writer: the class chosen, what it says, and reading it back.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "formats/hf_native.h"
#include "isoloop/formats.h"
#include "support/random_architecture.h"

using namespace isoloop;
using formats::emit;
using formats::find_target;

namespace {

arch::Architecture small_moe() {
  arch::Architecture m;
  m.name = "small";
  m.hidden = 64;
  m.vocab = 1000;
  arch::Segment s;
  s.name = "layers";
  s.layers = 2;
  s.attention = {.heads = 4, .kv_heads = 2, .head_size = 16};
  s.ffn = {.moe = true, .experts = 8, .top_k = 2, .expert_size = 32};
  m.segments = {s};
  return m;
}

formats::Emitted hf(const arch::Architecture& m) { return emit(m, find_target("hf", ""), {}); }

arch::Architecture back(const formats::Emitted& emitted) {
  return formats::read(emitted.files.at("config.json"), "config.json", "small").architecture;
}

std::string variant(const arch::Architecture& m) {
  const formats::Emitted emitted = hf(m);
  CHECK(formats::same_model(back(emitted), m));
  return emitted.variant;
}

}  // namespace

TEST_CASE("hf: a plain MoE is Mixtral's class, whole config") {
  const formats::Emitted emitted = hf(small_moe());
  CHECK(emitted.variant == "mixtral");
  CHECK(emitted.files.at("config.json") == R"({
  "architectures": ["MixtralForCausalLM"],
  "model_type": "mixtral",
  "hidden_size": 64,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "head_dim": 16,
  "intermediate_size": 32,
  "num_local_experts": 8,
  "num_experts_per_tok": 2,
  "sliding_window": null,
  "vocab_size": 1000,
  "tie_word_embeddings": false,
  "max_position_embeddings": 4096,
  "torch_dtype": "bfloat16",
  "hidden_act": "silu"
}
)");
  CHECK(emitted.files.contains("train.py"));
}

TEST_CASE("hf: the class that fits exactly") {
  arch::Architecture m = small_moe();
  arch::Segment& s = m.segments.front();
  s.attention.qk_norm = arch::QkNorm::per_head;
  CHECK(variant(m) == "qwen3_moe");
  s.attention.qk_norm = arch::QkNorm::all_heads;
  CHECK(variant(m) == "olmoe");
  s.attention.qk_norm = arch::QkNorm::none;
  s.attention.qkv_bias = true;
  CHECK(variant(m) == "package");  // no class has biases on q, k, v and no shared expert
  s.ffn.shared_size = 48;
  s.ffn.shared_gate = true;
  CHECK(variant(m) == "qwen2_moe");
  s.ffn = {.size = 96};
  CHECK(variant(m) == "qwen2");
  s.attention.qkv_bias = false;
  CHECK(variant(m) == "llama");
  s.attention.windows = {32};
  CHECK(variant(m) == "mistral");
  s.attention.windows = {32, 0};
  CHECK(variant(m) == "package");
  s.attention.qk_norm = arch::QkNorm::per_head;
  CHECK(variant(m) == "qwen3");
}

TEST_CASE("hf: MLA with a dense prefix and shared experts is DeepSeek's class") {
  arch::Architecture m = small_moe();
  arch::Segment moe = m.segments.front();
  moe.attention = {.kind = arch::AttentionKind::mla,
                   .heads = 4,
                   .kv_rank = 16,
                   .nope_size = 8,
                   .rope_size = 4,
                   .value_size = 8};
  moe.ffn.shared_size = 64;
  arch::Segment dense = moe;
  dense.name = "dense";
  dense.ffn = {.size = 96};
  m.segments = {dense, moe};
  CHECK(variant(m) == "deepseek_v2");
  m.segments[1].ffn.selection_bias = true;
  CHECK(variant(m) == "deepseek_v3");
  m.segments[1].ffn.shared_size = 0;  // the class would build one
  CHECK(variant(m) == "package");
  std::swap(m.segments[0], m.segments[1]);
  CHECK(variant(m) == "package");
}

TEST_CASE("hf: a loop is a package around the architecture file") {
  const arch::Architecture m = arch::with_loop(small_moe(), arch::parse_loop("2-2x2", 2, "--loop"));
  const formats::Emitted emitted = hf(m);
  CHECK(emitted.variant == "package");
  CHECK(back(emitted) == m);
  const auto config = nlohmann::json::parse(emitted.files.at("config.json"));
  CHECK(config["model_type"] == "isoloop");
  CHECK(config["auto_map"]["AutoModelForCausalLM"] == "modeling_isoloop.IsoloopForCausalLM");
  CHECK(config["architecture"] == nlohmann::json::parse(arch::to_json(m)));
  CHECK(config["num_hidden_layers"] == 2);
}

TEST_CASE("hf: a package whose keys disagree is refused") {
  arch::Architecture m = arch::with_loop(small_moe(), arch::parse_loop("all x2", 2, "--loop"));
  auto config = nlohmann::json::parse(hf(m).files.at("config.json"));
  config["hidden_size"] = 65;
  CHECK_THROWS_WITH_AS(formats::read(config.dump(), "config.json", ""),
                       "config.json: hidden_size: is 65, but the architecture says 64\n"
                       "  hint: the architecture is what is built",
                       Error);
  config.erase("architecture");
  CHECK_THROWS_AS(formats::read(config.dump(), "config.json", ""), Error);
}

TEST_CASE("hf: what a package cannot run is refused by name") {
  arch::Architecture m = small_moe();
  m.segments.front().visits = {Ratio(Int(5), Int(2)), 1};
  CHECK_THROWS_WITH_AS(hf(m),
                       "segment 'layers': hf cannot say 5/2 visits: a mean over sampled depths\n"
                       "  hint: a model that runs needs whole visits",
                       Error);
}

TEST_CASE("hf: every random architecture comes back") {
  test::Dice dice(1);
  for (int i = 0; i < 400; ++i) {
    const arch::Architecture m = test::random_architecture(dice);
    CHECK(formats::same_model(back(hf(m)), m));
  }
}

TEST_CASE("hf: every built-in config comes back") {
  for (const DataFile& file : data_files()) {
    if (!file.path.starts_with("models/")) continue;
    arch::Architecture m = formats::read(file.text, file.path, "model").architecture;
    m.mtp_layers = 0;
    bool whole = true;
    for (const arch::Segment& s : m.segments) whole = whole && s.visits.forward.is_integer();
    if (whole) CHECK_MESSAGE(formats::same_model(back(hf(m)), m), file.path);
  }
}

TEST_CASE("hf: every native is a known family") {
  for (const formats::Native& native : formats::natives())
    CHECK(formats::find_family(native.type) != nullptr);
}
