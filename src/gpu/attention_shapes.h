// Launch shapes of FlashAttention-2, 3 and 4 by head size.
//
// Held by tests/gpu/attention_test.cpp and tests/gpu/attention_shapes_test.cpp.
#pragma once

#include "isoloop/gpu.h"

namespace isoloop::gpu {

struct AttentionShape {
  AttentionKernel kernel{};
  int head_size = 0, value_size = 0;  // of the template
  int m = 0, n = 0;                   // query rows, keys; backward likewise
  int rows_per_warp = 0;              // FlashAttention-2: query rows of one warp
  int threads = 0, registers = 0, stages = 1;
  std::int64_t smem_bytes = 0;
  bool persistent = false;
  int sms = 1;  // CTAs that share a query tile (2-CTA forms)
  bool operator==(const AttentionShape&) const = default;
};

/// The newest kernel of a device. Throws Error (kind input) before compute capability 8.0.
AttentionKernel newest_attention(const Device& device);
/// The preferred shape that fits of `kernel`, or of the newest kernel that has one. Throws Error
/// (kind input) if the kernel does not run on the device, has no template for the head size
/// (listing those it has), or none of its shapes fits.
AttentionShape attention_shape(const Device& device, const AttentionProblem& problem,
                               std::optional<AttentionKernel> kernel = {});

/// The largest head size below the problem's that its kernel does not pad; 0 if none.
std::int64_t largest_unpadded_head(const Device& device, const AttentionProblem& problem);

}  // namespace isoloop::gpu
