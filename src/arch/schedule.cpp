// Depths and the execution order: which layer runs when.
//
// Held by tests/arch/schedule_test.cpp; examples from the published loop structures (Huginn
// 2 + 4×32 + 2, Ouro's whole stack ×4, the nested cycles of HRM).
#include <fmt/core.h>

#include <map>

#include "isoloop/arch.h"

namespace isoloop::arch {
namespace {

std::int64_t whole_visits(const Segment& segment, std::size_t index) {
  if (segment.visits.forward.is_integer()) return segment.visits.forward.num().to_int64();
  throw input_error(
      fmt::format("is {}, so there is no single order of execution", segment.visits.forward.str()),
      fmt::format("segments[{}].visits", index), "give whole visits");
}

void run_once(const Segment& segment, std::size_t index, std::int64_t visit,
              std::vector<Step>& steps) {
  for (std::int64_t layer = 0; layer < segment.layers; ++layer) {
    steps.push_back({index, layer, visit});
  }
}

void run_in_place(const Segment& segment, std::size_t index, std::int64_t visits,
                  std::vector<Step>& steps) {
  for (std::int64_t layer = 0; layer < segment.layers; ++layer) {
    for (std::int64_t visit = 0; visit < visits; ++visit) steps.push_back({index, layer, visit});
  }
}

void run_schedule(const Architecture& architecture, std::vector<Step>& steps) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < architecture.segments.size(); ++i) {
    index[architecture.segments[i].name] = i;
  }
  std::vector<std::int64_t> visits(architecture.segments.size());
  for (const std::string& name : architecture.schedule) {
    const std::size_t i = index.at(name);
    run_once(architecture.segments[i], i, visits[i]++, steps);
  }
}

}  // namespace

std::int64_t depth(const Architecture& architecture) {
  std::int64_t layers = 0;
  for (const Segment& segment : architecture.segments) layers += segment.layers;
  return layers;
}

Ratio effective_depth(const Architecture& architecture) {
  Ratio layers = 0;
  for (const Segment& segment : architecture.segments) {
    layers += Ratio(segment.layers) * segment.visits.forward;
  }
  return layers;
}

std::vector<Step> execution(const Architecture& architecture) {
  std::vector<std::int64_t> visits;
  for (std::size_t i = 0; i < architecture.segments.size(); ++i) {
    visits.push_back(whole_visits(architecture.segments[i], i));
  }
  const Ratio length = effective_depth(architecture);
  if (length > Ratio(max_steps)) {
    throw input_error(
        fmt::format("run {} layers per token; at most {} are listed", length.str(), max_steps),
        "segments");
  }
  std::vector<Step> steps;
  steps.reserve(static_cast<std::size_t>(length.num().to_int64()));
  if (!architecture.schedule.empty()) {
    run_schedule(architecture, steps);
    return steps;
  }
  for (std::size_t i = 0; i < architecture.segments.size(); ++i) {
    const Segment& segment = architecture.segments[i];
    if (segment.order == Order::layer) {
      run_in_place(segment, i, visits[i], steps);
    } else {
      for (std::int64_t visit = 0; visit < visits[i]; ++visit) run_once(segment, i, visit, steps);
    }
  }
  return steps;
}

std::int64_t window_of(const Segment& segment, std::int64_t layer) {
  const auto& windows = segment.attention.windows;
  if (windows.empty()) return 0;
  return windows[static_cast<std::size_t>(layer) % windows.size()];
}

}  // namespace isoloop::arch
