// Random routing: how many rows an expert gets, and what padding them costs.
//
// A uniform router gives an expert of E a binomial number of rows, mean T k / E. Perfect balance
// understates padding: with a mean on a tile boundary (256 rows, tiles of 128) half the experts are
// just above it, and the rows padded are 1.24 times the real ones, not 1.00.
//
// Held by tests/gpu/routing_test.cpp.
#include "gpu/binomial.h"

#include <algorithm>
#include <cmath>

namespace isoloop::gpu {
namespace {

constexpr double smallest_term = 1e-18;

/// log Gamma(x). std::lgamma also writes the global signgam, and threads call this at once.
double log_gamma(double x) {
#if !defined(__unix__)
  return std::lgamma(x);
#else
  int sign = 0;
  return ::lgamma_r(x, &sign);
#endif
}

double log_term(double n, double x, double p) {
  return log_gamma(n + 1) - log_gamma(x + 1) - log_gamma(n - x + 1) + x * std::log(p) +
         (n - x) * std::log1p(-p);
}

}  // namespace

void check_routing(const Routing& routing) {
  if (routing.tokens < 0)
    throw input_error("is " + std::to_string(routing.tokens) + "; expected at least 0", "tokens");
  if (routing.experts < 1 || routing.top_k < 1 || routing.top_k > routing.experts)
    throw input_error("top-" + std::to_string(routing.top_k) + " of " +
                          std::to_string(routing.experts) + " experts cannot be routed",
                      "top_k");
}

Binomial::Binomial(const Routing& routing) {
  check_routing(routing);
  const auto n = static_cast<double>(routing.tokens);
  const double p = static_cast<double>(routing.top_k) / static_cast<double>(routing.experts);
  mean_ = n * p;
  sd_ = std::sqrt(n * p * (1 - p));
  if (routing.top_k == routing.experts || routing.tokens == 0) {  // no chance in it
    first_ = routing.top_k == routing.experts ? routing.tokens : 0;
    cdf_ = {1.0};
    empty_ = first_ == 0 ? 1 : 0;
    return;
  }
  empty_ = std::exp(n * std::log1p(-p));
  const auto mode = static_cast<std::int64_t>(std::min(n, std::floor((n + 1) * p)));
  const double top = std::exp(log_term(n, static_cast<double>(mode), p));
  const double odds = p / (1 - p);
  std::vector<double> below, above;  // terms next to the mode, outwards
  double term = top;
  for (std::int64_t x = mode; x > 0; --x) {
    term *= static_cast<double>(x) / ((n - static_cast<double>(x) + 1) * odds);
    if (term < smallest_term) break;
    below.push_back(term);
  }
  term = top;
  for (std::int64_t x = mode; x < routing.tokens; ++x) {
    term *= (n - static_cast<double>(x)) / static_cast<double>(x + 1) * odds;
    if (term < smallest_term) break;
    above.push_back(term);
  }
  first_ = mode - static_cast<std::int64_t>(below.size());
  cdf_.assign(below.rbegin(), below.rend());
  cdf_.push_back(top);
  cdf_.insert(cdf_.end(), above.begin(), above.end());
  for (std::size_t i = 1; i < cdf_.size(); ++i) cdf_[i] += cdf_[i - 1];
}

double Binomial::tiles(std::int64_t rows) const {
  // E[ceil(X / r)] = sum over j >= 0 of P(X > j r).
  const std::int64_t last = first_ + static_cast<std::int64_t>(cdf_.size()) - 1;
  const std::int64_t sure = (first_ + rows - 1) / rows;  // j with j r < first: certain
  double sum = static_cast<double>(sure);
  for (std::int64_t x = sure * rows; x < last; x += rows)
    sum += std::max(0.0, 1 - cdf_[static_cast<std::size_t>(x - first_)]);
  return sum;
}

double Binomial::expected_max(std::int64_t count) const {
  double sum = static_cast<double>(first_);
  for (const double below : cdf_)
    sum += 1 - std::pow(std::min(1.0, below), static_cast<double>(count));
  // Some expert has at least the mean, rounded up; only tiny loads fall below.
  return std::max(sum, std::ceil(mean_ - 1e-9));
}

RoutingTables::Table& RoutingTables::find(const Routing& routing) {
  constexpr std::size_t most_tables = 64;  // a search keeps to a few; beyond, all is forgotten
  for (Table& known : tables_)
    if (known.routing == routing) return known;
  if (tables_.size() >= most_tables) tables_.clear();
  return tables_.emplace_back(Table{routing, Binomial(routing), {}});
}

const Binomial& RoutingTables::rows(const Routing& routing) { return find(routing).rows; }

double RoutingTables::tiles(const Routing& routing, std::int64_t rows) {
  Table& table = find(routing);
  for (const auto& [size, tiles] : table.tiles)
    if (size == rows) return tiles;
  return table.tiles.emplace_back(rows, table.rows.tiles(rows)).second;
}

RoutingStats routing_stats(const Routing& routing) {
  const Binomial rows(routing);
  RoutingStats stats{rows.mean(), rows.sd(), rows.empty(), 0};
  if (rows.mean() > 0) stats.max_over_mean = rows.expected_max(routing.experts) / rows.mean();
  return stats;
}

double expected_tiles(const Routing& routing, std::int64_t rows) {
  if (rows < 1) throw input_error("is " + std::to_string(rows) + "; expected at least 1", "rows");
  return Binomial(routing).tiles(rows);
}

}  // namespace isoloop::gpu
