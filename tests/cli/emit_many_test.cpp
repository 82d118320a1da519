// isoloop emit for a directory of pairs: run matrix, scripts, refusals.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_cli.h"

using namespace isoloop;
using test::run_cli;
namespace fs = std::filesystem;

TEST_CASE("emit: a whole directory of pairs") {
  const fs::path folder =
      fs::temp_directory_path() / ("isoloop-many-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string pairs = std::string(ISOLOOP_SOURCE_DIR) + "/examples/pairs";
  const std::string out = (folder / "out").string();
  auto ran =
      run_cli({"emit", pairs, "--to", "hf", "--vocab", "32000", "-o", out, "--format", "json"});
  CHECK(ran.code() == 0);
  CHECK(ran.err.empty());
  std::ifstream matrix(fs::path(out) / "runs.jsonl");
  std::vector<nlohmann::json> runs;
  for (std::string line; std::getline(matrix, line);) runs.push_back(nlohmann::json::parse(line));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["role"] == "baseline");
  CHECK(runs[0]["variant"] == "mixtral");
  CHECK(runs[1]["role"] == "match");
  CHECK(runs[1]["variant"] == "package");
  for (const auto& run : runs)
    CHECK(fs::exists(fs::path(out) / run["directory"].get<std::string>() / "config.json"));
  for (const char* file : {"run.sh", "submit.sbatch", "README.md"})
    CHECK(fs::exists(fs::path(out) / file));
  const std::string again = (folder / "again").string();
  CHECK(run_cli({"emit", pairs + "/pairs.json", "--to", "hf", "--vocab", "32000", "-o", again,
                 "--format", "json"})
            .code() == 0);
  ran =
      run_cli({"emit", pairs, "--to", "olmo", "--vocab", "32000", "-o", (folder / "no").string()});
  CHECK(ran.code() == 2);
  CHECK(ran.err.find("answer-1.json: segment 'recur': olmo cannot say loop") != std::string::npos);
  CHECK(!fs::exists(folder / "no"));
  const std::string empty = (folder / "empty").string();
  fs::create_directories(empty);
  ran = run_cli({"emit", empty, "--to", "hf", "-o", (folder / "no").string()});
  CHECK(ran.code() == 2);
  CHECK(ran.err.find("holds no architectures") != std::string::npos);
  fs::remove_all(folder);
}
