// What differs from layer to layer: windows, and dense or MoE feed-forward blocks.
//
// Source: the configuration class of each family, see hf_families.h. Held by
// tests/formats/hf_layers_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "formats/hf_families.h"

namespace isoloop::formats {

/// Yes or no for each layer.
using Mask = std::vector<bool>;
template <class Rule>
Mask mask(std::int64_t layers, Rule rule) {
  Mask result(static_cast<std::size_t>(layers));
  for (std::int64_t i = 0; i < layers; ++i) result[static_cast<std::size_t>(i)] = rule(i);
  return result;
}
bool any(const Mask& mask);
bool all(const Mask& mask);
/// A list of whole numbers, one for each layer, as yes (not 0) or no.
Mask stated_mask(Config& config, std::string_view key, const std::vector<std::int64_t>& list,
                 std::int64_t layers);

struct LayerWindows {
  std::vector<std::int64_t> sizes;  // one for each layer, 0 = full attention
  bool chunked = false;
};
LayerWindows layer_windows(const Family& family, Config& config, std::int64_t layers,
                           std::vector<std::string>& warnings);

/// The feed-forward block of each layer.
std::vector<arch::Ffn> layer_ffns(const Family& family, Config& config, std::int64_t layers);

/// One segment for each run of layers with equal feed-forward blocks.
std::vector<arch::Segment> segments(const arch::Attention& attention,
                                    const std::vector<arch::Ffn>& ffns,
                                    const LayerWindows& windows);

}  // namespace isoloop::formats
