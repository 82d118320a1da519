// Yes-or-no lists over layers, and runs of equal layers as segments.
//
// Source: see hf_layers.h. Held by tests/formats/hf_layers_test.cpp.
#include "formats/hf_layers.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoloop::formats {
namespace {

/// The smallest beginning that repeats to the whole; empty if every layer has full attention.
std::vector<std::int64_t> repeating(const std::vector<std::int64_t>& sizes) {
  if (std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size == 0; }))
    return {};
  for (std::size_t period = 1; period < sizes.size(); ++period) {
    if (std::equal(sizes.begin() + static_cast<std::ptrdiff_t>(period), sizes.end(), sizes.begin()))
      return {sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(period)};
  }
  return sizes;
}

}  // namespace

bool any(const Mask& mask) { return std::find(mask.begin(), mask.end(), true) != mask.end(); }
bool all(const Mask& mask) { return std::find(mask.begin(), mask.end(), false) == mask.end(); }

Mask stated_mask(Config& config, std::string_view key, const std::vector<std::int64_t>& list,
                 std::int64_t layers) {
  if (static_cast<std::int64_t>(list.size()) != layers) {
    throw config.error(key, fmt::format("lists {} values for {} layers", list.size(), layers));
  }
  return mask(layers, [&](std::int64_t i) { return list[static_cast<std::size_t>(i)] != 0; });
}

std::vector<arch::Segment> segments(const arch::Attention& attention,
                                    const std::vector<arch::Ffn>& ffns,
                                    const LayerWindows& windows) {
  std::vector<arch::Segment> result;
  std::int64_t dense = 0, moe = 0;
  for (std::size_t first = 0; first < ffns.size();) {
    std::size_t end = first + 1;
    while (end < ffns.size() && ffns[end] == ffns[first]) ++end;
    arch::Segment segment;
    std::int64_t& number = ffns[first].moe ? moe : dense;
    ++number;
    segment.name = ffns[first].moe ? "moe" : "dense";
    if (number > 1) segment.name += std::to_string(number);
    segment.layers = static_cast<std::int64_t>(end - first);
    segment.attention = attention;
    segment.attention.windows =
        repeating({windows.sizes.begin() + static_cast<std::ptrdiff_t>(first),
                   windows.sizes.begin() + static_cast<std::ptrdiff_t>(end)});
    segment.attention.chunked = windows.chunked && !segment.attention.windows.empty();
    segment.ffn = ffns[first];
    result.push_back(std::move(segment));
    first = end;
  }
  if (result.size() == 1) result.front().name = "layers";
  return result;
}

}  // namespace isoloop::formats
