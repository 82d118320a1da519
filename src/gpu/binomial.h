// Binomial rows of one expert, tabulated once for many tile sizes.
//
// Right by definition; held by tests/gpu/routing_test.cpp against reference sums.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "isoloop/gpu.h"

namespace isoloop::gpu {

class Binomial {
 public:
  /// X ~ B(tokens, top_k/experts); tails below 1e-16 are cut.
  explicit Binomial(const Routing& routing);
  double mean() const { return mean_; }
  double sd() const { return sd_; }
  double empty() const { return empty_; }
  /// E[ceil(X / rows)].
  double tiles(std::int64_t rows) const;
  /// E[max of `count` independent X].
  double expected_max(std::int64_t count) const;

 private:
  std::int64_t first_ = 0;   // smallest tabulated value
  std::vector<double> cdf_;  // P(X <= first_ + i)
  double mean_ = 0, sd_ = 0, empty_ = 0;
};

/// Tables and tile counts by routing, for problems that share one. Not for several threads.
class RoutingTables {
 public:
  const Binomial& rows(const Routing& routing);
  /// As Binomial::tiles.
  double tiles(const Routing& routing, std::int64_t rows);

 private:
  struct Table {
    Routing routing;
    Binomial rows;
    std::vector<std::pair<std::int64_t, double>> tiles;
  };
  Table& find(const Routing& routing);
  std::vector<Table> tables_;
};

/// Throws Error (kind input) unless tokens >= 0 and 1 <= top_k <= experts.
void check_routing(const Routing& routing);

}  // namespace isoloop::gpu
