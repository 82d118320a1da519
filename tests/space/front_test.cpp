// The Pareto front against comparing every point with every other.
//
// Holds src/space/front.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "isoloop/space.h"
#include "support/numbers.h"

namespace isoloop::space {
namespace {

using Random = std::mt19937_64;

/// Few values, so that equal measures are common; exact and predicted ones mixed.
std::vector<FrontPoint> random_points(Random& random) {
  const std::size_t measures = 1 + random() % 4;
  const std::uint64_t values = 2 + random() % 12;
  std::vector<FrontPoint> points(random() % 60);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].index = Int(i);
    for (std::size_t m = 0; m < measures; ++m) {
      const Ratio value(static_cast<std::int64_t>(random() % values), 3);
      const double v = value.to_double();
      if (m % 2 == 0)
        points[i].scores.push_back({value, {v, v, v}});
      else
        points[i].scores.push_back({std::nullopt, {v, v, v}});
    }
  }
  return points;
}

bool covers(const FrontPoint& a, const FrontPoint& b) {
  bool better = false;
  for (std::size_t m = 0; m < a.scores.size(); ++m) {
    if (a.scores[m].predicted.mid > b.scores[m].predicted.mid) return false;
    better = better || a.scores[m].predicted.mid < b.scores[m].predicted.mid;
  }
  return better || a.index < b.index;
}

std::vector<Int> indices(const std::vector<FrontPoint>& points) {
  std::vector<Int> result;
  for (const FrontPoint& p : points) result.push_back(p.index);
  return result;
}

TEST_CASE("the front holds what nothing covers, whatever the order and the parts") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<FrontPoint> points = random_points(random);
    std::vector<Int> expected;
    for (const FrontPoint& p : points)
      if (std::none_of(points.begin(), points.end(), [&](const auto& other) {
            return other.index != p.index && covers(other, p);
          }))
        expected.push_back(p.index);
    std::shuffle(points.begin(), points.end(), random);
    Front whole, parts[3], merged;
    for (std::size_t i = 0; i < points.size(); ++i) {
      whole.add(points[i]);
      parts[i % 3].add(points[i]);
    }
    for (const Front& part : parts)
      for (const FrontPoint& p : part.points()) merged.add(p);
    std::vector<Int> found = indices(whole.points());
    CHECK(found == indices(merged.points()));
    std::sort(found.begin(), found.end());
    CHECK(found == expected);
  }
}

TEST_CASE("a point added twice stays once") {
  Front front;
  const FrontPoint p{7, {{Ratio(1), {1, 1, 1}}}};
  CHECK(front.add(p));
  CHECK_FALSE(front.add(p));
  CHECK(front.points().size() == 1);
}

TEST_CASE("measures are named, and wrong ones complained about") {
  const auto keys = front_measures({"mismatch", "decode_bytes", "distance"}, {}, "--measures");
  CHECK(keys[1].key == "decode-bytes");
  CHECK(keys[1].budget == cost::Budget::decode_bytes);
  const auto message = [](const std::vector<std::string>& names) {
    return std::string(test::error_of([&] { front_measures(names, {}, "--measures"); }).what());
  };
  CHECK(message({"mismatsh"}) ==
        "--measures: unknown measure 'mismatsh'\n  hint: did you mean 'mismatch'?");
  CHECK(message({"mismatch", "mismatch"}) ==
        "--measures: mismatch is given twice\n  hint: keep one of the two");
}

}  // namespace
}  // namespace isoloop::space
