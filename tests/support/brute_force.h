// Brute force over an integer search problem: nested loops over every point, no bounds, no order
// of its own. Slow and obviously right; the oracle of tests/solve/search_test.cpp.
#pragma once

#include <vector>

#include "isoloop/solve.h"

namespace isoloop::test {

/// Points of the space, multiplicities included.
Int space_size(const solve::Problem& problem);

/// The best `problem.keep` answers, pairwise different, best first.
std::vector<solve::Answer> brute_force(const solve::Problem& problem);

}  // namespace isoloop::test
