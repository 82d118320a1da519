// Values for the letters of the formulas.
//
// Mean attended tokens: a causal query at position i (1-based) of a document sees i tokens, or
// min(i, W) under a window; the mean is the exact sum over positions divided by their number.
// Held by tests/cost/attended_test.cpp, which sums position by position.
#include "cost/resolve.h"

#include <algorithm>
#include <map>

namespace isoloop::cost {
namespace {

/// Sum over positions 1..n of min(position, window); window 0 = none.
Int causal_sum(Int n, Int window) {
  const auto triangle = [](Int m) { return exact_div(m * (m + 1), 2); };
  if (window == Int(0) || window >= n) return triangle(n);
  return triangle(window) + (n - window) * window;
}

/// The same when attention is cut into chunks: position i sees its own chunk so far.
Int chunked_sum(Int n, Int chunk) {
  if (chunk == Int(0) || chunk >= n) return causal_sum(n, 0);
  const Int whole = floor_div(n, chunk);
  return whole * causal_sum(chunk, 0) + causal_sum(n - whole * chunk, 0);
}

Ratio causal_mean(const Options& options, std::int64_t context, std::int64_t window, bool chunked) {
  const auto sum = [&](Int n) { return chunked ? chunked_sum(n, window) : causal_sum(n, window); };
  if (options.documents.empty()) return Ratio(sum(context), context);
  Int attended = 0, tokens = 0;
  for (const std::int64_t length : options.documents) {
    attended += sum(length);
    tokens += length;
  }
  return Ratio(attended, tokens);
}

/// Mean of the area below the diagonal, without its own half cells: the band of a window, or half
/// the square of each chunk.
Ratio band(Int context, Int window, bool chunked) {
  if (!chunked) return Ratio(window) - Ratio(window * window, context * 2);
  const Int whole = floor_div(context, window), rest = context - whole * window;
  return Ratio(whole * window * window + rest * rest, context * 2);
}

Ratio windowed(const Ratio& unwindowed, convention::Window rule, Int context, Int window,
               bool chunked) {
  const bool cut = window > Int(0) && window < context;
  if (!cut || rule == convention::Window::ignored) return unwindowed;
  if (rule == convention::Window::clipped) return Ratio(window);
  if (rule == convention::Window::band) return band(context, window, chunked);
  return unwindowed;
}

Ratio slots_per_layer(const arch::Segment& segment) {
  switch (segment.kv_policy) {
    case arch::KvPolicy::per_visit:
      return segment.visits.forward;
    case arch::KvPolicy::modulo:
      return std::min(Ratio(segment.kv_slots), segment.visits.forward);
    default:
      return 1;
  }
}

Letters<Ratio> model_letters(const arch::Architecture& model, const Options& options) {
  Letters<Ratio> x;
  x.h = model.hidden;
  x.V = model.vocab;
  const bool padded = options.convention.padded_vocab;
  x.Vp = padded ? Ratio(round_up(model.vocab, options.vocab_multiple)) : x.V;
  return x;
}

void attention_letters(const arch::Attention& a, Letters<Ratio>& x) {
  x.H = a.heads;
  x.K = a.kv_heads;
  x.d = a.head_size;
  x.Ea = a.experts;
  x.ka = a.top_k;
  x.Ha = a.top_k > 0 ? Ratio(Int(a.heads), Int(a.top_k)) : Ratio(0);
  x.qr = a.q_rank;
  x.kr = a.kv_rank;
  x.n = a.nope_size;
  x.r = a.rope_size;
  x.v = a.value_size;
}

void ffn_letters(const arch::Segment& segment, Letters<Ratio>& x) {
  const arch::Ffn& ffn = segment.ffn;
  x.E = ffn.experts;
  x.k = ffn.top_k;
  x.f = ffn.expert_size;
  x.s = ffn.shared_size;
  x.g = ffn.size;
  x.a = segment.adapter_rank;
}

std::map<std::int64_t, std::int64_t> layers_by_window(const arch::Segment& segment) {
  std::map<std::int64_t, std::int64_t> result;
  if (segment.attention.windows.empty()) return {{0, segment.layers}};
  for (std::int64_t i = 0; i < segment.layers; ++i) ++result[arch::window_of(segment, i)];
  return result;
}

}  // namespace

std::int64_t context_of(const arch::Architecture& model, const Options& options) {
  return options.context > 0 ? options.context : model.context;
}

Ratio mean_attended(const Options& options, std::int64_t context, std::int64_t window,
                    bool chunked) {
  using convention::Attended;
  const convention::Convention& c = options.convention;
  if (c.attended == Attended::none) return 0;
  if (options.attended) return *options.attended;
  switch (c.attended) {
    case Attended::given:
      return *c.mean_attended;
    case Attended::causal:
      return causal_mean(options, context, window, chunked);
    case Attended::half:
      return windowed(Ratio(Int(context), 2), c.window, context, window, chunked);
    default:
      return windowed(Ratio(context), c.window, context, window, chunked);
  }
}

Resolved resolve(const arch::Architecture& model, const Options& options) {
  Resolved result;
  result.model = model_letters(model, options);
  const std::int64_t context = context_of(model, options);
  for (const arch::Segment& segment : model.segments) {
    for (const auto& [window, layers] : layers_by_window(segment)) {
      LayerGroup group;
      group.segment = &segment;
      group.layers = layers;
      group.value = result.model;
      attention_letters(segment.attention, group.value);
      ffn_letters(segment, group.value);
      group.value.T = mean_attended(options, context, window, segment.attention.chunked);
      group.slots_per_layer = slots_per_layer(segment);
      group.cache_grows = window == 0;
      if (window > 0 && window < context) group.cache_kept = Ratio(Int(window), Int(context));
      result.groups.push_back(std::move(group));
    }
  }
  return result;
}

}  // namespace isoloop::cost
