// Matching by trying every architecture a request allows: each one is built, counted with exact
// dimensions (no polynomials) and checked against the rules as isoloop/solve.h states them. For
// requests whose unknowns have short explicit ranges; the oracle of tests/solve/match_test.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isoloop/solve.h"

namespace isoloop::test {

struct Candidate {
  arch::Architecture architecture;
  std::map<solve::Unknown, std::int64_t> values;
  std::vector<Ratio> mismatch;
  std::vector<Ratio> score;  // largest and sum in units of tolerance, -hidden, experts
  std::string kind;          // what must differ between two answers of a list
  bool within = false;
};

/// All architectures that keep the rules, the closest first.
std::vector<Candidate> all_candidates(const solve::MatchRequest& request);

}  // namespace isoloop::test
