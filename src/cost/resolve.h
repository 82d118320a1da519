// resolve: everything about a cost that is not + or x.
//
// Turns an architecture and options into groups of equal layers with the value of every letter:
// windows and causal halves become a mean attended length T, padding becomes a padded vocabulary,
// a cache policy becomes a number of slots. Held by tests/cost/attended_test.cpp.
#pragma once

#include "cost/formulas.h"

namespace isoloop::cost {

/// Layers of one segment that share a window.
struct LayerGroup {
  const arch::Segment* segment = nullptr;
  Ratio layers = 1;
  Letters<Ratio> value;
  Ratio slots_per_layer = 1;
  Ratio cache_kept = 1;
  bool cache_grows = true;
};

struct Resolved {
  std::vector<LayerGroup> groups;
  Letters<Ratio> model;  // letters of model-wide rows
};

Resolved resolve(const arch::Architecture&, const Options&);

/// S: the caller's context, or the architecture's own.
std::int64_t context_of(const arch::Architecture&, const Options&);
/// T: mean tokens attended per query under the convention; window 0 = full attention.
Ratio mean_attended(const Options&, std::int64_t context, std::int64_t window, bool chunked);

}  // namespace isoloop::cost
