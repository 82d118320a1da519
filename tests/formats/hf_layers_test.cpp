// Which layers have windows and which are mixtures of experts, at the edges where readers are off
// by one.
//
// Source: the rules of the model classes, written out by hand for small depths.
#include "formats/configs.h"

namespace isoloop::formats {

using test::complaint;
using test::config;
using test::model;
using test::Value;
using test::with;
using test::without;
using Sizes = std::vector<std::int64_t>;

namespace {

/// "dmmd": dense and MoE layers of a model in order.
std::string ffn_letters(const arch::Architecture& model) {
  std::string letters;
  for (const arch::Segment& segment : model.segments)
    letters.append(static_cast<std::size_t>(segment.layers), segment.ffn.moe ? 'm' : 'd');
  return letters;
}

Value qwen_of(std::int64_t layers) {
  return with(config("qwen3-30b-a3b"), "num_hidden_layers", layers);
}

}  // namespace

TEST_CASE("decoder_sparse_step counts layers from 1, mlp_only_layers from 0") {
  CHECK(ffn_letters(model(qwen_of(4))) == "mmmm");
  CHECK(ffn_letters(model(with(qwen_of(5), "decoder_sparse_step", 2))) == "dmdmd");
  CHECK(ffn_letters(model(with(qwen_of(7), "decoder_sparse_step", 3))) == "ddmddmd");
  CHECK(ffn_letters(model(with(qwen_of(4), "mlp_only_layers", {0, 3}))) == "dmmd");
  auto both = with(qwen_of(6), "decoder_sparse_step", 2);
  both["mlp_only_layers"] = {1};
  CHECK(ffn_letters(model(both)) == "dddmdm");
  const auto dense_size = model(both).segments[0].ffn.size;
  CHECK(dense_size == 6144);
  CHECK(complaint(with(qwen_of(4), "mlp_only_layers", {4})) ==
        "config.json: mlp_only_layers: names layer 4 of 4 layers, counted from 0");
}

TEST_CASE("first_k_dense_replace and moe_layer_freq, a number or a list") {
  const auto v3 = [](std::int64_t layers) {
    return with(config("deepseek-v3"), "num_hidden_layers", layers);
  };
  CHECK(ffn_letters(model(v3(5))) == "dddmm");
  CHECK(ffn_letters(model(with(v3(7), "moe_layer_freq", 2))) == "ddddmdm");  // i % 2 == 0 from 3 on
  CHECK(ffn_letters(model(with(v3(5), "moe_layer_freq", {1, 1, 1, 0, 1}))) == "ddddm");
  CHECK(ffn_letters(model(with(v3(3), "first_k_dense_replace", 0))) == "mmm");
  CHECK(ffn_letters(model(with(v3(3), "first_k_dense_replace", 9))) == "ddd");
  CHECK(complaint(with(v3(3), "moe_layer_freq", {1, 1})) ==
        "config.json: moe_layer_freq: lists 2 values for 3 layers");
}

TEST_CASE("interleave_moe_layer_step, or the layers listed") {
  const auto llama4 = [](std::string_view key, Value to) {
    auto value = config("llama-4-scout");
    value["text_config"]["num_hidden_layers"] = 6;
    value["text_config"][std::string(key)] = std::move(to);
    return value;
  };
  CHECK(ffn_letters(model(llama4("interleave_moe_layer_step", 1))) == "mmmmmm");
  CHECK(ffn_letters(model(llama4("interleave_moe_layer_step", 2))) == "dmdmdm");
  CHECK(ffn_letters(model(llama4("interleave_moe_layer_step", 4))) == "dddmdd");
  CHECK(ffn_letters(model(llama4("moe_layers", {5, 1}))) == "dmdddm");
}

TEST_CASE("ERNIE's range of MoE layers includes its end; -1 is the last layer") {
  const auto ernie = [](std::int64_t first, Value last, std::int64_t step) {
    auto value = with(config("ernie-4.5-21b-a3b"), "num_hidden_layers", 6);
    value["moe_layer_start_index"] = first;
    value["moe_layer_end_index"] = std::move(last);
    value["moe_layer_interval"] = step;
    return value;
  };
  CHECK(ffn_letters(model(ernie(1, 5, 1))) == "dmmmmm");
  CHECK(ffn_letters(model(ernie(1, -1, 1))) == "dmmmmm");
  CHECK(ffn_letters(model(ernie(1, 3, 1))) == "dmmmdd");
  CHECK(ffn_letters(model(ernie(0, nullptr, 2))) == "dmdmdm");
}

TEST_CASE("Mistral and Phi-3 have their window in every layer; null is full attention") {
  CHECK(model(config("mistral-7b-v0.1")).segments[0].attention.windows == Sizes{4096});
  CHECK(model(config("phi-3-mini-4k")).segments[0].attention.windows == Sizes{2047});
  CHECK(model(config("mistral-nemo-12b")).segments[0].attention.windows.empty());
}

TEST_CASE("Qwen windows need use_sliding_window and start at max_window_layers") {
  auto value = config("qwen3-8b");
  value["num_hidden_layers"] = 4;
  value["sliding_window"] = 4096;
  value["max_window_layers"] = 3;
  CHECK(model(value).segments[0].attention.windows.empty());
  value["use_sliding_window"] = true;
  CHECK(model(value).segments[0].attention.windows == Sizes{0, 0, 0, 4096});
  value["max_window_layers"] = 0;
  CHECK(model(value).segments[0].attention.windows == Sizes{4096});
  value["max_window_layers"] = 4;
  CHECK(model(value).segments[0].attention.windows.empty());
  value.erase("max_window_layers");
  CHECK(complaint(value) ==
        "config.json: key 'max_window_layers' is missing or null\n"
        "  hint: no dimension is ever assumed");
}

TEST_CASE("Gemma: every second layer is full, then every sixth") {
  CHECK(model(config("gemma-2-2b")).segments[0].attention.windows == Sizes{4096, 0});
  CHECK(model(config("gemma-3-12b")).segments[0].attention.windows ==
        Sizes{1024, 1024, 1024, 1024, 1024, 0});
  // 34 layers: the pattern does not come out even, and the last layers have windows.
  const arch::Segment four_b = model(config("gemma-3-4b")).segments[0];
  CHECK(arch::window_of(four_b, 29) == 0);
  CHECK(arch::window_of(four_b, 33) == 1024);
  auto value = without(config("gemma-2-2b"), "sliding_window");
  CHECK(complaint(value) ==
        "config.json: key 'sliding_window' is missing or null\n"
        "  hint: no dimension is ever assumed");
}

TEST_CASE("layer_types come before every rule") {
  auto value = with(config("gpt-oss-20b"), "num_hidden_layers", 3);
  value["layer_types"] = {"full_attention", "sliding_attention", "full_attention"};
  CHECK(model(value).segments[0].attention.windows == Sizes{0, 128});  // 0 128 0
  value["layer_types"] = {"full_attention", "full_attention", "full_attention"};
  CHECK(model(value).segments[0].attention.windows.empty());
  value.erase("layer_types");
  CHECK(model(value).segments[0].attention.windows == Sizes{128, 0});
  value["layer_types"] = {"full_attention"};
  CHECK(complaint(value) == "config.json: layer_types: must be a list of 3 layer types");
  value["layer_types"] = {"full_attention", "linear_attention", "full_attention"};
  CHECK(complaint(value) ==
        "config.json: layer_types[1]: 'linear_attention' layers cannot be read\n"
        "  hint: full_attention, sliding_attention or chunked_attention");
  auto llama = with(config("llama-3-8b"), "num_hidden_layers", 2);
  llama["layer_types"] = {"sliding_attention", "full_attention"};
  CHECK(complaint(llama) ==
        "config.json: key 'sliding_window' is missing or null\n"
        "  hint: no dimension is ever assumed");
}

TEST_CASE("Llama 4 attends in chunks where it has rotary positions") {
  const arch::Attention scout = model(config("llama-4-scout")).segments[0].attention;
  CHECK(scout.chunked);
  CHECK(scout.windows == Sizes{8192, 8192, 8192, 0});
  auto value = config("llama-4-scout");
  value["text_config"]["num_hidden_layers"] = 2;
  value["text_config"]["no_rope_layers"] = {0, 1};
  CHECK(model(value).segments[0].attention.windows == Sizes{0, 8192});
  value["text_config"]["no_rope_layers"] = Value::array();
  CHECK(model(value).segments[0].attention.windows == Sizes{8192});
  value["text_config"]["attention_chunk_size"] = nullptr;
  CHECK(model(value).segments[0].attention.windows.empty());
  CHECK(!model(value).segments[0].attention.chunked);
}

TEST_CASE("the window pattern starts anew in every segment") {
  auto value = with(config("gpt-oss-20b"), "num_hidden_layers", 5);
  value.erase("layer_types");
  const auto whole = model(value);
  REQUIRE(whole.segments.size() == 1);
  auto qwen = with(qwen_of(4), "mlp_only_layers", {0});
  qwen["sliding_window"] = 64;
  qwen["use_sliding_window"] = true;
  qwen["layer_types"] = {"full_attention", "full_attention", "sliding_attention", "full_attention"};
  const auto cut = model(qwen);
  REQUIRE(cut.segments.size() == 2);
  CHECK(cut.segments[0].attention.windows.empty());
  CHECK(cut.segments[1].attention.windows == Sizes{0, 64});  // 0 64 0
}

TEST_CASE("a window without a rule for its layers needs layer_types") {
  auto value = config("qwen1.5-moe-a2.7b");
  value["sliding_window"] = 4096;
  value["use_sliding_window"] = true;
  CHECK(complaint(value) ==
        "config.json: use_sliding_window: is true, but no key says which layers have the window\n"
        "  hint: give layer_types");
}

}  // namespace isoloop::formats
