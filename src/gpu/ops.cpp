// What a layer does on one GPU: matrix products, attention, elementwise passes and transfers.
//
// GEMM shapes follow fused practice: q, k, v (and an output gate) in one product, gate and up in
// one, experts in grouped products. Each product's multiply-accumulates equal the ledger's row.
// Held by tests/gpu/plan_test.cpp.
#include "gpu/ops.h"

namespace isoloop::gpu {
namespace {

class Layer {
 public:
  Layer(const arch::Architecture& model, const arch::Segment& segment, const Sharding& sharding,
        Family family)
      : h_(model.hidden), model_(model), segment_(segment), s_(sharding), family_(family) {}

  std::vector<Op> build() {
    constexpr std::size_t usual = 24;
    ops_.reserve(usual);
    norms();
    attention();
    if (segment_.ffn.moe)
      moe();
    else
      dense(segment_.ffn.size, "FFN gate and up", "FFN up", "FFN activation", "FFN down");
    if (segment_.adapter_rank > 0) adapter();
    loop_extras();
    return std::move(ops_);
  }

 private:
  std::int64_t tp() const { return s_.options.tp; }
  double tokens() const { return static_cast<double>(s_.tokens); }
  double local() const { return static_cast<double>(s_.local_tokens); }
  double width() const { return static_cast<double>(h_); }

  Op& gemm(std::string_view name, std::int64_t m, std::int64_t n, std::int64_t k,
           std::int64_t groups = 1) {
    Op& op = ops_.emplace_back();
    op.name = name;
    op.macs = Ratio(Int(m) * n * k * groups);
    constexpr std::int64_t narrowest = 8;  // below, a dot product per row, not a tensor-core tile
    op.kind = n < narrowest ? KernelKind::elementwise : KernelKind::gemm;
    op.gemm.m = m;
    op.gemm.n = n;
    op.gemm.k = k;
    op.gemm.groups = groups;
    op.gemm.precision = s_.precision;
    op.gemm.output_bytes = s_.activation_bytes;
    op.forward_bytes = static_cast<double>(m) * static_cast<double>(k) * s_.activation_bytes;
    op.backward_bytes = 2 * op.forward_bytes;
    return op;
  }

  Op& elementwise(std::string_view name, double forward, double backward, bool recomputable) {
    Op& op = ops_.emplace_back();
    op.name = name;
    op.kind = KernelKind::elementwise;
    op.forward_bytes = forward * s_.activation_bytes;
    op.backward_bytes = backward * s_.activation_bytes;
    op.recomputable = recomputable;
    return op;
  }

  void link(std::string_view name, double bytes, double steps) {
    Op op;
    op.name = name;
    op.kind = KernelKind::link;
    op.forward_bytes = op.backward_bytes = bytes;
    op.link_steps = steps;
    ops_.push_back(op);
  }

  /// All-gather before and reduce-scatter after a block whose columns TP splits.
  void tensor_parallel(std::string_view gather, std::string_view scatter) {
    if (tp() == 1) return;
    const double share = static_cast<double>(tp() - 1) / static_cast<double>(tp());
    link(gather, share * tokens() * width() * s_.activation_bytes, static_cast<double>(tp() - 1));
    link(scatter, share * tokens() * width() * s_.activation_bytes, static_cast<double>(tp() - 1));
  }

  void norms() {
    const double count = model_.norm_layout == arch::NormLayout::sandwich ? 4 : 2;
    // Residual and sub-layer output read, residual and normed value written.
    Op& op = elementwise("norms and residual", count * 4 * local() * width(),
                         count * 5 * local() * width(), true);
    op.link_steps = count;
    if (s_.precision == Precision::fp8)
      elementwise("casts to fp8", 2 * 1.5 * (tokens() + local()) * width(),
                  4 * 1.5 * (tokens() + local()) * width(), true);
  }

  void attention() {
    tensor_parallel("attention all-gather", "attention reduce-scatter");
    if (segment_.attention.kind == arch::AttentionKind::mla)
      mla();
    else if (segment_.attention.experts > 0)
      attention_experts();
    else
      gqa();
  }

  void gqa() {
    const arch::Attention& a = segment_.attention;
    const std::int64_t q = a.heads * a.head_size / tp();
    const std::int64_t kv_heads = std::max<std::int64_t>(1, a.kv_heads / tp());
    const std::int64_t kv = 2 * kv_heads * a.head_size;
    gemm(a.output_gate ? "q, k, v and gate projection" : "qkv projection", s_.tokens,
         q + kv + (a.output_gate ? q : 0), h_);
    position(static_cast<double>(q + kv / 2));
    core(a.heads / tp(), kv_heads, a.head_size, a.head_size, false);
    if (a.output_gate)
      elementwise("output gate", 3 * tokens() * static_cast<double>(q),
                  5 * tokens() * static_cast<double>(q), true);
    gemm("output projection", s_.tokens, h_, q);
  }

  void position(double columns) {
    const bool normed = segment_.attention.qk_norm != arch::QkNorm::none;
    elementwise(normed ? "q, k norms and rotary" : "rotary", 2 * tokens() * columns,
                (normed ? 3 : 2) * tokens() * columns, false);
  }

  // Mixture of attention heads: query and output projections are experts.
  void attention_experts() {
    const arch::Attention& a = segment_.attention;
    const std::int64_t width_of_expert = a.heads / a.top_k * a.head_size;
    gemm("attention router", s_.local_tokens, a.experts, h_);
    grouped("q projection (experts)", a.experts, a.top_k, width_of_expert, h_);
    gemm("k, v projection", s_.tokens, 2 * a.kv_heads * a.head_size, h_);
    position(static_cast<double>((a.heads + a.kv_heads) * a.head_size));
    core(a.heads, a.kv_heads, a.head_size, a.head_size, false);
    grouped("output projection (experts)", a.experts, a.top_k, h_, width_of_expert);
  }

  void mla() {
    const arch::Attention& a = segment_.attention;
    const std::int64_t heads = a.heads / tp(), qk = a.nope_size + a.rope_size;
    gemm(a.q_rank > 0 ? "q, kv down-projection" : "kv down-projection", s_.local_tokens,
         a.q_rank + a.kv_rank + a.rope_size, h_);
    if (a.q_rank > 0)
      gemm("q up-projection", s_.tokens, heads * qk, a.q_rank);
    else
      gemm("q projection", s_.tokens, heads * qk, h_);
    position(static_cast<double>(heads * qk));
    if (s_.decode) {  // absorbed: queries meet the cached latent itself
      gemm("q absorption", s_.tokens, a.kv_rank, a.nope_size, heads);
      core(heads, 1, a.kv_rank + a.rope_size, a.kv_rank, true);
      gemm("value absorption", s_.tokens, a.value_size, a.kv_rank, heads);
    } else {
      gemm("kv up-projection", s_.tokens, heads * (a.nope_size + a.value_size), a.kv_rank);
      core(heads, heads, qk, a.value_size, false);
    }
    gemm("output projection", s_.tokens, h_, heads * a.value_size);
  }

  /// One attention operation per distinct window of the segment.
  void core(std::int64_t heads, std::int64_t kv_heads, std::int64_t d, std::int64_t dv,
            bool latent) {
    AttentionProblem p;
    p.sequences = s_.sequences;
    p.heads = heads;
    p.kv_heads = kv_heads;
    p.queries = s_.decode ? 1 : s_.sequence;
    p.keys = s_.sequence;
    p.head_size = d;
    p.value_size = dv;
    p.chunked = segment_.attention.chunked;
    p.shared_latent = latent;
    p.precision = s_.decode ? s_.cache_precision : s_.attention_precision;
    for (const auto& [window, layers] : windows()) {
      Op op;
      op.name = window > 0 ? "attention (window)" : "attention";
      op.kind = KernelKind::attention;
      op.layers = static_cast<double>(layers);
      op.attention = p;
      op.attention.window = window < s_.sequence ? window : 0;
      op.macs = core_macs(op.attention);
      ops_.push_back(op);
    }
  }

  std::vector<std::pair<std::int64_t, std::int64_t>> windows() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    if (segment_.attention.windows.empty()) return {{0, segment_.layers}};
    for (std::int64_t i = 0; i < segment_.layers; ++i) {
      const std::int64_t window = arch::window_of(segment_, i);
      bool known = false;
      for (auto& [size, layers] : result)
        if (size == window) ++layers, known = true;
      if (!known) result.emplace_back(window, 1);
    }
    return result;
  }

  /// Exact causal sums: position i sees min(i, W) keys, or its own chunk so far.
  static Ratio core_macs(const AttentionProblem& p) {
    const auto triangle = [](Int n) { return exact_div(n * (n + 1), 2); };
    const Int keys = p.keys, window = p.window;
    Int scores = 0;
    if (p.queries == 1) {
      scores = p.window == 0 ? keys
               : p.chunked   ? (keys - 1) - floor_div(keys - 1, window) * window + 1
                             : window;
    } else if (p.window == 0) {
      scores = triangle(keys);
    } else if (p.chunked) {
      const Int whole = floor_div(keys, window);
      scores = whole * triangle(window) + triangle(keys - whole * window);
    } else {
      scores = triangle(window) + (keys - window) * window;
    }
    return Ratio(scores * p.sequences * p.heads * (p.head_size + p.value_size));
  }

  void dense(std::int64_t size, std::string_view gated_up, std::string_view up,
             std::string_view activation, std::string_view down) {
    tensor_parallel("FFN all-gather", "FFN reduce-scatter");
    const std::int64_t columns = size / tp();
    const bool gated = segment_.ffn.gated;
    gemm(gated ? gated_up : up, s_.tokens, (gated ? 2 : 1) * columns, h_);
    activate(activation, tokens() * static_cast<double>(columns));
    gemm(down, s_.tokens, h_, columns);
  }

  void activate(std::string_view name, double entries) {
    const bool gated = segment_.ffn.gated;
    elementwise(name, (gated ? 3 : 2) * entries, (gated ? 5 : 3) * entries, true);
  }

  void grouped(std::string_view name, std::int64_t experts, std::int64_t top_k, std::int64_t n,
               std::int64_t k) {
    const std::int64_t ep =
        segment_.attention.experts > 0 && experts == segment_.attention.experts ? 1 : s_.options.ep;
    Op& op = gemm(name, 0, n, k, experts / ep);
    op.kind = KernelKind::grouped_gemm;
    op.gemm.routing = Routing{s_.local_tokens * ep, experts, top_k};
    op.gemm.m = std::max<std::int64_t>(1, s_.local_tokens * ep * top_k / experts);
    op.macs = Ratio(Int(s_.local_tokens) * top_k * n * k);
    const bool tma = family_ == Family::wgmma || family_ == Family::tcgen05;
    op.gemm.backend = !tma        ? GroupBackend::quantised
                      : s_.decode ? GroupBackend::masked
                                  : GroupBackend::padded;
  }

  void moe() {
    const arch::Ffn& f = segment_.ffn;
    const std::int64_t ep = s_.options.ep;
    const double rows = local() * static_cast<double>(f.top_k);
    gemm("router", s_.local_tokens, f.experts, h_);
    elementwise("router top-k", 2 * local() * static_cast<double>(f.experts),
                2 * local() * static_cast<double>(f.experts), false);
    if (ep > 1)
      link("expert dispatch",
           rows * width() * s_.activation_bytes * static_cast<double>(ep - 1) /
               static_cast<double>(ep),
           1);
    elementwise("permutation", 2 * rows * width(), 2 * rows * width(), false);
    grouped(f.gated ? "experts gate and up" : "experts up", f.experts, f.top_k,
            (f.gated ? 2 : 1) * f.expert_size, h_);
    activate("expert activation", rows * static_cast<double>(f.expert_size));
    grouped("experts down", f.experts, f.top_k, h_, f.expert_size);
    if (ep > 1)
      link("expert combine",
           rows * width() * s_.activation_bytes * static_cast<double>(ep - 1) /
               static_cast<double>(ep),
           1);
    elementwise("weighted un-permutation", (rows + local()) * width(),
                (rows + local()) * width() + rows * width(), false);
    if (f.shared_size > 0)
      dense(f.shared_size, "shared experts gate and up", "shared experts up",
            "shared expert activation", "shared experts down");
    if (f.shared_gate) gemm("shared expert gate", s_.local_tokens, 1, h_);
  }

  void adapter() {
    gemm("adapter down", s_.local_tokens, segment_.adapter_rank, h_);
    gemm("adapter up", s_.local_tokens, h_, segment_.adapter_rank);
  }

  void loop_extras() {
    const std::size_t before = ops_.size();
    switch (segment_.injection) {
      case arch::Injection::linear:
        gemm("input injection", s_.local_tokens, h_, 2 * h_);
        break;
      case arch::Injection::none:
        break;
      default:
        elementwise("input injection", 3 * local() * width(), 3 * local() * width(), true);
    }
    if (segment_.exit_gate) gemm("exit gate", s_.local_tokens, 1, h_);
    for (std::size_t i = before; i < ops_.size(); ++i) ops_[i].per_visit_only = true;
  }

  std::int64_t h_;
  const arch::Architecture& model_;
  const arch::Segment& segment_;
  const Sharding& s_;
  Family family_;
  std::vector<Op> ops_;
};

Op elementwise_op(std::string_view name, double forward, double backward) {
  Op op;
  op.name = name;
  op.kind = KernelKind::elementwise;
  op.forward_bytes = forward;
  op.backward_bytes = backward;
  return op;
}

}  // namespace

std::vector<Op> layer_ops(const arch::Architecture& model, const arch::Segment& segment,
                          const Sharding& sharding, Family family) {
  std::vector<Op> ops = Layer(model, segment, sharding, family).build();
  for (Op& op : ops)
    if (op.kind != KernelKind::attention)
      op.layers = op.per_visit_only ? 1 : static_cast<double>(segment.layers);
  return ops;
}

std::vector<Op> model_ops(const arch::Architecture& model, const Sharding& s) {
  std::vector<Op> ops;
  const double b = s.activation_bytes;
  const double state = static_cast<double>(s.local_tokens * model.hidden) * b;
  if (model.vocab == 0) return ops;
  ops.push_back(elementwise_op("embedding look-up", 2 * state, 3 * state));
  if (model.final_norm) ops.push_back(elementwise_op("final norm", 2 * state, 3 * state));
  // A prompt needs the logits of its last token only.
  const std::int64_t rows = s.options.phase == Phase::prefill ? s.sequences : s.tokens;
  const std::int64_t padded = round_up(model.vocab, s.options.vocab_multiple).to_int64();
  Op head;
  head.name = "head";
  head.kind = KernelKind::gemm;
  head.gemm.m = rows;
  head.gemm.n = padded / s.options.tp;
  head.gemm.k = model.hidden;
  // Logits and their gradient stay in 16 bit whatever the layers use.
  head.gemm.precision = s.precision == Precision::fp8 ? s.attention_precision : s.precision;
  head.gemm.output_bytes = b;
  head.macs = Ratio(Int(rows) * head.gemm.n * head.gemm.k);
  ops.push_back(head);
  const double logits = static_cast<double>(rows * head.gemm.n) * b;
  if (s.options.phase == Phase::training)
    ops.push_back(elementwise_op("loss", 2 * logits, 2 * logits));
  return ops;
}

LocalParams local_params(const arch::Architecture& model, const Sharding& s,
                         const std::vector<std::vector<Op>>& segments) {
  LocalParams result;
  const auto tp = static_cast<double>(s.options.tp), pp = static_cast<double>(s.options.pp);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const double layers = static_cast<double>(model.segments[i].layers) / pp;
    for (const Op& op : segments[i]) {
      const double entries = static_cast<double>(op.gemm.n) * static_cast<double>(op.gemm.k) *
                             static_cast<double>(op.gemm.groups);
      const double count = op.per_visit_only ? 1 / pp : layers;
      if (op.kind == KernelKind::grouped_gemm)
        result.experts += count * entries;
      else if (op.gemm.n > 0)
        result.dense += count * entries;
    }
  }
  const double table = static_cast<double>(model.hidden * model.vocab) / tp;
  result.dense += model.tied ? table : 2 * table;
  return result;
}

}  // namespace isoloop::gpu
