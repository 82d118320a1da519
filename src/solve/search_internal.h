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

class Searcher {
 public:
  explicit Searcher(const Problem& problem);
  Result run();

 private:
  void check_rule(const Rule& rule) const;
  void add_measure(std::size_t m);
  Terms integer_terms(const Poly& poly, const Int& scale) const;
  void tighten();
  void tighten_ties();
  std::optional<Ratio> units_allowed(std::size_t m) const;
  void visit(std::size_t depth);
  std::optional<std::size_t> narrow(Level& level, std::size_t depth) const;
  bool narrow_by_measure(Level& level, std::size_t m, const Band& band, std::size_t depth,
                         bool& changed) const;
  std::optional<std::size_t> narrow_by_ties(Level& level, std::size_t depth, bool& changed) const;
  bool narrow_by_rule(Level& level, std::size_t r, bool& changed) const;
  bool narrow_by_product_ratio(Level& level, const Rule& rule, std::size_t reason,
                               bool& changed) const;
  bool lower_top(Level& level, std::size_t v, int128 limit, std::size_t reason, bool& changed) const;
  bool raise_bottom(Level& level, std::size_t v, int128 limit, std::size_t reason,
                    bool& changed) const;
  std::int64_t value_at(const std::vector<std::int32_t>& index, std::size_t v) const;
  int128 corner(const Term& term, const std::vector<std::int32_t>& index, std::size_t depth,
                std::optional<std::size_t> slope_in, std::int64_t slope_at) const;
  void prune(std::size_t reason, Int points);
  void leaf(const Level& level);
  Ratio score(const Criterion& criterion, const Answer& answer) const;
  bool better(const Answer& a, const Answer& b) const;
  bool same_signature(const Answer& a, const Answer& b) const;
  void keep(Answer answer);
  Result finish();

  const Problem& problem_;
  std::vector<Int> scales_, targets_;  // integer scale and scaled target, by measure
  Int top_corner_ = 0;
  std::vector<Band> bands_;
  Ties ties_;
  std::vector<Level> levels_;
  std::vector<Int> subtree_;  // points below a node, by depth
  std::vector<Int> pruned_;   // by measure, then by rule
  std::size_t case_ = 0;
  std::vector<Answer> answers_;  // best first
  Certificate certificate_;
};

}  // namespace isoloop::solve::detail
