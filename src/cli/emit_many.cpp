// Emitting whole directories: the list of members, the run matrix and the scripts over it.
//
// Held by tests/cli/emit_many_test.cpp.
#include "cli/emit_many.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/input.h"
#include "cli/views.h"
#include "isoloop/pairs.h"

namespace isoloop::cli {
namespace {

namespace fs = std::filesystem;

bool has_schema(const std::string& path, std::string_view schema, const Context& context) {
  const auto value = nlohmann::json::parse(read_text(path, context), nullptr, false);
  return value.is_object() && value.value("schema", nlohmann::json()).is_string() &&
         value["schema"].get<std::string>().starts_with(schema);
}

/// Roles that the folder's own run list gives its files, e.g. "control" in a sweep.
std::map<std::string, std::string> listed_roles(const fs::path& folder, const Context& context) {
  std::map<std::string, std::string> roles;
  std::error_code code;
  if (!fs::exists(folder / "runs.jsonl", code)) return roles;
  std::istringstream lines(read_text((folder / "runs.jsonl").string(), context));
  for (std::string line; std::getline(lines, line);) {
    const auto run = nlohmann::json::parse(line, nullptr, false);
    if (run.is_object() && run.value("role", nlohmann::json()).is_string() &&
        run.value("config", nlohmann::json()).is_string())
      roles[(folder / run["config"].get<std::string>()).lexically_normal().string()] =
          run["role"].get<std::string>();
  }
  return roles;
}

std::vector<Member> of_manifest(const fs::path& path, const Context& context) {
  std::vector<Member> result;
  std::set<std::string> seen;
  const pairs::Manifest manifest =
      pairs::from_json(read_text(path.string(), context), path.string());
  const auto roles = listed_roles(path.parent_path(), context);
  const auto full = [&](const std::string& name) {
    return (path.parent_path() / name).lexically_normal().string();
  };
  const auto add = [&](const std::string& name, const pairs::Pair& pair, const char* role,
                       const std::string& baseline) {
    const std::string file = full(name);
    if (!seen.insert(file).second) return;
    const auto listed = roles.find(file);
    const bool control = listed != roles.end() && listed->second == "control";
    result.push_back({file, pair.name, control ? "control" : role, baseline, manifest.options,
                      pair.tolerance.empty() ? manifest.tolerance : pair.tolerance});
  };
  for (const pairs::Pair& pair : manifest.pairs) {
    add(pair.baseline, pair, "baseline", "");
    add(pair.match, pair, "match", full(pair.baseline));
  }
  return result;
}

/// Architecture files of a folder that were not named before, sorted.
void add_folder(const fs::path& folder, const Context& context, std::vector<Member>& members) {
  std::error_code code;
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code))
    if (entry.is_regular_file() && entry.path().extension() == ".json")
      files.push_back(entry.path().lexically_normal().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const bool named = std::any_of(members.begin(), members.end(),
                                   [&](const Member& m) { return m.file == file; });
    if (!named && has_schema(file, "isoloop/arch", context)) members.push_back({file, "", ""});
  }
}

constexpr std::string_view run_script = R"sh(#!/usr/bin/env bash
# Trains run N of runs.jsonl, counted from 0: bash run.sh N. Arguments after N go to the trainer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
line=$(sed -n "$(("${1:?number of the run}" + 1))p" runs.jsonl)
directory=$(sed -E 's/.*"directory":"([^"]*)".*/\1/' <<<"$line")
[ -n "$directory" ] || { echo "run.sh: runs.jsonl has no run $1" >&2; exit 2; }
exec bash "$directory/run.sh" "${@:2}"
)sh";

constexpr std::string_view slurm_script = R"sh(#!/usr/bin/env bash
# One task of a Slurm array per run: sbatch submit.sbatch
#SBATCH --job-name=isoloop
#SBATCH --array=0-{}
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --output=slurm-%A_%a.out
set -euo pipefail
cd "${{SLURM_SUBMIT_DIR:-.}}"
srun bash run.sh "$SLURM_ARRAY_TASK_ID"
)sh";

std::string readme(const std::vector<Run>& runs) {
  std::string text = fmt::format(
      "# {} runs\n\n`runs.jsonl` is the run matrix, one line per run. `bash run.sh N` trains run N "
      "here, `sbatch submit.sbatch` trains all as a Slurm array. The line of a run:\n\n    cd "
      "runs/{} && {}\n\n| run | name | pair | role | parameters | training FLOPs per token | hash "
      "|\n|---:|---|---|---|---:|---:|---|\n",
      runs.size(), runs.front().name, runs.front().emitted.train);
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += fmt::format("| {} | {} | {} | {} | {} | {} | `{}` |\n", i, runs[i].name, runs[i].pair,
                        runs[i].role, grouped(runs[i].count.params_total.value()),
                        grouped(runs[i].count.train.value()), runs[i].hash);
  return text;
}

}  // namespace

bool names_many(const std::string& argument, const Context& context) {
  std::error_code code;
  if (argument == "-" || !fs::exists(argument, code)) return false;
  return fs::is_directory(argument, code) || has_schema(argument, "isoloop/pairs", context);
}

std::vector<Member> members(const std::string& argument, const Context& context) {
  std::error_code code;
  if (!fs::is_directory(argument, code)) return of_manifest(argument, context);
  const fs::path folder(argument);
  std::vector<Member> result;
  if (fs::exists(folder / "pairs.json", code)) result = of_manifest(folder / "pairs.json", context);
  add_folder(folder, context, result);
  add_folder(folder / "configs", context, result);
  if (result.empty())
    throw usage_error("holds no architectures", argument,
                      "name a folder written by match, grid or sweep");
  return result;
}

namespace {

/// A pair is trained by one code: native classes and the package differ in what no config says.
void share_code(std::vector<Run>& runs, const Context& context) {
  const auto packaged = [](const Run& r) { return r.emitted.variant == "package"; };
  if (runs.front().target->name != "hf" || std::none_of(runs.begin(), runs.end(), packaged)) return;
  std::size_t changed = 0;
  for (Run& run : runs)
    if (!run.pair.empty() && !packaged(run)) {
      write_as_package(run);
      ++changed;
    }
  if (changed > 0)
    context.warn(fmt::format("{} {} that a native class fits {} written as a package, so that both "
                             "sides of a pair are trained by the same code",
                             changed, changed == 1 ? "model" : "models", changed == 1 ? "is" : "are"));
}

void drop_doubles(std::vector<Run>& runs, const Context& context) {
  std::map<std::string, std::string> first;
  std::erase_if(runs, [&](const Run& run) {
    const auto [known, added] = first.emplace(run.hash, run.name);
    if (!added)
      context.warn(fmt::format("{} is the same model as {}: written once", run.name, known->second));
    return !added;
  });
}

Ratio budget_of(const Run& run, cost::Budget budget) {
  return cost::total(cost::ledger(run.model, run.options), budget, run.options);
}

void compare(Run& run, const Run& baseline, const Context& context) {
  std::vector<std::string> left;
  for (const solve::BudgetTolerance& kept : run.tolerance) {
    const Ratio target = budget_of(baseline, kept.budget);
    run.mismatch.push_back((budget_of(run, kept.budget) - target) / target);
    if (abs(run.mismatch.back()) > kept.tolerance)
      left.push_back(fmt::format("{} {} (tolerance {:.4g} %)", cost::name(kept.budget).name,
                                 percent(run.mismatch.back(), 2),
                                 (Ratio(100) * kept.tolerance).to_double()));
  }
  if (!left.empty())
    context.warn(fmt::format("{} is no longer equal to its baseline: {}; state vocab_size in the "
                             "baseline's file before matching",
                             run.name, fmt::join(left, ", ")));
}

}  // namespace

void join_runs(std::vector<Run>& runs, const Context& context) {
  for (Run& run : runs) {
    const auto baseline = std::find_if(runs.begin(), runs.end(),
                                       [&](const Run& r) { return r.file == run.baseline; });
    if (!run.baseline.empty() && baseline != runs.end()) compare(run, *baseline, context);
  }
  share_code(runs, context);
  drop_doubles(runs, context);
}

std::map<std::string, std::string> many_files(const std::vector<Run>& runs) {
  std::map<std::string, std::string> files;
  std::string matrix;
  for (const Run& run : runs) {
    const std::string directory = "runs/" + run.name;
    for (auto& [path, text] : run_files(run)) files[directory + "/" + path] = text;
    nlohmann::ordered_json line = run_json(run);
    line["directory"] = directory;
    matrix += line.dump() + "\n";
  }
  files["runs.jsonl"] = matrix;
  files["run.sh"] = std::string(run_script);
  files["submit.sbatch"] = fmt::format(slurm_script, runs.size() - 1);
  files["README.md"] = readme(runs);
  return files;
}

}  // namespace isoloop::cli
