// The Hugging Face config.json reader: what all families do alike.
//
// The family is looked up by model_type, then dimensions are read under the family's keys, layers
// are laid out and cut into segments, and the family's own function has the last word. Whatever
// was not read is reported.
// Source: see hf_families.h. Held by tests/formats/published_counts_test.cpp (exact counts) and
// the other tests/formats/hf_*_test.cpp.
#include "formats/hf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/hf_families.h"
#include "formats/hf_layers.h"
#include "formats/hf_neutral.h"
#include "formats/hf_package.h"

namespace isoloop::formats {
namespace {

void refuse(Config& config, std::string_view type) {
  constexpr std::string_view hint = "decoders of attention and feed-forward layers can be read";
  if (const std::string_view why = refusal(type); !why.empty()) {
    throw config.error("model_type", fmt::format("{} cannot be read: it has {}", type, why),
                       std::string(hint));
  }
  if (config.fact({false, {"is_encoder_decoder"}})) {
    throw config.error("is_encoder_decoder", "encoder-decoder models cannot be read",
                       std::string(hint));
  }
  if (config.fact({false, {"add_cross_attention"}}))
    throw config.error("add_cross_attention", "cross-attention cannot be read", std::string(hint));
}

const Family& family_of(Config& outer, Config& text, std::string_view outer_type) {
  const std::string type = text.text({"model_type"}).value_or(std::string(outer_type));
  refuse(text, type);
  const Family* family = find_family(type);
  if (family == nullptr) {
    Config& named = text.mentions("model_type") ? text : outer;
    throw unknown_name(ErrorKind::input, "model_type", type, hf_families(),
                       named.where("model_type"));
  }
  const std::string_view variant =
      family->variant == nullptr ? std::string_view() : family->variant(text);
  if (!variant.empty()) family = find_family(variant);
  for (const Refusal& refusal : family->refuse) {
    if (refusal.key.empty() || !text.fact({false, {refusal.key}})) continue;
    throw text.error(refusal.key, fmt::format("{} cannot be read", refusal.what));
  }
  return *family;
}

/// Parts of a multimodal model beside its text decoder.
std::vector<std::string> towers(Config& outer) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> known{{
      {"vision_config", "vision tower"},
      {"audio_config", "audio tower"},
      {"speech_config", "speech tower"},
  }};
  std::vector<std::string> result;
  for (const auto& [key, what] : known) {
    auto tower = outer.object(key);
    if (!tower) continue;
    const auto type = tower->text({"model_type"});
    result.push_back(type ? fmt::format("{} ({})", what, *type) : std::string(what));
  }
  return result;
}

std::int64_t kv_heads(const Family& family, Config& config, std::int64_t heads) {
  if (const auto stated = config.whole(family.kv_heads)) return *stated;
  const bool null = !family.kv_heads.empty() && config.mentions(family.kv_heads.front());
  const bool as_heads =
      family.kv_rule == KvHeads::as_heads || (family.kv_rule == KvHeads::if_null && null);
  if (!as_heads) throw config.missing(family.kv_heads);
  return heads;
}

std::int64_t head_size(const Family& family, Config& config, std::int64_t hidden,
                       std::int64_t heads) {
  if (config.states(family.head_size)) return config.dimension(family.head_size);
  if (family.head_size_needed) throw config.missing(family.head_size);
  if (hidden % heads != 0) {
    throw config.error(family.heads.front(),
                       fmt::format("{} heads do not divide the hidden size {}", heads, hidden),
                       family.head_size.empty()
                           ? std::string()
                           : fmt::format("state the head size as {}", family.head_size.front()));
  }
  return hidden / heads;
}

void read_mla(Config& config, arch::Attention& attention) {
  attention.kind = arch::AttentionKind::mla;
  // Null is a full query projection; without the key the class would assume a rank.
  if (!config.mentions("q_lora_rank")) throw config.missing({"q_lora_rank"});
  if (config.states({"q_lora_rank"})) attention.q_rank = config.dimension({"q_lora_rank"});
  attention.kv_rank = config.dimension({"kv_lora_rank"});
  attention.nope_size = config.dimension({"qk_nope_head_dim"});
  attention.rope_size = config.dimension({"qk_rope_head_dim"});
  attention.value_size = config.dimension({"v_head_dim"});
}

arch::Attention read_attention(const Family& family, Config& config, std::int64_t hidden) {
  arch::Attention attention;
  attention.heads = config.dimension(family.heads);
  if (family.mla) {
    read_mla(config, attention);
    return attention;
  }
  attention.kv_heads = kv_heads(family, config, attention.heads);
  attention.head_size = head_size(family, config, hidden, attention.heads);
  if (config.fact(family.qk_norm_on)) attention.qk_norm = family.qk_norm;
  attention.qkv_bias = config.fact(family.qkv_bias);
  attention.output_bias = config.fact(family.output_bias);
  attention.sinks = config.fact(family.sinks);
  attention.output_gate = config.fact(family.output_gate);
  return attention;
}

std::int64_t depth_of(const Family& family, Config& config) {
  const std::int64_t depth =
      family.depth == nullptr ? config.dimension(family.layers) : family.depth(config);
  if (depth > arch::max_layers) {
    throw config.error(family.layers.front(),
                       fmt::format("{} layers; more than {} are refused", depth, arch::max_layers));
  }
  return depth;
}

void visit_whole_stack(const Family& family, Config& config, arch::Architecture& model) {
  if (family.stack_visits.empty()) return;
  const std::int64_t visits = config.dimension(family.stack_visits);
  for (arch::Segment& segment : model.segments) segment.visits = {visits, visits};
}

bool tied(const Family& family, Config& outer, Config& text) {
  outer.know(family.tied.keys);
  return text.states(family.tied.keys) ? text.fact(family.tied) : outer.fact(family.tied);
}

void warn_of_the_rest(Config& config, std::string_view neutral,
                      std::vector<std::string>& warnings) {
  for (const auto& [key, value] : config.rest()) {
    const std::string_view last = std::string_view(key).substr(key.rfind('.') + 1);
    if (is_neutral(last, value) || is_word(key, neutral)) continue;
    warnings.push_back(fmt::format(
        "{}: unknown key; if it changes the model, the count does not show it", config.where(key)));
  }
}

Import read_family(const Family& family, Config& outer, Config& text, std::string_view name) {
  Import result;
  result.format = "hf";
  result.family = family.type;
  result.left_out = towers(outer);

  arch::Architecture& model = result.architecture;
  model.name = name;
  model.hidden = text.dimension(family.hidden);
  model.vocab = text.dimension(family.vocab);
  model.tied = tied(family, outer, text);
  model.norm = family.norm;
  model.norm_layout = family.layout;
  const std::int64_t layers = depth_of(family, text);
  const arch::Attention attention = read_attention(family, text, model.hidden);
  const LayerWindows windows = layer_windows(family, text, layers, result.warnings);
  model.segments = segments(attention, layer_ffns(family, text, layers), windows);
  visit_whole_stack(family, text, model);
  const auto mtp = text.whole(family.mtp);
  if (mtp && text.fact(family.mtp_on)) model.mtp_layers = *mtp;

  Draft draft{text, model, result.left_out};
  if (family.finish != nullptr) family.finish(draft);
  warn_of_the_rest(text, family.neutral, result.warnings);
  return result;
}

/// What validation says of the architecture, with the file it came from.
void check(const arch::Architecture& model, std::string_view place) {
  try {
    arch::validate(model);
  } catch (const Error& error) {
    throw input_error(error.message,
                      error.where.empty() ? std::string(place)
                                          : fmt::format("{}: read as {}", place, error.where),
                      error.hint);
  }
}

}  // namespace

std::vector<std::string> hf_families() {
  std::vector<std::string> types;
  for (const Family& family : families()) {
    types.emplace_back(family.type);
    types.insert(types.end(), family.also.begin(), family.also.end());
  }
  std::sort(types.begin(), types.end());
  return types;
}

bool is_hf(const json::Value& value) {
  return value.is_object() && value.contains("model_type") && value["model_type"].is_string();
}

Import read_hf(const json::Value& value, std::string_view file, std::string_view path,
               std::string_view name) {
  if (value.at("model_type") == package_type) return read_package(value, file, path, name);
  Config outer(value, std::string(file), std::string(path));
  const std::string type = outer.text({"model_type"}).value_or("");
  refuse(outer, type);
  auto inner = outer.object("text_config");
  Config& text = inner ? *inner : outer;
  const Family& family = family_of(outer, text, type);
  Import result = read_family(family, outer, text, name);
  if (inner) warn_of_the_rest(outer, "", result.warnings);
  check(result.architecture, outer.place());
  return result;
}

}  // namespace isoloop::formats
