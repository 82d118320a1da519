// Remedies: the smallest single changes that make an infeasible request feasible.
#pragma once

#include "solve/statement.h"

namespace isoloop::solve::detail {

/// One alignment step made finer, one tolerance raised, one unknown freed, or heads x head size
/// allowed to differ from the hidden size. Each is solved again with only that change.
std::vector<Remedy> find_remedies(const MatchRequest& request);

}  // namespace isoloop::solve::detail
