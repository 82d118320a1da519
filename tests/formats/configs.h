// Test support: the configs of data/models, to be changed and read.
//
// Source: data/models, held by tests/formats/published_counts_test.cpp.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/json_reader.h"
#include "isoloop/formats.h"
#include "support/numbers.h"

namespace isoloop::test {

using json::Value;

/// The Hugging Face config of one model.
inline Value config(std::string_view slug) {
  const std::string path = "models/" + std::string(slug) + ".json";
  return json::parse(data_file(path), path)["config"];
}

inline formats::Import import(const Value& value) {
  return formats::read(value.dump(), "config.json", "model");
}
inline arch::Architecture model(const Value& value) { return import(value).architecture; }

/// What reading a config complains of, in full.
inline std::string complaint(const Value& value) {
  return error_of([&] { import(value); }).what();
}

/// A config without one of its keys.
inline Value without(Value value, std::string_view key) {
  value.erase(std::string(key));
  return value;
}
/// A config with one key set.
inline Value with(Value value, std::string_view key, Value to) {
  value[std::string(key)] = std::move(to);
  return value;
}

}  // namespace isoloop::test
