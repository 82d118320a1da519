// What fit() shares with everything that fits again: the target and the search from few starts.
//
// Held by tests/law/resample_test.cpp.
#pragma once

#include <vector>

#include "law/minimise.h"

namespace isoloop::law::detail {

/// L1 is fitted as Huber with a delta too small to matter, L2 with an infinite one.
Target target_of(const FitOptions& options);
/// The objective in the units of the penalty asked for.
double true_objective(const FitOptions& options, double minimised);
/// The best of the minima that the starts lead to.
Outcome best_of(Model& model, const std::vector<Vector>& starts, const Target& target);

}  // namespace isoloop::law::detail
