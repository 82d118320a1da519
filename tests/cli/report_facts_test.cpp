// isoloop report: what pages of explore, sweep and allocate state beside their charts.
//
// Anchor: the results' own JSON, rounded here.
#include <doctest/doctest.h>

#include <iomanip>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/report_results.h"

namespace {

using namespace isoloop::test;
using nlohmann::json;

std::string decimals(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

json result_in(const TempFolder& folder, const std::string& file) {
  return json::parse(folder.read(file));
}

TEST_CASE("an exploration's page says what was explored, with numbers rounded as in the text") {
  const TempFolder folder;
  const std::string file =
      made(folder, "e.json",
           "explore smelt-200m-e192 --fix depth=12 --fix top-k=8 --loop middle --gpu h100-sxm5");
  const std::string page = run_cli({"report", file, "--format", "text"}).out;
  for (const char* text :
       {"± flops 1 %, params 1 %, kv 2 %", "32–128 step 8", "heads x head size = hidden"})
    CHECK_MESSAGE(page.find(text) != page.npos, text);
  const json first = result_in(folder, "e.json").at("front")[0].at("measures");
  const json time = first.at("step-time");
  const auto three = [](const json& v) { return decimals(v.get<double>(), 3); };
  CHECK(page.find(three(time.at("value")) + " (" + three(time.at("low")) + " to " +
                  three(time.at("high")) + ")") != page.npos);
}

TEST_CASE("a sweep's controls are recounted against their own targets") {
  const TempFolder folder;
  const std::string file = made(folder, "s.json", "sweep smelt-200m-e192 --span 0,6 --controls");
  const json report = json::parse(run_cli({"report", file, "--format", "json"}).out);
  std::set<std::string> charts;
  for (const json& b : report.at("blocks"))
    if (b.contains("chart")) charts.insert(b.at("chart").at("name"));
  const std::size_t members = result_in(folder, "s.json").at("series")[0].at("members").size();
  REQUIRE(members == 4);
  for (std::size_t i = 1; i <= members; ++i)
    CHECK(charts.contains("sweep-budgets-" + std::to_string(i)));
  const std::string page = run_cli({"report", file, "--format", "csv"}).out;
  CHECK(page.find("member,loop,result,") != page.npos);  // one series: no column
}

TEST_CASE("an allocation shows the utilisation it assumes with its range") {
  const TempFolder folder;
  const std::string file =
      made(folder, "a.json", "allocate smelt --compute 1e21 --gpu h100-sxm5 --gpus 256");
  const json mfu = result_in(folder, "a.json").at("machine").at("mfu");
  const auto percent = [](const json& v) { return decimals(v.get<double>() * 100, 1) + " %"; };
  CHECK(run_cli({"report", file, "--format", "text"})
            .out.find(percent(mfu.at("mid")) + " (" + percent(mfu.at("low")) + " to " +
                      percent(mfu.at("high")) + ")") != std::string::npos);
}

}  // namespace
