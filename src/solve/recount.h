// An independent recount of a budget: the model written out, one plain layer per execution.
#pragma once

#include "isoloop/solve.h"

namespace isoloop::solve::detail {

/// Work and caches of every execution; parameters of first visits and of what is stored anew for
/// each. Throws Error (kind input) if there are more executions than arch::max_steps.
Ratio recount(const arch::Architecture& model, cost::Budget budget, cost::Options options);

}  // namespace isoloop::solve::detail
