// The self-contained Hugging Face package (model_type isoloop): written and read.
//
// Source: data/templates/hf/, which executes an isoloop/arch/v1 document. Held by
// tests/formats/hf_write_test.cpp.
#pragma once

#include <string_view>

#include "base/json_reader.h"
#include "formats/targets.h"

namespace isoloop::formats {

inline constexpr std::string_view package_type = "isoloop";

Emitted write_package(const arch::Architecture& model, const Target& target);
/// Reads its config.json; flat keys that contradict the architecture are an error.
Import read_package(const json::Value& value, std::string_view file, std::string_view path,
                    std::string_view name);

}  // namespace isoloop::formats
