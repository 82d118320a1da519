// Where answers go: streams, files that appear whole or not at all, directories likewise.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/command.h"
#include "isoloop/base.h"

namespace isoloop::cli {

void write_answer(const Answer& answer, const Context& context);

/// Throws Error (kind usage) now for what would make write_file() or write_folder() fail later, so
/// that a command that cannot deliver its answer does not begin. Nothing is left behind.
void check_file(const std::string& path, bool force);
void check_folder(const std::string& folder, bool force);

/// Writes beside and renames; a link is followed. Throws Error (kind usage) if `path` exists and `force` is not set,
/// or if it cannot be written.
void write_file(const std::string& path, const std::string& text, bool force);

/// Writes all files (by path relative to `folder`) beside and renames the folder. A folder that is
/// not empty is replaced only with `force`, and only if isoloop wrote what it holds.
void write_folder(const std::string& folder, const std::map<std::string, std::string>& files,
                  bool force);

/// A JSON integer, exact, if the number is whole and fits 64 bits, otherwise a double.
nlohmann::ordered_json number(const Ratio& value);
/// A signed fraction as a double.
nlohmann::ordered_json fraction(const Ratio& value);

}  // namespace isoloop::cli
