// cli: the program as a function of its arguments and streams.
//
// run() is all of `isoloop`; main() only calls it, so tests drive commands in process.
// Held by tests/cli/*_test.cpp.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace isoloop::cli {

enum class ExitCode {
  done = 0,
  no = 1,        // ran, and the answer is no: out of budget, infeasible
  usage = 2,     // bad usage or bad input; nothing was written
  internal = 3,  // a fault of isoloop
};

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;  // colour and line width
  bool err_is_terminal = false;  // progress
  int width = 100;
  /// Whether the program was asked to end (Ctrl-C). The first call asks for that to be noted instead
  /// of ending it at once; a command that never calls it ends as usual. Absent: never.
  std::function<bool()> interrupted = {};
};

/// `args` without the program's name.
ExitCode run(const std::vector<std::string>& args, const Streams& streams);

}  // namespace isoloop::cli
