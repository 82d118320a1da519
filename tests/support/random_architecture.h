// Test support: random unlooped and looped architectures that validate.
#pragma once

#include <random>

#include "isoloop/arch.h"

namespace isoloop::test {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  bool rare() { return below(4) == 0; }

 private:
  std::mt19937 engine_;
};

inline arch::Attention random_attention(Dice& dice) {
  arch::Attention a;
  a.kv_heads = 1 + dice.below(3);
  a.heads = a.kv_heads * (1 + dice.below(4));
  a.head_size = 8 * (1 + dice.below(4));
  if (dice.rare()) {
    a.kind = arch::AttentionKind::mla;
    a.kv_heads = a.head_size = 0;
    a.q_rank = dice.below(2) * 24;
    a.kv_rank = 16;
    a.nope_size = 8;
    a.rope_size = 4;
    a.value_size = 12;
    return a;
  }
  a.qk_norm = static_cast<arch::QkNorm>(dice.below(4));
  a.qkv_bias = dice.rare();
  a.output_bias = a.qkv_bias && dice.below(2) == 0;
  a.sinks = dice.rare();
  a.output_gate = dice.rare();
  return a;
}

inline arch::Ffn random_ffn(Dice& dice, bool moe) {
  arch::Ffn f;
  f.moe = moe;
  f.gated = !dice.rare();
  f.bias = dice.rare();
  if (!moe) {
    f.size = 16 * (1 + dice.below(4));
    return f;
  }
  f.experts = 2 + dice.below(6);
  f.top_k = 1 + dice.below(2);
  f.expert_size = 8 * (1 + dice.below(4));
  f.shared_size = dice.rare() ? f.expert_size * (1 + dice.below(2)) : 0;
  f.shared_gate = f.shared_size > 0 && dice.rare();
  f.router_bias = f.bias;
  f.selection_bias = dice.rare();
  return f;
}

/// One or two segments that share attention; a window in some.
inline arch::Architecture random_architecture(Dice& dice) {
  arch::Architecture m;
  m.name = "random";
  m.hidden = 16 * (1 + dice.below(6));
  m.vocab = 100 + dice.below(1000);
  m.tied = dice.rare();
  m.context = 128 * (1 + dice.below(8));
  m.norm = dice.rare() ? static_cast<arch::NormKind>(dice.below(4)) : arch::NormKind::rms;
  m.norm_layout =
      dice.rare() ? static_cast<arch::NormLayout>(dice.below(3)) : arch::NormLayout::pre;
  const arch::Attention attention = random_attention(dice);
  const std::int64_t parts = 1 + dice.below(2);
  const bool first_moe = dice.below(2) == 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    arch::Segment s;
    s.name = i == 0 ? "a" : "b";
    s.layers = 1 + dice.below(4);
    s.attention = attention;
    if (dice.rare()) s.attention.windows = {64, dice.below(2) * 64};
    s.ffn = random_ffn(dice, first_moe != (i == 1));
    m.segments.push_back(s);
  }
  return m;
}

}  // namespace isoloop::test
