// isoloop sweep: its table, files and refusals.
//
// Source: the losses printed in arXiv 2609.01343; the files must pass isoloop check.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;
using nlohmann::json;

/// Paragraphs are broken at a width.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

TEST_CASE("the paper's span sweep shows its losses beside the matches") {
  const auto ran = run_cli({"sweep", "paper-span"});
  CHECK(ran.code() == 0);
  CHECK(ran.err == "");
  for (const char* text : {"smelt-200m-e64, S = 0.85", "smelt-200m-e192, S = 0.95", "3+6x2+3",
                           "1.9257", "27.57 ± 0.13", "14 of 14 members within tolerance"})
    CHECK(ran.out.find(text) != ran.out.npos);
}

TEST_CASE("a sweep writes configs, a manifest that checks, and one line a run") {
  const TempFolder folder;
  const auto ran =
      run_cli({"sweep", "smelt-200m-e64", "--span", "4,6", "--convention", "smelt", "--align",
               "paper", "--tol", "flops=2%,params=2%", "-o", folder / "s", "--format", "json"});
  CHECK(ran.code() == 0);
  const json result = json::parse(ran.out);
  CHECK(result["schema"] == "isoloop/sweep/v1");
  const json& members = result["series"][0]["members"];
  REQUIRE(members.size() == 2);
  CHECK(members[0]["name"] == "d12-s4x2");
  CHECK(members[0]["optimal"] == true);
  CHECK(members[0]["space"]["points"].is_string());
  CHECK(run_cli({"check", folder / "s/pairs.json"}).code() == 0);
  std::istringstream runs(folder.read("s/runs.jsonl"));
  std::vector<std::string> names;
  for (std::string line; std::getline(runs, line);) {
    const json run = json::parse(line);
    names.push_back(run["name"]);
    CHECK(run_cli({"count", folder / ("s/" + run["config"].get<std::string>())}).code() == 0);
  }
  CHECK(names == std::vector<std::string>{"smelt-200m-e64", "smelt-200m-e64-d12-s4x2",
                                          "smelt-200m-e64-d12-s6x2"});
}

TEST_CASE(
    "controls are members of their own: checked on the budgets they share with the baseline") {
  const TempFolder folder;
  const auto ran = run_cli({"sweep", "smelt-200m-e64", "--span", "2,6", "--convention", "smelt",
                            "--align", "paper", "--tol", "flops=2%,params=2%", "--controls", "-o",
                            folder / "s", "--format", "json"});
  CHECK(ran.code() == 0);
  const json result = json::parse(ran.out);
  const json& members = result["series"][0]["members"];
  REQUIRE(members.size() == 4);
  CHECK(members[2]["control"] == "control-experts");
  CHECK(members[3]["control"] == "control-params");
  CHECK(members[3]["target_of_baseline"]["params"] == 1.5);
  CHECK(folder.read("s/runs.jsonl").find(R"("role":"control")") != std::string::npos);
  const auto checked = run_cli({"check", folder / "s/pairs.json", "--format", "json"});
  CHECK(checked.code() == 0);
  CHECK(!json::parse(checked.out)["pairs"][3]["tolerance"].contains("params"));
  CHECK(run_cli({"sweep", "smelt-200m-e64", "--span", "0", "--controls"}).err ==
        "isoloop: --controls: 'smelt-200m-e64' has no looped member with experts to control\n"
        "  hint: controls need experts and a budget of params\n");
}

TEST_CASE("members that cannot be matched stay in the table") {
  const auto ran = run_cli({"sweep", "smelt-200m-e64", "--span", "6", "--align", "tensor-core"});
  CHECK(ran.code() == 0);
  CHECK(ran.out.find("nearest miss: kv") != ran.out.npos);
  CHECK(ran.out.find("0 of 1 members within tolerance") != ran.out.npos);
}

TEST_CASE("members that miss are named, counted, and not among the files") {
  const TempFolder folder;
  const std::vector<std::string> asked = {"sweep", "smelt-200m-e192", "--span", "4,8", "--visits",
                                          "2,3",   "--controls"};
  auto writing = asked;
  writing.insert(writing.end(), {"-o", folder / "s"});
  const auto text = run_cli(writing);
  CHECK(text.code() == 0);
  const std::string out = one_line(text.out);
  CHECK(out.find("3 members are outside tolerance and not written: d12-s4x3, d12-s8x2, d12-s8x3. "
                 "--tol kv=4.2% admits the nearest misses shown; --free KEY, e.g. --free top-k, "
                 "searches a larger space.") != out.npos);
  CHECK(
      out.find("Their mismatch is relative to the baseline's budgets; params of control-params to "
               "the baseline's times the factor shown.") != out.npos);
  CHECK(folder.read("s/README.md").find("d12-s8x3") != std::string::npos);
  CHECK(folder.read("s/runs.jsonl").find("d12-s8x3") == std::string::npos);
  writing.insert(writing.end(), {"--force", "--format", "json"});
  const json result = json::parse(run_cli(writing).out);
  REQUIRE(result["not_written"].size() == 3);
  CHECK(result["not_written"][0] ==
        json{{"baseline", "smelt-200m-e192"}, {"name", "d12-s4x3"}, {"binding", "kv"}});
  CHECK(result["series"][0]["members"][0]["loop"] == "4+4x2+4");
  CHECK(result["series"][0]["members"].back().contains("mismatch_relative_to"));
  // The hint holds.
  auto wider = asked;
  wider.insert(wider.end(), {"--tol", "kv=4.2%", "--format", "json"});
  const json all = json::parse(run_cli(wider).out);
  CHECK(!all.contains("not_written"));
  for (const json& member : all["series"][0]["members"]) CHECK(member["within_tolerance"] == true);
}

TEST_CASE("a folder without a pair offers nothing to check") {
  const TempFolder folder;
  const auto ran = run_cli(
      {"sweep", "smelt-200m-e64", "--span", "6", "--align", "tensor-core", "-o", folder / "s"});
  CHECK(ran.out.find("No pair to check: ") != ran.out.npos);
  CHECK(!std::filesystem::exists(folder / "s/pairs.json"));
}

TEST_CASE("a sweep refuses axes that mean nothing") {
  CHECK(run_cli({"sweep", "paper-span", "--span", "2"}).err ==
        "isoloop: --span, --visits, --depth, --start: 'paper-span' has its own shapes\n"
        "  hint: give a baseline instead to choose shapes\n");
  CHECK(run_cli({"sweep", "smelt-200m-e64", "--span", "1.5"}).err ==
        "isoloop: --span: '1.5' is not a whole number from 0 to 100000\n"
        "  hint: write low:high, low:high:step or a list, e.g. 0:12:2 or 2,4,8\n");
  CHECK(run_cli({"sweep", "smelt-200m-e64", "--span", "8:2"}).err ==
        "isoloop: --span: '8:2' is not a range\n  hint: write low:high or low:high:step, e.g. "
        "0:12:2\n");
  CHECK(run_cli({"sweep", "smelt-200m-e64", "--free", "span"}).err ==
        "isoloop: --free: span is an axis of the sweep\n  hint: name its values: --span\n");
  CHECK(run_cli({"sweep", "paper-span", "--fix", "depth=12"}).err ==
        "isoloop: --fix: depth is an axis of the sweep\n  hint: name its values: --depth\n");
  CHECK(run_cli({"sweep", "smelt-200m-e64", "--loop", "each x2"}).err ==
        "isoloop: --loop: a sweep repeats blocks of layers, not layer by layer\n"
        "  hint: isoloop match takes this loop\n");
  CHECK(run_cli({"sweep", "smelt-200m-e64", "--span", "13"}).code() == 2);
  CHECK(run_cli({"sweep", "smelt-200m-e64", "--depth", "0"}).err ==
        "isoloop: --depth: '0' is not a whole number from 1 to 100000\n"
        "  hint: write low:high, low:high:step or a list, e.g. 0:12:2 or 2,4,8\n");
  CHECK(run_cli({"sweep", "paper-spam"}).code() == 2);
}

}  // namespace
