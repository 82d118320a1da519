// Unrolls a model and counts the result; see recount.h.
//
// A layer visited 5/2 times becomes three layers, the last one executed half of the time. Nothing
// here knows the ledger's rule for visits, slots or stored copies: what is stored or cached once is
// taken from the first visit alone. Held by tests/solve/verify_test.cpp and request_test.cpp.
#include "solve/recount.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace isoloop::solve::detail {
namespace {

/// Share of visit number `i` (from 0) in a number of visits: 5/2 visits are 1, 1 and 1/2.
Ratio share(const Ratio& visits, std::int64_t i) {
  return std::clamp(visits - Ratio(i), Ratio(0), Ratio(1));
}

/// Whether visit `i` has a cache slot of its own.
bool keeps_cache(const arch::Segment& segment, std::int64_t i) {
  switch (segment.kv_policy) {
    case arch::KvPolicy::per_visit:
      return true;
    case arch::KvPolicy::modulo:
      return i < segment.kv_slots;
    default:
      return i == 0;
  }
}

/// A model written out as one single-layer segment per execution, the visit each one is, and
/// whether it owns a cache slot. What a loop adds once per visit hangs on its first layer.
struct Unrolled {
  arch::Architecture model;
  std::map<std::string, std::int64_t> visit;
  std::set<std::string> cached;
};

void append(const arch::Segment& segment, std::int64_t layer, std::int64_t visit,
            Unrolled& result) {
  arch::Segment one = segment;
  one.name = fmt::format("executed{}", result.model.segments.size());
  one.layers = 1;
  one.visits = {share(segment.visits.forward, visit), share(segment.visits.backward, visit)};
  const std::int64_t window = arch::window_of(segment, layer);
  one.attention.windows.clear();
  if (window > 0) one.attention.windows = {window};
  if (layer > 0) {
    one.injection = arch::Injection::none;
    one.exit_gate = false;
  }
  result.visit[one.name] = visit;
  if (keeps_cache(segment, visit)) result.cached.insert(one.name);
  result.model.segments.push_back(std::move(one));
}

Unrolled unrolled(const arch::Architecture& model) {
  if (arch::effective_depth(model) > Ratio(arch::max_steps))
    throw input_error(fmt::format("'{}' runs {} layers per token, too many to write out",
                                  model.name, arch::effective_depth(model).str()),
                      "segments", fmt::format("at most {}", arch::max_steps));
  Unrolled result{model, {}, {}};
  result.model.segments.clear();
  result.model.schedule.clear();
  for (const arch::Segment& segment : model.segments)
    for (std::int64_t visit = 0; Ratio(visit) < segment.visits.forward; ++visit)
      for (std::int64_t layer = 0; layer < segment.layers; ++layer)
        append(segment, layer, visit, result);
  return result;
}

bool counts_storage(cost::Budget budget) {
  return budget == cost::Budget::params || budget == cost::Budget::params_total ||
         budget == cost::Budget::active || budget == cost::Budget::weights_bytes;
}

}  // namespace

Ratio recount(const arch::Architecture& model, cost::Budget budget, cost::Options options) {
  if (options.context == 0) options.context = model.context;
  const Unrolled plain = unrolled(model);
  Ratio sum = 0;
  for (cost::Row<Ratio>& row : cost::ledger(plain.model, options)) {
    const auto visit = plain.visit.find(row.segment);
    const bool again = visit != plain.visit.end() && visit->second > 0;
    if (again && counts_storage(budget) && !row.stored_per_visit) continue;
    if (!plain.cached.contains(row.segment)) row.cache_slots = 0;
    sum += cost::contribution(row, budget, options);
  }
  return sum;
}

}  // namespace isoloop::solve::detail
