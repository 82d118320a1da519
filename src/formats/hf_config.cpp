// Looking keys up in a Hugging Face config.
//
// Source: see hf_config.h. Held by tests/formats/hf_errors_test.cpp.
#include "formats/hf_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isoloop/arch.h"

namespace isoloop::formats {
namespace {

constexpr json::Range from_one{1, arch::max_dimension};
constexpr json::Range from_zero{0, arch::max_dimension};

}  // namespace

Config::Config(const json::Value& object, std::string file, std::string path)
    : object_(&object),
      file_(std::move(file)),
      path_(std::move(path)),
      fields_(object, file_, path_, json::Nulls::absent) {}

Error Config::missing(const Keys& keys) const {
  std::string hint = "no dimension is ever assumed";
  if (keys.end() - keys.begin() > 1)
    hint =
        fmt::format("also read from {}; {}", fmt::join(keys.begin() + 1, keys.end(), ", "), hint);
  return input_error(fmt::format("key '{}' is missing or null", keys.front()), fields_.where(),
                     hint);
}

Config::Use Config::look_up(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {&fields_, key, fields_.find(key)};
  const std::string_view outer = key.substr(0, dot);
  auto found = inner_.find(outer);
  if (found == inner_.end()) {
    auto object = fields_.optional_object(outer);
    if (!object) return {&fields_, key};
    found = inner_.emplace(outer, *std::move(object)).first;
  }
  const std::string_view rest = key.substr(dot + 1);
  return {&found->second, rest, found->second.find(rest)};
}

Config::Use Config::use(const Keys& keys) {
  Use used{&fields_, keys.empty() ? std::string_view() : keys.front()};
  for (const std::string_view key : keys) {
    const Use other = look_up(key);
    if (used.value == nullptr && other.value != nullptr) used = other;
  }
  return used;
}

Config::Use Config::use_agreed(const Keys& keys) {
  const Use used = use(keys);
  for (const std::string_view key : keys) {
    const Use other = look_up(key);
    if (other.value == nullptr || *other.value == *used.value) continue;
    throw other.fields->error(other.key,
                              fmt::format("differs from '{}', another name of it", used.key),
                              "keep one of the two");
  }
  return used;
}

std::optional<Config> Config::object(std::string_view key) {
  const json::Value* value = fields_.find(key);
  if (value == nullptr) return std::nullopt;
  return Config(*value, file_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

std::int64_t Config::dimension(const Keys& keys) {
  const Use used = use_agreed(keys);
  if (used.value == nullptr) throw missing(keys);
  return used.fields->integer(used.key, from_one);
}

std::optional<std::int64_t> Config::whole(const Keys& keys) {
  const Use used = use_agreed(keys);
  if (used.value == nullptr) return std::nullopt;
  return used.fields->integer(used.key, from_zero);
}

std::optional<Ratio> Config::number(const Keys& keys) {
  const Use used = use_agreed(keys);
  if (used.value == nullptr) return std::nullopt;
  if (!used.value->is_number_float()) return used.fields->integer(used.key, from_one);
  const Ratio value = parse_ratio(used.value->dump(), used.fields->where(used.key));
  if (value <= Ratio(0)) throw used.fields->error(used.key, "must be above 0");
  return value;
}

PerLayer Config::per_layer(const Keys& keys, std::int64_t layers, std::int64_t least) {
  const Use used = use_agreed(keys);
  if (used.value == nullptr) throw missing(keys);
  const json::Range range{least, arch::max_dimension};
  if (!used.value->is_array()) return PerLayer(used.fields->integer(used.key, range));
  auto values = used.fields->optional_integers(used.key, range);
  if (static_cast<std::int64_t>(values.size()) != layers) {
    throw used.fields->error(used.key,
                             fmt::format("lists {} values for {} layers", values.size(), layers),
                             "give one number, or one for each layer");
  }
  return PerLayer(std::move(values));
}

std::optional<std::vector<std::int64_t>> Config::list(const Keys& keys) {
  const Use used = use(keys);
  if (used.value == nullptr) return std::nullopt;
  return used.fields->optional_integers(used.key, from_zero);
}

std::optional<std::string> Config::text(const Keys& keys) {
  const Use used = use(keys);
  if (used.value == nullptr) return std::nullopt;
  return used.fields->text(used.key);
}

bool Config::fact(const Fact& fact) {
  const Use used = use(fact.keys);
  if (used.value == nullptr) return fact.otherwise;
  return *used.fields->optional_boolean(used.key);
}

void Config::know(const Keys& keys) {
  for (const std::string_view key : keys) look_up(key);
}

std::vector<std::pair<std::string, json::Value>> Config::rest() {
  std::vector<std::pair<std::string, json::Value>> result;
  const auto add = [&](json::Fields& fields, const std::string& before) {
    for (const std::string& key : fields.unread()) {
      if (before.empty() && inner_.contains(key)) continue;
      if (const json::Value* value = fields.find(key)) result.emplace_back(before + key, *value);
    }
  };
  add(fields_, "");
  for (auto& [key, fields] : inner_) add(fields, key + ".");
  return result;
}

}  // namespace isoloop::formats
