// The formulas: the only place where the cost of a transformer is written down.
//
// Each function emits the terms of one module per physical layer and token. A term has five
// figures: stored parameters, parameters one token touches, multiply-accumulates (MACs), elements
// saved for the backward pass, and KV-cache elements per slot. N offers + and x and nothing else,
// so the same line counts (Ratio), yields exact coefficients for the solver (Poly) and prints
// itself (Text). Everything that is not + or x - padding, windows, causal means - was turned into
// a value by resolve() before.
//
// A linear map from a to b has a*b parameters and a*b MACs per token (2 FLOPs per MAC).
// Sources: attention and FFN after Vaswani et al., arXiv 1706.03762; GQA arXiv 2305.13245; MLA
// arXiv 2405.04434 section 2.1; gated FFN arXiv 2002.05202; mixture of attention heads arXiv
// 2404.07413. Held by tests/formats/published_counts_test.cpp (parameters by part of 65 models) and
// tests/cost/convention_test.cpp.
#pragma once

#include "isoloop/cost.h"

namespace isoloop::cost {

template <class N>
struct Letters {
  N h, V, Vp;                // hidden, vocabulary, padded vocabulary
  N H, K, d;                 // query heads, kv heads, head size
  N Ea, ka, Ha;              // attention experts, active ones, heads per attention expert
  N qr, kr, n, r, v;         // MLA: query rank, kv rank, nope, rope and value sizes
  N E, k, f, s, g, a;        // experts, top-k, expert size, shared size, dense size, adapter rank
  N T;                       // mean attended tokens per query
};

template <class N>
struct Term {
  Part part;
  const char* name;
  N params{}, active{}, macs{}, saved{}, cache{};
  bool makes_cache = false;  // keys and values: not run by a visit that reads another visit's
};

/// A linear map: all its parameters are active and each is one MAC.
template <class N>
Term<N> linear(Part part, const char* name, const N& weights, const N& saved = N(0)) {
  return {part, name, weights, weights, weights, saved, N(0)};
}
/// A linear map whose output is what later visits may read instead of making their own.
template <class N>
Term<N> to_cache(Term<N> term) {
  term.makes_cache = true;
  return term;
}
/// Parameters without a matrix product.
template <class N>
Term<N> vector(Part part, const char* name, const N& weights) {
  return {part, name, weights, weights, N(0), N(0), N(0)};
}

// Grouped-query attention. Saved for backward: the layer's normalised input, q, k, v and the
// context vector (scores are recomputed, as fused attention kernels do).
template <class N, class Emit>
void gqa(const arch::Attention& a, const Letters<N>& x, Emit emit) {
  if (a.experts > 0) {
    emit(linear(Part::router, "attention router", x.h * x.Ea));
    emit(Term<N>{Part::attention, "q projection (experts)", x.Ea * x.h * x.Ha * x.d,
                 x.ka * x.h * x.Ha * x.d, x.ka * x.h * x.Ha * x.d, x.h + x.H * x.d, N(0)});
    emit(Term<N>{Part::attention, "output projection (experts)", x.Ea * x.Ha * x.d * x.h,
                 x.ka * x.Ha * x.d * x.h, x.ka * x.Ha * x.d * x.h, x.H * x.d, N(0)});
  } else {
    emit(linear(Part::attention, "q projection", x.h * x.H * x.d, x.h + x.H * x.d));
    emit(linear(Part::attention, "output projection", x.H * x.d * x.h, x.H * x.d));
  }
  emit(to_cache(linear(Part::attention, "k projection", x.h * x.K * x.d, x.K * x.d)));
  emit(to_cache(linear(Part::attention, "v projection", x.h * x.K * x.d, x.K * x.d)));
  if (a.qkv_bias)
    emit(vector(Part::attention_bias, "q, k, v biases", x.H * x.d + x.K * x.d + x.K * x.d));
  if (a.output_gate) emit(linear(Part::attention_gate, "output gate", x.h * x.H * x.d, x.H * x.d));
  if (a.qk_norm == arch::QkNorm::per_head) emit(vector(Part::qk_norm, "q, k norms", x.d + x.d));
  if (a.qk_norm == arch::QkNorm::all_heads)
    emit(vector(Part::qk_norm, "q, k norms", x.H * x.d + x.K * x.d));
  // Scores q.k and the weighted sum of values go by query heads, never by kv heads.
  Term<N> core{Part::attention_core, "scores and values", N(0), N(0)};
  core.macs = x.H * x.d * x.T + x.H * x.d * x.T;
  core.cache = x.K * x.d + x.K * x.d;
  emit(core);
}

// Multi-head latent attention: keys and values are rebuilt from a cached latent of kr + r entries.
template <class N, class Emit>
void mla(const arch::Attention& a, const Letters<N>& x, Emit emit) {
  if (a.q_rank > 0) {
    emit(linear(Part::attention, "q down-projection", x.h * x.qr, x.h + x.qr));
    emit(vector(Part::mla_norm, "q latent norm", x.qr));
    emit(linear(Part::attention, "q up-projection", x.qr * x.H * (x.n + x.r),
                x.qr + x.H * (x.n + x.r)));
  } else {
    emit(linear(Part::attention, "q projection", x.h * x.H * (x.n + x.r),
                x.h + x.H * (x.n + x.r)));
  }
  emit(to_cache(linear(Part::attention, "kv down-projection", x.h * (x.kr + x.r), x.kr + x.r)));
  emit(vector(Part::mla_norm, "kv latent norm", x.kr));
  emit(to_cache(linear(Part::attention, "kv up-projection", x.kr * x.H * (x.n + x.v),
                       x.kr + x.H * (x.n + x.v))));
  emit(linear(Part::attention, "output projection", x.H * x.v * x.h, x.H * x.v));
  if (a.qkv_bias)  // on the down-projections
    emit(vector(Part::attention_bias, "q, kv biases",
                a.q_rank > 0 ? x.qr + x.kr + x.r : x.kr + x.r));
  if (a.output_gate) emit(linear(Part::attention_gate, "output gate", x.h * x.H * x.v, x.H * x.v));
  Term<N> core{Part::attention_core, "scores and values", N(0), N(0)};
  core.macs = x.H * (x.n + x.r) * x.T + x.H * x.v * x.T;
  core.cache = x.kr + x.r;
  emit(core);
}

template <class N, class Emit>
void attention(const arch::Attention& a, const Letters<N>& x, Emit emit) {
  if (a.kind == arch::AttentionKind::mla)
    mla(a, x, emit);
  else
    gqa(a, x, emit);
  Term<N> softmax{Part::softmax, "softmax entries", N(0), N(0)};
  softmax.macs = x.H * x.T;
  emit(softmax);
  if (a.output_bias) emit(vector(Part::attention_bias, "output bias", x.h));
  if (a.sinks) emit(vector(Part::sinks, "attention sinks", x.H));
}

/// Matrices of a feed-forward block: gate, up and down, or up and down.
template <class N>
N matrices(bool gated) {
  return gated ? N(3) : N(2);
}
/// Biases of one feed-forward block of width f: one per inner matrix and one of size h.
template <class N>
N ffn_biases(bool gated, const N& f, const N& h) {
  return gated ? f + f + h : f + h;
}
/// Saved of one feed-forward block per token: its inner widths (gate, up, product).
template <class N>
N ffn_saved(bool gated, const N& f) {
  return gated ? f + f + f : f + f;
}

template <class N, class Emit>
void dense_ffn(const arch::Ffn& ffn, const Letters<N>& x, Emit emit) {
  const N c = matrices<N>(ffn.gated);
  emit(linear(Part::dense_ffn, ffn.gated ? "gate, up, down" : "up, down", c * x.h * x.g,
              x.h + ffn_saved(ffn.gated, x.g)));
  if (ffn.bias) emit(vector(Part::ffn_bias, "FFN biases", ffn_biases(ffn.gated, x.g, x.h)));
}

// Mixture of experts. Saved: the normalised input, router scores, and per active expert its
// permuted input, inner widths and output.
template <class N, class Emit>
void moe_ffn(const arch::Ffn& ffn, const Letters<N>& x, Emit emit) {
  const N c = matrices<N>(ffn.gated);
  emit(linear(Part::router, "router", x.h * x.E, x.h + x.E));
  if (ffn.router_bias) emit(vector(Part::router_bias, "router bias", x.E));
  if (ffn.selection_bias) emit(vector(Part::router_bias, "expert selection bias", x.E));
  emit(Term<N>{Part::experts, "routed experts", c * x.h * x.f * x.E, c * x.h * x.f * x.k,
               c * x.h * x.f * x.k, x.k * (x.h + ffn_saved(ffn.gated, x.f) + x.h), N(0)});
  if (ffn.bias) {
    const N bias = ffn_biases(ffn.gated, x.f, x.h);
    emit(Term<N>{Part::expert_bias, "expert biases", x.E * bias, x.k * bias, N(0), N(0), N(0)});
  }
  if (ffn.output_bias) emit(vector(Part::router_bias, "expert group bias", x.h));
  if (ffn.shared_size > 0)
    emit(linear(Part::shared_expert, "shared expert", c * x.h * x.s,
                ffn_saved(ffn.gated, x.s)));
  if (ffn.shared_gate) emit(linear(Part::shared_gate, "shared expert gate", x.h));
}

/// Parameters of one norm of width w.
template <class N>
N norm_weights(arch::NormKind kind, const N& w) {
  switch (kind) {
    case arch::NormKind::layer: return w + w;
    case arch::NormKind::unweighted: return N(0);
    default: return w;
  }
}

template <class N, class Emit>
void block_norms(arch::NormKind kind, arch::NormLayout layout, const Letters<N>& x, Emit emit) {
  const N one = norm_weights(kind, x.h);
  const bool sandwich = layout == arch::NormLayout::sandwich;
  Term<N> term = vector(Part::norm, sandwich ? "four norms" : "two norms",
                        sandwich ? one + one + one + one : one + one);
  term.saved = sandwich ? x.h + x.h + x.h + x.h : x.h + x.h;  // the norms' inputs
  emit(term);
}

/// Once per looped segment and visit, not per layer.
template <class N, class Emit>
void loop_extras(const arch::Segment& segment, const Letters<N>& x, Emit emit) {
  switch (segment.injection) {
    case arch::Injection::diagonal: emit(vector(Part::injection, "input injection", x.h)); break;
    case arch::Injection::linear:
      emit(linear(Part::injection, "input injection", x.h * x.h + x.h * x.h, x.h + x.h));
      break;
    default: break;  // adding the input costs no parameter and no matrix product
  }
  if (segment.exit_gate) {
    emit(linear(Part::exit_gate, "exit gate", x.h));
    emit(vector(Part::exit_gate, "exit gate bias", N(1)));
  }
}

template <class N, class Emit>
void adapter(const Letters<N>& x, Emit emit) {
  emit(linear(Part::adapter, "adapter", x.h * x.a + x.a * x.h, x.a));
}

template <class N, class Emit>
void layer(const arch::Segment& segment, const arch::Architecture& model, const Letters<N>& x,
           Emit emit) {
  attention(segment.attention, x, emit);
  if (segment.ffn.moe)
    moe_ffn(segment.ffn, x, emit);
  else
    dense_ffn(segment.ffn, x, emit);
  block_norms(model.norm, model.norm_layout, x, emit);
}

/// Embedding, final norm, head and learned states of the whole model.
template <class N, class Emit>
void model_rows(const arch::Architecture& model, const Letters<N>& x, Emit emit) {
  if (model.vocab > 0) {
    emit(vector(Part::embedding, "token embedding", x.h * x.V));
    Term<N> head = linear(Part::head, model.tied ? "head (tied)" : "head", x.h * x.Vp, x.h);
    head.params = head.active = model.tied ? N(0) : x.h * x.V;
    emit(head);
  }
  if (model.final_norm) emit(vector(Part::final_norm, "final norm", norm_weights(model.norm, x.h)));
  for (std::int64_t i = 0; i < model.state_vectors; ++i)
    emit(vector(Part::state, "initial state", x.h));
}

/// What a multi-token-prediction layer adds to an ordinary layer (arXiv 2412.19437 section 2.2).
template <class N, class Emit>
void mtp_rows(const arch::Architecture& model, const Letters<N>& x, Emit emit) {
  emit(linear(Part::mtp_projection, "MTP projection", x.h * x.h + x.h * x.h));
  const N one = norm_weights(model.norm, x.h);
  emit(vector(Part::mtp_norm, "MTP norms", one + one + one));
  if (model.vocab > 0) {
    Term<N> head = linear(Part::head, "MTP head (shared)", x.h * x.Vp);
    head.params = head.active = N(0);
    emit(head);
  }
}

}  // namespace isoloop::cost
