// isoloop list: every list prints, and every name it gives is accepted where it belongs.
#include <doctest/doctest.h>

#include "support/json_keys.h"

namespace {

using namespace isoloop::test;

TEST_CASE("every list in every format") {
  for (const char* what : {"models", "grids", "sweeps", "gpus", "conventions", "alignments", "budgets",
                           "unknowns", "families", "targets"})
    for (const char* format : {"text", "json", "md", "csv"}) {
      CAPTURE(what);
      CAPTURE(format);
      const auto ran = run_cli({"list", what, "--format", format});
      CHECK(ran.code() == 0);
      CHECK(ran.err == "");
      CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') >= 2);
    }
}

TEST_CASE("lists fit a terminal; sources are in the other formats") {
  for (const char* what : {"models", "grids", "conventions", "alignments", "budgets", "unknowns", "targets"}) {
    std::istringstream lines(run_cli({"list", what}).out);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }) <= 140);
    }
  }
  const std::string dimensions = run_cli({"list", "unknowns"}).out;
  CHECK(dimensions.starts_with("Dimensions: the keys of --fix and --free\n"));
  CHECK(dimensions.find("loop_span") == dimensions.npos);  // the keys as they are typed
  CHECK(dimensions.find("experts chosen per token") != dimensions.npos);
  CHECK(run_cli({"list", "models", "--format", "csv"}).out.starts_with("name,kind,title,source\r\n"));
}

TEST_CASE("names are accepted where they belong") {
  const Json listed_conventions = run_json({"list", "conventions"});
  for (const Json& x : listed_conventions.at("conventions"))
    CHECK(run_cli({"count", "smelt-200m-e192", "--convention", x.at("name")}).code() == 0);
  const Json listed_alignments = run_json({"list", "alignments"});
  for (const Json& x : listed_alignments.at("alignments"))
    CHECK(run_cli({"match", "smelt-200m-e192", "--align", x.at("name")}).code() < 2);
  const Json listed_budgets = run_json({"list", "budgets"});
  for (const Json& x : listed_budgets.at("budgets"))
    CHECK(run_cli({"match", "ouro-1.4b", "--loop", "none", "--tol", x.at("name").get<std::string>() + "=5%"}).code() < 2);
  const Json listed_grids = run_json({"list", "grids"});
  for (const Json& x : listed_grids.at("grids"))
    CHECK(run_cli({"grid", x.at("name")}).code() == 0);
}

}  // namespace
