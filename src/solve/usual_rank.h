// The ranking of answers where none is asked for. Held by tests/solve/match_test.cpp: brute force.
#pragma once

#include <string>
#include <vector>

namespace isoloop::solve {

inline const std::vector<std::string> usual_rank = {"mismatch", "sum", "hidden", "experts"};

}  // namespace isoloop::solve
