// Draws features independently; validate() is the judge of what is drawn.
#include "support/random_arch.h"

#include <algorithm>

namespace isoloop::test {
namespace {

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}
bool one_in(Random& random, std::int64_t n) { return pick(random, 1, n) == 1; }

arch::Attention random_attention(Random& random) {
  arch::Attention a;
  a.kv_heads = pick(random, 1, 3);
  a.heads = a.kv_heads * 2 * pick(random, 1, 3);
  a.head_size = pick(random, 2, 20);
  a.qk_norm = static_cast<arch::QkNorm>(pick(random, 0, 3));
  a.output_gate = one_in(random, 4);
  if (one_in(random, 5)) {
    a.experts = pick(random, 2, 6);
    a.top_k = 2;
  }
  if (one_in(random, 3)) {
    const std::int64_t heads = a.heads;
    a = {};
    a.kind = arch::AttentionKind::mla;
    a.heads = heads;
    a.q_rank = one_in(random, 2) ? 0 : pick(random, 2, 30);
    a.kv_rank = pick(random, 2, 30);
    a.nope_size = pick(random, 1, 12);
    a.rope_size = pick(random, 0, 6);
    a.value_size = pick(random, 1, 12);
  }
  a.qkv_bias = one_in(random, 3);
  a.output_bias = one_in(random, 3);
  a.sinks = one_in(random, 3);
  for (std::int64_t n = pick(random, 0, 3); n > 0; --n)
    a.windows.push_back(one_in(random, 2) ? 0 : pick(random, 1, 80));
  const bool windowed =
      std::any_of(a.windows.begin(), a.windows.end(), [](auto w) { return w > 0; });
  a.chunked = windowed && one_in(random, 3);
  return a;
}

arch::Ffn random_ffn(Random& random) {
  arch::Ffn ffn;
  ffn.gated = !one_in(random, 3);
  ffn.bias = one_in(random, 3);
  if (one_in(random, 3)) {
    ffn.size = pick(random, 1, 90);
    return ffn;
  }
  ffn.moe = true;
  ffn.experts = pick(random, 1, 12);
  ffn.top_k = pick(random, 1, ffn.experts);
  ffn.expert_size = pick(random, 1, 40);
  ffn.shared_size = one_in(random, 2) ? 0 : pick(random, 1, 40);
  ffn.shared_gate = ffn.shared_size > 0 && one_in(random, 2);
  ffn.router_bias = one_in(random, 4);
  ffn.selection_bias = one_in(random, 4);
  ffn.output_bias = one_in(random, 4);
  return ffn;
}

void add_loop(Random& random, arch::Segment& s) {
  const bool whole = !one_in(random, 4);
  const Ratio forward = whole ? Ratio(pick(random, 2, 4)) : Ratio(pick(random, 5, 9), 4);
  s.visits = {forward, one_in(random, 2) ? forward : Ratio(1)};
  s.injection = static_cast<arch::Injection>(pick(random, 0, 3));
  s.exit_gate = one_in(random, 3);
  s.kv_policy = static_cast<arch::KvPolicy>(pick(random, 0, 3));
  if (s.kv_policy == arch::KvPolicy::modulo) s.kv_slots = pick(random, 1, 5);
  if (!whole) return;
  s.norms_per_visit = one_in(random, 3);
  s.adapter_rank = one_in(random, 2) ? 0 : pick(random, 1, 6);
}

}  // namespace

arch::Architecture random_architecture(Random& random) {
  arch::Architecture model;
  model.name = "random";
  model.hidden = pick(random, 1, 120);
  model.vocab = one_in(random, 4) ? 0 : pick(random, 1, 500);
  model.tied = one_in(random, 2);
  model.context = pick(random, 1, 100);
  model.norm = static_cast<arch::NormKind>(pick(random, 0, 3));
  model.norm_layout = static_cast<arch::NormLayout>(pick(random, 0, 2));
  model.final_norm = !one_in(random, 4);
  model.mtp_layers = one_in(random, 3) ? pick(random, 1, 2) : 0;
  model.state_vectors = one_in(random, 4) ? pick(random, 1, 3) : 0;
  for (std::int64_t n = pick(random, 1, 3); n > 0; --n) {
    arch::Segment s;
    s.name = "s" + std::to_string(model.segments.size());
    s.layers = pick(random, 1, 5);
    s.attention = random_attention(random);
    s.ffn = random_ffn(random);
    if (one_in(random, 2)) add_loop(random, s);
    model.segments.push_back(std::move(s));
  }
  arch::validate(model);
  return model;
}

arch::Architecture unrolled_copies(const arch::Architecture& model) {
  arch::Architecture result = model;
  result.segments.clear();
  for (const arch::Segment& segment : model.segments) {
    const bool whole = segment.visits.forward.is_integer();
    const std::int64_t copies = whole ? segment.visits.forward.num().to_int64() : 1;
    for (std::int64_t i = 0; i < copies; ++i) {
      arch::Segment copy = segment;
      copy.name = "c" + std::to_string(result.segments.size());
      if (whole) copy.visits = {};
      result.segments.push_back(std::move(copy));
    }
  }
  return result;
}

}  // namespace isoloop::test
