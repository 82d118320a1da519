// cost: what an architecture costs, from one definition.
//
// resolve -> rows -> totals. Formulas (src/cost/formulas.h) are templates over a number type that
// offers + and x. With exact ratios they count; with polynomials they leave dimensions unknown for
// the solver; with text they print themselves for `explain`. Each yields the same ledger of rows,
// and every total is a sum of rows.
//
// Units: parameters are entries; work is multiply-accumulates (MACs) per token; caches and saved
// activations are elements per token. "Per token" is the mean over a sequence of Options::context.
//
// Held by tests/cost/*_test.cpp: published counts, published FLOPs formulas, and identities.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/arch.h"
#include "isoloop/base.h"
#include "isoloop/convention.h"

namespace isoloop::cost {

using convention::Part;

struct Options {
  convention::Convention convention = convention::find("causal", "convention");
  std::int64_t context = 0;              // S, tokens; 0 = the architecture's own
  std::optional<Ratio> attended;         // T, mean attended tokens per query; overrides S
  std::vector<std::int64_t> documents;   // lengths packed into one sequence; empty = one document
  DType dtype = DType::bf16;             // weights
  DType kv_dtype = DType::bf16;          // KV cache
  std::int64_t vocab_multiple = 1;       // the vocabulary is padded to a multiple of this
};

/// The dimensions formulas speak of, in the letters they use.
enum class Letter {
  hidden, vocab, padded_vocab, heads, kv_heads, head_size,
  attention_experts, attention_top_k, heads_per_expert, q_rank, kv_rank, nope_size, rope_size, value_size,
  experts, top_k, expert_size, shared_size, ffn_size, adapter_rank, attended,
};
inline constexpr std::size_t letter_count = static_cast<std::size_t>(Letter::attended) + 1;
struct LetterName { std::string_view symbol, meaning; };
LetterName name(Letter letter);

/// One term of the cost of one physical layer (or of the model as a whole, where layers is 1).
/// N is Ratio, Poly or formula text.
template <class N>
struct Row {
  Part part{};
  std::string name;     // "q projection"
  std::string segment;  // segment name, "" for rows of the whole model
  bool mtp = false;     // belongs to a multi-token-prediction layer: never in the model's totals
  bool stored_per_visit = false;
  bool shared_with_head = false;  // the embedding of a model with tied embeddings
  Ratio layers = 1;           // physical layers of this kind
  Ratio visits = 1;           // forward executions
  Ratio backward_visits = 1;  // executions back-propagated through
  Ratio cache_slots = 0;      // KV slots over all these layers
  // Per layer and visit:
  N params{};  // stored entries
  N active{};  // of these, entries one token touches
  N macs{};    // multiply-accumulates per token
  N saved{};   // elements per token kept for the backward pass
  N cache{};   // KV elements per token and slot, every position kept
  Ratio cache_kept = 1;  // fraction of positions kept at the full context (sliding windows)
  bool cache_grows = true;  // false: bounded by a window

  /// How often the parameters of one layer and visit are stored.
  Ratio copies() const { return stored_per_visit ? layers * visits : layers; }
};

/// Exact counts with every dimension known. Throws Error (kind input) on overflow.
std::vector<Row<Ratio>> ledger(const arch::Architecture&, const Options&);

/// Which letters are unknown, by index of the polynomial's unknown.
using Unknowns = std::array<std::optional<std::size_t>, letter_count>;
/// The same ledger with the given letters left open. A letter is open in every row where the
/// architecture has it.
std::vector<Row<Poly>> ledger(const arch::Architecture&, const Options&, const Unknowns&);

/// Totals that can be held equal between two architectures.
enum class Budget {
  flops,          // training FLOPs per token under the convention
  prefill_flops,  // forward FLOPs per token under the convention
  params,         // without embedding and head
  params_total,   // with them
  active,         // parameters one token touches, without embedding and head, one traversal
  kv,             // KV cache bytes per token, every layer
  kv_context,     // KV cache bytes of one sequence of the full context, windows bounded
  weights_bytes,  // all parameters in Options::dtype
  decode_bytes,   // weights read per visit for one token, plus the cache of a full context
  activation_bytes,  // saved for backward, per token
};
inline constexpr std::size_t budget_count = static_cast<std::size_t>(Budget::activation_bytes) + 1;
struct BudgetName { std::string_view name, unit, meaning; };
BudgetName name(Budget budget);
std::vector<std::string> budget_names();
Budget parse_budget(std::string_view name, std::string_view where);

/// Value of a budget: a sum over rows with exact weights. Instantiated for Ratio and Poly.
template <class N>
N total(const std::vector<Row<N>>& rows, Budget budget, const Options& options);
extern template Ratio total(const std::vector<Row<Ratio>>&, Budget, const Options&);
extern template Poly total(const std::vector<Row<Poly>>&, Budget, const Options&);

/// What one row contributes to a budget; total() is the sum of these.
template <class N>
N contribution(const Row<N>& row, Budget budget, const Options& options);
extern template Ratio contribution(const Row<Ratio>&, Budget, const Options&);
extern template Poly contribution(const Row<Poly>&, Budget, const Options&);

// ---- Reports -----------------------------------------------------------------------------------

struct Memory {  // bytes; see docs/formulas.md for what is left out
  Bytes weights, gradients, optimizer, activations_per_token, kv_per_sequence;
};

struct Count {
  std::string name;
  std::vector<Row<Ratio>> rows;
  Params params_total, params_non_embedding, params_embedding;  // embedding = look-up + head
  Params active, active_without_input_embedding, active_non_embedding;
  Params mtp;  // multi-token-prediction layers, not in the totals
  Flops forward, train;  // per token, under Options::convention
  Macs forward_macs;
  Elements kv_elements_per_token;
  Bytes kv_bytes_per_token;       // every layer, while no window is full
  Bytes kv_bytes_per_token_long;  // layers without window only: growth once windows are full
  Ratio kv_slots;                 // layers x visits that keep a cache
  Memory memory;
  Ratio depth, effective_depth;
};
/// Everything `isoloop count` prints. Throws Error (kind input) on overflow.
Count count(const arch::Architecture&, const Options&);

/// Parameters a checkpoint may store beside the model itself.
struct StoredExtra {
  std::string name;     // "lm_head_copy_of_tied_embedding"
  Params params;
  std::string meaning;
};
/// Extras that follow from the architecture: a stored copy of a tied head, rotary buffers, MTP
/// layers with and without copies of embedding and head.
std::vector<StoredExtra> possible_stored_extras(const arch::Architecture&);

/// A row with its formula in letters and in numbers.
struct Explanation {
  std::string name, segment;
  Part part{};
  Ratio layers, visits;
  std::string params_letters, params_numbers, macs_letters, macs_numbers, cache_letters, cache_numbers;
  Row<Ratio> row;
};
std::vector<Explanation> explain(const arch::Architecture&, const Options&);
/// Letters that occur in an architecture with their values: ("H", "query heads", 20).
struct LetterValue { Letter letter; std::string segment; Ratio value; };
std::vector<LetterValue> letters(const arch::Architecture&, const Options&);

}  // namespace isoloop::cost
