// Test support: small architectures, as values, as text and at random.
#pragma once

#include <random>
#include <string>
#include <string_view>

#include "isoloop/arch.h"

namespace isoloop::arch::test {

/// A valid file of two segments: one dense layer, eleven MoE layers.
inline constexpr std::string_view two_segments = R"({
  "schema": "isoloop/arch/v1",
  "name": "small",
  "hidden_size": 1280,
  "vocab_size": 50304,
  "segments": [
    {
      "name": "dense",
      "layers": 1,
      "attention": {"kind": "gqa", "heads": 20, "kv_heads": 4, "head_size": 64},
      "ffn": {"kind": "dense", "size": 5120}
    },
    {
      "name": "moe",
      "layers": 11,
      "attention": {"kind": "gqa", "heads": 20, "kv_heads": 4, "head_size": 64, "windows": [0, 128]},
      "ffn": {"kind": "moe", "experts": 192, "top_k": 8, "expert_size": 432}
    }
  ]
}
)";

/// `text` with the first `from` replaced by `to`; "" if there is none.
inline std::string edited(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == text.npos) return "";
  return std::string(text.substr(0, at)) + std::string(to) +
         std::string(text.substr(at + from.size()));
}

/// A plain model of one segment.
inline Architecture one_segment(std::int64_t layers) {
  Architecture architecture;
  architecture.name = "plain";
  architecture.hidden = 64;
  Segment segment;
  segment.name = "layers";
  segment.layers = layers;
  segment.attention.heads = 4;
  segment.attention.kv_heads = 2;
  segment.attention.head_size = 16;
  segment.ffn.moe = true;
  segment.ffn.experts = 8;
  segment.ffn.top_k = 2;
  segment.ffn.expert_size = 32;
  architecture.segments.push_back(segment);
  return architecture;
}

/// Valid architectures of every shape the format has.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}

  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(engine_() % static_cast<std::uint32_t>(most - least + 1));
  }
  bool coin() { return between(0, 1) == 1; }

  Attention attention() {
    Attention a;
    a.heads = 12 * between(1, 4);
    if (coin()) {
      a.kv_heads = between(1, 4);
      a.head_size = 8 * between(1, 16);
      a.qk_norm = static_cast<QkNorm>(between(0, 3));
      if (coin()) {
        a.top_k = between(1, 4);
        a.experts = a.top_k + between(0, 4);
      }
    } else {
      a.kind = AttentionKind::mla;
      a.q_rank = between(0, 3) * 128;
      a.kv_rank = 64 * between(1, 8);
      a.nope_size = 16 * between(1, 8);
      a.rope_size = 16 * between(0, 4);
      a.value_size = 16 * between(1, 8);
    }
    a.qkv_bias = coin();
    a.output_bias = coin();
    a.sinks = coin();
    a.output_gate = coin();
    for (std::int64_t i = between(0, 4); i > 0; --i) a.windows.push_back(128 * between(0, 2));
    return a;
  }

  Ffn ffn() {
    Ffn f;
    f.gated = coin();
    f.bias = coin();
    if (coin()) {
      f.size = 64 * between(1, 64);
      return f;
    }
    f.moe = true;
    f.top_k = between(1, 8);
    f.experts = f.top_k + between(0, 120);
    f.expert_size = 16 * between(1, 64);
    f.shared_size = 16 * between(0, 4);
    f.shared_gate = f.shared_size > 0 && coin();
    f.router_bias = coin();
    f.selection_bias = coin();
    f.output_bias = coin();
    return f;
  }

  void add_loop(Segment& segment) {
    const bool whole = coin();
    segment.visits.forward = whole ? Ratio(between(1, 8)) : Ratio(between(7, 20), 7);
    segment.visits.backward = coin() ? segment.visits.forward : Ratio(1, 2);
    segment.order = coin() ? Order::block : Order::layer;
    if (coin()) segment.residual_scale = Ratio(1) / segment.visits.forward;
    segment.injection = static_cast<Injection>(between(0, 3));
    segment.kv_policy = static_cast<KvPolicy>(between(0, 3));
    if (segment.kv_policy == KvPolicy::modulo) segment.kv_slots = between(1, 3);
    segment.norms_per_visit = segment.visits.forward.is_integer() && coin();
    segment.adapter_rank = segment.visits.forward.is_integer() ? between(0, 2) * 8 : 0;
    segment.exit_gate = coin();
  }

  /// Without any loop; neighbours differ.
  Architecture plain(std::int64_t max_segments = 4) {
    Architecture a;
    a.name = coin() ? "random \"ü\"" : "";
    a.hidden = 64 * between(1, 64);
    a.vocab = 1000 * between(0, 50);
    a.tied = coin();
    a.context = 1024 * between(1, 8);
    a.norm = static_cast<NormKind>(between(0, 3));
    a.norm_layout = static_cast<NormLayout>(between(0, 2));
    a.final_norm = coin();
    a.mtp_layers = between(0, 1);
    a.state_vectors = between(0, 2);
    for (std::int64_t i = between(1, max_segments), n = 0; n < i; ++n) {
      Segment segment;
      segment.layers = between(1, 6);
      segment.attention = attention();
      segment.attention.output_bias = n % 2 == 1;
      segment.ffn = ffn();
      segment.name = "part " + std::to_string(n);
      if (coin()) segment.residual_scale = Ratio(between(1, 9), 10);
      a.segments.push_back(segment);
    }
    if (a.segments.size() == 1) a.segments[0].name = "layers";
    return a;
  }

  Architecture any() {
    Architecture a = plain();
    if (coin()) {
      for (Segment& segment : a.segments) add_loop(segment);
      return a;
    }
    const std::int64_t span = between(0, depth(a));
    return with_loop(a, {between(1, depth(a) - span + 1), span, between(1, 5)});
  }

 private:
  std::mt19937 engine_;
};

}  // namespace isoloop::arch::test
