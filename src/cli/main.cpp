// The program: hands arguments and streams to cli::run.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "isoloop/cli.h"

namespace {

std::atomic<bool> signal_came{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a handler may write it

/// Notes the first SIGINT or SIGTERM; the second ends the program as usual.
bool interrupted() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = [](int) { signal_came = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  return installed && signal_came;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const bool colour = std::getenv("NO_COLOR") == nullptr;
  isoloop::cli::Streams streams{std::cin, std::cout, std::cerr};
  streams.out_is_terminal = colour && isatty(STDOUT_FILENO) == 1;
  streams.err_is_terminal = isatty(STDERR_FILENO) == 1;
  streams.interrupted = interrupted;
  winsize size{};
  if (streams.out_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    streams.width = std::clamp<int>(size.ws_col, 60, 120);
  return static_cast<int>(isoloop::cli::run({argv + 1, argv + argc}, streams));
}
