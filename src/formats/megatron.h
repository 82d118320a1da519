// Megatron-LM's arguments as text and back: a list of flags with values.
//
// Source: megatron/training/arguments.py and megatron/core/transformer/transformer_config.py of
// NVIDIA/Megatron-LM, whose flags these are. Held by tests/formats/megatron_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/targets.h"

namespace isoloop::formats {

/// A flag with its value; an empty value is a switch.
using Argument = std::pair<std::string, std::string>;
using Arguments = std::vector<Argument>;

/// Where a flag was found and what it says.
struct Flag {
  std::string value;  // "" or "true" for a switch
  std::size_t line = 0;
};
using Flags = std::map<std::string, Flag, std::less<>>;  // by name without dashes: "num-layers"

/// Whether a text that is not JSON looks like Megatron arguments.
bool is_megatron(std::string_view text);
/// Flags of a shell script, a command line or YAML. Throws Error (kind input) with file and line
/// for an open quote, or a flag given twice with different values.
Flags parse_flags(std::string_view text, std::string_view file);
Import read_megatron(std::string_view text, std::string_view file, std::string_view name);

/// "([0]*3+[1]*58)" and back: one number for each layer.
std::string pattern_text(const std::vector<std::int64_t>& pattern);
/// Reads lists, +, * and parentheses; throws Error (kind input) at `where`.
std::vector<std::int64_t> parse_pattern(std::string_view text, std::string_view where);

}  // namespace isoloop::formats
