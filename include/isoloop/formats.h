// formats: foreign model configurations in and out, one file per format under src/formats/.
//
// A reader recognises its format by content, fills an arch::Architecture without guessing any
// dimension, and names what it had to leave out. Which families exist and what each key means is
// one table per format.
//
// A writer says all of an architecture or stops and names what its trainer cannot say. What each
// trainer can say is the table targets(), which the writers themselves ask.
//
// Held by tests/formats/*_test.cpp against published parameter counts, and by reading back what
// was written.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/arch.h"

namespace isoloop::formats {

struct Import {
  arch::Architecture architecture;
  std::string format;                 // "isoloop", "hf", "megatron"
  std::string family;                 // foreign family, e.g. the model_type of a HF config
  std::vector<std::string> warnings;  // e.g. a key this reader does not know that may change cost
  std::vector<std::string> left_out;  // e.g. "vision tower (siglip_vision_model)"
};

/// Reads an isoloop architecture file, a file of data/models or any known foreign config: a Hugging
/// Face config.json, Megatron-LM arguments as a shell script, a command line or YAML. `file` names
/// the input in messages; `name` becomes the architecture's name where the file has none. Throws
/// Error (kind input): malformed JSON with line and column, a missing dimension by its key, an
/// unknown family with the nearest known one, a layer kind that cannot be expressed by name.
Import read(std::string_view text, std::string_view file, std::string_view name);

/// The Hugging Face model types that can be read, sorted.
std::vector<std::string> hf_families();

// ---- Writing -----------------------------------------------------------------------------------

/// What an architecture may ask of a trainer beside plain numbers.
enum class Feature {
  // loops
  loop,
  truncated_backward,
  residual_scale,
  injection,
  shared_cache,
  norms_per_visit,
  adapters,
  exit_gate,
  state_vectors,
  // attention
  mla,
  attention_experts,
  free_head_size,
  unweighted_qk_norm,
  qk_norm_per_head,
  qk_norm_all_heads,
  qkv_bias,
  output_bias,
  sinks,
  output_gate,
  window,
  window_pattern,
  chunks,
  // feed-forward
  dense,
  moe,
  dense_prefix,
  mixed_layers,
  ungated,
  ffn_bias,
  expert_bias,
  expert_output_bias,
  shared_experts,
  shared_gate,
  router_bias,
  selection_bias,
  // the model
  layer_norm,
  layer_norm_without_bias,
  unweighted_norm,
  post_norm,
  sandwich_norm,
  no_final_norm,
  tied,
  mtp,
  varied_layers,
};
inline constexpr std::size_t feature_count = static_cast<std::size_t>(Feature::varied_layers) + 1;
struct FeatureName {
  Feature feature;
  std::string_view name;     // "selection bias"
  std::string_view meaning;  // "a load-balancing bias per expert"
};
FeatureName name(Feature feature);

/// A feature an architecture needs, and the first segment that needs it ("" = the whole model).
struct Need {
  Feature feature;
  std::string segment;
  bool operator==(const Need&) const = default;
};
/// Each needed feature once, in the order of the enum.
std::vector<Need> needs(const arch::Architecture& architecture);

/// A trainer that can be written for.
struct Target {
  std::string_view name, title, writes;
  bool readable;  // read() understands what is written
  std::vector<Feature> says;
  std::int64_t vocab_multiple;  // the trainer pads the vocabulary to a multiple of this x TP; 0: no
  bool can_say(Feature feature) const;
};
const std::vector<Target>& targets();
/// Throws Error (kind usage) with the nearest name.
const Target& find_target(std::string_view name, std::string_view where);

/// Ranks a model is spread over: tensor, expert and pipeline parallel.
struct Sharding {
  std::int64_t tp = 1, ep = 1, pp = 1;
};

struct Emitted {
  std::string variant;  // "mixtral" for a native Hugging Face class, "package", "" elsewhere
  std::map<std::string, std::string> files;  // by path relative to the directory
  std::string train;                         // the command that trains, run in the directory
  std::vector<std::string> notes;            // what a user has to know of this translation
};
/// Everything a trainer needs for one architecture. The vocabulary must be stated. Throws Error
/// (kind input) naming the first feature, and its segment, that the target cannot say.
Emitted emit(const arch::Architecture& architecture, const Target& target,
             const Sharding& sharding);

/// The Hugging Face package even where a native class fits, so that a pair is trained by the same
/// code: classes differ in rotary base, epsilon and balancing loss.
Emitted emit_package(const arch::Architecture& architecture);

/// The same model, whatever its name, its training length and the cut of its layers into
/// segments. Looped models are the same only if cut alike.
bool same_model(const arch::Architecture& a, const arch::Architecture& b);

}  // namespace isoloop::formats
