// The rows that a fit uses, and what is noticed about them before any fitting.
//
// Held by tests/law/select_test.cpp and tests/law/traps_test.cpp.
#pragma once

#include <vector>

#include "isoloop/law.h"

namespace isoloop::law::detail {

struct Selection {
  std::vector<Run> rows;
  std::vector<Skipped> skipped;  // those of the file and those without a value the form needs
  std::vector<Excluded> excluded;
};
/// Throws Error (kind input) if a column is missing, or too few rows or one value on an axis
/// remain for the free coefficients.
Selection select(const Runs& runs, const Form& form, const FitOptions& options);

Window window_of(const Form& form, const std::vector<Run>& rows);
std::optional<ComputeCheck> check_compute(const Form& form, const std::vector<Run>& rows);
/// What the rows alone give reason to warn of.
std::vector<Warning> warnings_of(const Form& form, const Selection& selection,
                                 const FitOptions& options);

}  // namespace isoloop::law::detail
