// Recognising a configuration by its content.
//
// Source: the contract in include/isoloop/formats.h.
#include "formats/configs.h"

namespace isoloop::formats {

using test::config;
using test::import;
using test::Value;
using Texts = std::vector<std::string>;

TEST_CASE("an isoloop architecture is read as one") {
  auto original = test::model(config("qwen3-30b-a3b"));
  const Import back = read(arch::to_json(original), "a.json", "other");
  CHECK(back.format == "isoloop");
  CHECK(back.family.empty());
  CHECK(back.architecture == original);
  CHECK(back.architecture.name == "model");
  const Error error =
      test::error_of([] { read("{\"schema\": \"isoloop/arch/v1\"}", "a.json", "m"); });
  CHECK(error.kind == ErrorKind::input);
  CHECK(error.where.starts_with("a.json"));
}

TEST_CASE("every public config survives the way through isoloop's own format") {
  for (const DataFile& file : data_files()) {
    if (!file.path.starts_with("models/")) continue;
    CAPTURE(file.path);
    const auto model = read(file.text, file.path, "").architecture;
    CHECK(arch::from_json(arch::to_json(model), "a.json") == model);
  }
}

TEST_CASE("a Hugging Face config takes the name it is given") {
  const Import read = import(config("llama-3-8b"));
  CHECK(read.format == "hf");
  CHECK(read.family == "llama");
  CHECK(read.architecture.name == "model");
  CHECK(read.left_out == Texts{});
}

TEST_CASE("text_config is followed and towers are named") {
  const Import gemma = import(config("gemma-3-4b"));
  CHECK(gemma.family == "gemma3");
  CHECK(gemma.architecture.hidden == 2560);
  CHECK(gemma.left_out == Texts{"vision tower (siglip_vision_model)"});
  CHECK(import(config("llama-4-scout")).left_out == Texts{"vision tower (llama4_vision_model)"});

  // The text part alone reads to the same model.
  CHECK(import(config("gemma-3-4b")["text_config"]).architecture == gemma.architecture);
  CHECK(import(config("gemma-3-4b")["text_config"]).left_out == Texts{});

  // Without a model_type inside, the wrapper's counts; the tie may stand outside.
  auto outside = config("gemma-3-4b");
  outside["text_config"].erase("model_type");
  outside["text_config"].erase("tie_word_embeddings");
  outside["tie_word_embeddings"] = false;
  outside["audio_config"] = {{"hidden_size", 8}};
  const Import read = import(outside);
  CHECK(!read.architecture.tied);
  CHECK(read.left_out == Texts{"vision tower (siglip_vision_model)", "audio tower"});

  // A wrapper of another name around a known text model.
  Value wrapper = {{"model_type", "mistral3"}, {"text_config", config("mistral-7b-v0.1")}};
  CHECK(import(wrapper).family == "mistral");
}

TEST_CASE("a file of data/models reads as its config, with its own name") {
  const auto text = data_file("models/llama-3-8b.json");
  const Import read = formats::read(text, "llama.json", "unused");
  CHECK(read.architecture.name == "Llama 3 8B");
  CHECK(read.family == "llama");
  const Error error = test::error_of(
      [] { formats::read(R"({"schema":"isoloop/model/v1","name":"x"})", "x.json", ""); });
  CHECK(std::string(error.what()) ==
        "x.json: config: must be a Hugging Face config with a model_type");
  const Error missing = test::error_of([] {
    formats::read(R"({"schema":"isoloop/model/v1","name":"x","config":{"model_type":"llama"}})",
                  "x.json", "");
  });
  CHECK(missing.where == "x.json: config");
}

TEST_CASE("anything else is refused with a list of what is understood") {
  const char* expected =
      "x.json: not a model configuration\n"
      "  hint: understood are isoloop architectures (\"schema\": \"isoloop/arch/v1\"), Hugging "
      "Face config.json files (with \"model_type\") and Megatron-LM arguments (with "
      "--num-layers)";
  for (const char* text : {"{}", "[]", "3", "null", "{\"model_type\": 3}", "{\"schema\": \"x\"}"}) {
    CAPTURE(text);
    CHECK(std::string(test::error_of([&] { read(text, "x.json", "m"); }).what()) == expected);
  }
}

}  // namespace isoloop::formats
