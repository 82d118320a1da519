// isoloop fit beyond the coefficients: refits, shared exponents, F from architectures, the curve to
// a benchmark, and JSON for pictures.
//
// Source: the known law behind tests/law/data, isoloop count for F, and for the curve points made
// from a sigmoid.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "isoloop/law.h"
#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;
using nlohmann::json;

const std::string runs = std::string(ISOLOOP_SOURCE_DIR) + "/tests/law/data/synthetic_baseline.csv";

std::vector<std::string> fit(std::vector<std::string> more, const std::string& loss = "loss_exact",
                             const std::string& draws = "0") {
  std::vector<std::string> args = {
      "fit",     runs, "--map", "flops=F_per_token_train,tokens=D,sparsity=S,loss=" + loss,
      "--draws", draws};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

json fit_json(std::vector<std::string> more, const std::string& loss = "loss_exact",
              const std::string& draws = "0") {
  more.insert(more.end(), {"--format", "json"});
  const auto ran = run_cli(fit(std::move(more), loss, draws));
  REQUIRE(ran.code() == 0);
  return json::parse(ran.out);
}

bool close(double x, double y, double relative) { return std::abs(x / y - 1) <= relative; }

/// The law of the exact column.
double baseline_loss(double f, double s, double d) {
  return 1.4439 + 1.366e3 * std::pow(1 - s, 0.1530) / std::pow(f, 0.3703) +
         1.975e6 / std::pow(d, 0.6594);
}

TEST_CASE("the JSON of a fit holds points and frontiers for pictures") {
  const json j = fit_json({}, "loss_noisy_t4_0p3pct", "30");
  CHECK(j["schema"] == "isoloop/fit/v1");
  CHECK(j["form"] == "smelt");
  REQUIRE(j["points"].size() == 75);
  double objective = 0;
  for (const json& p : j["points"]) {
    CHECK(
        close(p["compute"], p["flops_per_token"].get<double>() * p["tokens"].get<double>(), 1e-12));
    const double r = std::log(p["predicted_nats"].get<double>() / p["observed_nats"].get<double>());
    CHECK(std::abs(p["log_residual"].get<double>() - r) < 1e-12);
    const double d = 1e-3;
    objective += std::abs(r) <= d ? r * r / 2 : d * (std::abs(r) - d / 2);
  }
  CHECK(close(j["objective"], objective, 1e-9));
  REQUIRE(j["frontiers"].size() == 3);  // one for each sparsity of the rows
  for (const json& frontier : j["frontiers"]) {
    CHECK(frontier["gamma"].is_number());
    REQUIRE(frontier["points"].size() > 10);
    for (const json& p : frontier["points"]) {
      CHECK(p["low"].get<double>() <= p["high"].get<double>());
      CHECK(close(p["flops_per_token"].get<double>() * p["tokens"].get<double>(), p["compute"],
                  1e-9));
      CHECK(p["extrapolated"] == (p["compute"].get<double>() > 1.0001e20));
    }
  }
  CHECK(isoloop::law::read_law(j.dump(), "fit.json").coefficients.values[0] ==
        j["coefficients"]["E"].get<double>());
  for (const char* key :
       {"condition", "correlations", "starts", "draws", "window", "gradient_norm"})
    CHECK((j.contains(key) || j["law"].contains(key)));
}

TEST_CASE("the answer does not depend on the number of threads") {
  const auto with = [&](const char* threads) {
    return run_cli(fit({"--threads", threads, "--leave-one-out", "--format", "json"},
                       "loss_noisy_t4_0p3pct", "40"))
        .out;
  };
  CHECK(with("1") == with("3"));
}

TEST_CASE("refits stand beside the fit: highest losses, other deltas, one left out") {
  const json j = fit_json({"--drops", "5,30", "--deltas", "1e-4,1e-3,1e-2", "--leave-one-out"},
                          "loss_noisy_t4_0p3pct");
  const json& refits = j["refits"];
  REQUIRE(refits["drop_highest"].size() == 2);
  CHECK(refits["drop_highest"][1]["rows"] == 45);
  CHECK(refits["drop_highest"][1]["what"] == "the 30 highest losses");
  REQUIRE(refits["delta"].size() == 3);
  CHECK(close(refits["delta"][1]["coefficients"]["a"], j["coefficients"]["a"], 1e-6));
  CHECK(close(refits["delta"][1]["objective"], j["objective"], 1e-9));
  CHECK(refits["leave_one_out"].size() == 75);
  // The refit is what a fit without those rows gives.
  const json dropped = fit_json({"--drop-highest", "30"}, "loss_noisy_t4_0p3pct");
  CHECK(close(dropped["coefficients"]["c"], refits["drop_highest"][1]["coefficients"]["c"], 1e-6));
  CHECK(dropped["excluded"][0]["rule"] == "30 highest losses");
  const auto text = run_cli(fit({"--drops", "5,30"}, "loss_noisy_t4_0p3pct"));
  for (const char* line : {"Without the highest losses", "(this fit)", "the 30 highest losses",
                           "correlations", "fitted window", "Next: --law FILE"})
    CHECK(text.out.find(line) != text.out.npos);
}

TEST_CASE("exponents are shared with another law") {
  const TempFolder folder;
  REQUIRE(run_cli(fit({"--law", folder / "all.json"})).code() == 0);
  const json shared = fit_json({"--share", folder / "all.json"});
  CHECK(close(shared["coefficients"]["E"], 1.4439, 1e-6));
  CHECK(close(shared["coefficients"]["K"], 1.975e6, 1e-6));
  CHECK(shared["law"]["pinned"] == json({"a", "b", "c"}));
  CHECK(shared["starts"]["reached"] == shared["starts"]["tried"]);
  const json two = fit_json({"--share", "a,c=" + (folder / "all.json")});
  CHECK(two["law"]["pinned"] == json({"a", "c"}));
  CHECK(close(two["coefficients"]["b"], 0.1530, 1e-5));
  const auto printed = run_cli(fit({"--share", "baseline"}));
  CHECK(printed.out.find("Warning: the coefficients shared with baseline are rounded as printed") !=
        printed.out.npos);
  const auto error = [&](const std::string& share) { return run_cli(fit({"--share", share})).err; };
  CHECK(error("a,d=baseline") ==
        "isoloop: --share: unknown coefficient 'd'\n  hint: known: E, A, K, a, b, c\n");
  CHECK(error("a=0.3,b=0.1") ==
        "isoloop: --share: takes a law's name or file\n  hint: pin pasted values with --pin "
        "a=0.37\n");
  CHECK(error("baselin") ==
        "isoloop: --share: unknown law 'baselin'\n  hint: did you mean 'baseline'?\n");
  CHECK(run_cli(fit({"--without", "sparsity", "--share", "b=baseline"})).err ==
        "isoloop: --share: the form has no b\n"
        "  hint: name what both have, e.g. --share a,c=LAW\n");
}

TEST_CASE("categories: E, A and K of their own, and a gain between two architectures") {
  // A category with another floor and other amplitudes, the exponents of all data.
  const TempFolder folder;
  std::string text = "cell,F,D,S,loss,loss_code\n";
  for (const double f : {6e8, 1.4e9, 4e9, 1e10})
    for (const double s : {0.85, 0.95, 0.97})
      for (const double d : {2e10, 6e10, 2e11})
        text +=
            fmt::format("{}-{},{},{},{},{:.12f},{:.12f}\n", f, s, f, d, s, baseline_loss(f, s, d),
                        0.9 + 800 * std::pow(1 - s, 0.1530) / std::pow(f, 0.3703) +
                            1.2e6 / std::pow(d, 0.6594));
  const std::string csv = folder.write("runs.csv", text), all = folder / "all.json";
  const std::string map = "flops=F,tokens=D,sparsity=S,loss=";
  REQUIRE(run_cli({"fit", csv, "--map", map + "loss", "--draws", "8", "--law", all}).code() == 0);
  const auto ran = run_cli({"fit", csv, "--map", map + "loss_code", "--share", all, "--draws", "8",
                            "--law", folder / "code.json", "--format", "json"});
  REQUIRE(ran.code() == 0);
  const json code = json::parse(ran.out)["coefficients"];
  CHECK(close(code["E"], 0.9, 1e-6));
  CHECK(close(code["A"], 800, 1e-6));
  CHECK(close(code["K"], 1.2e6, 1e-6));
  const json gain =
      json::parse(run_cli({"gain", all, folder / "code.json", "--format", "json"}).out);
  CHECK(gain["paired"] == true);
}

TEST_CASE("F is counted from an architecture per cell, or from a column of architectures") {
  std::string by_cell = "run,tokens,sparsity,loss\n", by_column = "model,tokens,sparsity,loss\n",
              plain = "flops,tokens,sparsity,loss\n";
  const std::vector<std::pair<std::string, std::string>> models = {
      {"x", "smelt-100m-e64"}, {"y", "smelt-200m-e192"}, {"z", "smelt-600m-e336"}};
  const std::vector<double> sparsities = {0.85, 0.95, 0.97};
  for (std::size_t i = 0; i < models.size(); ++i) {
    const json count = json::parse(run_cli({"count", models[i].second, "--convention", "smelt",
                                            "--attended", "392", "--format", "json"})
                                       .out);
    const double flops = count["models"][0]["flops_per_token"]["train"];
    for (const double s : sparsities)
      for (const double d : {2e10, 6e10, 2e11}) {
        const std::string rest = fmt::format("{},{},{:.12f}\n", d, s, baseline_loss(flops, s, d));
        by_cell += models[i].first + "," + rest;
        by_column += models[i].second + "," + rest;
        plain += fmt::format("{},", flops) + rest;
      }
  }
  const TempFolder folder;
  const std::vector<std::string> common = {"--draws",    "0",   "--convention", "smelt",
                                           "--attended", "392", "--format",     "json"};
  const auto coefficients = [&](std::vector<std::string> args) {
    args.insert(args.end(), common.begin(), common.end());
    const auto ran = run_cli(args);
    CHECK(ran.err == "");
    REQUIRE(ran.code() == 0);
    return json::parse(ran.out);
  };
  const json cells =
      coefficients({"fit", folder.write("cells.csv", by_cell), "--arch", "x=smelt-100m-e64",
                    "--arch", "y=smelt-200m-e192", "--arch", "z=smelt-600m-e336"});
  const json columns =
      coefficients({"fit", folder.write("columns.csv", by_column), "--map", "arch=model"});
  const json given = coefficients({"fit", folder.write("plain.csv", plain)});
  CHECK(close(cells["coefficients"]["a"], 0.3703, 1e-6));
  CHECK(cells["coefficients"] == columns["coefficients"]);
  CHECK(close(cells["coefficients"]["A"], given["coefficients"]["A"], 1e-9));
  CHECK(
      cells["size_meaning"] ==
      "training FLOPs per token counted from architectures, convention smelt, 392 tokens attended");

  const auto error = [&](std::vector<std::string> args) {
    return folder.relative(run_cli(args).err);
  };
  CHECK(error({"fit", folder / "cells.csv", "--arch", "w=smelt-100m-e64"}) ==
        "isoloop: --arch: unknown cell 'w'\n  hint: known: x, y, z\n");
  CHECK(error({"fit", folder / "cells.csv", "--arch", "smelt-100m-e64"}) ==
        "isoloop: --arch: 'smelt-100m-e64' is no assignment\n"
        "  hint: write CELL=ARCH, e.g. --arch 200M=smelt-200m-e192\n");
  CHECK(
      error({"fit", folder / "plain.csv", "--arch", "x=smelt-100m-e64"}) ==
      "isoloop: --arch: the rows name no cells\n  hint: name the column with --map cell=COLUMN\n");
  CHECK(error({"fit", folder / "cells.csv", "--map", "flops=sparsity", "--arch",
               "x=smelt-100m-e64"}) ==
        "isoloop: --arch: F is given by the column 'sparsity' and by architectures\n"
        "  hint: keep one of the two\n");
}

TEST_CASE("the curve from loss to a benchmark, and a second architecture against it") {
  const auto score = [](double loss) { return 0.25 + 0.6 / (1 + std::exp(5 * (loss - 2.3))); };
  std::string first = "L,mmlu,run\n", second = "L,mmlu,run\n";
  for (int i = 0; i < 25; ++i) {
    const double loss = 1.6 + 0.06 * i;
    first += fmt::format("{},{:.12f},a{}\n", loss, score(loss), i);
    if (i % 5 == 0) second += fmt::format("{},{:.12f},b{}\n", loss, score(loss) + 0.01, i);
  }
  const TempFolder folder;
  const std::vector<std::string> args = {
      "fit",       folder.write("a.csv", first), "--form", "sigmoid", "--map", "value=mmlu",
      "--against", folder.write("b.csv", second)};
  std::vector<std::string> as_json = args;
  as_json.insert(as_json.end(), {"--format", "json"});
  const json j = json::parse(run_cli(as_json).out);
  CHECK(j["form"] == "sigmoid");
  CHECK(close(j["coefficients"]["a"], 0.6, 1e-6));
  CHECK(close(j["coefficients"]["b"], 0.25, 1e-6));
  CHECK(close(j["coefficients"]["alpha"], 5, 1e-6));
  CHECK(close(j["coefficients"]["tau"], 2.3, 1e-6));
  CHECK(j["points"].size() == 25);
  CHECK(j["against"]["points"].size() == 5);
  CHECK(close(j["against"]["mean"], 0.01, 1e-6));
  CHECK(j["curve"].size() > 10);
  const auto text = run_cli(args);
  for (const char* line : {"y = b + a / (1 + exp(alpha (L - tau)))", "against the curve of", "b20",
                           "mean +0.01, rms 0.01"})
    CHECK(text.out.find(line) != text.out.npos);

  const auto error = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"fit", folder / "a.csv"};
    all.insert(all.end(), more.begin(), more.end());
    return folder.relative(run_cli(all).err);
  };
  CHECK(error({"--form", "sigmoid"}) ==
        "isoloop: a.csv: no column holds the result of a benchmark\n"
        "  hint: name it with value=COLUMN\n");
  CHECK(error({"--form", "sigmoid", "--map", "value=mmlu", "--direction", "up"}) ==
        "isoloop: --direction: unknown direction 'up'\n  hint: known: loss, score\n");
  CHECK(error({"--form", "sigmoid", "--map", "value=mmlu", "--pin", "E=1"}) ==
        "isoloop: --pin: is for a law of the loss, not for --form sigmoid\n"
        "  hint: leave it out\n");
  CHECK(error({"--against", folder / "b.csv"}) ==
        "isoloop: --against: is for --form sigmoid\n  hint: add --form sigmoid\n");
  CHECK(error({"--form", "sigmoid", "--map", "value=mmlu", "--direction", "loss"})
            .find("the direction may be the other one") != std::string::npos);
}

TEST_CASE("steps in two columns tell of checkpoints inside a schedule") {
  std::string text = "F,D,S,L,step,total_steps\n";
  for (const double f : {1e8, 1e9, 1e10})
    for (const double s : {0.85, 0.95})
      for (const double d : {1e10, 3e10, 1e11})
        text += fmt::format("{},{},{},{:.12f},{},100\n", f, d, s, baseline_loss(f, s, d),
                            f == 1e8 && d == 1e10 ? 40 : 100);
  const std::vector<std::string> args = {"fit", "-", "--draws", "0", "--format", "md"};
  const auto ran = run_cli(args, text);
  CHECK(ran.code() == 0);
  CHECK(ran.out.find("2 rows are checkpoints inside a learning-rate schedule (first: line 2, step "
                     "fraction 0.4)") != ran.out.npos);
  const auto beyond = run_cli(args, text + "1e9,1e10,0.9,2.2,200,100\n");
  CHECK(beyond.out.find("line 20: step 200 is beyond total_steps 100") != beyond.out.npos);
}

}  // namespace
