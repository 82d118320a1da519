// JSON text for people and for diffs: two-space indents, lists of plain values on one line.
//
// Held by tests/base/json_writer_test.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace isoloop::json {

/// The document with a trailing newline; fields keep their order. Throws Error (kind input) if a
/// string is not valid UTF-8, which JSON cannot hold.
std::string pretty(const nlohmann::ordered_json& document);

}  // namespace isoloop::json
