// Windows and feed-forward blocks layer by layer, and runs of equal layers as segments.
//
// Source: see hf_layers.h. Held by tests/formats/hf_layers_test.cpp.
#include "formats/hf_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace isoloop::formats {
namespace {

using Mask = std::vector<bool>;  // one for each layer

template <class Rule>
Mask mask(std::int64_t layers, Rule rule) {
  Mask result(static_cast<std::size_t>(layers));
  for (std::int64_t i = 0; i < layers; ++i) result[static_cast<std::size_t>(i)] = rule(i);
  return result;
}

bool any(const Mask& mask) { return std::find(mask.begin(), mask.end(), true) != mask.end(); }

/// A list of whole numbers, one for each layer, as yes (not 0) or no.
Mask stated_mask(Config& config, std::string_view key, const std::vector<std::int64_t>& list,
                 std::int64_t layers) {
  if (static_cast<std::int64_t>(list.size()) != layers) {
    throw config.error(key, fmt::format("lists {} values for {} layers", list.size(), layers));
  }
  return mask(layers, [&](std::int64_t i) { return list[static_cast<std::size_t>(i)] != 0; });
}

// ---- Windows -----------------------------------------------------------------------------------

struct LayerTypes {
  Mask windowed;
  bool chunked = false;
};

LayerTypes layer_types(Config& config, std::int64_t layers) {
  const json::Value& list = *config.find({"layer_types"});
  if (!list.is_array() || static_cast<std::int64_t>(list.size()) != layers) {
    throw config.error("layer_types", fmt::format("must be a list of {} layer types", layers));
  }
  LayerTypes result{Mask(list.size())};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool chunk = list[i] == "chunked_attention";
    if (!chunk && list[i] != "sliding_attention" && list[i] != "full_attention") {
      const std::string kind = list[i].is_string() ? list[i].get<std::string>() : "(not text)";
      throw config.error(fmt::format("layer_types[{}]", i),
                         fmt::format("'{}' layers cannot be read", kind),
                         "full_attention, sliding_attention or chunked_attention");
    }
    result.windowed[i] = list[i] != "full_attention";
    result.chunked = result.chunked || chunk;
  }
  return result;
}

Mask windowed_by_rule(const WindowRule& rule, Config& config, std::int64_t layers) {
  if (const auto stated = config.list(rule.by_layer); stated && !stated->empty())
    return stated_mask(config, rule.by_layer.front(), *stated, layers);
  switch (rule.layers) {
    case Windows::all: return Mask(static_cast<std::size_t>(layers), true);
    case Windows::even: return mask(layers, [](std::int64_t i) { return i % 2 == 0; });
    case Windows::from_max_window: {
      const auto first = config.whole({"max_window_layers"});
      if (!first) throw config.missing({"max_window_layers"});
      return mask(layers, [&](std::int64_t i) { return i >= *first; });
    }
    case Windows::all_but_every_nth: {
      const std::int64_t n = config.dimension(rule.pattern);
      return mask(layers, [&](std::int64_t i) { return (i + 1) % n != 0; });
    }
    case Windows::unknown: break;
  }
  throw config.error("use_sliding_window", "is true, but no key says which layers have the window",
                     "give layer_types");
}

/// The size of the windows, 0 for none.
std::int64_t window_size(const WindowRule& rule, Config& config, bool needed,
                         std::vector<std::string>& warnings) {
  const std::int64_t size = config.whole(rule.size).value_or(0);
  if (size == 0 && needed) throw config.missing(rule.size);
  if (rule.class_assumes_one && !config.mentions(rule.size.front())) {
    warnings.push_back(fmt::format("key '{}' is missing: read as full attention, although the "
                                   "model class assumes a window; null says full attention",
                                   rule.size.front()));
  }
  return size;
}

// ---- Mixture of experts ------------------------------------------------------------------------

Mask after_first(const MoeRule& rule, Config& config, std::int64_t layers) {
  const auto stated = config.whole(rule.first_dense);
  if (!stated && rule.first_dense_needed) throw config.missing(rule.first_dense);
  const std::int64_t first = stated.value_or(0);
  const json::Value* frequency = config.find({"moe_layer_freq"});
  if (frequency != nullptr && frequency->is_array()) {
    const Mask listed = stated_mask(config, "moe_layer_freq", *config.list({"moe_layer_freq"}), layers);
    return mask(layers,
                [&](std::int64_t i) { return i >= first && listed[static_cast<std::size_t>(i)]; });
  }
  const std::int64_t step = frequency == nullptr ? 1 : config.dimension({"moe_layer_freq"});
  return mask(layers, [&](std::int64_t i) { return i >= first && i % step == 0; });
}

Mask sparse_step(Config& config, std::int64_t layers) {
  const std::int64_t step =
      config.states({"decoder_sparse_step"}) ? config.dimension({"decoder_sparse_step"}) : 1;
  Mask result = mask(layers, [&](std::int64_t i) { return (i + 1) % step == 0; });
  for (const std::int64_t dense : config.list({"mlp_only_layers"}).value_or(
           std::vector<std::int64_t>{})) {
    if (dense >= layers) {
      throw config.error("mlp_only_layers", fmt::format("names layer {} of {} layers, counted from 0",
                                                        dense, layers));
    }
    result[static_cast<std::size_t>(dense)] = false;
  }
  return result;
}

Mask interleaved(Config& config, std::int64_t layers) {
  if (const auto listed = config.list({"moe_layers"})) {
    return mask(layers, [&](std::int64_t i) {
      return std::find(listed->begin(), listed->end(), i) != listed->end();
    });
  }
  const std::int64_t step = config.dimension({"interleave_moe_layer_step"});
  return mask(layers, [&](std::int64_t i) { return (i + 1) % step == 0; });
}

Mask interval(Config& config, std::int64_t layers) {
  const auto first = config.whole({"moe_layer_start_index"});
  if (!first) throw config.missing({"moe_layer_start_index"});
  const json::Value* end = config.find({"moe_layer_end_index"});
  const bool to_the_end = end == nullptr || *end == -1;
  const std::int64_t last = to_the_end ? layers - 1 : *config.whole({"moe_layer_end_index"});
  const std::int64_t step =
      config.states({"moe_layer_interval"}) ? config.dimension({"moe_layer_interval"}) : 1;
  return mask(layers,
              [&](std::int64_t i) { return (i + 1) % step == 0 && i >= *first && i <= last; });
}

Mask moe_layers(const MoeRule& rule, Config& config, std::int64_t layers) {
  switch (rule.layers) {
    case MoeLayers::after_first: return after_first(rule, config, layers);
    case MoeLayers::sparse_step: return sparse_step(config, layers);
    case MoeLayers::interleaved: return interleaved(config, layers);
    case MoeLayers::interval: return interval(config, layers);
    case MoeLayers::all: break;
  }
  return Mask(static_cast<std::size_t>(layers), true);
}

/// Readers for the numbers of MoE layers; lists hold one value for each layer.
struct MoeNumbers {
  PerLayer experts, top_k, size, shared_count, shared_each, shared_width;
  bool shared_each_stated = false;
};

PerLayer shared_number(const MoeRule& rule, Config& config, const Keys& keys, std::int64_t layers) {
  if (keys.empty()) return 0;
  // A null says that there is none, as the classes have it; so may a missing key.
  const bool none = !config.states(keys) && (rule.shared_optional || config.mentions(keys.front()));
  return none ? PerLayer(0) : config.per_layer(keys, layers, 0);
}

MoeNumbers moe_numbers(const MoeRule& rule, Config& config, std::int64_t layers) {
  MoeNumbers n{config.per_layer(rule.experts, layers, 1), config.per_layer(rule.top_k, layers, 1),
               config.per_layer(rule.size, layers, 1), shared_number(rule, config, rule.shared_count, layers),
               0, shared_number(rule, config, rule.shared_width, layers)};
  n.shared_each_stated = config.states(rule.shared_each);
  if (n.shared_each_stated) n.shared_each = config.per_layer(rule.shared_each, layers, 0);
  if (rule.one_shared) n.shared_count = 1;
  return n;
}

arch::Ffn moe_ffn(const arch::Ffn& common, const MoeNumbers& n, bool shared, std::int64_t layer) {
  arch::Ffn ffn = common;
  ffn.experts = n.experts.at(layer);
  ffn.top_k = n.top_k.at(layer);
  ffn.expert_size = n.size.at(layer);
  const std::int64_t each = n.shared_each_stated ? n.shared_each.at(layer) : ffn.expert_size;
  const Int width = Int(n.shared_width.at(layer)) + Int(n.shared_count.at(layer)) * Int(each);
  ffn.shared_size = shared ? width.to_int64() : 0;
  ffn.shared_gate = ffn.shared_gate && ffn.shared_size > 0;
  return ffn;
}

/// The smallest beginning that repeats to the whole; empty if every layer has full attention.
std::vector<std::int64_t> repeating(const std::vector<std::int64_t>& sizes) {
  if (std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size == 0; })) return {};
  for (std::size_t period = 1; period < sizes.size(); ++period) {
    if (std::equal(sizes.begin() + static_cast<std::ptrdiff_t>(period), sizes.end(), sizes.begin()))
      return {sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(period)};
  }
  return sizes;
}

}  // namespace

LayerWindows layer_windows(const Family& family, Config& config, std::int64_t layers,
                           std::vector<std::string>& warnings) {
  LayerWindows result{std::vector<std::int64_t>(static_cast<std::size_t>(layers))};
  const bool typed = config.states({"layer_types"});
  if (!typed && !family.windows) return result;
  const WindowRule rule = family.windows.value_or(WindowRule{});
  for (const Keys* keys : {&rule.size, &rule.pattern, &rule.by_layer}) config.know(*keys);
  if (rule.only_if_used) config.know({"max_window_layers"});

  LayerTypes types;
  if (typed) types = layer_types(config, layers);
  if (rule.only_if_used && !config.fact({false, {"use_sliding_window"}})) return result;
  const std::int64_t size = window_size(rule, config, rule.needed || any(types.windowed), warnings);
  if (size == 0) return result;
  if (!typed) types = {windowed_by_rule(rule, config, layers), rule.chunked};
  result.chunked = types.chunked && any(types.windowed);
  for (std::size_t i = 0; i < types.windowed.size(); ++i)
    result.sizes[i] = types.windowed[i] ? size : 0;
  return result;
}

std::vector<arch::Ffn> layer_ffns(const Family& family, Config& config, std::int64_t layers) {
  const Mask is_moe = family.moe ? moe_layers(*family.moe, config, layers)
                                 : Mask(static_cast<std::size_t>(layers), false);
  config.know(family.dense_size);
  arch::Ffn dense, moe;
  dense.gated = moe.gated = config.fact(family.gated);
  if (!any(mask(layers, [&](std::int64_t i) { return is_moe[static_cast<std::size_t>(i)]; })) || !std::all_of(is_moe.begin(), is_moe.end(), [](bool m) { return m; })) {
    dense.size = config.dimension(family.dense_size);
    dense.bias = config.fact(family.ffn_bias);
  }
  if (!any(is_moe)) return std::vector<arch::Ffn>(is_moe.size(), dense);

  const MoeRule& rule = *family.moe;
  moe.moe = true;
  moe.shared_gate = config.fact(rule.shared_gate);
  moe.router_bias = config.fact(rule.router_bias);
  moe.selection_bias = config.fact(rule.selection_bias);
  moe.bias = config.fact(rule.expert_bias);
  moe.output_bias = config.fact(rule.output_bias);
  const MoeNumbers numbers = moe_numbers(rule, config, layers);
  const bool shared = config.fact(rule.shared_on);
  std::vector<arch::Ffn> result;
  for (std::int64_t i = 0; i < layers; ++i)
    result.push_back(is_moe[static_cast<std::size_t>(i)] ? moe_ffn(moe, numbers, shared, i) : dense);
  return result;
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
