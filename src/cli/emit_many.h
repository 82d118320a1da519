// Every run of a grid or sweep directory, or of a manifest of pairs.
//
// Held by tests/cli/emit_many_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/emit_run.h"
#include "isoloop/solve.h"

namespace isoloop::cli {

/// A model of a directory, its pair and its part in it ("" where no manifest names it).
struct Member {
  std::string file, pair, role;
  std::string baseline = {};  // file of the pair's baseline, for the other side
  cost::Options options = {};  // how the manifest counts
  std::vector<solve::BudgetTolerance> tolerance = {};  // within which the pair is equal
};

/// Whether an argument names a directory or a manifest of pairs rather than one architecture.
bool names_many(const std::string& argument, const Context& context);
/// The architectures of a directory with pairs.json, of a manifest, or of all files of a directory
/// and its configs/, in a fixed order. Throws Error (kind usage) if there is none.
std::vector<Member> members(const std::string& argument, const Context& context);

/// What the runs of a manifest have to agree in: how far each is from its baseline, in `mismatch`;
/// the same code for both sides of a pair; no model twice. Says as warnings what it changed and which
/// pair is no longer equal.
void join_runs(std::vector<Run>& runs, const Context& context);

/// runs/NAME/..., runs.jsonl, run.sh, submit.sbatch and README.md.
std::map<std::string, std::string> many_files(const std::vector<Run>& runs);

}  // namespace isoloop::cli
