// Which keys of a Hugging Face config change no count, whatever the family.
//
// Source: the configuration classes of the transformers library. Held by
// tests/formats/hf_warnings_test.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_reader.h"

namespace isoloop::formats {

/// Whether a key is one of some words separated by spaces.
bool is_word(std::string_view key, std::string_view words);
bool is_neutral(std::string_view key, const json::Value& value);

}  // namespace isoloop::formats
