// Where the search for the optimum begins.
//
// Held by tests/law/fit_test.cpp.
#pragma once

#include <vector>

#include "law/model.h"

namespace isoloop::law::detail {

/// All combinations of the grid, the first coefficient varying slowest. Pinned coefficients keep
/// their value; amplitudes without values are fitted linearly to the rows of the table.
std::vector<Vector> starting_points(const Table& table, const StartGrid& grid);

/// A few of them, spread over the grid: for refits that begin at a known optimum, too.
std::vector<Vector> few_starting_points(const Table& table);

}  // namespace isoloop::law::detail
