// What a Hugging Face config lacks or gets wrong: the full message, and that no dimension is ever
// filled in.
//
// Source: the rule that a missing dimension is an error naming its key.
#include "formats/configs.h"

namespace isoloop::formats {

using test::complaint;
using test::config;
using test::Value;
using test::with;
using test::without;

TEST_CASE("a missing dimension is named by its key and its other names") {
  CHECK(complaint(without(config("llama-3-8b"), "hidden_size")) ==
        "config.json: key 'hidden_size' is missing or null\n"
        "  hint: no dimension is ever assumed");
  CHECK(complaint(with(config("llama-3-8b"), "intermediate_size", nullptr)) ==
        "config.json: key 'intermediate_size' is missing or null\n"
        "  hint: no dimension is ever assumed");
  CHECK(complaint(without(config("mixtral-8x7b"), "num_local_experts")) ==
        "config.json: key 'num_local_experts' is missing or null\n"
        "  hint: also read from num_experts; no dimension is ever assumed");
  auto gemma = config("gemma-3-4b");
  gemma["text_config"].erase("head_dim");
  CHECK(complaint(gemma) ==
        "config.json: text_config: key 'head_dim' is missing or null\n"
        "  hint: no dimension is ever assumed");
}

// Whatever key is taken away: the config is refused by that name, or reads to the same
// architecture (the key is not needed), or the class has a rule of its own listed here.
TEST_CASE("taking a key away never changes a dimension silently") {
  const std::set<std::string> has_a_rule{"tie_word_embeddings",
                                         "sliding_window",
                                         "num_key_value_heads",
                                         "layer_types",
                                         "use_qk_norm",
                                         "attention_bias",
                                         "decoder_sparse_step",
                                         "mlp_only_layers",
                                         "norm_head",
                                         "moe_layer_freq",
                                         "num_nextn_predict_layers",
                                         "shared_intermediate_size",
                                         "use_mtp",
                                         "num_mtp_modules",
                                         "use_routing_bias",
                                         "moe_layer_end_index",
                                         "attention_chunk_size",
                                         "head_dim",
                                         "qk_norm_type",
                                         "moe_router_enable_expert_bias"};
  for (const DataFile& file : data_files()) {
    if (!file.path.starts_with("models/")) continue;
    CAPTURE(file.path);
    const Value whole = json::parse(file.text, file.path)["config"];
    const auto expected = test::model(whole);
    const bool nested = whole.contains("text_config");
    for (const auto& item : (nested ? whole["text_config"] : whole).items()) {
      CAPTURE(item.key());
      if (item.key() == "model_type" || has_a_rule.contains(item.key())) continue;
      Value cut = whole;
      (nested ? cut["text_config"] : cut).erase(item.key());
      try {
        const auto read = test::model(cut);
        CHECK(read == expected);
      } catch (const Error& error) {
        const bool inner = item.value().is_object();  // DBRX: the first key inside is missed
        CHECK((inner || std::string(error.what()).find(item.key()) != std::string::npos));
        CHECK(error.kind == ErrorKind::input);
      }
    }
  }
}

TEST_CASE("heads that do not divide the hidden size need a stated head size") {
  CHECK(complaint(with(config("llama-3-8b"), "num_attention_heads", 48)) ==
        "config.json: num_attention_heads: 48 heads do not divide the hidden size 4096\n"
        "  hint: state the head size as head_dim");
  CHECK(complaint(with(config("olmoe-1b-7b"), "num_attention_heads", 48)) ==
        "config.json: num_attention_heads: 48 heads do not divide the hidden size 2048");
}

TEST_CASE("values of the wrong kind") {
  CHECK(complaint(with(config("llama-3-8b"), "hidden_size", "4096")) ==
        "config.json: hidden_size: is \"4096\"; expected a whole number\n"
        "  hint: write 4096 without quotes");
  CHECK(complaint(with(config("llama-3-8b"), "hidden_size", 0)) ==
        "config.json: hidden_size: is 0; expected a whole number of at least 1");
  CHECK(complaint(with(config("llama-3-8b"), "tie_word_embeddings", 1)) ==
        "config.json: tie_word_embeddings: is 1; expected true or false");
  CHECK(complaint(with(config("llama-3-8b"), "num_hidden_layers", 200000)) ==
        "config.json: num_hidden_layers: 200000 layers; more than 100000 are refused");
  CHECK(complaint(with(config("dbrx"), "attn_config", 8)) ==
        "config.json: attn_config: is 8; expected an object { … }");
}

TEST_CASE("what only the whole architecture shows is reported with the file") {
  CHECK(complaint(with(config("llama-3-8b"), "num_key_value_heads", 5)) ==
        "config.json: read as segments[0].attention.kv_heads: is 5, which does not divide the 32 "
        "heads\n"
        "  hint: kv_heads can be 1, 2, 4, 8, 16, 32");
  CHECK(complaint(with(config("mixtral-8x7b"), "num_experts_per_tok", 9)) ==
        "config.json: read as segments[0].ffn.top_k: is 9, more than the 8 experts\n"
        "  hint: top_k can be 1 to 8");
}

TEST_CASE("malformed JSON has line and column") {
  const Error error = test::error_of([] { read("{\n  \"model_type\": ,\n}", "config.json", "m"); });
  CHECK(error.where == "config.json:2:17");
  CHECK(error.kind == ErrorKind::input);
}

}  // namespace isoloop::formats
