// Rules as bounds: each unknown is narrowed with the others at the corners of the box. Once every
// unknown of a rule is fixed the bounds are the rule itself.
//
// Held by tests/solve/search_test.cpp against brute force, zeros included.
#include <algorithm>

#include "solve/search_internal.h"

namespace isoloop::solve::detail {
namespace {

/// ceil(a / b) for a >= 0; 0 where b is 0.
int128 up(int128 a, int128 b) { return b > 0 ? (a + b - 1) / b : 0; }

}  // namespace

/// Throws if the numbers of a ratio rule could overflow when it is applied.
void Bounds::check_rule(const Rule& rule) const {
  const bool of_product = rule.kind == Rule::Kind::product_ratio;
  if (rule.kind != Rule::Kind::ratio && !of_product) return;
  const auto most = [&](std::size_t v) {  // at least 1: a factor of 0 hides no overflow
    return Int(std::max<std::int64_t>(problem_.variables[v].domain.back(), 1));
  };
  const Int a = of_product ? most(rule.a) * most(rule.b) : most(rule.a);
  const Int b = of_product ? most(rule.c) : most(rule.b);
  for (const Ratio& bound : {rule.low, rule.high}) {
    (void)(bound.num() * b + bound.den());  // as up() adds them
    (void)(bound.den() * a + bound.num());
  }
}

/// Drops values of v above `limit`; false if none is left.
bool Bounds::lower_top(Level& level, std::size_t v, int128 limit, std::size_t reason,
                         bool& changed) const {
  if (limit >= value_at(level.high, v)) return true;
  if (limit < value_at(level.low, v)) return false;
  const auto& domain = problem_.variables[v].domain;
  const auto end = std::upper_bound(domain.begin() + level.low[v], domain.begin() + level.high[v],
                                    static_cast<std::int64_t>(limit));
  level.high[v] = static_cast<std::int32_t>(end - domain.begin()) - 1;
  level.high_reason[v] = reason;
  changed = true;
  return true;
}

/// Drops values of v below `limit`; false if none is left.
bool Bounds::raise_bottom(Level& level, std::size_t v, int128 limit, std::size_t reason,
                            bool& changed) const {
  if (limit <= value_at(level.low, v)) return true;
  if (limit > value_at(level.high, v)) return false;
  const auto& domain = problem_.variables[v].domain;
  const auto begin = std::lower_bound(domain.begin() + level.low[v], domain.begin() + level.high[v],
                                      static_cast<std::int64_t>(limit));
  level.low[v] = static_cast<std::int32_t>(begin - domain.begin());
  level.low_reason[v] = reason;
  changed = true;
  return true;
}

bool Bounds::narrow_by_rule(Level& level, std::size_t r, bool& changed) const {
  const Rule& rule = problem_.rules[r];
  const std::size_t reason = problem_.measures.size() + r;
  const int128 a_low = value_at(level.low, rule.a), a_high = value_at(level.high, rule.a);
  const int128 b_low = value_at(level.low, rule.b), b_high = value_at(level.high, rule.b);
  switch (rule.kind) {
    case Rule::Kind::product: {
      const int128 c_low = value_at(level.low, rule.c), c_high = value_at(level.high, rule.c);
      return lower_top(level, rule.c, a_high * b_high, reason, changed) &&
             raise_bottom(level, rule.c, a_low * b_low, reason, changed) &&
             (b_low == 0 || lower_top(level, rule.a, c_high / b_low, reason, changed)) &&
             raise_bottom(level, rule.a, up(c_low, b_high), reason, changed) &&
             (a_low == 0 || lower_top(level, rule.b, c_high / a_low, reason, changed)) &&
             raise_bottom(level, rule.b, up(c_low, a_high), reason, changed);
    }
    case Rule::Kind::divides:
      if (a_low == a_high && b_low == b_high) return a_low > 0 && b_low % a_low == 0;
      if (b_low == 0) return true;  // everything above 0 divides 0
      return raise_bottom(level, rule.b, a_low, reason, changed) &&
             lower_top(level, rule.a, b_high, reason, changed);
    case Rule::Kind::ratio: {  // low * b <= a <= high * b, with exact rounding
      const int128 top = rule.high.num().raw() * b_high / rule.high.den().raw();
      const int128 bottom = up(rule.low.num().raw() * b_low, rule.low.den().raw());
      const int128 b_bottom = up(rule.high.den().raw() * a_low, rule.high.num().raw());
      return lower_top(level, rule.a, top, reason, changed) &&
             raise_bottom(level, rule.a, bottom, reason, changed) &&
             raise_bottom(level, rule.b, b_bottom, reason, changed) &&
             (rule.low <= Ratio(0) ||
              lower_top(level, rule.b, rule.low.den().raw() * a_high / rule.low.num().raw(), reason,
                        changed));
    }
    case Rule::Kind::at_most:
      return lower_top(level, rule.a, b_high, reason, changed) &&
             raise_bottom(level, rule.b, a_low, reason, changed);
    case Rule::Kind::product_ratio:
      return narrow_by_product_ratio(level, rule, reason, changed);
  }
  return true;
}

/// low * c <= a * b <= high * c, each unknown bounded with the other two at a corner.
bool Bounds::narrow_by_product_ratio(Level& level, const Rule& rule, std::size_t reason,
                                       bool& changed) const {
  const int128 a_low = value_at(level.low, rule.a), a_high = value_at(level.high, rule.a);
  const int128 b_low = value_at(level.low, rule.b), b_high = value_at(level.high, rule.b);
  const int128 c_low = value_at(level.low, rule.c), c_high = value_at(level.high, rule.c);
  const int128 low_n = rule.low.num().raw(), low_d = rule.low.den().raw();
  const int128 high_n = rule.high.num().raw(), high_d = rule.high.den().raw();
  const int128 most = high_n * c_high, least = low_n * c_low;
  if (high_d * a_low * b_low > most || low_d * a_high * b_high < least) return false;
  return (low_n <= 0 ||
          lower_top(level, rule.c, low_d * a_high * b_high / low_n, reason, changed)) &&
         raise_bottom(level, rule.c, up(high_d * a_low * b_low, high_n), reason, changed) &&
         (b_low == 0 || lower_top(level, rule.a, most / (high_d * b_low), reason, changed)) &&
         raise_bottom(level, rule.a, up(least, low_d * b_high), reason, changed) &&
         (a_low == 0 || lower_top(level, rule.b, most / (high_d * a_low), reason, changed)) &&
         raise_bottom(level, rule.b, up(least, low_d * a_high), reason, changed);
}

}  // namespace isoloop::solve::detail
