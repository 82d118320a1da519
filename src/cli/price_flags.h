// Options that put a price on candidates: step time on a GPU, loss under a law.
//
// Held by tests/cli/priced_match_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "cli/plan_flags.h"
#include "isoloop/space.h"

namespace isoloop::cli {

struct PriceFlags {
  // As given; "" = not given.
  std::string gpu, law, tokens, compute;
  PlanFlags plan;
  void declare(CLI::App& app);

  /// The prices of `keys` and of what was given beside them. Keys that are no price are passed over.
  /// Throws Error (kind usage) if a key needs an option that is missing.
  std::vector<space::Price> prices(const std::vector<std::string>& keys,
                                   const solve::MatchRequest& request,
                                   const std::string& baseline, const Context& context) const;

 private:
  gpu::PlanOptions plan_options(const solve::MatchRequest& request) const;
  space::Training training() const;
};

}  // namespace isoloop::cli
