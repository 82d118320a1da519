// isoloop man and isoloop completion come from the table of commands: every command and every
// option appears. tests/completion_test.sh runs the bash completion itself.
#include <doctest/doctest.h>

#include "cli/command.h"
#include "support/run_cli.h"

namespace {

using isoloop::cli::commands;
using isoloop::test::run_cli;

TEST_CASE("the manual names every command and its example") {
  const auto ran = run_cli({"man"});
  CHECK(ran.code() == 0);
  CHECK(ran.out.starts_with(".TH ISOLOOP 1"));
  for (const auto& command : commands()) {
    CAPTURE(command.name);
    CHECK(ran.out.find("\n.SS " + std::string(command.name) + "\n") != ran.out.npos);
  }
  CHECK(ran.out.find("\\-\\-kv\\-dtype") != ran.out.npos);
}

TEST_CASE("completion for three shells names every command") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    CAPTURE(shell);
    const auto ran = run_cli({"completion", shell});
    CHECK(ran.code() == 0);
    for (const auto& command : commands()) CHECK(ran.out.find(command.name) != ran.out.npos);
    CHECK(ran.out.find(shell == std::string("fish") ? "-l kv-dtype" : "--kv-dtype") != ran.out.npos);
  }
}

}  // namespace
