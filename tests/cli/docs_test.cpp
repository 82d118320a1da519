// Documentation shows real output: every "$ isoloop ..." block of README.md and docs/*.md, and every
// region between <!-- isoloop ... --> and <!-- end -->, is what the program prints. Blocks of README.md
// that write files ("```sh", first line "isoloop ...") must run, one after another in one empty folder.
//
// scripts/regen_docs sets ISOLOOP_REGEN=1, which rewrites the files instead of comparing.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

namespace fs = std::filesystem;
using isoloop::test::run_cli;
using isoloop::test::words;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Output of "isoloop ARGS [| head -N]"; with head, "..." stands for the rest.
std::string output_of(const std::string& command) {
  const std::size_t pipe = command.find(" | head -");
  std::vector<std::string> args = words(command.substr(0, pipe));
  args.erase(args.begin());
  const auto ran = run_cli(args);
  std::string text = ran.out + ran.err;
  if (pipe == std::string::npos) return text;
  std::istringstream lines(text);
  std::string result, line;
  const int most = std::stoi(command.substr(pipe + 9));
  for (int i = 0; i < most && std::getline(lines, line); ++i) result += line + '\n';
  return result + (lines.peek() == EOF ? "" : "...\n");
}

/// The document with every shown output made anew.
std::string renewed(const std::string& text) {
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) {
    out += line + '\n';
    if (line.starts_with("$ isoloop")) {
      out += output_of(line.substr(2));
      while (std::getline(lines, line) && line != "```" && !line.starts_with("$ ")) continue;
      out += line + '\n';
      if (line.starts_with("$ isoloop")) FAIL("one command a block: " << line);
    } else if (line.starts_with("<!-- isoloop ")) {
      const std::string command = line.substr(5, line.rfind(" -->") - 5);
      out += output_of(command);
      while (std::getline(lines, line) && line != "<!-- end -->") continue;
      out += line + '\n';
    }
  }
  return out;
}

std::vector<fs::path> documents() {
  const fs::path root = ISOLOOP_SOURCE_DIR;
  std::vector<fs::path> result = {root / "README.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") result.push_back(entry.path());
  return result;
}

/// Runs one line of a shell block: isoloop in process, anything else by the shell. Returns its exit code.
int run_line(std::string line) {
  line = line.substr(0, line.find("  #"));
  if (!line.starts_with("isoloop ")) return std::system(line.c_str());
  const std::size_t into = line.find(" > ");
  std::vector<std::string> args = words(line.substr(0, into));
  args.erase(args.begin());
  const auto ran = run_cli(args);
  INFO(ran.err);
  CHECK(ran.err == "");
  if (into != line.npos) std::ofstream(line.substr(into + 3), std::ios::binary) << ran.out;
  return ran.code();
}

TEST_CASE("what the README tells to type works") {
  std::istringstream lines(read(fs::path(ISOLOOP_SOURCE_DIR) / "README.md"));
  const isoloop::test::TempFolder folder;
  const isoloop::test::WorkingFolder there(folder.path());
  int ran = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line != "```sh" || lines.peek() != 'i') continue;
    for (; std::getline(lines, line) && line != "```"; ++ran) {
      CAPTURE(line);
      CHECK(run_line(line) == 0);
    }
  }
  CHECK(ran >= 7);
  CHECK(fs::exists("mg/runs/600M-E64-match/looped_layers.py"));
  const std::string runs = read("mg/README.md");  // of 600M-E64: 5.1 % apart with the head
  for (const char* flops : {"| 5,216,225,280 |", "| 5,479,816,800 |"}) CHECK(runs.find(flops) != runs.npos);
  CHECK(read("pair/answer-1.json").find("\"vocab_size\": 32000") != std::string::npos);
}

TEST_CASE("documents show what the program prints") {
  const bool regenerate = std::getenv("ISOLOOP_REGEN") != nullptr;
  const isoloop::test::WorkingFolder there(ISOLOOP_SOURCE_DIR);  // commands name example files
  for (const fs::path& path : documents()) {
    CAPTURE(path.string());
    const std::string text = read(path);
    const std::string now = renewed(text);
    if (regenerate && now != text) std::ofstream(path, std::ios::binary) << now;
    if (!regenerate) CHECK_MESSAGE(now == text, "run scripts/regen_docs");
  }
}

}  // namespace
