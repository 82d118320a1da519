// arch: a transformer as a value.
//
// An architecture is a list of segments. A segment is a run of consecutive physical layers that
// share dimensions, and a number of visits: how often the run is executed. The usual looped model
// is prelude, recur, coda: three segments with visits 1, r, 1. A dense model, a plain MoE, a
// whole-stack loop, "every layer twice in place" and "first k layers dense" are the same thing
// with other numbers.
//
// Letters used in comments: h hidden size, V vocabulary, L layers, H query heads, K kv heads,
// d head size, E experts, k top-k, f expert size.
//
// Held by tests/arch/*_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/base.h"

namespace isoloop::arch {

/// Largest accepted dimension; larger ones are refused as typing errors.
inline constexpr std::int64_t max_dimension = std::int64_t{1} << 40;
/// Largest physical depth and largest number of visits, so that what is listed layer by layer fits
/// in memory; and the most layers execution() lists.
inline constexpr std::int64_t max_layers = 100'000, max_visits = 100'000;
inline constexpr std::int64_t max_steps = 10'000'000;

enum class AttentionKind {
  gqa,  // grouped-query; MHA is kv_heads == heads, MQA is kv_heads == 1
  mla,  // multi-head latent attention (DeepSeek-V2, arXiv 2405.04434)
};
enum class QkNorm {
  none,
  unweighted,  // normalised without parameters
  per_head,    // one weight of size d for q and one for k
  all_heads,   // weights of size H*d and K*d
};

struct Attention {
  AttentionKind kind = AttentionKind::gqa;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   // gqa only
  std::int64_t head_size = 0;  // gqa only
  // mla only: low ranks and the three head sizes. q_rank 0 means a full query projection.
  std::int64_t q_rank = 0, kv_rank = 0, nope_size = 0, rope_size = 0, value_size = 0;
  QkNorm qk_norm = QkNorm::none;
  bool qkv_bias = false;
  bool output_bias = false;
  bool sinks = false;        // one learned logit per query head
  bool output_gate = false;  // a full h -> H*d gate on the attention output
  // Mixture of attention heads (JetMoE): query and output projections are experts. `heads` counts
  // the heads of the active experts; 0 experts means ordinary attention.
  std::int64_t experts = 0, top_k = 0;
  // Sliding window of each layer of the segment, in tokens, 0 = full attention. The pattern
  // repeats over the segment's layers and may be longer than the segment; empty means all full.
  std::vector<std::int64_t> windows = {};
  bool chunked = false;  // windows are chunks: a query sees its own chunk only (Llama 4)
  bool operator==(const Attention&) const = default;
};

struct Ffn {
  bool moe = false;
  bool gated = true;      // three matrices; false: two
  std::int64_t size = 0;  // dense only: FFN size
  bool bias = false;      // dense only, or every expert's matrices when moe
  std::int64_t experts = 0, top_k = 0, expert_size = 0;  // moe only
  std::int64_t shared_size = 0;  // total width of the shared experts, 0 = none
  bool shared_gate = false;      // an h -> 1 sigmoid gate on the shared expert
  bool router_bias = false;      // a bias on the router's linear map (E values)
  bool selection_bias = false;   // a per-expert load-balancing bias (E values, no matmul)
  bool output_bias = false;      // one bias of size h for the expert group (JetMoE)
  bool operator==(const Ffn&) const = default;
};

/// How often a segment runs per token. Rational for randomly sampled depth or falling token
/// fractions; backward is smaller than forward under truncated back-propagation.
struct Visits {
  Ratio forward = 1, backward = 1;
  bool operator==(const Visits&) const = default;
};

enum class Order {
  block,  // 123 123
  layer,  // 11 22 33
};
/// What enters the loop again at each visit beside the state.
enum class Injection { none, add, diagonal, linear /* 2h -> h */ };
enum class KvPolicy {
  per_visit,  // one cache slot per layer and visit
  first,      // the first visit's cache serves all
  last,       // each visit overwrites the slot
  modulo,     // visit i uses slot i mod kv_slots
};

struct Segment {
  std::string name;  // unique within the architecture
  std::int64_t layers = 0;
  Visits visits;
  Order order = Order::block;
  Attention attention;
  Ffn ffn;
  std::optional<Ratio> residual_scale;  // of both residual writes; absent: 1
  Injection injection = Injection::none;
  KvPolicy kv_policy = KvPolicy::per_visit;
  std::int64_t kv_slots = 0;      // KvPolicy::modulo only
  bool norms_per_visit = false;   // block norms stored once per visit
  std::int64_t adapter_rank = 0;  // low-rank adapter of size 2*h*rank stored per visit and layer
  bool exit_gate = false;         // h -> 1 with bias, evaluated after each visit
  bool operator==(const Segment&) const = default;
};

enum class NormKind { rms, layer /* with bias */, layer_without_bias, unweighted };
enum class NormLayout { pre, post, sandwich /* four per layer */ };

struct Architecture {
  std::string name;
  std::int64_t hidden = 0;
  std::int64_t vocab = 0;  // 0: not stated; embedding and head are then not counted
  bool tied = false;       // head shares the embedding matrix
  std::int64_t context = 4096;
  NormKind norm = NormKind::rms;
  NormLayout norm_layout = NormLayout::pre;
  bool final_norm = true;
  std::vector<Segment> segments;
  // Segment names in execution order, for loops over several segments and nested cycles; empty
  // means each segment in turn, `visits` times.
  std::vector<std::string> schedule;
  std::int64_t mtp_layers = 0;     // multi-token-prediction modules, counted apart from the model
  std::int64_t state_vectors = 0;  // learned initial states of size h
  bool operator==(const Architecture&) const = default;
};

/// Throws Error (kind input) naming the field path of the first thing that is wrong.
void validate(const Architecture& architecture);

// ---- JSON, schema "isoloop/arch/v1" (data/schemas/arch.schema.json) ----------------------------

/// Parses and validates. `file` is used in messages ("file:line:column" or "file: field.path").
/// An unknown field is an error with the nearest known name. A "loop" field in the short grammar
/// is applied.
Architecture from_json(std::string_view text, std::string_view file);
/// Two-space indented JSON with a trailing newline; from_json(to_json(a)) == a for a valid a.
/// Throws Error (kind input) if a name is not valid UTF-8.
std::string to_json(const Architecture& architecture);

// ---- Loops -------------------------------------------------------------------------------------

/// A loop in physical layers. `first` is 1-based; span 0 means no loop.
struct Loop {
  std::int64_t first = 0, span = 0;
  std::int64_t visits = 1;
  Order order = Order::block;
  bool operator==(const Loop&) const = default;
};

/// Reads the short grammar for a model of `depth` physical layers: none, middle (the middle half,
/// twice), middle:1/3x4, "all x4", 4-9x2 (1-based), 3+6x2+3, "each x2". "each" before any other
/// form repeats layer by layer. Spaces do not matter and the sign may be x or ×. A fraction of the
/// depth is rounded to the nearest whole span, halves down. Throws Error (kind usage) with what
/// would be right.
Loop parse_loop(std::string_view text, std::int64_t depth, std::string_view where);
/// "3+6x2+3"; "all x4" and "each x2" for the whole stack; "each 3+6x2+3"; "none". parse_loop reads
/// it back to the same loop.
std::string loop_text(const Loop& loop, std::int64_t depth);
/// The paper's placement: floor((depth - span) / 2) layers come before the span.
std::int64_t centred_first(std::int64_t depth, std::int64_t span);

/// Physical depth: layers over all segments.
std::int64_t depth(const Architecture& architecture);
/// Layers executed forward per token.
Ratio effective_depth(const Architecture& architecture);
/// The loop of an architecture if it has exactly one contiguous looped block of whole visits.
/// Fewer backward visits are not part of a Loop. A span of one layer counts as Order::block.
std::optional<Loop> loop_of(const Architecture& architecture);
/// The same physical layers without any loop: every loop field at its default, residual scales
/// times visits, neighbours that differ in nothing else joined. Inverse of with_loop up to names.
Architecture without_loop(const Architecture& architecture);
/// Loops physical layers of `architecture` (whose own loop is dropped first); residual writes in
/// the loop are scaled by 1/visits. Segments are cut where the loop begins and ends: the pieces of
/// a one-segment model are named prelude, recur and coda, those of segment s s.prelude, s.recur
/// and s.coda. A block over several segments becomes a schedule. One visit or no span: no loop.
/// Throws Error (kind input) if the loop does not lie within the model.
Architecture with_loop(const Architecture& architecture, const Loop& loop);
/// Adds or removes layers in the (first) segment with the most layers; window patterns continue,
/// also into following segments that continued the pattern. Throws if no layer would be left.
Architecture with_depth(const Architecture& architecture, std::int64_t depth);

/// One executed layer.
struct Step {
  std::size_t segment;
  std::int64_t layer;  // 0-based within the segment
  std::int64_t visit;  // 0-based
  bool operator==(const Step&) const = default;
};
/// The execution order of the forward pass. Throws Error (kind input) if visits are not whole or
/// there are more than max_steps.
std::vector<Step> execution(const Architecture& architecture);

/// The window of layer `layer` of a segment, 0 = full attention.
std::int64_t window_of(const Segment& segment, std::int64_t layer);

}  // namespace isoloop::arch
