// The self-contained Hugging Face package: config.json around an isoloop/arch/v1 document, and the
// modules that execute it, copied as they are.
//
// Source: see hf_package.h. Held by tests/formats/hf_write_test.cpp.
#include "formats/hf_package.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"

namespace isoloop::formats {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view folder = "templates/hf/";

/// What the modules refuse, said before they are written.
void refuse_unrunnable(const arch::Architecture& model, const Target& target) {
  refuse_sampled_visits(model, target);
  for (const arch::Segment& s : model.segments)
    if (s.kv_policy == arch::KvPolicy::first && s.visits.backward < s.visits.forward)
      throw cannot(target, s.name,
                   "kv_policy \"first\" with fewer backward visits: the first visit would not be "
                   "trained",
                   "back-propagate every visit, or use another policy");
}

}  // namespace

Emitted write_package(const arch::Architecture& model, const Target& target) {
  refuse_unrunnable(model, target);
  const std::string document = arch::to_json(model);
  Json config;
  config["model_type"] = package_type;
  config["architectures"] = Json::array({"IsoloopForCausalLM"});
  config["auto_map"] = {{"AutoConfig", "configuration_isoloop.IsoloopConfig"},
                        {"AutoModelForCausalLM", "modeling_isoloop.IsoloopForCausalLM"}};
  config["vocab_size"] = model.vocab;
  config["hidden_size"] = model.hidden;
  config["num_hidden_layers"] = arch::depth(model);
  config["num_attention_heads"] = model.segments.front().attention.heads;
  config["max_position_embeddings"] = model.context;
  config["tie_word_embeddings"] = model.tied;
  config["torch_dtype"] = "bfloat16";
  config["architecture"] = Json::parse(document);
  Emitted result;
  result.variant = "package";
  result.files["config.json"] = json::pretty(config);
  for (const DataFile& file : data_files())
    if (file.path.starts_with(folder))
      result.files.emplace(file.path.substr(folder.size()), file.text);
  result.notes.push_back(
      "The directory is a package of its own, to be loaded with trust_remote_code=True.");
  return result;
}

Import read_package(const json::Value& value, std::string_view file, std::string_view path,
                    std::string_view name) {
  json::Fields fields(value, std::string(file), std::string(path), json::Nulls::absent);
  const json::Value* document = fields.find("architecture");
  if (document == nullptr) throw fields.missing("architecture");
  Import result;
  result.format = "hf";
  result.family = package_type;
  result.architecture =
      arch::from_json(document->dump(), fmt::format("{}: architecture", fields.where()));
  arch::Architecture& model = result.architecture;
  if (model.name.empty()) model.name = name;
  const auto agree = [&](std::string_view key, std::int64_t expected) {
    const auto stated = fields.optional_integer(key, {0, arch::max_dimension});
    if (stated && *stated != expected)
      throw fields.error(key, fmt::format("is {}, but the architecture says {}", *stated, expected),
                         "the architecture is what is built");
  };
  agree("vocab_size", model.vocab);
  agree("hidden_size", model.hidden);
  agree("num_hidden_layers", arch::depth(model));
  if (fields.optional_boolean("tie_word_embeddings").value_or(model.tied) != model.tied)
    throw fields.error("tie_word_embeddings", "contradicts the architecture's tie_embeddings",
                       "the architecture is what is built");
  return result;
}

}  // namespace isoloop::formats
