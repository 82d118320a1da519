// The matching question stated for the integer search, and answers read back.
//
// A request becomes variables (layer dimensions), cases (loop shapes of equal cost), rules
// (plausibility, alignment, sharding) and measures (budgets). See docs/design.md, "The solver".
#pragma once

#include <optional>
#include <vector>

#include "isoloop/solve.h"

namespace isoloop::solve::detail {

/// A loop in a stack of some depth.
struct Shape {
  std::int64_t depth = 0;
  arch::Loop loop;
};

/// Shapes that cost the same for any layer dimensions; the first is the one preferred.
struct ShapeClass {
  std::vector<Shape> shapes;
  arch::Architecture architecture;  // of the first shape, layer dimensions still the baseline's
};

/// All loop shapes a request allows, grouped by cost, preferred ones first.
std::vector<ShapeClass> shape_classes(const MatchRequest& request);

/// Value of a layer dimension in the baseline: that of every segment that has it; none if no
/// segment has it. Throws if segments differ.
std::optional<std::int64_t> baseline_value(const arch::Architecture& baseline, Unknown unknown);
/// Writes a layer dimension into every segment that has it.
void assign(arch::Architecture& architecture, Unknown unknown, std::int64_t value);

struct Statement {
  Problem problem;
  std::vector<Unknown> unknowns;  // by variable
  std::vector<ShapeClass> shapes;  // by case
  std::vector<std::string> assumptions;
};
Statement state(const MatchRequest& request, const std::vector<Ratio>& targets);

/// Domain of an unknown: fixed, freed with a range, or the default one.
std::vector<std::int64_t> domain_of(const MatchRequest& request, Unknown unknown,
                                    std::int64_t baseline);
bool is_free_by_default(const arch::Architecture& baseline, Unknown unknown);
/// Whether heads x head size is held equal to the hidden size.
bool square(const MatchRequest& request);

}  // namespace isoloop::solve::detail
