// Options that say how a model is planned on a GPU, for every command that asks the planner.
#pragma once

#include <string>

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
  gpu::PlanOptions options() const;
  bool any() const;  // something was given

 private:
  void declare_rest(CLI::App& app);
  const char* tokens_option = "--tokens";
};

/// The planner names fields of its options; a person typed flags. What is left is in the
/// architecture.
[[noreturn]] void rethrow_about(const Error& error, const std::string& argument);

template <class F>
auto planning(const std::string& argument, F f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    rethrow_about(error, argument);
  }
}

}  // namespace isoloop::cli
