// Arguments that name an architecture: a file, "-", or a built-in model.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "isoloop/formats.h"

namespace isoloop::cli {

struct BuiltIn {
  std::string name, title, kind, source;
};
/// Names and origins of every built-in model, grids included.
std::vector<BuiltIn> built_in_models();

struct Loaded {
  arch::Architecture architecture;
  std::string format, family;
  std::vector<std::string> left_out;
  /// Published figures of a built-in model: checkpoint size and what it holds beside the model.
  Int published_stored = 0;
  std::vector<std::pair<std::string, Int>> stored_extras;
};

/// Reads an ARCH argument; warnings of the reader go to stderr.
Loaded load(const std::string& argument, const Context& context);
/// Whole text of a file, or of stdin for "-". Throws Error (kind usage) if it cannot be read.
std::string read_text(const std::string& path, const Context& context);

}  // namespace isoloop::cli
