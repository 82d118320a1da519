// The state of one search; see search.cpp for the method.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "isoloop/solve.h"

namespace isoloop::solve::detail {

/// coefficient x product of unknowns; four bits of `key` per unknown hold its exponent.
struct Term {
  std::uint64_t key = 0;
  int128 coefficient = 0;
};
using Terms = std::vector<Term>;

/// Replaces one unknown by a value, merging equal products.
void substitute(const Terms& from, std::size_t variable, std::int64_t value, Terms& to);

struct Band {
  int128 low = 0, high = 0;  // inclusive
};

/// Ranges of all unknowns (as positions in their domains) and the measures with the fixed
/// unknowns put in.
struct Level {
  std::vector<Terms> terms;               // by measure
  std::vector<std::int32_t> low, high;    // by variable
  std::vector<std::size_t> low_reason, high_reason;
  std::vector<int128> off;  // by measure: least distance from the target in the box
};

/// What a tie asks of one measure; see ties.cpp. Its share in the sum of mismatches when it is off
/// by n is n * times / over, in fixed point.
struct Tie {
  bool counts = false;   // false: the tolerance is 0
  bool may_tie = false;  // the first criterion speaks of it
  bool bounded = false;  // the second does
  int128 need = 0;       // distance that is the worst answer's first score
  int128 within = 0;     // distance that is its second score
  int128 times = 0, over = 1;
};
struct Ties {
  bool on = false, by_sum = false;
  std::vector<Tie> measures;
  int128 limit = 0;  // the worst answer's sum, in fixed point
};

/// What can be cut off from a box: one problem, the bands its measures are held to, and the bounds
/// that follow.
class Bounds {
 public:
  explicit Bounds(const Problem& problem);
  /// The terms of a case, ready for a root level.
  std::vector<Terms> terms(const Case& c) const;
  /// Allowed band of each measure, from its cap and from the worst answer kept, if that matters.
  void tighten(const Answer* worst);
  /// Shrinks the ranges of a node whose unknowns order[0..depth) are fixed. Returns the measure or
  /// rule (numbered after the measures) that leaves nothing, if one does.
  std::optional<std::size_t> narrow(Level& level, std::size_t depth) const;
  std::int64_t value_at(const std::vector<std::int32_t>& index, std::size_t v) const;
  const std::vector<Int>& targets() const { return targets_; }  // in each measure's integer scale
  /// "flops", "kv heads divide heads".
  const std::string& reason_name(std::size_t reason) const;

 private:
  void check_rule(const Rule& rule) const;
  void add_measure(std::size_t m);
  Terms integer_terms(const Poly& poly, const Int& scale) const;
  void tighten_ties(const Answer* worst);
  std::optional<Ratio> units_allowed(std::size_t m, const Answer* worst) const;
  bool narrow_by_measure(Level& level, std::size_t m, const Band& band, std::size_t depth,
                         bool& changed) const;
  std::optional<std::size_t> narrow_by_ties(Level& level, std::size_t depth, bool& changed) const;
  bool narrow_by_rule(Level& level, std::size_t r, bool& changed) const;
  bool narrow_by_product_ratio(Level& level, const Rule& rule, std::size_t reason,
                               bool& changed) const;
  bool lower_top(Level& level, std::size_t v, int128 limit, std::size_t reason, bool& changed) const;
  bool raise_bottom(Level& level, std::size_t v, int128 limit, std::size_t reason,
                    bool& changed) const;
  int128 corner(const Term& term, const std::vector<std::int32_t>& index, std::size_t depth,
                std::optional<std::size_t> slope_in, std::int64_t slope_at) const;

  const Problem& problem_;
  std::vector<Int> scales_, targets_;  // integer scale and scaled target, by measure
  Int top_corner_ = 0;
  std::vector<Band> bands_;
  Ties ties_;
};

/// The walk over a range of candidate indices; see walk.cpp.
class Walk {
 public:
  explicit Walk(const Problem& problem);  // keeps a reference
  Bounds& bounds() { return bounds_; }
  /// `leaf` may tighten the bounds. Throws Error (kind internal) if points were lost.
  Certificate run(const Int& first, const Int& last, const Visitor& leaf);

 private:
  void walk_case(const Int& base);
  void visit(std::size_t depth, const Int& base);
  void leaf(const Level& level, const Int& index);
  void prune(std::size_t reason, const Int& from, const Int& count);
  Int inside(const Int& from, const Int& count) const;
  Certificate finish();

  const Problem& problem_;
  Bounds bounds_;
  std::vector<Level> levels_;
  std::vector<Int> subtree_;  // candidates below a node, by depth
  std::vector<Int> pruned_;   // by measure, then by rule
  std::size_t case_ = 0;
  Int first_ = 0, last_ = 0;
  const Visitor* visitor_ = nullptr;
  std::vector<std::int64_t> values_;
  std::vector<Int> excess_;
  Certificate certificate_;
};

/// Best answers of a walk.
class Searcher {
 public:
  explicit Searcher(const Problem& problem) : problem_(problem), walk_(problem) {}
  Result run();

 private:
  bool better(const Answer& a, const Answer& b) const;
  void keep(Answer answer);

  const Problem& problem_;
  Walk walk_;
  std::vector<Answer> answers_;  // best first
};

}  // namespace isoloop::solve::detail
