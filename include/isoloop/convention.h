// convention: which work counts as FLOPs, as named data.
//
// One architecture has many honest FLOP counts. The ledger of cost rows is one; a convention
// selects and scales its rows. Every convention is an entry of data/conventions.json with its
// source; adding one is adding an entry.
//
// Held by tests/cost/convention_test.cpp, which evaluates each published formula directly.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/base.h"

namespace isoloop::convention {

/// What a ledger row is made of; the unit conventions select by.
enum class Part {
  embedding,       // look-up table h*V
  head,            // output projection
  attention,       // q, k, v, o projections (and MLA's low-rank ones)
  attention_core,  // score and value products
  softmax,         // H*T score entries; work only where a convention scales it
  attention_bias,
  attention_gate,
  qk_norm,
  mla_norm,  // norms on MLA's low ranks
  sinks,
  router,
  router_bias,
  experts,
  expert_bias,
  shared_expert,
  shared_gate,
  dense_ffn,
  ffn_bias,
  norm,        // block norms
  final_norm,
  injection,   // input injection of a loop
  adapter,     // per-visit adapters of a loop
  exit_gate,   // early-exit gate of a loop
  state,       // learned initial state of a loop
  mtp_projection,  // the 2h -> h map in front of a multi-token-prediction layer
  mtp_norm,
};
inline constexpr std::size_t part_count = static_cast<std::size_t>(Part::mtp_norm) + 1;
std::string_view name(Part part);

/// Mean tokens attended per query when nothing else is given.
enum class Attended {
  given,   // a constant of the convention or of the caller
  causal,  // exact mean over a causal sequence, (S+1)/2, packed documents respected
  half,    // S/2
  full,    // S
  none,    // attention products are not counted
};
/// What a sliding window W < S does to it.
enum class Window {
  exact,    // exact mean of min(position, W)
  ignored,
  clipped,  // min(S, W)
  band,     // W - W^2/(2S); of chunks, half the sum of their squares over S
};
enum class EmbeddingWork { none, untied /* counted unless tied */, always };

struct Convention {
  std::string name, title, source;
  Attended attended = Attended::causal;
  std::optional<Ratio> mean_attended;  // Attended::given
  Window window = Window::exact;
  EmbeddingWork embedding = EmbeddingWork::none;
  /// Backward work of the attention products relative to forward; everything else is 2.
  Ratio core_backward = 2;
  bool mtp = false;           // multi-token-prediction layers are part of the count
  bool padded_vocab = false;  // the head is counted with the padded vocabulary
  /// Weight of a part's multiply-accumulates, and of its parameters taken as one
  /// multiply-accumulate each (how "6N" rules see norms and biases).
  std::array<Ratio, part_count> mac_weight;
  std::array<Ratio, part_count> param_weight;
};

/// All conventions in the order of the data file.
const std::vector<Convention>& all();
std::vector<std::string> names();
/// Throws Error (kind usage) with the nearest name.
const Convention& find(std::string_view name, std::string_view where);

}  // namespace isoloop::convention
