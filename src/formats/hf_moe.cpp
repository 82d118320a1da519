// Which layers of a Hugging Face model are mixtures of experts, and the feed-forward block of each.
//
// Source: the configuration class of each family, see hf_families.h. Held by
// tests/formats/hf_layers_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "formats/hf_layers.h"

namespace isoloop::formats {
namespace {

Mask after_first(const MoeRule& rule, Config& config, std::int64_t layers) {
  const auto stated = config.whole(rule.first_dense);
  if (!stated && rule.first_dense_needed) throw config.missing(rule.first_dense);
  const std::int64_t first = stated.value_or(0);
  const json::Value* frequency = config.find({"moe_layer_freq"});
  if (frequency != nullptr && frequency->is_array()) {
    const Mask listed =
        stated_mask(config, "moe_layer_freq", *config.list({"moe_layer_freq"}), layers);
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
  for (const std::int64_t dense :
       config.list({"mlp_only_layers"}).value_or(std::vector<std::int64_t>{})) {
    if (dense >= layers) {
      throw config.error("mlp_only_layers",
                         fmt::format("names layer {} of {} layers, counted from 0", dense, layers));
    }
    result[static_cast<std::size_t>(dense)] = false;
  }
  return result;
}

Mask interleaved(Config& config, std::int64_t layers) {
  if (auto listed = config.list({"moe_layers"})) {
    std::sort(listed->begin(), listed->end());
    return mask(layers, [&](std::int64_t i) {
      return std::binary_search(listed->begin(), listed->end(), i);
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
    case MoeLayers::after_first:
      return after_first(rule, config, layers);
    case MoeLayers::sparse_step:
      return sparse_step(config, layers);
    case MoeLayers::interleaved:
      return interleaved(config, layers);
    case MoeLayers::interval:
      return interval(config, layers);
    case MoeLayers::all:
      break;
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
  MoeNumbers n{config.per_layer(rule.experts, layers, 1),
               config.per_layer(rule.top_k, layers, 1),
               config.per_layer(rule.size, layers, 1),
               shared_number(rule, config, rule.shared_count, layers),
               0,
               shared_number(rule, config, rule.shared_width, layers)};
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

}  // namespace

std::vector<arch::Ffn> layer_ffns(const Family& family, Config& config, std::int64_t layers) {
  const Mask is_moe = family.moe ? moe_layers(*family.moe, config, layers)
                                 : Mask(static_cast<std::size_t>(layers), false);
  config.know(family.dense_size);
  arch::Ffn dense, moe;
  dense.gated = moe.gated = config.fact(family.gated);
  if (!all(is_moe)) {
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
    result.push_back(is_moe[static_cast<std::size_t>(i)] ? moe_ffn(moe, numbers, shared, i)
                                                         : dense);
  return result;
}

}  // namespace isoloop::formats
