// What a fit has to say about itself beyond its coefficients.
//
// Held by tests/law/traps_test.cpp and tests/law/fit_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "law/minimise.h"

namespace isoloop::law::detail {

/// Throws Error (kind input) naming the coefficients that no number of such rows could tell apart.
void check_rank(const Table& table, const std::string& file);

/// How many starts were tried, converged, reached the best, died; the second best optimum.
void describe_starts(const Table& table, const std::vector<Outcome>& outcomes, const Outcome& best,
                     Fit& fit);
/// Condition numbers and correlations, from the model's Jacobian.
void describe_condition(const Table& table, const Model& model, Fit& fit);
/// Warnings that follow from what the fit says.
void warn_of_result(const Model& model, Fit& fit);

}  // namespace isoloop::law::detail
