// isoloop grid: the folder it writes checks, and options go over the grid's own settings.
#include <doctest/doctest.h>

#include "support/json_keys.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;

TEST_CASE("the folder holds configs, manifest and README, and checks") {
  const TempFolder folder;
  REQUIRE(run_cli({"grid", "smelt", "-o", folder / "out"}).code() == 0);
  std::size_t configs = 0;
  for (const std::string& line : folder.listing()) configs += line.starts_with("out/configs/") && line.find(".json: ") != line.npos;
  CHECK(configs == 16 + 12 + 16);
  CHECK(folder.read("out/README.md").starts_with("## SMELT"));
  const Json j = run_json({"check", folder / "out/pairs.json"});
  CHECK(at(j, "/pairs").size() == 16);
  CHECK(at(j, "/ok") == true);
}

TEST_CASE("the data type alone does not change the grid's convention") {
  const std::string text = run_cli(words("grid smelt --dtype fp8")).out;
  CHECK(text.find("Convention 'smelt', T = 392") != text.npos);
  CHECK(run_cli(words("grid smelt --context 8192")).out.find("Convention 'smelt'") != text.npos);
}

TEST_CASE("--compare writes no folder") {
  const TempFolder folder;
  const auto ran = run_cli({"grid", "smelt", "--compare", "-o", folder / "out"});
  CHECK(ran.code() == 2);
  CHECK(ran.err == "isoloop: -o: --compare writes no folder\n  hint: leave one of the two out\n");
  CHECK(folder.listing().empty());
}

}  // namespace
