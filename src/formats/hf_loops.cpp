// Looped families: Ouro, Huginn and HRM-Text, whose loop is more than one number.
//
// Source: modeling files of ByteDance/Ouro-1.4B and tomg-group-umd/huginn-0125, and transformers'
// models/hrm_text. Held by tests/formats/hf_loops_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "formats/hf_special.h"

namespace isoloop::formats {
namespace {

constexpr std::int64_t most_stack_runs = 10000;  // a schedule names every run

/// The one segment the generic reader has made; a pattern of windows cannot be cut into stacks.
arch::Segment whole_stack(const Draft& draft) {
  if (draft.model.segments.size() != 1 || !draft.model.segments.front().attention.windows.empty())
    throw draft.config.error("layer_types", "cannot be read for a looped model of several stacks");
  return draft.model.segments.front();
}

arch::Segment part_of(const arch::Segment& whole, std::string name, std::int64_t layers) {
  arch::Segment part = whole;
  part.name = std::move(name);
  part.layers = layers;
  return part;
}

arch::Injection injection(Config& config) {
  const std::string kind = config.text({"injection_type"}).value_or("linear");
  if (kind == "linear") return arch::Injection::linear;
  if (kind == "diagonal") return arch::Injection::diagonal;
  if (kind == "add") return arch::Injection::add;
  if (kind == "none") return arch::Injection::none;
  throw config.error("injection_type", fmt::format("'{}' is not understood", kind),
                     "linear, diagonal, add or none");
}

/// Without a block class: the original spells its width n_embd and has four norms a layer, models
/// made from Llama spell it hidden_size and keep Llama's two.
arch::NormLayout huginn_norms(Config& config) {
  const std::string kind =
      config.text({"block_class_name"})
          .value_or(config.mentions("n_embd") ? "SandwichBlock" : "TransformerPreNormBlock");
  if (kind == "SandwichBlock") return arch::NormLayout::sandwich;
  if (kind == "TransformerPreNormBlock") return arch::NormLayout::pre;
  throw config.error("block_class_name", fmt::format("'{}' is not understood", kind),
                     "SandwichBlock or TransformerPreNormBlock");
}

bool huginn_gated(Config& config) {
  const std::string kind = config.text({"mlp_class_name"}).value_or("GatedMLP");
  if (kind == "GatedMLP") return true;
  if (kind == "BaseMLP") return false;
  throw config.error("mlp_class_name", fmt::format("'{}' is not understood", kind),
                     "GatedMLP or BaseMLP");
}

/// Low cycles of one high cycle that are back-propagated through. The list is padded with ones on
/// the left to the number of low cycles and read by high cycle, as the class does.
std::int64_t low_cycles_trained(const std::vector<std::int64_t>& stated, std::int64_t high_cycle,
                                std::int64_t low_cycles) {
  const auto given = static_cast<std::int64_t>(stated.size());
  const std::int64_t index = high_cycle - std::max<std::int64_t>(0, low_cycles - given);
  const bool listed = index >= 0 && index < given;
  return std::min(low_cycles, listed ? stated[static_cast<std::size_t>(index)] : 1);
}

}  // namespace

void ouro(Draft& draft) {
  for (arch::Segment& segment : draft.model.segments) segment.exit_gate = true;
}

std::int64_t huginn_depth(Config& config) {
  const std::int64_t depth = config.dimension({"n_layers_in_prelude"}) +
                             config.dimension({"n_layers_in_recurrent_block"}) +
                             config.dimension({"n_layers_in_coda"});
  const auto stated = config.whole({"n_layers", "num_hidden_layers"});
  if (stated && *stated != depth) {
    throw config.error(
        config.mentions("n_layers") ? "n_layers" : "num_hidden_layers",
        fmt::format("is {}, but prelude, recurrent block and coda have {} layers", *stated, depth));
  }
  return depth;
}

void huginn(Draft& draft) {
  Config& config = draft.config;
  arch::Architecture& model = draft.model;
  if (const auto padded = config.whole({"padded_vocab_size"})) model.vocab = *padded;
  model.norm_layout = huginn_norms(config);
  arch::Segment whole = whole_stack(draft);
  whole.ffn.gated = huginn_gated(config);
  if (config.fact({false, {"qk_bias"}}))
    draft.left_out.push_back("bias on queries and keys (qk_bias)");

  arch::Segment recur = part_of(whole, "recur", config.dimension({"n_layers_in_recurrent_block"}));
  const auto visits = config.number({"mean_recurrence"});
  if (!visits) throw config.missing({"mean_recurrence"});
  recur.visits = {*visits,
                  std::min(*visits, config.number({"mean_backprop_depth"}).value_or(*visits))};
  recur.injection = injection(config);
  model.segments = {part_of(whole, "prelude", config.dimension({"n_layers_in_prelude"})), recur,
                    part_of(whole, "coda", config.dimension({"n_layers_in_coda"}))};
}

std::int64_t hrm_depth(Config& config) {
  // The class keeps the layers of a stack here and rewrites num_hidden_layers to all executed
  // layers; before it has, num_hidden_layers are the layers of a stack.
  if (config.states({"num_layers_per_stack"})) return config.dimension({"num_layers_per_stack"});
  if (!config.states({"num_hidden_layers"})) throw config.missing({"num_layers_per_stack"});
  return config.dimension({"num_hidden_layers"});
}

void hrm(Draft& draft) {
  Config& config = draft.config;
  const std::int64_t high = config.dimension({"H_cycles"});
  const std::int64_t low = config.dimension({"L_cycles"});
  if (low >= most_stack_runs || high > most_stack_runs / (low + 1)) {
    throw config.error("H_cycles",
                       fmt::format("more than {} runs of a stack are refused", most_stack_runs));
  }
  const auto trained = config.list({"L_bp_cycles"}).value_or(std::vector<std::int64_t>{2});
  std::int64_t low_backward = 0;
  arch::Architecture& model = draft.model;
  for (std::int64_t i = 0; i < high; ++i) {
    model.schedule.insert(model.schedule.end(), static_cast<std::size_t>(low), "low");
    model.schedule.push_back("high");
    low_backward += low_cycles_trained(trained, i, low);
  }
  const arch::Segment whole = whole_stack(draft);
  arch::Segment lower = part_of(whole, "low", whole.layers);
  arch::Segment upper = part_of(whole, "high", whole.layers);
  lower.visits = {high * low, low_backward};
  upper.visits = {high, high};
  lower.injection = upper.injection = arch::Injection::add;  // each stack adds the other's state
  model.segments = {lower, upper};
  model.state_vectors = 1;  // where the low state starts
}

}  // namespace isoloop::formats
