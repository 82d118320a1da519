// pairs: a manifest of architectures that must stay equal in cost, and its check.
//
// A manifest (schema "isoloop/pairs/v1") names pairs of files, the options of the count, the
// tolerances, and the contribution of every row at the time of matching. check() recounts both
// files and, where a budget is missed, names the row that moved most since then.
// Held by tests/pairs/*_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "isoloop/cost.h"
#include "isoloop/solve.h"

namespace isoloop::pairs {

/// Contribution of each row ("segment / row name") to each budget.
using Recorded = std::map<std::string, std::map<std::string, Ratio>>;

struct Pair {
  std::string name, baseline, match;  // files, relative to the manifest
  std::vector<solve::BudgetTolerance> tolerance;  // empty: the manifest's
  Recorded baseline_rows, match_rows;             // empty: never recorded
};

struct Manifest {
  cost::Options options;
  std::vector<solve::BudgetTolerance> tolerance;
  std::vector<Pair> pairs;
};

/// Throws Error (kind input) at the field that is wrong; a manifest without pairs is an error.
Manifest from_json(std::string_view text, std::string_view file);
std::string to_json(const Manifest& manifest);

struct BudgetCheck {
  cost::Budget budget{};
  Ratio baseline, match, mismatch, tolerance;
  bool ok = false;
  /// The row whose contribution changed most since recording, with the change; empty if none did
  /// or nothing was recorded.
  std::string moved_side, moved_row;
  Ratio moved_from, moved_to;
};

struct PairCheck {
  std::string name, baseline, match;
  bool ok = false;
  bool recorded = false;
  bool moved = false;  // some row changed since recording
  std::vector<BudgetCheck> budgets;
};

/// Opens a file named in the manifest.
using Open = std::function<arch::Architecture(const std::string& file)>;

std::vector<PairCheck> check(const Manifest& manifest, const Open& open);
/// The manifest with the present counts recorded.
Manifest record(const Manifest& manifest, const Open& open);

}  // namespace isoloop::pairs
