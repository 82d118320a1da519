// How a sweep is shown: its table, its sentences, its JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "isoloop/report.h"
#include "isoloop/space.h"

namespace isoloop::cli {

/// One baseline with its members.
struct Swept {
  std::string sparsity;  // named sweeps only
  std::vector<space::Member> members;
  const arch::Architecture& baseline() const { return members.front().request.baseline; }
};

/// One row a member: its loop, its sizes, its mismatch against its own targets.
report::Table members_table(const Swept& swept);
/// How many members are within tolerance, what misses, and what the mismatch of controls refers to.
/// `written`: the members within tolerance went into a folder, so the others are not there.
std::vector<report::Paragraph> sweep_remarks(const std::vector<Swept>& all, bool written);
/// {"baseline", "members"}; with its sparsity in a named sweep.
nlohmann::ordered_json series_json(const Swept& swept);
/// Members that miss their tolerance, by baseline and name, with the budget that binds.
nlohmann::ordered_json missing_json(const std::vector<Swept>& all);

}  // namespace isoloop::cli
