// The operations of a layer and of a model on one GPU, before they become kernels.
//
// An operation knows its forward shape; the plan turns it into forward, data-gradient and
// weight-gradient kernels. Held by tests/gpu/plan_test.cpp: MACs agree with the cost ledger.
#pragma once

#include <string_view>
#include <vector>

#include "gpu/model.h"

namespace isoloop::gpu {

struct Op {
  std::string_view name;
  KernelKind kind{};
  bool per_visit_only = false;  // once per segment and visit, not per layer
  double layers = 1;            // of the segment's layers, how many have this operation
  // gemm, grouped_gemm: C[m][n] = A[m][k] B[n][k] per group; routing replaces m.
  GemmProblem gemm;
  bool weights = true;  // B is a parameter: it has a weight gradient
  AttentionProblem attention;
  Ratio macs = 0;
  // elementwise: bytes moved; link: bytes sent. Backward 0: none.
  double forward_bytes = 0, backward_bytes = 0;
  bool recomputable = false;  // redone in backward under Recompute::elementwise
  double link_steps = 1;
};

/// What every layer of a plan shares.
struct Sharding {
  PlanOptions options;
  std::int64_t tokens = 0;        // of the TP group, per microbatch
  std::int64_t local_tokens = 0;  // tokens / tp: rows of norms and routers
  std::int64_t sequence = 0, sequences = 0;
  std::int64_t dp = 1;
  bool decode = false;
  Precision precision{};            // of GEMMs
  Precision attention_precision{};  // FlashAttention is 16 bit
  Precision cache_precision{};      // of the cache in decode
  double activation_bytes = 2;      // per element
  double link_gbs = 0;
};

/// Checks the options on this device and derives what layers share; `context` is the
/// architecture's. Throws Error (kind input).
void check_options(const Device& device, const PlanOptions& options);
Sharding shard(const Device& device, const PlanOptions& options, std::int64_t context);
/// Throws Error (kind input) with the field path if the architecture cannot be split that way.
void check_shards(const arch::Architecture& architecture, const Sharding& sharding);

std::vector<Op> layer_ops(const arch::Architecture& architecture, const arch::Segment& segment,
                          const Sharding& sharding, Family family);
/// Embedding, final norm, head and loss.
std::vector<Op> model_ops(const arch::Architecture& architecture, const Sharding& sharding);

/// Parameters on this GPU: split by TP and PP, and experts, split by EP and PP.
struct LocalParams {
  double dense = 0, experts = 0;
};
/// `layers`: layer_ops of every segment.
LocalParams local_params(const arch::Architecture& architecture, const Sharding& sharding,
                         const std::vector<std::vector<Op>>& layers);

}  // namespace isoloop::gpu
