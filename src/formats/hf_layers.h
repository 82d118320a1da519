// What differs from layer to layer: windows, and dense or MoE feed-forward blocks.
//
// Source: the configuration class of each family, see hf_families.h. Held by
// tests/formats/hf_layers_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "formats/hf_families.h"

namespace isoloop::formats {

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
