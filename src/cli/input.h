// Arguments that name an architecture: a file, "-", or a built-in model.
#pragma once

#include <cstddef>
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
/// Reads a file, whatever its name looks like.
Loaded load_file(const std::string& path, const Context& context);
/// What a file is expected to be: far smaller than `mebibytes`, and what to do where it is not there
/// or larger.
struct Reading {
  std::size_t mebibytes;
  const char* absent;
  const char* too_large;
};
inline constexpr Reading configuration = {
    64, "name a file that exists and is readable; isoloop list models shows the built-in models",
    "a configuration has a few kilobytes"};

/// Whole text of a file, or of stdin for "-". Throws Error (kind usage) if it cannot be read, or is
/// larger than `reading` expects.
std::string read_text(const std::string& path, const Context& context,
                      const Reading& reading = configuration);
/// The same for what a command wrote with --format json; a front of many designs is large.
std::string read_result(const std::string& path, const Context& context);

/// Runs `f`; an Error of it that names no place (an overflow, say) is about `where`.
template <class F>
auto about(const std::string& where, F f) {
  try {
    return f();
  } catch (const Error& error) {
    if (!error.where.empty() || error.kind == ErrorKind::internal) throw;
    throw Error(error.kind, error.message, where, error.hint);
  }
}

}  // namespace isoloop::cli
