// Recognising the one loop of an architecture, however it was written down.
//
// Held by tests/arch/loop_test.cpp.
#include <algorithm>

#include "isoloop/arch.h"

namespace isoloop::arch {
namespace {

// Segments [begin, end) are looped, all others are not.
struct Block {
  std::size_t begin = 0, end = 0;
};

std::optional<Block> looped_block(const std::vector<Segment>& segments) {
  const auto looped = [](const Segment& segment) { return segment.visits.forward != Ratio(1); };
  const auto begin = std::find_if(segments.begin(), segments.end(), looped);
  const auto end = std::find_if_not(begin, segments.end(), looped);
  if (begin == end || std::any_of(end, segments.end(), looped)) return std::nullopt;
  return Block{static_cast<std::size_t>(begin - segments.begin()),
               static_cast<std::size_t>(end - segments.begin())};
}

// Before, the block `visits` times, after: the only schedule that is one block loop.
bool is_block_schedule(const Architecture& architecture, Block block, std::int64_t visits) {
  const auto& schedule = architecture.schedule;
  const auto& segments = architecture.segments;
  const std::size_t span = block.end - block.begin;
  const std::size_t looped = span * static_cast<std::size_t>(visits);
  if (schedule.size() != segments.size() - span + looped) return false;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    std::size_t expected = i;
    if (i >= block.begin + looped) {
      expected = i - looped + span;
    } else if (i >= block.begin) {
      expected = block.begin + (i - block.begin) % span;
    }
    if (schedule[i] != segments[expected].name) return false;
  }
  return true;
}

// The order of a block, or nothing if its segments repeat one after the other.
std::optional<Order> order_of(const Architecture& architecture, Block block, std::int64_t visits) {
  if (!architecture.schedule.empty()) {
    if (!is_block_schedule(architecture, block, visits)) return std::nullopt;
    return Order::block;
  }
  const Segment& first = architecture.segments[block.begin];
  if (block.end - block.begin == 1) return first.layers == 1 ? Order::block : first.order;
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const Segment& segment = architecture.segments[i];
    if (segment.layers > 1 && segment.order == Order::block) return std::nullopt;
  }
  return Order::layer;
}

}  // namespace

std::optional<Loop> loop_of(const Architecture& architecture) {
  const auto& segments = architecture.segments;
  const auto block = looped_block(segments);
  if (!block) return std::nullopt;
  const Ratio visits = segments[block->begin].visits.forward;
  if (!visits.is_integer()) return std::nullopt;
  Loop loop;
  loop.visits = visits.num().to_int64();
  loop.first = 1;
  for (std::size_t i = 0; i < block->begin; ++i) loop.first += segments[i].layers;
  for (std::size_t i = block->begin; i < block->end; ++i) {
    if (segments[i].visits.forward != visits) return std::nullopt;
    loop.span += segments[i].layers;
  }
  const auto order = order_of(architecture, *block, loop.visits);
  if (!order) return std::nullopt;
  loop.order = *order;
  return loop;
}

}  // namespace isoloop::arch
