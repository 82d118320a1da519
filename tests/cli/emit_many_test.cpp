// isoloop emit for a directory of pairs: run matrix, scripts, refusals.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_cli.h"
#include "support/temp_folder.h"

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
  CHECK(ran.err ==
        "isoloop: warning: 1 model that a native class fits is written as a package, so that both "
        "sides of a pair are trained by the same code\n");
  std::ifstream matrix(fs::path(out) / "runs.jsonl");
  std::vector<nlohmann::json> runs;
  for (std::string line; std::getline(matrix, line);) runs.push_back(nlohmann::json::parse(line));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["role"] == "baseline");
  CHECK(runs[0]["variant"] == "package");
  CHECK(runs[1]["role"] == "match");
  CHECK(runs[1]["variant"] == "package");
  for (const auto& run : runs)
    CHECK(fs::exists(fs::path(out) / run["directory"].get<std::string>() / "config.json"));
  for (const char* file : {"run.sh", "submit.sbatch", "README.md"})
    CHECK(fs::exists(fs::path(out) / file));
  // Counted as the manifest counts, so the pair is as far apart as check says.
  const auto checked = nlohmann::json::parse(
      run_cli({"check", pairs + "/pairs.json", "--format", "json"}).out)["pairs"][0];
  CHECK(runs[1]["convention"] == "causal");
  CHECK(runs[1]["mismatch"]["params"] == checked["mismatch"]["params"]);
  CHECK(runs[1]["mismatch"]["kv"] == checked["mismatch"]["kv"]);
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

TEST_CASE("emit: a vocabulary that unmakes a pair is said, and so is a model given twice") {
  const test::TempFolder folder;
  const std::string sweep = folder / "sweep", out = folder / "out";
  REQUIRE(run_cli({"sweep", "smelt-200m-e192", "--span", "0,6", "--controls", "--tol",
                   "flops=1%,params=2%", "-o", sweep})
              .code() == 0);
  const auto ran = run_cli(
      {"emit", sweep, "--to", "megatron", "--vocab", "400000", "-o", out, "--format", "json"});
  CHECK(ran.code() == 0);
  CHECK(ran.err.find("smelt-200m-e192-d12-plain is the same model as smelt-200m-e192: written once") !=
        std::string::npos);
  CHECK(ran.err.find("smelt-200m-e192-d12-s6x2 is no longer equal to its baseline: flops ") !=
        std::string::npos);
  CHECK(ran.err.find("(tolerance 1 %); state vocab_size in the baseline's file before matching") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(ran.out);
  std::string roles;
  for (const auto& run : json["runs"]) roles += run["role"].get<std::string>() + " ";
  CHECK(roles == "baseline match control control ");
}
