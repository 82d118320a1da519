// A transformer as a list of layers with plain integers, and the isoloop architecture it stands
// for. Published FLOPs formulas are evaluated on the former in tests/cost/convention_test.cpp.
#pragma once

#include <vector>

#include "isoloop/arch.h"

namespace isoloop::test {

struct PlainLayer {
  Int visits = 1;
  Int H, K, d;                    // query heads, kv heads, head size
  Int qr, kr, nope, rope, value;  // MLA instead, if kr > 0
  std::int64_t window = 0;
  Int g;                // dense FFN size, or
  Int E, k, f, shared;  // experts, top-k, expert size, shared width
};

struct PlainModel {
  Int h, V;
  std::int64_t S = 0;
  Int c = 3;  // matrices of an FFN
  Int m = 0;  // multi-token-prediction layers
  bool tied = false;
  // Small parameters, in every layer alike.
  bool qkv_bias = false, output_bias = false, sinks = false, head_norms = false;
  bool ffn_bias = false, router_bias = false, layer_norms = false;
  std::vector<PlainLayer> layers;
};

/// One segment per layer.
arch::Architecture architecture_of(const PlainModel& model);

/// d = 24 with 4 heads in h = 64, dense FFN, untied.
PlainModel dense_model();
/// 12 experts, top-3, a shared expert, tied.
PlainModel moe_model();
/// moe_model with its middle layers run three times.
PlainModel looped_model();
/// DeepSeek-like: latent attention, one dense layer in front, one MTP layer.
PlainModel mla_model();
/// Alternating windows of 16 and 40 in front of full attention, S = 100.
PlainModel windowed_model();
/// Every small parameter there is: biases, sinks, norms per head, LayerNorm, ungated.
PlainModel decorated_model();

}  // namespace isoloop::test
