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
/// The ledger of a class of shapes with every unknown of the statement left open.
std::vector<cost::Row<Poly>> open_ledger(const ShapeClass& shape, const cost::Options& options,
                                         const std::vector<Unknown>& unknowns);

/// What --rank understands, and one key of it. Absent for a criterion about a dimension that the
/// baseline does not have.
std::vector<std::string> rank_keys(const MatchRequest& request);
std::optional<Criterion> criterion_of(const MatchRequest& request,
                                      const std::vector<Unknown>& unknowns, const std::string& key);

/// Domain of an unknown: fixed, freed with a range, or the default one.
std::vector<std::int64_t> domain_of(const MatchRequest& request, Unknown unknown,
                                    std::int64_t baseline);
bool is_free_by_default(const arch::Architecture& baseline, Unknown unknown);
/// Whether heads x head size is held equal to the hidden size.
bool square(const MatchRequest& request);

/// A request with its defaults filled in, the problem it states, and the answers within tolerance.
struct Stated {
  MatchRequest request;
  Statement statement;
  MatchResult result;
};
/// The question alone, checked and stated; no answers yet.
Stated state_question(const MatchRequest& request);
/// match() without a nearest miss and remedies.
Stated match_within(const MatchRequest& request);

/// Answers of the search as architectures; `read_answers` throws Error (kind internal) if the
/// verifier rejects one.
MatchAnswer read_answer(const MatchRequest& request, const Statement& statement,
                        const Answer& answer);
std::vector<MatchAnswer> read_answers(const MatchRequest& request, const Statement& statement,
                                      const std::vector<Answer>& answers);

}  // namespace isoloop::solve::detail
