// Prices from the command line.
//
// Held by tests/cli/priced_match_test.cpp.
#include "cli/price_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/input.h"
#include "cli/law_view.h"
#include "cli/options.h"

namespace isoloop::cli {
namespace {

constexpr std::string_view on_device = "step-time@";

bool contains(const std::vector<std::string>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

double amount(const std::string& text, const char* option, const char* example) {
  const Ratio value = parse_ratio(text, option);
  if (value <= Ratio(0))
    throw usage_error(fmt::format("'{}' is not a positive number", text), option,
                      fmt::format("write e.g. {} {}", option, example));
  return value.to_double();
}

}  // namespace

void PriceFlags::declare(CLI::App& app) {
  app.add_option("--gpu", gpu, "Step time on this GPU: isoloop list gpus, or a device file")
      ->type_name("NAME|FILE.json");
  plan.declare_beside_match(app);
  app.add_option("--law", law, "Loss under this law: isoloop list laws, a file, or E=...,A=...")
      ->type_name("NAME|FILE");
  app.add_option("--tokens", tokens, "Training tokens the law is asked about, e.g. 100e9")
      ->type_name("N");
  app.add_option("--compute", compute, "Or training FLOPs, e.g. 1e21")->type_name("N");
}

/// Types, parallelism and sequence are those of the match.
gpu::PlanOptions PriceFlags::plan_options(const solve::MatchRequest& r) const {
  gpu::PlanOptions o = plan.options();
  o.dtype = r.options.dtype;
  o.kv_dtype = r.options.kv_dtype;
  o.vocab_multiple = r.options.vocab_multiple;
  o.sequence = r.options.context;
  o.tp = r.tensor_parallel;
  o.ep = r.expert_parallel;
  o.pp = r.pipeline_parallel;
  return o;
}

space::Training PriceFlags::training() const {
  if (tokens.empty() == compute.empty())
    throw usage_error(tokens.empty() ? "is asked about no amount of training"
                                     : "is asked about tokens and about compute",
                      "--law", "add --tokens 100e9 or --compute 1e21, one of them");
  space::Training result;
  if (!tokens.empty()) result.tokens = amount(tokens, "--tokens", "100e9");
  if (!compute.empty()) result.compute = amount(compute, "--compute", "1e21");
  return result;
}

std::vector<space::Price> PriceFlags::prices(const std::vector<std::string>& keys,
                                             const solve::MatchRequest& request,
                                             const std::string& baseline,
                                             const Context& context) const {
  std::vector<space::Price> result;
  const auto add_device = [&](const std::string& key, const std::string& name, const char* where) {
    const gpu::Device device = device_of(name, context, where);
    const gpu::PlanOptions options = plan_options(request);
    result.push_back(plan.planning(
        baseline, [&] { return space::step_time(key, device, options, request.baseline); }));
  };
  if (gpu.empty() && contains(keys, "step-time"))
    throw usage_error("needs a GPU", "step-time", "add --gpu h100-sxm5, or write step-time@h100-sxm5");
  if (!gpu.empty()) add_device("step-time", gpu, "--gpu");
  for (const std::string& key : keys)
    if (key.starts_with(on_device) &&
        std::none_of(result.begin(), result.end(), [&](const auto& p) { return p.key == key; }))
      add_device(key, key.substr(on_device.size()), "step-time@");
  if (result.empty() && plan.any())
    throw usage_error("are about a GPU, and none is named", "--tokens-per-gpu, --phase, ...",
                      "add --gpu h100-sxm5");
  if (law.empty() && contains(keys, "loss"))
    throw usage_error("needs a law", "loss", "add --law smelt --tokens 100e9: isoloop list laws");
  if (law.empty() && !(tokens + compute).empty())
    throw usage_error("is what a law is asked about, and none is named", "--tokens, --compute",
                      "add --law smelt, or use --tokens-per-gpu");
  if (!law.empty())
    result.push_back(space::predicted_loss("loss", load_law(law, context), request.options,
                                           training(), request.baseline));
  return result;
}

}  // namespace isoloop::cli
