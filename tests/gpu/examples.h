// Test support: architectures that use every kind of layer, and random ones.
#pragma once

#include <random>
#include <string>

#include "isoloop/arch.h"

namespace isoloop::gpu_test {

inline arch::Segment gqa_moe(std::int64_t layers) {
  arch::Segment s;
  s.name = "layers";
  s.layers = layers;
  s.attention.heads = 16;
  s.attention.kv_heads = 4;
  s.attention.head_size = 64;
  s.ffn.moe = true;
  s.ffn.experts = 32;
  s.ffn.top_k = 4;
  s.ffn.expert_size = 512;
  return s;
}

inline arch::Architecture plain(std::int64_t layers = 8) {
  arch::Architecture a;
  a.name = "plain";
  a.hidden = 1024;
  a.vocab = 50304;
  a.context = 2048;
  a.segments = {gqa_moe(layers)};
  return a;
}

inline arch::Architecture latent() {
  arch::Architecture a = plain();
  a.name = "latent";
  arch::Attention& m = a.segments[0].attention;
  m = {};
  m.kind = arch::AttentionKind::mla;
  m.heads = 16;
  m.q_rank = 384;
  m.kv_rank = 256;
  m.nope_size = 128;
  m.rope_size = 64;
  m.value_size = 128;
  return a;
}

/// 54e9 parameters: 32 layers, 64 experts.
inline arch::Architecture large() {
  arch::Architecture a = plain(32);
  a.name = "large";
  a.hidden = 4096;
  a.vocab = 131072;
  a.context = 4096;
  arch::Segment& s = a.segments[0];
  s.attention.heads = 32;
  s.attention.kv_heads = 8;
  s.attention.head_size = 128;
  s.ffn.experts = 64;
  s.ffn.top_k = 6;
  s.ffn.expert_size = 2048;
  return a;
}

class RandomArchitectures {
 public:
  explicit RandomArchitectures(unsigned seed) : random_(seed) {}

  arch::Architecture next() {
    arch::Architecture a = plain(upto(1, 6));
    a.name = "random";
    a.hidden = 64 * upto(2, 40);
    a.vocab = 8 * upto(1000, 9000);
    a.tied = chance();
    a.context = 128 * upto(1, 16);
    a.norm_layout = chance() ? arch::NormLayout::pre : arch::NormLayout::sandwich;
    attention(a.segments[0].attention);
    ffn(a.segments[0].ffn);
    if (chance()) a.segments[0].adapter_rank = 8 * upto(1, 8);
    if (chance() && a.segments[0].layers >= 3)
      a = arch::with_loop(a, {2, a.segments[0].layers - 2, upto(2, 4), arch::Order::block});
    for (arch::Segment& s : a.segments) {
      if (s.visits.forward == Ratio(1)) continue;
      s.injection = static_cast<arch::Injection>(upto(0, 3));
      s.exit_gate = chance();
    }
    return a;
  }

 private:
  std::int64_t upto(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<unsigned>(most - least + 1));
  }
  bool chance() { return random_() % 2 == 0; }

  void attention(arch::Attention& a) {
    const std::int64_t kind = upto(0, 3);
    if (kind == 0) {
      a = latent().segments[0].attention;
      if (chance()) a.q_rank = 0;
      return;
    }
    a.kv_heads = upto(1, 4);
    a.heads = a.kv_heads * upto(1, 4);
    a.head_size = 8 * upto(4, 16);
    a.output_gate = chance();
    if (kind == 2) a.windows = {0, 64 * upto(1, 8), 64};
    if (kind == 3 && a.heads % 2 == 0) {
      a.output_gate = false;
      a.experts = 8;
      a.top_k = 2;
    }
    a.chunked = !a.windows.empty() && chance();
  }

  void ffn(arch::Ffn& f) {
    f = {};
    f.gated = chance();
    f.moe = chance();
    if (!f.moe) {
      f.size = 64 * upto(1, 60);
      return;
    }
    f.experts = 8 * upto(1, 8);
    f.top_k = upto(1, 6);
    f.expert_size = 32 * upto(1, 30);
    if (chance()) f.shared_size = 64 * upto(1, 10);
    f.shared_gate = f.shared_size > 0 && chance();
  }

  std::mt19937 random_;
};

}  // namespace isoloop::gpu_test
