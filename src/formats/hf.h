// The Hugging Face config.json reader.
//
// Source: see hf_families.h. Held by tests/formats/published_counts_test.cpp.
#pragma once

#include "base/json_reader.h"
#include "isoloop/formats.h"

namespace isoloop::formats {

/// Whether an object is meant as a Hugging Face config.
bool is_hf(const json::Value& value);
/// `path` is where in `file` the config is, "" for the whole file.
Import read_hf(const json::Value& value, std::string_view file, std::string_view path,
               std::string_view name);

}  // namespace isoloop::formats
