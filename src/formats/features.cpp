// Which features an architecture needs of a trainer.
//
// Source: the fields of arch::Architecture; every field that changes the model beyond a plain
// number has a feature here. Held by tests/formats/targets_test.cpp.
#include <algorithm>
#include <array>
#include <optional>

#include "formats/targets.h"

namespace isoloop::formats {
namespace {

using arch::NormKind;
using arch::NormLayout;
using arch::QkNorm;
using arch::Segment;

constexpr std::array<FeatureName, feature_count> names{{
    {Feature::loop, "loop", "layers that are executed more than once"},
    {Feature::truncated_backward, "truncated back-propagation",
     "visits that are not back-propagated through"},
    {Feature::residual_scale, "residual scale", "scaled residual writes"},
    {Feature::injection, "input injection", "the loop's input entering again at every visit"},
    {Feature::shared_cache, "shared KV slots", "visits that share a KV cache slot"},
    {Feature::norms_per_visit, "norms per visit", "norms stored once per visit"},
    {Feature::adapters, "adapters", "low-rank adapters stored per visit"},
    {Feature::exit_gate, "exit gate", "a gate that ends the loop"},
    {Feature::state_vectors, "state vectors", "learned initial states"},
    {Feature::mla, "MLA", "multi-head latent attention"},
    {Feature::attention_experts, "attention experts", "a mixture of attention heads"},
    {Feature::free_head_size, "head size", "heads x head size different from the hidden size"},
    {Feature::unweighted_qk_norm, "unweighted qk-norm", "q and k normalised without weights"},
    {Feature::qk_norm_per_head, "qk-norm per head", "one norm weight for all heads of q and of k"},
    {Feature::qk_norm_all_heads, "qk-norm over all heads", "norm weights over all heads together"},
    {Feature::qkv_bias, "q, k, v biases", "biases on the q, k and v projections"},
    {Feature::output_bias, "attention output bias", "a bias on the attention output projection"},
    {Feature::sinks, "attention sinks", "one learned logit per query head"},
    {Feature::output_gate, "attention output gate", "a gate on the attention output"},
    {Feature::window, "sliding window", "sliding-window attention"},
    {Feature::window_pattern, "window pattern", "windows in some layers only"},
    {Feature::chunks, "chunked attention", "windows that are chunks"},
    {Feature::dense, "dense FFN", "dense feed-forward layers"},
    {Feature::moe, "MoE", "mixture-of-experts layers"},
    {Feature::dense_prefix, "dense prefix", "dense layers before the MoE layers"},
    {Feature::mixed_layers, "mixed layers", "dense and MoE layers in any order"},
    {Feature::ungated, "ungated FFN", "feed-forward blocks of two matrices"},
    {Feature::ffn_bias, "FFN biases", "biases in dense feed-forward blocks"},
    {Feature::expert_bias, "expert biases", "biases in every expert"},
    {Feature::expert_output_bias, "expert output bias", "one bias for the group of experts"},
    {Feature::shared_experts, "shared experts", "experts that see every token"},
    {Feature::shared_gate, "shared expert gate", "a gate on the shared expert"},
    {Feature::router_bias, "router bias", "a bias on the router's linear map"},
    {Feature::selection_bias, "selection bias", "a load-balancing bias per expert"},
    {Feature::layer_norm, "LayerNorm", "LayerNorm with bias"},
    {Feature::layer_norm_without_bias, "LayerNorm without bias", "LayerNorm without bias"},
    {Feature::unweighted_norm, "unweighted norms", "norms without weights"},
    {Feature::post_norm, "post-norm", "norms after the blocks"},
    {Feature::sandwich_norm, "sandwich norms", "norms before and after the blocks"},
    {Feature::no_final_norm, "no final norm", "no norm before the head"},
    {Feature::tied, "tied embeddings", "a head that shares the embedding matrix"},
    {Feature::mtp, "MTP", "multi-token-prediction layers"},
    {Feature::varied_layers, "varied layers", "layers of different attention, FFN or expert sizes"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].feature != static_cast<Feature>(i)) return false;
  return true;
}
static_assert(in_order());

bool loops(const Segment& s) { return s.visits.forward > Ratio(1); }
bool windowed(const Segment& s) {
  return std::any_of(s.attention.windows.begin(), s.attention.windows.end(),
                     [](std::int64_t window) { return window > 0; });
}

/// What one segment needs by itself.
bool needed_by(const Segment& s, const arch::Architecture& model, Feature feature) {
  const arch::Attention& a = s.attention;
  const arch::Ffn& f = s.ffn;
  const bool gqa = a.kind == arch::AttentionKind::gqa;
  switch (feature) {
    case Feature::loop:
      return loops(s);
    case Feature::truncated_backward:
      return s.visits.backward < s.visits.forward;
    case Feature::residual_scale:
      return s.residual_scale.value_or(Ratio(1)) != Ratio(1);
    case Feature::injection:
      return s.injection != arch::Injection::none;
    case Feature::shared_cache:
      return loops(s) && s.kv_policy != arch::KvPolicy::per_visit;
    case Feature::norms_per_visit:
      return loops(s) && s.norms_per_visit;
    case Feature::adapters:
      return s.adapter_rank > 0;
    case Feature::exit_gate:
      return s.exit_gate;
    case Feature::mla:
      return !gqa;
    case Feature::attention_experts:
      return a.experts > 0;
    case Feature::free_head_size:
      return gqa && Int(a.heads) * Int(a.head_size) != Int(model.hidden);
    case Feature::unweighted_qk_norm:
      return a.qk_norm == QkNorm::unweighted;
    case Feature::qk_norm_per_head:
      return a.qk_norm == QkNorm::per_head;
    case Feature::qk_norm_all_heads:
      return a.qk_norm == QkNorm::all_heads;
    case Feature::qkv_bias:
      return a.qkv_bias;
    case Feature::output_bias:
      return a.output_bias;
    case Feature::sinks:
      return a.sinks;
    case Feature::output_gate:
      return a.output_gate;
    case Feature::window:
      return windowed(s);
    case Feature::chunks:
      return windowed(s) && a.chunked;
    case Feature::dense:
      return !f.moe;
    case Feature::moe:
      return f.moe;
    case Feature::ungated:
      return !f.gated;
    case Feature::ffn_bias:
      return !f.moe && f.bias;
    case Feature::expert_bias:
      return f.moe && f.bias;
    case Feature::expert_output_bias:
      return f.output_bias;
    case Feature::shared_experts:
      return f.shared_size > 0;
    case Feature::shared_gate:
      return f.shared_gate;
    case Feature::router_bias:
      return f.router_bias;
    case Feature::selection_bias:
      return f.selection_bias;
    default:
      return false;
  }
}

arch::Attention without_windows(arch::Attention attention) {
  attention.windows.clear();
  attention.chunked = false;
  return attention;
}

/// The first segment that differs from an earlier one of its kind.
std::optional<std::string> varied(const arch::Architecture& model) {
  const arch::Attention attention = without_windows(model.segments.front().attention);
  for (const Segment& s : model.segments) {
    const arch::Ffn* first = first_ffn(model, s.ffn.moe);
    if (without_windows(s.attention) != attention || s.ffn != *first) return s.name;
  }
  return std::nullopt;
}

/// The first segment in which windows differ from layer to layer or from the segments before.
std::optional<std::string> window_pattern(const arch::Architecture& model) {
  const std::int64_t window = arch::window_of(model.segments.front(), 0);
  for (const Segment& s : model.segments) {
    const std::vector<std::int64_t>& windows = s.attention.windows;
    const auto used = std::min(static_cast<std::size_t>(s.layers), windows.size());
    for (std::size_t i = 0; i < std::max<std::size_t>(used, 1); ++i)
      if (arch::window_of(s, static_cast<std::int64_t>(i)) != window) return s.name;
  }
  return std::nullopt;
}

/// Whether dense layers only precede the MoE layers; `segment` is the first that breaks a rule.
std::optional<std::string> dense_and_moe(const arch::Architecture& model, bool prefix_only) {
  bool seen_dense = false, seen_moe = false;
  for (const Segment& s : model.segments) {
    if (prefix_only && s.ffn.moe && seen_dense && !seen_moe) return s.name;
    if (!prefix_only && !s.ffn.moe && seen_moe) return s.name;
    (s.ffn.moe ? seen_moe : seen_dense) = true;
  }
  return std::nullopt;
}

std::optional<std::string> needed(const arch::Architecture& model, Feature feature) {
  const auto whole = [](bool yes) { return yes ? std::optional<std::string>("") : std::nullopt; };
  switch (feature) {
    case Feature::state_vectors:
      return whole(model.state_vectors > 0);
    case Feature::layer_norm:
      return whole(model.norm == NormKind::layer);
    case Feature::layer_norm_without_bias:
      return whole(model.norm == NormKind::layer_without_bias);
    case Feature::unweighted_norm:
      return whole(model.norm == NormKind::unweighted);
    case Feature::post_norm:
      return whole(model.norm_layout == NormLayout::post);
    case Feature::sandwich_norm:
      return whole(model.norm_layout == NormLayout::sandwich);
    case Feature::no_final_norm:
      return whole(!model.final_norm);
    case Feature::tied:
      return whole(model.tied);
    case Feature::mtp:
      return whole(model.mtp_layers > 0);
    case Feature::varied_layers:
      return varied(model);
    case Feature::window_pattern:
      return window_pattern(model);
    case Feature::dense_prefix:
      return dense_and_moe(model, true);
    case Feature::mixed_layers:
      return dense_and_moe(model, false);
    default:
      break;
  }
  for (const Segment& s : model.segments)
    if (needed_by(s, model, feature)) return s.name;
  return std::nullopt;
}

}  // namespace

FeatureName name(Feature feature) { return names.at(static_cast<std::size_t>(feature)); }

std::vector<Need> needs(const arch::Architecture& model) {
  std::vector<Need> result;
  for (const FeatureName& entry : names)
    if (auto segment = needed(model, entry.feature))
      result.push_back({entry.feature, *std::move(segment)});
  return result;
}

const arch::Ffn* first_ffn(const arch::Architecture& model, bool moe) {
  for (const Segment& s : model.segments)
    if (s.ffn.moe == moe) return &s.ffn;
  return nullptr;
}

bool is_looped(const arch::Architecture& model) {
  return !model.schedule.empty() ||
         std::any_of(model.segments.begin(), model.segments.end(), loops);
}

std::vector<Segment> layers_of(const arch::Architecture& model) {
  std::vector<Segment> layers;
  layers.reserve(static_cast<std::size_t>(arch::depth(model)));
  for (const Segment& s : model.segments)
    for (std::int64_t i = 0; i < s.layers; ++i) {
      Segment layer = s;
      layer.name.clear();
      layer.layers = 1;
      const std::int64_t window = arch::window_of(s, i);
      layer.attention.windows.clear();
      if (window > 0) layer.attention.windows.push_back(window);
      layer.attention.chunked = s.attention.chunked && window > 0;
      if (layer.residual_scale == Ratio(1)) layer.residual_scale.reset();
      layers.push_back(std::move(layer));
    }
  return layers;
}

std::int64_t leading_dense(const std::vector<Segment>& layers) {
  return std::find_if(layers.begin(), layers.end(), [](const Segment& s) { return s.ffn.moe; }) -
         layers.begin();
}

bool same_model(const arch::Architecture& a, const arch::Architecture& b) {
  arch::Architecture left = a, right = b;
  left.name = right.name;
  left.context = right.context;
  if (is_looped(a) || is_looped(b)) return left == right;
  const bool same_layers = layers_of(a) == layers_of(b);
  left.segments.clear();
  right.segments.clear();
  return left == right && same_layers;
}

}  // namespace isoloop::formats
