// Test support: results for isoloop report, made by the commands themselves or written by hand.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace isoloop::test {

/// Runs a command for its JSON and returns the file's path.
inline std::string made(const TempFolder& folder, const std::string& name,
                        const std::string& line) {
  const Ran ran = run_cli(words(line + " --format json --quiet"));
  REQUIRE_MESSAGE(ran.code() <= 1, ran.err);
  return folder.write(name, ran.out);
}

/// A fit with two sparsities: runs, and a frontier of each with a band.
inline std::string fit_result() {
  return R"({"schema": "isoloop/fit/v1", "name": "runs", "form": "smelt", "equation": "L = E + A (1-S)^b / F^a + K / D^c",
  "coefficients": {"E": 1.45, "A": 1400, "K": 2e6, "a": 0.37, "b": 0.15, "c": 0.66},
  "intervals": {"E": {"low": 1.4, "high": 1.5}}, "objective": 0.001, "rmse": 0.01, "rows": 3, "starts": {"tried": 9, "reached": 7},
  "points": [
    {"line": 2, "cell": "a", "sparsity": 0.85, "compute": 1e18, "observed_nats": 3.1, "predicted_nats": 3.11, "log_residual": 0.0032},
    {"line": 3, "cell": "", "sparsity": 0.95, "compute": 1e19, "observed_nats": 2.5, "predicted_nats": 2.49, "log_residual": -0.004},
    {"line": 4, "cell": "", "sparsity": 0.95, "compute": null, "observed_nats": 2.5, "predicted_nats": 2.49, "log_residual": -0.004}],
  "frontiers": [
    {"law": "runs", "sparsity": 0.85, "points": [{"compute": 1e18, "loss_nats": 3.0, "low": 2.9, "high": 3.1}, {"compute": 1e20, "loss_nats": 2.0, "low": 1.9, "high": 2.2}]},
    {"law": "runs", "sparsity": 0.95, "points": [{"compute": 1e18, "loss_nats": 2.9, "low": null, "high": null}, {"compute": 1e20, "loss_nats": 1.9, "low": null, "high": null}]}],
  "warnings": ["a warning"]})";
}

/// A front of two measures, one exact and one estimated; the second point's model is not what it
/// states.
inline std::string explore_result() {
  const std::string arch = small_model();
  return R"({"schema": "isoloop/explore/v1", "complete": false, "question": {"baseline": )" + arch +
         R"(, "counting": {"convention": "causal", "context": 128, "dtype": "bf16"}, "measures": [
  {"key": "mismatch", "unit": "of tolerance", "meaning": "largest mismatch"},
  {"key": "step-time", "unit": "x baseline", "meaning": "time of a step", "baseline": {"low": 1, "mid": 1, "high": 1}}]},
  "space": {"points": "637130407280640", "visited": "2"}, "front": [
  {"loop": "none", "measures": {"mismatch": {"value": 0, "exact": "0"}, "step-time": {"value": 1, "low": 0.9, "high": 1.2}},
   "mismatch": {"flops": 0, "params": 0, "kv": 0}, "arch": )" +
         arch +
         R"(}, {"loop": "1+2x2+1", "measures": {"mismatch": {"value": 0.5, "exact": "1/2"}, "step-time": {"value": 0.9, "low": 0.8, "high": 1}},
   "mismatch": {"flops": 0.02}, "arch": )" +
         arch + "}]}";
}

/// A benchmark that follows a sigmoid of the loss.
inline std::string calibration_runs() {
  std::string text = "loss,score\n";
  for (int i = 0; i < 12; ++i) {
    const double loss = 1.8 + 0.15 * i;
    text += std::to_string(loss) + "," +
            std::to_string(0.25 + 0.5 / (1 + std::exp(4 * (loss - 2.6)))) + "\n";
  }
  return text;
}

/// One result of every kind that is read.
inline std::vector<std::pair<std::string, std::string>> every_result(const TempFolder& folder) {
  REQUIRE(run_cli(words("match smelt-200m-e192 --top 2 -o " + (folder / "pair"))).code() == 0);
  return {
      {"count", made(folder, "count.json", "count smelt-200m-e192 qwen3-0.6b --convention all")},
      {"match", made(folder, "match.json", "match smelt-200m-e192 --top 2")},
      {"check", made(folder, "check.json", "check " + (folder / "pair/pairs.json"))},
      {"grid", made(folder, "grid.json", "grid smelt")},
      {"sweep", made(folder, "sweep.json", "sweep paper-span")},
      {"plan",
       made(folder, "plan.json",
            "plan smelt-200m-e192 --loop middle --gpu h100-sxm5 --against smelt-200m-e192")},
      {"plan of a grid", made(folder, "plan-grid.json", "plan --grid smelt --gpu h100-sxm5")},
      {"allocate", made(folder, "allocate.json",
                        "allocate smelt --compute 1e20,1e21 --gpu h100-sxm5 --gpus 256")},
      {"fit of runs", made(folder, "fit-runs.json",
                           "fit " ISOLOOP_SOURCE_DIR "/examples/laws/baseline.csv --draws 50")},
      {"fit of a benchmark", made(folder, "sigmoid.json",
                                  "fit " + folder.write("score.csv", calibration_runs()) +
                                      " --form sigmoid --map value=score")},
      {"gain", made(folder, "gain.json", "gain baseline smelt")},
      {"fit", folder.write("fit.json", fit_result())},
      {"explore", folder.write("explore.json", explore_result())}};
}

}  // namespace isoloop::test
