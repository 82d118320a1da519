// The tiled GEMM and grouped GEMM that a CUDA header carries.
//
// Right by the PTX ISA: fragments of mma.m16n8k16 and matrices of ldmatrix. Shared memory holds
// stages x (m + n) x k elements and no padding; 16-byte chunks are swizzled so that the eight rows
// of an ldmatrix fall on different banks. Held by tests/gpu/cuda_header_test.cpp, which compiles it
// for every target and compares registers and shared memory with the plan, and by
// tests/gpu/cuda_emulation_test.cpp, which runs its indexing on the host. No device has run it.
#include "gpu/cuda_kernel.h"

namespace isoloop::gpu {

std::string_view cuda_kernel_text() {
  return R"cuda(
namespace isoloop {

// ---- Instructions -----------------------------------------------------------------------------

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// 16 bytes from global to shared memory; zeros where `inside` is false.
__device__ inline void copy_16(void* to, const void* from, bool inside) {
  const int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
               "l"(from), "r"(bytes));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <int pending>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending));
}

__device__ inline void load_matrices(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

__device__ inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                __nv_bfloat16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                __half) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline void store(__nv_bfloat16* to, float value) { *to = __float2bfloat16(value); }
__device__ inline void store(__half* to, float value) { *to = __float2half(value); }

// ---- One tile ---------------------------------------------------------------------------------

// Where a 16-byte chunk of a row lies in shared memory, in elements.
template <class S>
__device__ inline int swizzled(int row, int chunk) {
  constexpr int chunks = S::k / 8, width = chunks < 8 ? chunks : 8;
  return row * S::k + (chunk ^ ((row / (8 / width)) % width)) * 8;
}

// Copies rows [first, first + count) and columns [k0, k0 + S::k) of a row-major matrix.
template <class S, int count, class T>
__device__ inline void load_rows(T* to, const T* from, int first, int rows, int k0, int k) {
  constexpr int chunks = S::k / 8, total = count * chunks;
#pragma unroll
  for (int i = 0; i < (total + S::threads - 1) / S::threads; ++i) {
    const int index = i * S::threads + static_cast<int>(threadIdx.x);
    if (total % S::threads != 0 && index >= total) break;
    const int row = index / chunks, chunk = index % chunks;
    const bool inside = first + row < rows && k0 + chunk * 8 < k;
    const long long offset =
        inside ? static_cast<long long>(first + row) * k + k0 + chunk * 8 : 0;
    copy_16(to + swizzled<S>(row, chunk), from + offset, inside);
  }
}

template <class S, class T>
__device__ inline void multiply_stage(
    float (&c)[S::m / S::warps_m / 16][S::n / S::warps_n / 8][4], const T* a, const T* b,
    int warp_row, int warp_column) {
  constexpr int tiles_m = S::m / S::warps_m / 16, tiles_n = S::n / S::warps_n / 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 0; step < S::k / 16; ++step) {
    unsigned fa[tiles_m][4];
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
      load_matrices(fa[i], a + swizzled<S>(warp_row + i * 16 + lane % 16, 2 * step + lane / 16));
#pragma unroll
    for (int j = 0; j < tiles_n; j += 2) {
      unsigned fb[4];
      load_matrices(fb, b + swizzled<S>(warp_column + j * 8 + lane % 8 + lane / 16 * 8,
                                        2 * step + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < tiles_m; ++i) {
        multiply(c[i][j], fa[i], fb[0], fb[1], T());
        multiply(c[i][j + 1], fa[i], fb[2], fb[3], T());
      }
    }
  }
}

// c[m][n] = a[m][k] b[n][k] for the tile at (first_m, first_n). k is a multiple of 8 and rows of a
// and b are 16-byte aligned.
template <class S, class T>
__device__ inline void compute_tile(const T* a, const T* b, T* c, int m, int n, int k, int first_m,
                                    int first_n, T* shared) {
  constexpr int tiles_m = S::m / S::warps_m / 16, tiles_n = S::n / S::warps_n / 8;
  static_assert(tiles_n % 2 == 0, "two columns of eight are loaded at a time");
  static_assert(S::smem_bytes == S::stages * (S::m + S::n) * S::k * static_cast<int>(sizeof(T)),
                "shared memory of the shape");
  constexpr int stage_elements = (S::m + S::n) * S::k;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp / S::warps_n * (S::m / S::warps_m);
  const int warp_column = warp % S::warps_n * (S::n / S::warps_n);
  const int steps = (k + S::k - 1) / S::k;
  float sum[tiles_m][tiles_n][4] = {};
  const auto load = [&](int step) {
    T* to = shared + step % S::stages * stage_elements;
    if (step < steps) {
      load_rows<S, S::m>(to, a, first_m, m, step * S::k, k);
      load_rows<S, S::n>(to + S::m * S::k, b, first_n, n, step * S::k, k);
    }
    commit_copies();  // empty groups keep the count
  };
  for (int step = 0; step < S::stages - 1; ++step) load(step);
  for (int step = 0; step < steps; ++step) {
    wait_copies<S::stages - 2>();
    __syncthreads();
    load(step + S::stages - 1);
    const T* stage = shared + step % S::stages * stage_elements;
    multiply_stage<S>(sum, stage, stage + S::m * S::k, warp_row, warp_column);
  }
  wait_copies<0>();
  __syncthreads();
#pragma unroll
  for (int i = 0; i < tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < tiles_n; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = first_m + warp_row + i * 16 + lane / 4 + e / 2 * 8;
        const int column = first_n + warp_column + j * 8 + lane % 4 * 2 + e % 2;
        if (row < m && column < n) store(c + static_cast<long long>(row) * n + column, sum[i][j][e]);
      }
}

// ---- Kernels ----------------------------------------------------------------------------------

// Grid: tiles of C. Dynamic shared memory: S::smem_bytes.
template <class S, class T>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    gemm(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k) {
  extern __shared__ __align__(128) unsigned char memory[];
  const int tiles_m = (m + S::m - 1) / S::m, tiles_n = (n + S::n - 1) / S::n;
  const int tile = static_cast<int>(blockIdx.x);
  const int tile_m = S::raster_along_m ? tile % tiles_m : tile / tiles_n;
  const int tile_n = S::raster_along_m ? tile / tiles_m : tile % tiles_n;
  compute_tile<S>(a, b, c, m, n, k, tile_m * S::m, tile_n * S::n, reinterpret_cast<T*>(memory));
}

// Rows [starts[g], starts[g + 1]) of a belong to group g, whose weights are b[g][n][k]. Any grid: a
// block walks over the tiles of all groups, so that uneven groups balance.
template <class S, class T>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    grouped_gemm(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                 const int* __restrict__ starts, int groups, int n, int k) {
  extern __shared__ __align__(128) unsigned char memory[];
  const int tiles_n = (n + S::n - 1) / S::n;
  int group = 0, before = 0;  // tiles of the groups before this one
  for (int tile = static_cast<int>(blockIdx.x);; tile += static_cast<int>(gridDim.x)) {
    int rows = 0, tiles = 0;
    for (; group < groups; ++group) {
      rows = starts[group + 1] - starts[group];
      tiles = (rows + S::m - 1) / S::m * tiles_n;
      if (tile < before + tiles) break;
      before += tiles;
    }
    if (group == groups) return;
    const long long first = starts[group];
    const int local = tile - before;
    compute_tile<S>(a + first * k, b + static_cast<long long>(group) * n * k, c + first * n, rows, n,
                    k, local / tiles_n * S::m, local % tiles_n * S::n,
                    reinterpret_cast<T*>(memory));
  }
}

// ---- Launches ---------------------------------------------------------------------------------

template <class S, class T>
cudaError_t launch_gemm(const T* a, const T* b, T* c, int m, int n, int k, cudaStream_t stream) {
  cudaError_t status = cudaFuncSetAttribute(
      gemm<S, T>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::smem_bytes);
  if (status != cudaSuccess) return status;
  const int tiles = (m + S::m - 1) / S::m * ((n + S::n - 1) / S::n);
  gemm<S, T><<<tiles, S::threads, S::smem_bytes, stream>>>(a, b, c, m, n, k);
  return cudaGetLastError();
}

// `blocks`: usually SMs x S::blocks_per_sm.
template <class S, class T>
cudaError_t launch_grouped_gemm(const T* a, const T* b, T* c, const int* starts, int groups, int n,
                                int k, int blocks, cudaStream_t stream) {
  cudaError_t status = cudaFuncSetAttribute(
      grouped_gemm<S, T>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::smem_bytes);
  if (status != cudaSuccess) return status;
  grouped_gemm<S, T><<<blocks, S::threads, S::smem_bytes, stream>>>(a, b, c, starts, groups, n, k);
  return cudaGetLastError();
}

}  // namespace isoloop
)cuda";
}

}  // namespace isoloop::gpu
