// What a budget takes on GPUs: the rate at which they do the law's FLOPs, and the time that
// follows.
//
// Held by tests/cli/allocate_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/plan_flags.h"

namespace isoloop::cli {

/// Low, middle and high of what is not known to one figure.
struct Estimate {
  double low = 0, mid = 0, high = 0;
};

/// An architecture to train, with F as the law's convention counts it.
struct Trained {
  arch::Architecture architecture;
  double flops_per_token = 0;
  std::string counted;  // how F was counted, in words
};

struct Machine {
  gpu::Device device;
  std::int64_t gpus = 1;
  double peak = 0;      // dense FLOP/s of one GPU
  Estimate mfu;         // of the law's FLOPs
  std::string basis;    // "given", "planned", "assumed"
  std::string meaning;  // where the MFU comes from, in words
  std::optional<gpu::Plan> plan;

  /// GPU-hours of a budget in FLOPs.
  Estimate gpu_hours(double compute) const;
};

struct MachineFlags {
  // As given; "" = not given.
  std::string gpu, gpus, mfu, arch, loop;
  PlanFlags plan;
  CountFlags count;
  void declare(CLI::App& app);
  std::optional<Trained> trained(const Context& context) const;
  /// None without --gpu. Throws Error (kind usage) for options that have nothing to say.
  std::optional<Machine> machine(const std::optional<Trained>& trained,
                                 const Context& context) const;

 private:
  double given_mfu() const;
  void plan_mfu(const Trained& trained, Machine& machine) const;
};

}  // namespace isoloop::cli
