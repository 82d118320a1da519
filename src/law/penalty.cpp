// Names of penalties and stop reasons.
//
// Held by tests/law/fit_test.cpp.
#include <algorithm>

#include "isoloop/law.h"

namespace isoloop::law {
namespace {
constexpr std::array<std::string_view, 3> penalty_names = {"huber", "l1", "l2"};
constexpr std::array<std::string_view, 4> stop_names = {"gradient", "precision", "vanished",
                                                        "iterations"};
}  // namespace

Penalty parse_penalty(std::string_view text, std::string_view where) {
  const auto at = std::find(penalty_names.begin(), penalty_names.end(), text);
  if (at != penalty_names.end()) return static_cast<Penalty>(at - penalty_names.begin());
  const std::vector<std::string> known(penalty_names.begin(), penalty_names.end());
  throw unknown_name(ErrorKind::usage, "penalty", text, known, where);
}

std::string_view name(Penalty penalty) { return penalty_names[static_cast<std::size_t>(penalty)]; }

std::string_view name(StopReason reason) { return stop_names[static_cast<std::size_t>(reason)]; }

}  // namespace isoloop::law
