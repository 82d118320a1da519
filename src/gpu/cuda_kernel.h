// CUDA text of the kernels that a header carries.
//
// Held by tests/gpu/cuda_header_test.cpp.
#pragma once

#include <string_view>

namespace isoloop::gpu {

std::string_view cuda_kernel_text();

}  // namespace isoloop::gpu
