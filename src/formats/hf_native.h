// The Hugging Face classes that configs are written for.
//
// Source: the modeling classes of the transformers library. Held by
// tests/formats/hf_write_test.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "formats/hf_families.h"

namespace isoloop::formats {

/// A class of the library itself. Its keys are those of its family in hf_families.cpp; this adds
/// what only a writer needs.
struct Native {
  std::string_view type;        // model_type, an entry of the table of families
  std::string_view class_name;  // of the causal language model
  std::string_view constants;   // JSON object: keys the class needs although they change no count
};

/// In the order they are tried: plain classes first.
std::span<const Native> natives();

/// The config.json of a native class if it says exactly this architecture: what is written is read
/// back and compared.
std::optional<nlohmann::ordered_json> write_native(const Native& native,
                                                   const arch::Architecture& model);

}  // namespace isoloop::formats
