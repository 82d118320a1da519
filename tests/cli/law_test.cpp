// isoloop fit and isoloop gain.
//
// Source: the known answers of the synthetic sets (tests/law/data/README.md), and the gains and
// tokens per parameter printed in arXiv 2609.01343.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;
using nlohmann::json;

const std::string data = std::string(ISOLOOP_SOURCE_DIR) + "/tests/law/data/";
const std::string columns = "flops=F_per_token_train,tokens=D,sparsity=S,loss=loss_noisy_t4_0p3pct";

std::vector<std::string> fit(const std::string& file, std::vector<std::string> more) {
  std::vector<std::string> args = {"fit", data + file, "--map", columns, "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST_CASE("gain of the paper's laws, beside the paper") {
  const auto ran = run_cli({"gain", "baseline", "smelt"});
  CHECK(ran.code() == 0);
  for (const char* text :
       {"17.94 %", "15.68 %", "14.57 %", "8 % to 28 %", "56.45", "86.37", "peaks at 8.11e+22"})
    CHECK(ran.out.find(text) != ran.out.npos);
  const json j = json::parse(run_cli({"gain", "baseline", "smelt", "--format", "json"}).out);
  CHECK(j["schema"] == "isoloop/gain/v1");
  REQUIRE(j["rows"].size() == 9);
  for (const json& row : j["rows"]) {
    CHECK(row["gain"].is_number());
    CHECK(row["extrapolated"] == (row["compute"].get<double>() > 2.2e21));
  }
}

TEST_CASE("the JSON of a gain: the paper beside ours, shapes, curves and frontiers") {
  const json j = json::parse(run_cli({"gain", "baseline", "smelt", "--format", "json"}).out);
  for (const json& row : j["rows"]) {
    // Printed coefficients leave every gain a little low, by less than rounding allows.
    const double gap = row["published"]["gain"].get<double>() - row["gain"].get<double>();
    CHECK(gap > 0);
    CHECK(gap < 0.0015);
    CHECK(gap < row["rounding"].get<double>());
    CHECK(row["gain_at_reference"] < row["gain"]);
  }
  REQUIRE(j["shapes"].size() == 3);
  for (const json& shape : j["shapes"]) {
    CHECK(shape["peak_compute"].get<double>() > 4e22);
    CHECK(shape["peak_compute"].get<double>() < 9e22);
    CHECK(shape["sign_changes"].size() == 2);
  }
  for (const json& t : j["tokens_per_param"])
    CHECK(std::round(t["tokens_per_param"].get<double>()) == t["published"].get<double>());
  CHECK(j["curves"].size() == 3);
  CHECK(j["frontiers"].size() == 6);
  CHECK(j["frontiers"][3]["law"] == "smelt");
}

TEST_CASE("laws without a sparsity are compared once a budget") {
  const json j = json::parse(run_cli({"gain", "E=1.69,A=406.4,B=410.7,alpha=0.34,beta=0.28",
                                      "E=1.69,A=380,B=380,alpha=0.34,beta=0.28", "--compute",
                                      "1e21,1e23", "--format", "json"})
                                 .out);
  REQUIRE(j["rows"].size() == 2);
  CHECK(j["rows"][0]["sparsity"] == 0);
  CHECK(j["rows"][0]["gain"].get<double>() > 0);
}

TEST_CASE("laws of one name are told apart") {
  const auto ran = run_cli({"gain", "E=1.4,A=1e3,K=1e6,a=0.37,b=0.15,c=0.66",
                            "E=1.4,A=1.1e3,K=1e6,a=0.37,b=0.15,c=0.66"});
  CHECK(ran.out.find("Compute saved by pasted law (target) against pasted law (reference)") !=
        ran.out.npos);
  CHECK(ran.out.find("no peak\n") != ran.out.npos);  // the gain is the same on every budget
}

TEST_CASE("fit finds the known answer, and gain takes the laws it writes") {
  const TempFolder folder;
  const auto ran = run_cli(fit("synthetic_baseline.csv",
                               {"--draws", "20", "--format", "json", "--law", folder / "b.json"}));
  CHECK(ran.code() == 0);
  const json j = json::parse(ran.out);
  const auto close = [](double a, double b) { return std::abs(a / b - 1) < 1e-4; };
  CHECK(close(j["coefficients"]["E"], 1.458802));
  CHECK(close(j["coefficients"]["A"], 1401.5));
  CHECK(close(j["coefficients"]["c"], 0.672764));
  CHECK(std::abs(j["objective"].get<double>() / 2.108155210794e-4 - 1) < 1e-9);
  CHECK(j["intervals"]["a"]["low"].get<double>() < j["intervals"]["a"]["high"].get<double>());
  CHECK(j["starts"]["reached"].get<int>() >= 3);
  CHECK(
      run_cli(fit("synthetic_looped.csv", {"--draws", "20", "--law", folder / "l.json"})).code() ==
      0);
  const auto gain = run_cli(
      {"gain", folder / "b.json", folder / "l.json", "--compute", "1e21", "--sparsity", "0.95"});
  CHECK(gain.code() == 0);
  CHECK(gain.out.find(" % to ") != gain.out.npos);  // intervals from the draws
  CHECK(run_cli(fit("synthetic_looped.csv", {"--draws", "0", "--law", folder / "l.json"})).err ==
        "isoloop: " + (folder / "l.json") +
            ": exists already\n  hint: add --force to replace it\n");
}

TEST_CASE("laws and runs that cannot be are refused") {
  CHECK(run_cli({"gain", "baselin", "smelt"}).err ==
        "isoloop: law: unknown law 'baselin'\n  hint: did you mean 'baseline'?\n");
  CHECK(run_cli({"gain", "baseline", "smelt", "--compute", "lots"}).code() == 2);
  CHECK(run_cli({"gain", "baseline", "smelt", "--sparsity", "1.5"}).err ==
        "isoloop: --sparsity: '1.5' is not a number from 0 to 1\n"
        "  hint: write a list, e.g. 1e20,1e21 or 0.85,0.95\n");
  CHECK(run_cli({"fit", "-"}, "a,b\n1,2\n").code() == 2);
  CHECK(run_cli({"fit", "-"}, "").code() == 2);
  CHECK(run_cli(fit("synthetic_baseline.csv", {"--by", "cel"})).err ==
        "isoloop: --by: unknown value 'cel'\n  hint: did you mean 'cell'?\n");
  CHECK(run_cli(fit("synthetic_baseline.csv", {"--form", "smlet"})).code() == 2);
  CHECK(run_cli(fit("synthetic_baseline.csv", {"--delta", "0"})).code() == 2);
}

}  // namespace
