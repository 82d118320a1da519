// Launches remembered by problem: equal problems recur over layers, passes and architectures.
//
// Predictions are pure functions of device and problem, so a remembered launch is the same bit by
// bit. Not to be shared between threads. Held by tests/gpu/step_timer_test.cpp.
#pragma once

#include <unordered_map>

#include "gpu/binomial.h"
#include "gpu/model.h"

namespace isoloop::gpu {

class Launches {
 public:
  explicit Launches(const DeviceModel& model) : model_(model) {}
  /// Valid until the next call.
  const GemmLaunch& gemm(const GemmProblem& problem);
  const AttentionLaunch& attention(const AttentionProblem& problem);

 private:
  struct Hash {
    std::size_t operator()(const GemmProblem& p) const;
    std::size_t operator()(const AttentionProblem& p) const;
  };
  const DeviceModel& model_;
  RoutingTables tables_;
  std::unordered_map<GemmProblem, GemmLaunch, Hash> gemms_;
  std::unordered_map<AttentionProblem, AttentionLaunch, Hash> attentions_;
};

}  // namespace isoloop::gpu
