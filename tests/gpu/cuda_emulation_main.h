// Test support: the program that runs the emitted kernels on the host and compares every entry.
//
// Included after the emitted text by the source that tests/gpu/cuda_emulation_test.cpp writes.
#pragma once

template <int M, int N, int K, int Stages, int WarpsM, int WarpsN, bool AlongM>
struct Shape {
  static constexpr int m = M, n = N, k = K, stages = Stages, warps_m = WarpsM, warps_n = WarpsN;
  static constexpr int threads = 32 * WarpsM * WarpsN, blocks_per_sm = 1;
  static constexpr int smem_bytes = Stages * (M + N) * K * 2;
  static constexpr bool raster_along_m = AlongM;
};

inline std::vector<Bf16> numbers(int count, int seed) {
  std::vector<Bf16> out;
  for (int i = 0; i < count; ++i)
    out.push_back(narrow(static_cast<float>((i * 7 + i / 13 + seed) % 5 - 2)));
  return out;
}

inline int wrong(const std::vector<Bf16>& a, const std::vector<Bf16>& b, const std::vector<Bf16>& c,
                 int first, int rows, int group, int n, int k) {
  int bad = 0;
  for (int i = first; i < first + rows; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int x = 0; x < k; ++x) sum += value(a[i * k + x]) * value(b[(group * n + j) * k + x]);
      bad += value(c[i * n + j]) != value(narrow(sum));
    }
  return bad;
}

template <class S>
int check_gemm(int m, int n, int k) {
  const auto a = numbers(m * k, 1), b = numbers(n * k, 2);
  std::vector<Bf16> c(m * n, narrow(77));
  const int tiles = (m + S::m - 1) / S::m * ((n + S::n - 1) / S::n);
  run(tiles, S::threads, [&] { isoloop::gemm<S>(a.data(), b.data(), c.data(), m, n, k); });
  return wrong(a, b, c, 0, m, 0, n, k);
}

template <class S>
int check_grouped(const std::vector<int>& starts, int n, int k, int blocks) {
  const int groups = static_cast<int>(starts.size()) - 1, rows = starts.back();
  const auto a = numbers(rows * k, 3), b = numbers(groups * n * k, 4);
  std::vector<Bf16> c(rows * n, narrow(77));
  run(blocks, S::threads,
      [&] { isoloop::grouped_gemm<S>(a.data(), b.data(), c.data(), starts.data(), groups, n, k); });
  int bad = 0;
  for (int g = 0; g < groups; ++g)
    bad += wrong(a, b, c, starts[g], starts[g + 1] - starts[g], g, n, k);
  return bad;
}

int main() {
  int bad = 0;
  const auto report = [&](const char* what, int entries) {
    std::printf("%s: %d wrong\n", what, entries);
    bad += entries;
  };
  report("64x64x32", check_gemm<Shape<64, 64, 32, 3, 2, 2, true>>(70, 72, 72));
  report("64x128x64", check_gemm<Shape<64, 128, 64, 2, 2, 2, false>>(64, 136, 72));
  report("16x64x128", check_gemm<Shape<16, 64, 128, 4, 1, 4, true>>(17, 63, 136));
  report("grouped", check_grouped<Shape<64, 64, 32, 3, 2, 2, false>>({0, 5, 5, 70}, 72, 40, 2));
  return bad == 0 ? 0 : 1;
}
