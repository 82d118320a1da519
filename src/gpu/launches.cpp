// Launches remembered by problem.
//
// Held by tests/gpu/step_timer_test.cpp.
#include "gpu/launches.h"

namespace isoloop::gpu {
namespace {

// Beyond this all is forgotten: some 40 MB, and far more problems than a search revisits.
constexpr std::size_t most_problems = 1 << 16;

class Mixer {
 public:
  Mixer& operator<<(std::int64_t value) {
    state_ = (state_ ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
    return *this;
  }
  std::size_t value() const { return static_cast<std::size_t>(state_); }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3u;
};

template <class Map, class Problem, class Predict>
const auto& remembered(Map& map, const Problem& problem, Predict predict) {
  const auto known = map.find(problem);
  if (known != map.end()) return known->second;
  if (map.size() >= most_problems) map.clear();
  return map.emplace(problem, predict()).first->second;
}

}  // namespace

std::size_t Launches::Hash::operator()(const GemmProblem& p) const {
  Mixer mix;
  mix << p.m << p.n << p.k << p.groups << static_cast<std::int64_t>(p.precision)
      << static_cast<std::int64_t>(p.backend) << (p.rows_are_k ? 1 : 0)
      << (p.weights_cached ? 1 : 0);
  if (p.routing) mix << p.routing->tokens << p.routing->experts << p.routing->top_k;
  return mix.value();
}

std::size_t Launches::Hash::operator()(const AttentionProblem& p) const {
  Mixer mix;
  mix << p.sequences << p.heads << p.kv_heads << p.queries << p.keys << p.head_size << p.value_size
      << p.window << (p.backward ? 1 : 0);
  return mix.value();
}

const GemmLaunch& Launches::gemm(const GemmProblem& problem) {
  return remembered(gemms_, problem, [&] { return predict_gemm(model_, problem, {}, &tables_); });
}

const AttentionLaunch& Launches::attention(const AttentionProblem& problem) {
  return remembered(attentions_, problem, [&] { return predict_attention(model_, problem); });
}

}  // namespace isoloop::gpu
