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
  std::optional<Ratio> units_allowed(std::size_t m) const;
  void visit(std::size_t depth);
  std::optional<std::size_t> narrow(Level& level, std::size_t depth) const;
  bool narrow_by_measure(Level& level, std::size_t m, std::size_t depth, bool& changed) const;
  bool narrow_by_rule(Level& level, std::size_t r, bool& changed) const;
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
  std::vector<Level> levels_;
  std::vector<Int> subtree_;  // points below a node, by depth
  std::vector<Int> pruned_;   // by measure, then by rule
  std::size_t case_ = 0;
  std::vector<Answer> answers_;  // best first
  Certificate certificate_;
};

}  // namespace isoloop::solve::detail
