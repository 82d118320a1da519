// Where answers go: streams, files that appear whole or not at all, directories likewise.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/command.h"
#include "isoloop/base.h"

namespace isoloop::cli {

void write_answer(const Answer& answer, const Context& context);

/// Writes beside and renames. Throws Error (kind usage) if `path` exists and `force` is not set,
/// or if it cannot be written.
void write_file(const std::string& path, const std::string& text, bool force);

/// Writes all files (by path relative to `folder`) beside and renames the folder. An existing
/// folder is replaced only with `force`.
void write_folder(const std::string& folder, const std::map<std::string, std::string>& files,
                  bool force);

/// An exact number: a JSON integer if it is whole and below 2^53, otherwise a double.
nlohmann::ordered_json number(const Ratio& value);
/// A signed fraction as a double.
nlohmann::ordered_json fraction(const Ratio& value);

}  // namespace isoloop::cli
