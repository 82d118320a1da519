// The trainers that can be written for, and what each can say.
//
// Source: transformers' model classes; Megatron-LM's arguments.py and transformer_config.py;
// torchtitan 0.3.0's models/common and models/qwen3; MaxText's configs/base.yml and models/; OLMo-core's
// nn/; nanotron's models_config.py and models/qwen.py. A feature is listed where the trainer's own
// code builds it from its config. Held by tests/formats/targets_test.cpp.
#include "formats/targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace isoloop::formats {
namespace {

using enum Feature;

/// All but MTP layers: neither the native classes nor the package train them.
std::vector<Feature> all_but_mtp() {
  std::vector<Feature> all;
  for (std::size_t i = 0; i < feature_count; ++i)
    if (static_cast<Feature>(i) != mtp) all.push_back(static_cast<Feature>(i));
  return all;
}

using Writer = Emitted (*)(const arch::Architecture&, const Target&, const Sharding&);

struct Entry {
  std::string_view name;
  Writer write;
};
constexpr std::array<Entry, 6> writers{{{"hf", emit_hf},
                                        {"megatron", emit_megatron},
                                        {"torchtitan", emit_torchtitan},
                                        {"maxtext", emit_maxtext},
                                        {"olmo", emit_olmo},
                                        {"nanotron", emit_nanotron}}};

std::vector<Target> make_targets() {
  return {
      {"hf", "Hugging Face transformers", "config.json of a native class, or a package", true,
       all_but_mtp(), 0},
      {"megatron",
       "Megatron-LM",
       "arguments as YAML and as a shell script; a layer file for a loop",
       true,
       {loop,
        residual_scale,
        mla,
        free_head_size,
        unweighted_qk_norm,
        qk_norm_per_head,
        qkv_bias,
        output_bias,
        sinks,
        output_gate,
        window,
        window_pattern,
        dense,
        moe,
        dense_prefix,
        mixed_layers,
        ungated,
        ffn_bias,
        expert_bias,
        shared_experts,
        shared_gate,
        router_bias,
        selection_bias,
        layer_norm,
        tied,
        mtp},
       128},
      {"torchtitan",
       "torchtitan",
       "a model registry function in Python",
       false,
       {loop, residual_scale, free_head_size, qk_norm_per_head, dense, moe, dense_prefix,
        mixed_layers, shared_experts, router_bias, selection_bias, tied, varied_layers},
       0},
      {"maxtext",
       "MaxText",
       "a model config in YAML",
       false,
       {mla, free_head_size, qk_norm_per_head, dense, moe, dense_prefix, shared_experts,
        selection_bias, tied},
       0},
      {"olmo",
       "OLMo-core",
       "a TransformerConfig in JSON",
       false,
       {free_head_size,
        qk_norm_per_head,
        qk_norm_all_heads,
        qkv_bias,
        output_bias,
        output_gate,
        window,
        window_pattern,
        dense,
        moe,
        dense_prefix,
        mixed_layers,
        ffn_bias,
        shared_experts,
        selection_bias,
        layer_norm,
        layer_norm_without_bias,
        post_norm,
        sandwich_norm,
        no_final_norm,
        tied,
        varied_layers},
       0},
      {"nanotron",
       "nanotron",
       "the model part of a config in YAML",
       false,
       {qkv_bias, window, dense, moe, dense_prefix, mixed_layers, shared_experts, shared_gate,
        tied},
       0},
  };
}

/// Which other targets can say all an architecture needs, as a hint.
std::string others(const arch::Architecture& model) {
  const std::vector<Need> all = needs(model);
  std::vector<std::string_view> names;
  for (const Target& target : targets())
    if (std::all_of(all.begin(), all.end(),
                    [&](const Need& need) { return target.can_say(need.feature); }))
      names.push_back(target.name);
  if (names.empty()) return "no target can say all that this architecture needs";
  return fmt::format("targets that can: {}", fmt::join(names, ", "));
}

std::string place(std::string_view segment) {
  return segment.empty() ? std::string() : fmt::format("segment '{}'", segment);
}

}  // namespace

bool Target::can_say(Feature feature) const {
  return std::find(says.begin(), says.end(), feature) != says.end();
}

const std::vector<Target>& targets() {
  static const std::vector<Target> table = make_targets();
  return table;
}

const Target& find_target(std::string_view name, std::string_view where) {
  std::vector<std::string> known;
  for (const Target& target : targets()) {
    if (target.name == name) return target;
    known.emplace_back(target.name);
  }
  throw unknown_name(ErrorKind::usage, "target", name, known, where);
}

Error cannot(const Target& target, std::string_view segment, std::string_view what,
             std::string hint) {
  return input_error(fmt::format("{} cannot say {}", target.name, what), place(segment),
                     std::move(hint));
}

void refuse_unsaid(const arch::Architecture& model, const Target& target) {
  for (const Need& need : needs(model)) {
    if (target.can_say(need.feature)) continue;
    const FeatureName feature = name(need.feature);
    throw cannot(target, need.segment, fmt::format("{} ({})", feature.name, feature.meaning),
                 others(model));
  }
}

void refuse_sampled_visits(const arch::Architecture& model, const Target& target) {
  for (const arch::Segment& s : model.segments)
    if (!s.visits.forward.is_integer() || !s.visits.backward.is_integer())
      throw cannot(target, s.name,
                   fmt::format("{} visits: a mean over sampled depths", s.visits.forward.str()),
                   "a model that runs needs whole visits");
}

bool needs_looped_layers(const arch::Architecture& model) {
  const std::vector<Need> all = needs(model);
  return std::any_of(all.begin(), all.end(), [](const Need& need) {
    return need.feature == Feature::loop || need.feature == Feature::residual_scale;
  });
}

std::string slug(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    if (plain)
      result += c;
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  while (!result.empty() && (result.back() == '-' || result.back() == '.')) result.pop_back();
  result.erase(0, result.find_first_not_of("-."));
  return result.empty() ? "model" : result;
}

namespace {

void check_emitted(const arch::Architecture& model, const Target& target) {
  arch::validate(model);
  if (model.vocab == 0)
    throw input_error("is not stated, and a model that trains needs an embedding", "vocab_size",
                      "add --vocab N, or vocab_size to the file");
  refuse_unsaid(model, target);
}

}  // namespace

Emitted emit(const arch::Architecture& model, const Target& target, const Sharding& sharding) {
  check_emitted(model, target);
  const auto* entry = std::find_if(writers.begin(), writers.end(),
                                   [&](const Entry& e) { return e.name == target.name; });
  if (entry == writers.end()) throw internal_error("a target has no writer");
  return entry->write(model, target, sharding);
}

Emitted emit_package(const arch::Architecture& model) {
  const Target& target = find_target("hf", "");
  check_emitted(model, target);
  return emit_hf_package(model, target, {});
}

}  // namespace isoloop::formats
