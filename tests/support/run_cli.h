// Test support: runs the program in process and returns what it printed.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "isoloop/cli.h"

namespace isoloop::test {

struct Ran {
  cli::ExitCode exit;
  std::string out, err;
  int code() const { return static_cast<int>(exit); }
};

inline Ran run_cli(const std::vector<std::string>& args, const std::string& input = {}) {
  std::istringstream in(input);
  std::ostringstream out, err;
  const cli::ExitCode exit = cli::run(args, {in, out, err});
  return {exit, out.str(), err.str()};
}

/// Splits a command line at spaces; double quotes hold words together.
inline std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> result;
  std::string word;
  bool quoted = false, any = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any) result.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any) result.push_back(word);
  return result;
}

}  // namespace isoloop::test
