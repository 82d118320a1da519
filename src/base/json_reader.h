// Reading JSON strictly: positions for malformed text, paths for wrong fields.
//
// parse() turns text into a value or says file:line:column. Fields wraps one object of it, hands
// out typed values, and knows the path of every field, so that each complaint says where, what
// and what instead. Right by RFC 8259; duplicate names, which the RFC leaves open, are refused.
//
// Held by tests/base/json_reader_test.cpp.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/base.h"

namespace isoloop::json {

using Value = nlohmann::json;

/// Throws Error (kind input) at "file:line:column" (1-based, columns in characters) if the text is
/// not one JSON document, names a field twice in an object, or nests deeper than 100 levels.
Value parse(std::string_view text, std::string_view file);

/// Bounds of a whole number, both included.
struct Range {
  std::int64_t least, most;
};

/// "is 0; expected a whole number of at least 1" at `where`; `found` is the value as text.
Error out_of_range(std::string where, std::string_view found, bool too_small, Range range);

/// Apart from out_of_range, so that a place is only spelt out when something is wrong.
inline bool in_range(std::int64_t value, Range range) {
  return range.least <= value && value <= range.most;
}

/// What a null means: most formats of ours have none, foreign ones write it for "absent".
enum class Nulls { refuse, absent };

/// One object of a parsed document, which must outlive it. Getters named optional_* return nothing
/// when the field is missing; the others throw. Every name asked for counts as known.
class Fields {
 public:
  /// Throws if `value` is not an object. `path` is "" for the document itself.
  Fields(const Value& value, std::string file, std::string path = {}, Nulls nulls = Nulls::refuse);

  /// Throws on the first field not in `names`, naming the nearest one. Called before any getter,
  /// so that a misspelt name is reported as such and not as a missing field.
  void allow_only(std::span<const std::string_view> names) const;
  /// Throws on the first field that no getter asked for; the alternative to allow_only.
  void finish() const;
  /// Names of the fields no getter asked for.
  std::vector<std::string> unread() const;

  /// The raw value, or null if absent.
  const Value* find(std::string_view key);
  bool has(std::string_view key) { return find(key) != nullptr; }

  std::int64_t integer(std::string_view key, Range range);
  std::optional<std::int64_t> optional_integer(std::string_view key, Range range);
  std::vector<std::int64_t> optional_integers(std::string_view key, Range range);
  std::optional<bool> optional_boolean(std::string_view key);
  std::string text(std::string_view key);
  std::optional<std::string> optional_text(std::string_view key);
  std::vector<std::string> optional_texts(std::string_view key);
  double number(std::string_view key);
  std::optional<double> optional_number(std::string_view key);
  /// A whole number, or an exact ratio as a string: 3, "5/2", "0.25".
  Ratio ratio(std::string_view key);
  std::optional<Ratio> optional_ratio(std::string_view key);
  Fields object(std::string_view key);
  std::optional<Fields> optional_object(std::string_view key);
  /// A list of objects; missing means none.
  std::vector<Fields> optional_objects(std::string_view key);

  /// "file" or "file: path", of this object or of one of its fields.
  std::string where() const;
  std::string where(std::string_view key) const;
  /// An error (kind input) about a field.
  Error error(std::string_view key, std::string message, std::string hint = {}) const;
  Error missing(std::string_view key) const;

 private:
  std::string child(std::string_view key) const;
  const Value* array(std::string_view key);

  const Value* value_;
  std::string file_, path_;
  Nulls nulls_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace isoloop::json
