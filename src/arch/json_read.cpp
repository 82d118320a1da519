// Reads schema isoloop/arch/v1 (data/schemas/arch.schema.json). Types, ranges and names are checked
// here, where the text is known; everything else is validate()'s.
//
// Held by tests/arch/json_read_test.cpp (messages) and tests/arch/json_write_test.cpp (round trip).
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "arch/names.h"
#include "arch/rules.h"
#include "base/json_reader.h"

namespace isoloop::arch {
namespace {

using json::Fields;

template <class E, std::size_t N>
E required_name(Fields& fields, std::string_view key, const std::array<Name<E>, N>& table,
                std::string_view what) {
  return value_of(table, fields.text(key), what, fields.where(key));
}

template <class E, std::size_t N>
void read_name(Fields& fields, std::string_view key, const std::array<Name<E>, N>& table,
               std::string_view what, E& target) {
  if (const auto text = fields.optional_text(key)) {
    target = value_of(table, *text, what, fields.where(key));
  }
}

void read_flag(Fields& fields, std::string_view key, bool& target) {
  target = fields.optional_boolean(key).value_or(target);
}

void read_size(Fields& fields, std::string_view key, std::int64_t& target) {
  target = fields.optional_integer(key, dimension_range).value_or(target);
}

// Fields of the other kind are refused even at a value that would mean "none".
void refuse(Fields& fields, std::initializer_list<std::string_view> keys, std::string_view kind,
            std::string_view other_kind) {
  for (const std::string_view key : keys) {
    if (fields.has(key)) throw not_of_kind(fields.where(key), kind, other_kind);
  }
}

void read_gqa(Fields& fields, Attention& attention) {
  refuse(fields, {"q_rank", "kv_rank", "nope_size", "rope_size", "value_size"}, "gqa", "mla");
  attention.kv_heads = fields.integer("kv_heads", dimension_range);
  attention.head_size = fields.integer("head_size", dimension_range);
  read_size(fields, "experts", attention.experts);
  read_size(fields, "top_k", attention.top_k);
}

void read_mla(Fields& fields, Attention& attention) {
  refuse(fields, {"kv_heads", "head_size", "qk_norm", "experts", "top_k"}, "mla", "gqa");
  read_size(fields, "q_rank", attention.q_rank);
  attention.kv_rank = fields.integer("kv_rank", dimension_range);
  attention.nope_size = fields.integer("nope_size", dimension_range);
  attention.rope_size = fields.integer("rope_size", optional_range);
  attention.value_size = fields.integer("value_size", dimension_range);
}

Attention read_attention(Fields fields) {
  fields.allow_only(attention_fields);
  Attention attention;
  attention.kind = required_name(fields, "kind", attention_kinds, "attention kind");
  attention.heads = fields.integer("heads", dimension_range);
  if (attention.kind == AttentionKind::gqa) {
    read_gqa(fields, attention);
  } else {
    read_mla(fields, attention);
  }
  read_name(fields, "qk_norm", qk_norms, "qk_norm", attention.qk_norm);
  read_flag(fields, "qkv_bias", attention.qkv_bias);
  read_flag(fields, "output_bias", attention.output_bias);
  read_flag(fields, "sinks", attention.sinks);
  read_flag(fields, "output_gate", attention.output_gate);
  attention.windows = fields.optional_integers("windows", optional_range);
  read_flag(fields, "chunked", attention.chunked);
  return attention;
}

Ffn read_ffn(Fields fields) {
  fields.allow_only(ffn_fields);
  Ffn ffn;
  ffn.moe = required_name(fields, "kind", ffn_kinds, "FFN kind");
  if (ffn.moe) {
    refuse(fields, {"size"}, "moe", "dense");
    ffn.experts = fields.integer("experts", dimension_range);
    ffn.top_k = fields.integer("top_k", dimension_range);
    ffn.expert_size = fields.integer("expert_size", dimension_range);
    ffn.shared_size = fields.optional_integer("shared_size", optional_range).value_or(0);
    read_flag(fields, "shared_gate", ffn.shared_gate);
    read_flag(fields, "router_bias", ffn.router_bias);
    read_flag(fields, "selection_bias", ffn.selection_bias);
    read_flag(fields, "output_bias", ffn.output_bias);
  } else {
    refuse(fields,
           {"experts", "top_k", "expert_size", "shared_size", "shared_gate", "router_bias",
            "selection_bias", "output_bias"},
           "dense", "moe");
    ffn.size = fields.integer("size", dimension_range);
  }
  read_flag(fields, "gated", ffn.gated);
  read_flag(fields, "bias", ffn.bias);
  return ffn;
}

// A number, "5/2", or both directions: {"forward": 32, "backward": 8}.
Visits read_visits(Fields& segment) {
  const json::Value* value = segment.find("visits");
  if (value == nullptr) return {};
  if (!value->is_object()) {
    const Ratio visits = segment.ratio("visits");
    return {visits, visits};
  }
  Fields fields = segment.object("visits");
  fields.allow_only(visits_fields);
  const Ratio forward = fields.ratio("forward");
  return {forward, fields.optional_ratio("backward").value_or(forward)};
}

Segment read_segment(Fields fields) {
  fields.allow_only(segment_fields);
  Segment segment;
  segment.name = fields.text("name");
  segment.layers = fields.integer("layers", layers_range);
  segment.visits = read_visits(fields);
  read_name(fields, "order", orders, "order", segment.order);
  segment.residual_scale = fields.optional_ratio("residual_scale");
  read_name(fields, "injection", injections, "injection", segment.injection);
  read_name(fields, "kv_policy", kv_policies, "kv_policy", segment.kv_policy);
  read_size(fields, "kv_slots", segment.kv_slots);
  read_flag(fields, "norms_per_visit", segment.norms_per_visit);
  segment.adapter_rank = fields.optional_integer("adapter_rank", optional_range).value_or(0);
  read_flag(fields, "exit_gate", segment.exit_gate);
  segment.attention = read_attention(fields.object("attention"));
  segment.ffn = read_ffn(fields.object("ffn"));
  return segment;
}

void check_schema(Fields& fields) {
  const std::string schema = fields.text("schema");
  if (schema == schema_name) return;
  throw fields.error("schema", fmt::format("is \"{}\"; expected \"{}\"", schema, schema_name),
                     "other formats are read by `isoloop import`");
}

Architecture read_architecture(Fields& fields) {
  check_schema(fields);
  fields.allow_only(architecture_fields);
  Architecture architecture;
  architecture.name = fields.optional_text("name").value_or("");
  architecture.hidden = fields.integer("hidden_size", dimension_range);
  read_size(fields, "vocab_size", architecture.vocab);
  read_flag(fields, "tie_embeddings", architecture.tied);
  read_size(fields, "context", architecture.context);
  read_name(fields, "norm", norm_kinds, "norm", architecture.norm);
  read_name(fields, "norm_layout", norm_layouts, "norm_layout", architecture.norm_layout);
  read_flag(fields, "final_norm", architecture.final_norm);
  architecture.mtp_layers = fields.optional_integer("mtp_layers", optional_range).value_or(0);
  architecture.state_vectors = fields.optional_integer("state_vectors", optional_range).value_or(0);
  if (!fields.has("segments")) throw fields.missing("segments");
  for (Fields& segment : fields.optional_objects("segments")) {
    architecture.segments.push_back(read_segment(std::move(segment)));
  }
  architecture.schedule = fields.optional_texts("schedule");
  return architecture;
}

// Runs `check`, whose messages carry field paths, and puts the file's name before them.
template <class Check>
void in_file(std::string_view file, Check check) {
  try {
    check();
  } catch (const Error& error) {
    throw input_error(error.message, fmt::format("{}: {}", file, error.where), error.hint);
  }
}

// The short form is for files that state no loop otherwise; two sources could disagree.
void apply_loop(Architecture& architecture, const std::string& text) {
  if (!architecture.schedule.empty()) {
    throw input_error("a schedule and a loop cannot both be given", "loop", "remove one of them");
  }
  for (std::size_t i = 0; i < architecture.segments.size(); ++i) {
    if (!has_loop_fields(architecture.segments[i])) continue;
    throw input_error(
        fmt::format("segments[{}] already states visits or other loop fields", i), "loop",
        "remove \"loop\", or remove visits, order, injection, kv_policy, norms_per_visit, "
        "adapter_rank and exit_gate from the segments");
  }
  architecture = with_loop(architecture, parse_loop(text, depth(architecture), "loop"));
}

}  // namespace

Architecture from_json(std::string_view text, std::string_view file) {
  const json::Value document = json::parse(text, file);
  Fields fields(document, std::string(file));
  Architecture architecture = read_architecture(fields);
  const auto loop = fields.optional_text("loop");
  in_file(file, [&] {
    validate(architecture);
    if (!loop) return;
    apply_loop(architecture, *loop);
    validate(architecture);
  });
  return architecture;
}

}  // namespace isoloop::arch
