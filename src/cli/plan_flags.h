// Options that say how a model is planned on a GPU, for every command that asks the planner.
//
// Held by tests/cli/plan_test.cpp, priced_match_test.cpp and allocate_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "isoloop/gpu.h"

namespace isoloop::cli {

/// A built-in device by name, or a device file. Throws Error (kind usage) at `where`.
gpu::Device device_of(const std::string& argument, const Context& context, const char* where);

struct PlanFlags {
  // As given; "" = not given.
  std::string phase, tokens, sequence, dtype, kv_dtype, tp, ep, pp, dp, microbatches, recompute,
      link;
  /// All options, as `plan` has them.
  void declare(CLI::App& app);
  /// Those that no option of matching means as well: types, parallelism and sequence come from
  /// there. Tokens are --tokens-per-gpu, since --tokens is what a law is asked about.
  void declare_beside_match(CLI::App& app);
  /// Those of a training step whose replicas follow from --gpus.
  void declare_beside_gpus(CLI::App& app);
  gpu::PlanOptions options() const;
  /// The options given, by name.
  std::vector<std::string> given() const;
  bool any() const { return !given().empty(); }

  /// Runs `f`; what the planner says of a field of its options is said of the option that states it
  /// in this command. What is left is in `argument`, the architecture.
  template <class F>
  auto planning(const std::string& argument, F f) const {
    try {
      return f();
    } catch (const Error& error) {
      if (error.kind == ErrorKind::internal) throw;
      rethrow_about(error, argument);
    }
  }

 private:
  struct Entry;
  static const std::vector<Entry>& entries();
  void add(CLI::App& app, const Entry& entry, bool training_only = false);
  std::string option_of(std::string_view field) const;
  [[noreturn]] void rethrow_about(const Error& error, const std::string& argument) const;
  /// Fields that other options state than in `plan`.
  std::vector<std::pair<std::string_view, std::string_view>> renamed;
};

}  // namespace isoloop::cli
