// Recognises a configuration by its content and hands it to the reader of its format.
//
// Source: the "schema" field of isoloop's own files; the "model_type" key every Hugging Face config
// has; the argument Megatron-LM cannot run without. Held by tests/formats/read_test.cpp.
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "formats/hf.h"
#include "formats/megatron.h"

namespace isoloop::formats {
namespace {

std::string schema_of(const json::Value& value) {
  const auto found = value.find("schema");
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Import read_isoloop(std::string_view text, std::string_view file, std::string_view name) {
  Import result;
  result.format = "isoloop";
  result.architecture = arch::from_json(text, file);
  if (result.architecture.name.empty()) result.architecture.name = name;
  return result;
}

/// A file of data/models: a Hugging Face config with its published counts.
Import read_model(const json::Value& value, std::string_view file) {
  json::Fields fields(value, std::string(file));
  const std::string name = fields.text("name");
  const json::Value* config = fields.find("config");
  if (config == nullptr || !is_hf(*config))
    throw fields.error("config", "must be a Hugging Face config with a model_type");
  return read_hf(*config, file, "config", name);
}

}  // namespace

Import read(std::string_view text, std::string_view file, std::string_view name) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool is_object = begin != std::string_view::npos && text[begin] == '{';
  if (!is_object && is_megatron(text)) return read_megatron(text, file, name);
  const json::Value value = json::parse(text, file);
  const std::string schema = value.is_object() ? schema_of(value) : std::string();
  if (schema.starts_with("isoloop/arch")) return read_isoloop(text, file, name);
  if (schema.starts_with("isoloop/model")) return read_model(value, file);
  if (is_hf(value)) return read_hf(value, file, "", name);
  throw input_error("not a model configuration", std::string(file),
                    "understood are isoloop architectures (\"schema\": \"isoloop/arch/v1\"), "
                    "Hugging Face config.json files (with \"model_type\") and Megatron-LM "
                    "arguments (with --num-layers)");
}

}  // namespace isoloop::formats
