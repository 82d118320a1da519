// space: series and sets of candidates around one baseline.
//
// A sweep matches one baseline again and again, each time with another loop shape, under the same
// tolerances, so that only the shape differs between the members of an ablation.
// Held by tests/space/*_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isoloop/solve.h"

namespace isoloop::space {

/// The shape of one member. Span 0 or one visit means no loop; start 0 means centred.
struct Shape {
  std::int64_t depth = 0, span = 0, visits = 1, start = 0;
  bool operator==(const Shape&) const = default;
};

/// Figures a paper prints for a member, as printed.
struct Published {
  std::string val_loss, core, core_error, completion_loss;
};

struct Member {
  Shape shape;
  std::optional<Published> published;
  solve::MatchRequest request;
  solve::MatchResult result;  // filled by run()
  /// The best answer: within tolerance, or the nearest miss; null if no architecture satisfies the
  /// rules.
  const solve::MatchAnswer* best() const;
  bool within() const { return !result.answers.empty(); }
  /// "d12-s6x2", with "@4" where the start is not centred.
  std::string name() const;
};

/// Values of each axis of a cross product; an empty axis stays as in the request's loop.
struct Axes {
  std::vector<std::int64_t> depths, spans, visits, starts;
  bool all_starts = false;
};

/// The members of a cross product, duplicates (span 0 at several visits) once. Shapes that do not
/// exist (span beyond depth) are left out; none at all is an error (kind usage).
std::vector<Member> members(const solve::MatchRequest& request, const Axes& axes);
/// Matches every member; `progress` is called before each with its index.
void run(std::vector<Member>& members, const std::function<void(std::size_t)>& progress = {});

/// A sweep printed in a paper: one series per baseline.
struct Series {
  std::string baseline;  // built-in architecture
  std::string sparsity;
  std::vector<std::pair<Shape, Published>> members;
};
struct NamedSweep {
  std::string name, title, source;
  std::vector<Series> series;
};
std::vector<std::string> sweep_names();
/// Throws Error (kind usage) with the nearest name.
NamedSweep load_sweep(std::string_view name, std::string_view where);
/// A member of a named sweep, stated for the baseline's request.
Member member(const solve::MatchRequest& request, const Shape& shape,
              std::optional<Published> published = {});

}  // namespace isoloop::space
