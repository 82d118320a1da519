// The nearest of a list of names, and the error for a name that is not on the list.
//
// Source: optimal string alignment distance (insert, delete, replace, swap neighbours; each
// substring edited once), upper and lower case alike. Held by tests/base/nearest_test.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/base.h"

namespace isoloop {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i]) == lower(b[j]); };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (same(i - 1, j - 1) ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t longest = std::max(name.size(), candidate.size());
    const std::size_t found = distance(name, candidate);
    // Close: at most a third of the letters wrong, and not all of them.
    if (found > (longest + 2) / 3 || found >= longest) continue;
    if (best.empty() || found < best_distance) {
      best = candidate;
      best_distance = found;
    }
  }
  return best;
}

Error unknown_name(ErrorKind kind, std::string_view what, std::string_view name,
                   std::span<const std::string> candidates, std::string_view where) {
  const std::string near = nearest(name, candidates);
  std::string hint;
  if (!near.empty()) {
    hint = fmt::format("did you mean '{}'?", near);
  } else if (!candidates.empty()) {
    hint = fmt::format("known: {}", fmt::join(candidates, ", "));
  }
  return Error(kind, fmt::format("unknown {} '{}'", what, name), std::string(where), hint);
}

}  // namespace isoloop
