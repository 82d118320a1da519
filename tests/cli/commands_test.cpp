// What every command has in common: the first screen, --help, an example that runs, and the same
// bytes on every run.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "cli/command.h"
#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

using isoloop::cli::commands;
using isoloop::test::run_cli;
using isoloop::test::TempFolder;
using isoloop::test::words;
using isoloop::test::WorkingFolder;

std::vector<std::string> arguments(std::string_view line) {
  std::vector<std::string> args = words(std::string(line));
  args.erase(args.begin());  // the program's name
  return args;
}

TEST_CASE("the first screen is five lines whose commands run") {
  const TempFolder folder;
  const WorkingFolder there(folder.path());
  const auto ran = run_cli({});
  CHECK(ran.code() == 0);
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 5);
  std::istringstream lines(ran.out);
  int run = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  isoloop ")) continue;
    CAPTURE(line);
    CHECK(run_cli(arguments(line.substr(2, line.find("   ", 2) - 2))).code() == 0);
    ++run;
  }
  CHECK(run == 3);
}

TEST_CASE("--help of every command shows its example, in the words of the project") {
  for (const auto& command : commands()) {
    CAPTURE(command.name);
    const auto ran = run_cli({std::string(command.name), "--help"});
    CHECK(ran.code() == 0);
    CHECK(ran.err == "");
    CHECK(ran.out.find(command.example) != ran.out.npos);
    for (const char* jargon : {"TEXT", "INT", "REQUIRED", "Positionals", "SUBCOMMAND"})
      CHECK(ran.out.find(jargon) == ran.out.npos);
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= 120);
    }
  }
  for (const char* option : {"--help", "-h", "--version"}) CHECK(run_cli({option}).code() == 0);
}

/// Runs on a grid of sizes and budgets that follow a law exactly.
std::string synthetic_runs() {
  std::string text = "F,D,S,L,cell\n";
  int cell = 0;
  for (const double f : {1e8, 4e8, 1.6e9, 6e9})
    for (const double s : {0.85, 0.95}) {
      ++cell;
      for (const double d : {5e9, 2e10, 8e10, 2e11}) {
        const double loss = 1.45 + 1400 * std::pow(1 - s, 0.153) / std::pow(f, 0.37) + 2e6 / std::pow(d, 0.66);
        text += fmt::format("{},{},{},{:.12f},run{}\n", f, d, s, loss, cell);
      }
    }
  return text;
}

TEST_CASE("every example runs") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  folder.write("config.json", R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
    "tie_word_embeddings": true})");
  folder.write("runs.csv", synthetic_runs());
  REQUIRE(run_cli(words("grid smelt -o grid-out")).code() == 0);
  REQUIRE(run_cli(words("grid smelt --format json --output grid.json")).code() == 0);
  for (const char* i : {"1", "2"})
    REQUIRE(run_cli(words(fmt::format("explore smelt-200m-e192 --fix depth=12 --shard {0}/2 --format json "
                                      "--output shard-{0}.json", i))).code() == 0);
  for (const auto& command : commands()) {
    CAPTURE(command.example);
    const auto ran = run_cli(arguments(command.example));
    CHECK(ran.code() == 0);
    CHECK(ran.err == "");
  }
}

TEST_CASE("the same bytes on every run") {
  for (const char* line : {"count qwen3-30b-a3b --rows --convention all", "explain deepseek-v3 --format json",
                           "match smelt-200m-e192 --top 3 --format json", "grid smelt --format json",
                           "import ouro-1.4b", "list models --format json", "man"}) {
    CAPTURE(line);
    const auto first = run_cli(words(line)), second = run_cli(words(line));
    CHECK(first.code() == 0);
    CHECK(first.out == second.out);
    CHECK(first.err == second.err);
  }
}

}  // namespace
