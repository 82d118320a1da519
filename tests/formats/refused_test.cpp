// Model types that cannot be read: each is refused by the layer kind that is not understood, an
// unknown one with the nearest known name.
//
// Source: the refused fixtures are public configs of Nemotron-H and ALBERT.
#include <fstream>
#include <sstream>

#include "formats/configs.h"

namespace isoloop::formats {

using test::complaint;
using test::config;
using test::with;

namespace {

std::string fixture(const std::string& name) {
  std::ifstream in(std::string(ISOLOOP_SOURCE_DIR) + "/tests/formats/refused/" + name + ".json");
  std::stringstream text;
  text << in.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

std::string refusal_of(const std::string& name) {
  const std::string text = fixture(name);
  return test::error_of([&] { read(text, name + ".json", name); }).what();
}

std::string refusal_of_type(const char* type) { return complaint({{"model_type", type}}); }

}  // namespace

TEST_CASE("Mamba-2 hybrids and encoders are refused by name") {
  CHECK(refusal_of("nemotron-nano-9b-v2") ==
        "nemotron-nano-9b-v2.json: model_type: nemotron_h cannot be read: it has Mamba-2 layers\n"
        "  hint: decoders of attention and feed-forward layers can be read");
  CHECK(refusal_of("nemotron-3-nano-30b-a3b") ==
        "nemotron-3-nano-30b-a3b.json: model_type: nemotron_h cannot be read: it has Mamba-2 "
        "layers\n"
        "  hint: decoders of attention and feed-forward layers can be read");
  CHECK(refusal_of("albert-base") ==
        "albert-base.json: model_type: albert cannot be read: it has an encoder and no decoder\n"
        "  hint: decoders of attention and feed-forward layers can be read");
  CHECK(refusal_of("albert-xxlarge").find("an encoder and no decoder") != std::string::npos);
}

TEST_CASE("other known hybrids name their layers") {
  CHECK(refusal_of_type("mamba").find("Mamba layers") != std::string::npos);
  CHECK(refusal_of_type("jamba").find("Mamba layers") != std::string::npos);
  CHECK(refusal_of_type("falcon_mamba").find("Mamba layers") != std::string::npos);
  CHECK(refusal_of_type("mamba2").find("Mamba-2 layers") != std::string::npos);
  CHECK(refusal_of_type("bamba").find("Mamba-2 layers") != std::string::npos);
  CHECK(refusal_of_type("zamba2").find("Mamba-2 layers") != std::string::npos);
  CHECK(refusal_of_type("qwen3_next").find("gated DeltaNet") != std::string::npos);
  CHECK(refusal_of_type("minimax_text_01").find("lightning attention") != std::string::npos);
  CHECK(refusal_of_type("rwkv").find("RWKV") != std::string::npos);
  CHECK(refusal_of_type("t5").find("encoder") != std::string::npos);
}

TEST_CASE("a refused or unknown type inside text_config") {
  CHECK(complaint({{"model_type", "some_vl"}, {"text_config", {{"model_type", "mamba2"}}}}) ==
        "config.json: text_config.model_type: mamba2 cannot be read: it has Mamba-2 layers\n"
        "  hint: decoders of attention and feed-forward layers can be read");
  CHECK(complaint({{"model_type", "some_vl"}, {"text_config", {{"model_type", "lama"}}}}) ==
        "config.json: text_config.model_type: unknown model_type 'lama'\n"
        "  hint: did you mean 'llama'?");
  CHECK(complaint({{"model_type", "lama"}, {"text_config", {{"hidden_size", 8}}}}) ==
        "config.json: model_type: unknown model_type 'lama'\n"
        "  hint: did you mean 'llama'?");
}

TEST_CASE("an unknown type comes with the nearest known one") {
  CHECK(refusal_of_type("deepseek_v4") ==
        "config.json: model_type: unknown model_type 'deepseek_v4'\n"
        "  hint: did you mean 'deepseek_v2'?");
  CHECK(refusal_of_type("qwen3moe").find("did you mean 'qwen3_moe'?") != std::string::npos);
  CHECK(refusal_of_type("entirely_new_thing").find("known: bailing_moe, bailing_moe_v2, dbrx") !=
        std::string::npos);
}

TEST_CASE("features of known families that no architecture can say") {
  CHECK(complaint(with(config("hunyuan-a13b"), "use_cla", true)) ==
        "config.json: use_cla: key-value caches shared across layers cannot be read");
  CHECK(complaint(with(config("deepseek-v3"), "attention_bias", true)) ==
        "config.json: attention_bias: biases on the low-rank projections of MLA cannot be read");
  CHECK(complaint(with(config("llama-3-8b"), "is_encoder_decoder", true)) ==
        "config.json: is_encoder_decoder: encoder-decoder models cannot be read\n"
        "  hint: decoders of attention and feed-forward layers can be read");
  auto minimax = with(config("minimax-m2"), "attn_type_list", {1, 0, 1});
  CHECK(complaint(minimax) ==
        "config.json: attn_type_list: has lightning attention (linear attention) layers\n"
        "  hint: only attention and feed-forward layers can be read");
}

TEST_CASE("the families are listed by model type, sorted") {
  const std::vector<std::string> families = hf_families();
  CHECK(std::is_sorted(families.begin(), families.end()));
  CHECK(families.size() == 37);
  CHECK(std::find(families.begin(), families.end(), "gemma3_text") != families.end());
  CHECK(std::find(families.begin(), families.end(), "huginn_raven") != families.end());
}

}  // namespace isoloop::formats
