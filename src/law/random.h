// Random numbers that are the same on every platform and for any number of threads: draw i has a
// stream of its own.
//
// Source: SplitMix64 (Steele, Lea, Flood 2014, doi 10.1145/2660193.2660195); bounded numbers by
// rejection. Held by tests/law/resample_test.cpp against published values of the generator.
#pragma once

#include <cstdint>

namespace isoloop::law::detail {

class Random {
 public:
  explicit Random(std::uint64_t state) : state_(state) {}
  Random(std::uint64_t seed, std::uint64_t stream) : state_(seed) {
    // The first number of the seed's own stream, moved by the stream's number, then mixed again.
    state_ = next() + stream;
    state_ = next();
  }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  /// Uniform in 0 .. bound-1.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t rest = (0 - bound) % bound;  // 2^64 modulo bound
    std::uint64_t value = next();
    while (value < rest) value = next();
    return value % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace isoloop::law::detail
