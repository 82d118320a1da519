// The Hugging Face writer: the native class that fits exactly, else a self-contained package.
//
// Source: see hf_native.h; the package's modules lie in data/templates/hf/. Held by
// tests/formats/hf_write_test.cpp.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "formats/hf_native.h"
#include "formats/hf_package.h"
#include "formats/targets.h"

namespace isoloop::formats {
namespace {

constexpr std::string_view script_folder = "templates/train/hf/";

Emitted native(const Native& entry, const nlohmann::ordered_json& config) {
  Emitted result;
  result.variant = entry.type;
  result.files["config.json"] = json::pretty(config);
  result.notes.push_back(fmt::format(
      "The native class {} builds exactly this architecture; its activation, rotary base and "
      "router normalisation are the class's own.",
      entry.class_name));
  return result;
}

Emitted with_script(Emitted result) {
  for (const DataFile& file : data_files())
    if (file.path.starts_with(script_folder))
      result.files.emplace(file.path.substr(script_folder.size()), file.text);
  result.train = "torchrun --standalone --nproc-per-node \"${GPUS_PER_NODE:-8}\" train.py --tokens "
                 "\"${TOKENS:-tokens.bin}\"";
  return result;
}

}  // namespace

Emitted emit_hf(const arch::Architecture& model, const Target& target, const Sharding&) {
  for (const Native& entry : natives())
    if (const auto config = write_native(entry, model)) return with_script(native(entry, *config));
  return with_script(write_package(model, target));
}

Emitted emit_hf_package(const arch::Architecture& model, const Target& target, const Sharding&) {
  return with_script(write_package(model, target));
}

}  // namespace isoloop::formats
