// Test support: host stand-ins for the CUDA that the emitted kernels use, one thread per lane.
//
// Right by the PTX ISA's fragment tables of ldmatrix (m8n8, b16) and mma.m16n8k16. Compiled by
// tests/gpu/cuda_emulation_test.cpp together with the emitted text; not part of any other program.
#pragma once

#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __shared__
#define __align__(n)
#define __launch_bounds__(...)

struct Index {
  unsigned x = 0;
};
inline thread_local Index threadIdx, blockIdx, gridDim;

struct Bf16 {
  std::uint16_t bits = 0;
};
inline float value(Bf16 b) {
  const std::uint32_t wide = std::uint32_t{b.bits} << 16;
  float f = 0;
  std::memcpy(&f, &wide, 4);
  return f;
}
inline Bf16 narrow(float f) {  // exact for the small integers of the test
  std::uint32_t wide = 0;
  std::memcpy(&wide, &f, 4);
  return {static_cast<std::uint16_t>(wide >> 16)};
}

struct Warp {
  std::barrier<> meet{32};
  const void* rows[32] = {};
  unsigned a[32][4] = {}, b[32][2] = {};
};
struct Block {
  explicit Block(int threads) : meet(threads), warps(threads / 32) {
    for (auto& warp : warps) warp = std::make_unique<Warp>();
  }
  std::barrier<> meet;
  std::vector<std::unique_ptr<Warp>> warps;
};
inline Block* block = nullptr;
inline void __syncthreads() { block->meet.arrive_and_wait(); }

namespace isoloop {

inline unsigned char memory[256 * 1024];  // the dynamic shared memory

inline Warp& warp() { return *block->warps[threadIdx.x / 32]; }

inline void copy_16(void* to, const void* from, bool inside) {
  if (inside)
    std::memcpy(to, from, 16);
  else
    std::memset(to, 0, 16);
}
inline void commit_copies() {}
template <int pending>
inline void wait_copies() {}

inline void load_matrices(unsigned (&r)[4], const void* row) {
  Warp& w = warp();
  const unsigned lane = threadIdx.x % 32;
  w.rows[lane] = row;
  w.meet.arrive_and_wait();
  for (unsigned i = 0; i < 4; ++i)
    std::memcpy(&r[i], static_cast<const char*>(w.rows[8 * i + lane / 4]) + lane % 4 * 4, 4);
  w.meet.arrive_and_wait();
}

inline float half_of(unsigned pair, unsigned index) {
  return value(Bf16{static_cast<std::uint16_t>(index == 0 ? pair & 0xffff : pair >> 16)});
}

inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, Bf16) {
  Warp& w = warp();
  const unsigned lane = threadIdx.x % 32;
  for (unsigned i = 0; i < 4; ++i) w.a[lane][i] = a[i];
  w.b[lane][0] = b0;
  w.b[lane][1] = b1;
  w.meet.arrive_and_wait();
  for (unsigned e = 0; e < 4; ++e) {
    const unsigned row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned pair = k % 8 / 2;
      const float x = half_of(w.a[row % 8 * 4 + pair][k / 8 * 2 + row / 8], k % 2);
      const float y = half_of(w.b[column * 4 + pair][k / 8], k % 2);
      c[e] += x * y;
    }
  }
  w.meet.arrive_and_wait();
}

inline void store(Bf16* to, float f) { *to = narrow(f); }

}  // namespace isoloop

/// Runs every block of a grid in turn, its threads at once.
template <class Kernel>
void run(int blocks, int threads, Kernel kernel) {
  for (int b = 0; b < blocks; ++b) {
    Block now(threads);
    block = &now;
    std::memset(isoloop::memory, 0xff, sizeof isoloop::memory);  // not-a-numbers
    std::vector<std::thread> lanes;
    for (int t = 0; t < threads; ++t)
      lanes.emplace_back([=] {
        threadIdx.x = static_cast<unsigned>(t);
        blockIdx.x = static_cast<unsigned>(b);
        gridDim.x = static_cast<unsigned>(blocks);
        kernel();
      });
    for (std::thread& lane : lanes) lane.join();
  }
}
