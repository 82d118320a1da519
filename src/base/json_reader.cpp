// Typed access to the fields of a JSON object; every refusal says where, what and what instead.
//
// Held by tests/base/json_reader_test.cpp.
#include "base/json_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace isoloop::json {
namespace {

// A value short enough for a message.
std::string shown(const Value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  constexpr std::size_t longest = 60;
  std::string text = value.dump();
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

Error wrong_type(std::string where, const Value& value, std::string_view expected,
                 std::string hint = {}) {
  return input_error(fmt::format("is {}; expected {}", shown(value), expected), std::move(where),
                     std::move(hint));
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Why `value` is no whole number, and how it would be written as one.
Error not_whole(std::string where, const Value& value) {
  std::string hint;
  if (value.is_string() && is_digits(value.get_ref<const std::string&>())) {
    hint = fmt::format("write {} without quotes", value.get_ref<const std::string&>());
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) < 1e15) {
      hint = fmt::format("write {:.0f}", number);
    }
  }
  return wrong_type(std::move(where), value, "a whole number", hint);
}

std::int64_t whole(std::string where, const Value& value, Range range) {
  constexpr double beyond = 9.2e18;  // integers past 64 bits arrive as floating point
  if (value.is_number_float() && std::abs(value.get<double>()) > beyond) {
    throw out_of_range(std::move(where), fmt::format("{:g}", value.get<double>()),
                       value.get<double>() < 0, range);
  }
  if (!value.is_number_integer()) throw not_whole(std::move(where), value);
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) {
    throw out_of_range(std::move(where), shown(value), false, range);
  }
  const auto number = value.get<std::int64_t>();
  if (!in_range(number, range)) {
    throw out_of_range(std::move(where), shown(value), number < range.least, range);
  }
  return number;
}

Ratio exact(std::string where, const Value& value) {
  if (value.is_number_integer()) return whole(std::move(where), value, {INT64_MIN, INT64_MAX});
  if (!value.is_string()) {
    throw wrong_type(std::move(where), value, "a whole number or an exact ratio in quotes",
                     "for example 2 or \"5/2\"");
  }
  return parse_ratio(value.get_ref<const std::string&>(), where);
}

std::string string_of(std::string where, const Value& value) {
  if (!value.is_string()) throw wrong_type(std::move(where), value, "text in quotes");
  return value.get<std::string>();
}

}  // namespace

Error out_of_range(std::string where, std::string_view found, bool too_small, Range range) {
  return input_error(
      fmt::format("is {}; expected a whole number of at {} {}", found, too_small ? "least" : "most",
                  too_small ? range.least : range.most),
      std::move(where));
}

Fields::Fields(const Value& value, std::string file, std::string path, Nulls nulls)
    : value_(&value), file_(std::move(file)), path_(std::move(path)), nulls_(nulls) {
  if (!value.is_object()) throw wrong_type(where(), value, "an object { … }");
}

void Fields::allow_only(std::span<const std::string_view> names) const {
  for (const auto& item : value_->items()) {
    if (std::find(names.begin(), names.end(), item.key()) != names.end()) continue;
    const std::vector<std::string> candidates(names.begin(), names.end());
    throw unknown_name(ErrorKind::input, "field", item.key(), candidates, where());
  }
}

void Fields::finish() const {
  const std::vector<std::string> rest = unread();
  if (rest.empty()) return;
  const std::vector<std::string> candidates(known_.begin(), known_.end());
  throw unknown_name(ErrorKind::input, "field", rest.front(), candidates, where());
}

std::vector<std::string> Fields::unread() const {
  std::vector<std::string> names;
  for (const auto& item : value_->items()) {
    if (!known_.contains(item.key())) names.push_back(item.key());
  }
  return names;
}

const Value* Fields::find(std::string_view key) {
  known_.emplace(key);
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return nullptr;
  if (found->is_null() && nulls_ == Nulls::absent) return nullptr;
  return &*found;
}

const Value* Fields::array(std::string_view key) {
  const Value* value = find(key);
  if (value != nullptr && !value->is_array()) {
    throw wrong_type(where(key), *value, "a list [ … ]");
  }
  return value;
}

std::optional<std::int64_t> Fields::optional_integer(std::string_view key, Range range) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  return whole(where(key), *value, range);
}

std::int64_t Fields::integer(std::string_view key, Range range) {
  if (const auto value = optional_integer(key, range)) return *value;
  throw missing(key);
}

std::vector<std::int64_t> Fields::optional_integers(std::string_view key, Range range) {
  std::vector<std::int64_t> result;
  if (const Value* list = array(key)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      result.push_back(whole(where(fmt::format("{}[{}]", key, i)), (*list)[i], range));
    }
  }
  return result;
}

std::optional<bool> Fields::optional_boolean(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) throw wrong_type(where(key), *value, "true or false");
  return value->get<bool>();
}

std::optional<std::string> Fields::optional_text(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  return string_of(where(key), *value);
}

std::string Fields::text(std::string_view key) {
  if (auto value = optional_text(key)) return *std::move(value);
  throw missing(key);
}

std::vector<std::string> Fields::optional_texts(std::string_view key) {
  std::vector<std::string> result;
  if (const Value* list = array(key)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      result.push_back(string_of(where(fmt::format("{}[{}]", key, i)), (*list)[i]));
    }
  }
  return result;
}

std::optional<double> Fields::optional_number(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) throw wrong_type(where(key), *value, "a number");
  return value->get<double>();
}

double Fields::number(std::string_view key) {
  if (const auto value = optional_number(key)) return *value;
  throw missing(key);
}

std::optional<Ratio> Fields::optional_ratio(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  return exact(where(key), *value);
}

Ratio Fields::ratio(std::string_view key) {
  if (const auto value = optional_ratio(key)) return *value;
  throw missing(key);
}

std::optional<Fields> Fields::optional_object(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  return Fields(*value, file_, child(key), nulls_);
}

Fields Fields::object(std::string_view key) {
  if (auto value = optional_object(key)) return *std::move(value);
  throw missing(key);
}

std::vector<Fields> Fields::optional_objects(std::string_view key) {
  std::vector<Fields> result;
  if (const Value* list = array(key)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      result.emplace_back((*list)[i], file_, child(fmt::format("{}[{}]", key, i)), nulls_);
    }
  }
  return result;
}

std::string Fields::child(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

std::string Fields::where() const {
  return path_.empty() ? file_ : fmt::format("{}: {}", file_, path_);
}

std::string Fields::where(std::string_view key) const {
  return fmt::format("{}: {}", file_, child(key));
}

Error Fields::error(std::string_view key, std::string message, std::string hint) const {
  return input_error(std::move(message), where(key), std::move(hint));
}

Error Fields::missing(std::string_view key) const {
  return input_error(fmt::format("field '{}' is missing", key), where());
}

}  // namespace isoloop::json
