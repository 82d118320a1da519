// The program: hands arguments and streams to cli::run.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "isoloop/cli.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const bool colour = std::getenv("NO_COLOR") == nullptr;
  isoloop::cli::Streams streams{std::cin, std::cout, std::cerr};
  streams.out_is_terminal = colour && isatty(STDOUT_FILENO) == 1;
  streams.err_is_terminal = isatty(STDERR_FILENO) == 1;
  winsize size{};
  if (streams.out_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    streams.width = std::clamp<int>(size.ws_col, 60, 120);
  return static_cast<int>(isoloop::cli::run({argv + 1, argv + argc}, streams));
}
