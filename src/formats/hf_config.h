// A Hugging Face config.json as a set of keys: looked up under several names, never defaulted
// where a dimension is missing, and remembered so that the keys nobody read can be named.
//
// Source: the configuration classes of the transformers library write JSON objects whose key names
// changed over the years; null means absent. Held by tests/formats/hf_errors_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "isoloop/base.h"

namespace isoloop::formats {

/// A key and its other names. "a.b" is key b of the object a.
class Keys {
 public:
  constexpr Keys() = default;
  constexpr Keys(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) names_.at(size_++) = name;
  }
  constexpr const std::string_view* begin() const { return names_.data(); }
  constexpr const std::string_view* end() const { return names_.data() + size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr std::string_view front() const { return names_.front(); }

 private:
  std::array<std::string_view, 4> names_{};
  std::size_t size_ = 0;
};

/// A yes or no that a key may state; `otherwise` is what the model class does without one.
struct Fact {
  bool otherwise = false;
  Keys keys;
};

/// A value for every layer, or one for all of them.
class PerLayer {
 public:
  PerLayer(std::int64_t value = 0) : values_{value} {}
  explicit PerLayer(std::vector<std::int64_t> values) : values_(std::move(values)) {}
  std::int64_t at(std::int64_t layer) const {
    return values_.size() == 1 ? values_.front() : values_.at(static_cast<std::size_t>(layer));
  }

 private:
  std::vector<std::int64_t> values_;
};

class Config {
 public:
  /// Throws if `object` is not one. It must outlive this; `path` is "" for a whole file.
  Config(const json::Value& object, std::string file, std::string path);

  /// "config.json", or "config.json: text_config" for an object in it.
  std::string place() const { return fields_.where(); }
  /// "config.json: text_config.head_dim".
  std::string where(std::string_view key) const { return fields_.where(key); }
  Error error(std::string_view key, std::string message, std::string hint = {}) const {
    return fields_.error(key, std::move(message), std::move(hint));
  }
  /// The error for a dimension that is not there.
  Error missing(const Keys& keys) const;

  /// There, even if null.
  bool mentions(std::string_view key) const { return object_->contains(std::string(key)); }
  /// There and not null.
  bool states(const Keys& keys) { return use(keys).value != nullptr; }
  const json::Value* find(const Keys& keys) { return use(keys).value; }
  std::optional<Config> object(std::string_view key);

  /// A whole number >= 1; an error if it is missing.
  std::int64_t dimension(const Keys& keys);
  /// A whole number >= 0, or nothing if it is missing or null.
  std::optional<std::int64_t> whole(const Keys& keys);
  /// A number above 0, whole or not, or nothing if it is missing or null.
  std::optional<Ratio> number(const Keys& keys);
  /// A whole number >= `least` for all layers, or a list with one for each; an error if missing.
  PerLayer per_layer(const Keys& keys, std::int64_t layers, std::int64_t least);
  std::optional<std::vector<std::int64_t>> list(const Keys& keys);
  std::optional<std::string> text(const Keys& keys);
  bool fact(const Fact& fact);

  /// Marks keys as understood although nothing is read from them.
  void know(const Keys& keys);
  /// Keys that were neither read nor marked and are not null, with their values.
  std::vector<std::pair<std::string, json::Value>> rest();

 private:
  struct Use {
    json::Fields* fields;  // the object the key is in
    std::string_view key;  // its name there
    const json::Value* value = nullptr;
  };
  /// The first of the names that is there and not null.
  Use use(const Keys& keys);
  /// The same; another name with another value is an error.
  Use use_agreed(const Keys& keys);
  Use look_up(std::string_view key);

  const json::Value* object_;
  std::string file_, path_;
  json::Fields fields_;
  std::map<std::string, json::Fields, std::less<>> inner_;  // objects entered by "a.b" names
};

}  // namespace isoloop::formats
