// One emitted run: its files, its stable name and content hash, its card.
//
// Source: the targets' writers and cost::count; the hash is 64-bit FNV-1a
// (draft-eastlake-fnv). Held by tests/cli/emit_test.cpp.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "isoloop/cost.h"
#include "isoloop/formats.h"
#include "isoloop/solve.h"

namespace isoloop::cli {

struct Run {
  std::string name;        // stable: the model's name as a word
  std::string hash;        // 16 hex digits over what is trained and how it is spread
  std::string pair, role;  // of a grid or sweep: "200M-E192", "baseline" or "match"
  arch::Architecture model;
  const formats::Target* target = nullptr;
  formats::Sharding sharding;
  formats::Emitted emitted;
  cost::Count count;
  cost::Options options;
  std::string padding;  // what vocabulary padding does to the budget
  // Of a manifest: the file it came from and that of its baseline, and the signed mismatch in what
  // the pair keeps equal.
  std::string file, baseline;
  std::vector<solve::BudgetTolerance> tolerance;
  std::vector<Ratio> mismatch;
};

/// Checks sharding, counts under `options` (context: the model's where 0) and writes. Throws as
/// formats::emit does.
Run make_run(const arch::Architecture& model, const formats::Target& target,
             const formats::Sharding& sharding, const cost::Options& options = {});
/// Writes a Hugging Face run as a package though a native class fits.
void write_as_package(Run& run);
/// The trainer's files, run.sh, run.json and README.md, by path relative to the directory.
std::map<std::string, std::string> run_files(const Run& run);
/// What run.json and runs.jsonl say.
nlohmann::ordered_json run_json(const Run& run);

/// 64-bit FNV-1a as 16 hex digits.
std::string content_hash(std::string_view text);

}  // namespace isoloop::cli
