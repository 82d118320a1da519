// isoloop allocate: the optimum against the printed tables, and GPU-hours against C / (peak x MFU).
//
// Source: tokens per parameter and gamma of arXiv 2609.01343's coefficients; the peaks in
// data/gpus; isoloop count and isoloop plan for an architecture.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;
using nlohmann::json;

json answer(std::vector<std::string> args) {
  args.insert(args.end(), {"--format", "json"});
  const auto ran = run_cli(args);
  CHECK(ran.err == "");
  REQUIRE(ran.code() == 0);
  return json::parse(ran.out);
}

bool close(double x, double y, double relative) { return std::abs(x / y - 1) <= relative; }

TEST_CASE("the optimum of the paper's laws") {
  const json baseline = answer({"allocate", "baseline"}), smelt = answer({"allocate", "smelt"});
  CHECK(baseline["schema"] == "isoloop/allocate/v1");
  CHECK(close(baseline["gamma"], 0.23713297, 1e-7));
  CHECK(close(smelt["gamma"], 0.25026884, 1e-7));
  const double expected[2][3] = {{56.45, 78.25, 91.07}, {56.12, 75.32, 86.37}};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(baseline["rows"][i]["tokens_per_param"].get<double>() - expected[0][i]) < 0.005);
    CHECK(std::abs(smelt["rows"][i]["tokens_per_param"].get<double>() - expected[1][i]) < 0.005);
  }
  for (const json& row : smelt["rows"]) {
    CHECK(close(row["flops_per_token"].get<double>() * row["tokens"].get<double>(), 1e21, 1e-9));
    CHECK(row["loss_rounding"].get<double>() > 0);
    // No other size is better on this budget.
    for (const json& size : row["sizes"]) CHECK(size["extra_loss_nats"].get<double>() > 0);
  }
  CHECK(smelt["machine"].is_null());
}

TEST_CASE("GPU-hours are C over peak times MFU") {
  const json j = answer({"allocate", "smelt", "--sparsity", "0.95", "--gpu", "h100-sxm5", "--gpus",
                         "256", "--mfu", "0.35"});
  const json& hours = j["rows"][0]["gpu_hours"];
  CHECK(close(hours["mid"], 1e21 / (989.4e12 * 0.35) / 3600, 1e-3));
  CHECK(hours["low"] == hours["high"]);
  CHECK(close(j["rows"][0]["wall_hours"]["mid"], hours["mid"].get<double>() / 256, 1e-12));
  CHECK(j["machine"]["mfu_basis"] == "given");
  const json assumed = answer({"allocate", "smelt", "--gpu", "h100-sxm5"});
  CHECK(assumed["machine"]["mfu_basis"] == "assumed");
  CHECK(assumed["rows"][0]["gpu_hours"]["low"] < assumed["rows"][0]["gpu_hours"]["high"]);
  const auto text = run_cli({"allocate", "smelt", "--gpu", "h100-sxm5", "--gpus", "256"});
  for (const char* line :
       {"On 256 x H100 SXM5 80GB", "assumed, not planned: add --arch ARCH", "GPU-hours"})
    CHECK(text.out.find(line) != text.out.npos);
}

TEST_CASE("a planned architecture: its own F, tokens per second and step time") {
  const json j =
      answer({"allocate", "smelt", "--sparsity", "0.95", "--gpu", "h100-sxm5", "--gpus", "16",
              "--arch", "smelt-200m-e192", "--convention", "smelt", "--attended", "392"});
  const json counted =
      answer({"count", "smelt-200m-e192", "--convention", "smelt", "--attended", "392"});
  const double f = counted["models"][0]["flops_per_token"]["train"];
  const json& row = j["rows"][0];
  CHECK(close(row["arch"]["flops_per_token"], f, 1e-12));
  CHECK(close(row["arch"]["tokens"], 1e21 / f, 1e-12));
  // Training it on C / F tokens takes as long as planned: tokens over tokens per second.
  const json plan = answer({"plan", "smelt-200m-e192", "--gpu", "h100-sxm5", "--dp", "16"});
  const double tokens_per_s = j["machine"]["plan"]["tokens_per_s_per_gpu"];
  CHECK(close(tokens_per_s, 8192 / (plan["step_time_ms"]["mid"].get<double>() * 1e-3), 1e-9));
  CHECK(close(row["gpu_hours"]["mid"], 1e21 / f / tokens_per_s / 3600, 1e-9));
  const double slow =
      plan["step_time_ms"]["high"].get<double>() / plan["step_time_ms"]["mid"].get<double>();
  CHECK(close(row["gpu_hours"]["high"].get<double>() / row["gpu_hours"]["mid"].get<double>(), slow,
              1e-9));
  const double expected = 1.4493 + 1.963e3 * std::pow(0.05, 0.1460) / std::pow(f, 0.3892) +
                          5.264e6 / std::pow(1e21 / f, 0.7011);
  CHECK(close(row["arch"]["loss_nats"], expected, 1e-12));
  CHECK(j["machine"]["mfu_basis"] == "planned");
}

TEST_CASE("a chinchilla law from pasted coefficients has no sparsity") {
  const std::string law = "E=1.69,A=406.4,B=410.7,alpha=0.34,beta=0.28";
  const json j = answer({"allocate", law, "--compute", "5.76e23"});
  REQUIRE(j["rows"].size() == 1);
  const double n = j["rows"][0]["params"], d = j["rows"][0]["tokens"];
  CHECK(close(6 * n * d, 5.76e23, 1e-9));
  CHECK(close(0.34 * 406.4 / std::pow(n, 0.34), 0.28 * 410.7 / std::pow(d, 0.28), 1e-9));
  CHECK(run_cli({"allocate", law, "--sparsity", "0.9"}).err ==
        "isoloop: --sparsity: pasted law knows no sparsity\n  hint: leave it out\n");
  CHECK(run_cli({"allocate", law, "--arch", "smelt-200m-e192"}).err ==
        "isoloop: --arch: has F, but a law of the form chinchilla asks for N\n"
        "  hint: leave it out, or take a law of the form smelt\n");
}

TEST_CASE("intervals come from the draws of a fitted law") {
  const TempFolder folder;
  REQUIRE(run_cli({"fit", std::string(ISOLOOP_SOURCE_DIR) + "/tests/law/data/synthetic_looped.csv",
                   "--map", "flops=F_per_token_train,tokens=D,sparsity=S,loss=loss_noisy_t4_0p3pct",
                   "--draws", "30", "--law", folder / "l.json"})
              .code() == 0);
  const json j = answer({"allocate", folder / "l.json", "--compute", "1e20,1e22"});
  for (const json& row : j["rows"]) {
    CHECK(row["loss_interval"]["low"] <= row["loss_nats"]);
    CHECK(row["loss_interval"]["high"] >= row["loss_nats"]);
    CHECK(row["tokens_per_param_interval"]["low"] < row["tokens_per_param_interval"]["high"]);
    CHECK(row["extrapolated"] == (row["compute"].get<double>() > 1.01e20));
  }
  CHECK(run_cli({"allocate", folder / "l.json"}).out.find("10 x C_max") != std::string::npos);
}

TEST_CASE("questions that cannot be") {
  const auto error = [](std::vector<std::string> more) {
    std::vector<std::string> args = {"allocate", "smelt"};
    args.insert(args.end(), more.begin(), more.end());
    const auto ran = run_cli(args);
    CHECK(ran.code() == 2);
    return ran.err;
  };
  CHECK(error({"--gpus", "8"}) ==
        "isoloop: --gpus: says nothing without a GPU\n  hint: add --gpu h100-sxm5\n");
  CHECK(error({"--tp", "8"}) ==
        "isoloop: --tp: is about the architecture of --arch\n  hint: add --arch ARCH\n");
  for (const std::vector<std::string>& given : {std::vector<std::string>{"--tp", "8"},
                                                {"--recompute", "full"},
                                                {"--tokens", "5"},
                                                {"--dtype", "fp8"},
                                                {"--link", "900"}})
    CHECK(error({"--arch", "smelt-200m-e192", given[0], given[1]}) ==
          "isoloop: " + given[0] + ": says nothing without a GPU\n  hint: add --gpu h100-sxm5\n");
  CHECK(
      error({"--arch", "smelt-200m-e192", "--gpu", "h100-sxm5", "--tokens", "5000"}) ==
      "isoloop: --tokens: 5000 tokens are not whole sequences of 4096\n  hint: for example 8192\n");
  CHECK(error({"--gpu", "h100-sxm5", "--mfu", "40"}) ==
        "isoloop: --mfu: '40' is not a fraction above 0 and at most 1\n"
        "  hint: write e.g. --mfu 0.4\n");
  CHECK(error({"--gpu", "h100-sxm5", "--mfu", "0.4", "--arch", "smelt-200m-e192"}) ==
        "isoloop: --mfu: is planned where --arch is given\n  hint: keep one of the two\n");
  CHECK(
      error({"--gpu", "h100-sxm5", "--gpus", "12", "--tp", "8", "--arch", "smelt-200m-e192"}) ==
      "isoloop: --gpus: 12 GPUs are not a multiple of TP x PP = 8\n  hint: write e.g. --gpus 16\n");
  CHECK(error({"--gpu", "h100-sxm"}) ==
        "isoloop: --gpu: unknown GPU 'h100-sxm'\n  hint: did you mean 'h100-sxm5'?\n");
  CHECK(error({"--gpu", "t4"}) ==
        "isoloop: --dtype: T4 has no bf16 tensor cores\n  hint: it has fp32, fp16, int8\n");
  CHECK(error({"--compute", "0"}) ==
        "isoloop: --compute: 0 is not a positive number of training FLOPs\n"
        "  hint: write a list, e.g. 1e20,1e21\n");
  CHECK(error({"--sparsity", "1"}) ==
        "isoloop: --sparsity: 1 is not a fraction of at least 0 and below 1\n"
        "  hint: write a list, e.g. 0.85,0.95\n");
  CHECK(error({"--sizes", "0"}) ==
        "isoloop: --sizes: 0 is not a positive share of F*\n  hint: write a list, e.g. 0.5,2\n");
}

}  // namespace
