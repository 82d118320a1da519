// The time of a budget: GPU-hours = C / (peak x MFU).
//
// C is the law's: F D with F as its runs counted it. So the MFU of a planned architecture is taken
// from its F under that convention and from its predicted tokens per second, not from the planner's
// own FLOPs, which hold the head and attention as executed.
//
// Held by tests/cli/allocate_test.cpp.
#include "cli/allocate_cost.h"

#include <fmt/format.h>

#include "cli/input.h"
#include "cli/law_view.h"
#include "cli/views.h"
#include "isoloop/cost.h"

namespace isoloop::cli {
namespace {

constexpr double seconds_per_hour = 3600;
/// Where nothing is known of the model. Published training runs lie in this range: Llama 3 405B
/// reached 38 to 43 % in BF16 on up to 16,384 H100 (arXiv 2407.21783, table 4), PaLM 540B 46.2 % on
/// TPU v4 (arXiv 2204.02311, table 3).
constexpr Estimate usual_mfu = {0.3, 0.4, 0.5};

[[noreturn]] void refuse_without_arch(const std::string& option) {
  throw usage_error("is about the architecture of --arch", option, "add --arch ARCH");
}

}  // namespace

Estimate Machine::gpu_hours(double compute) const {
  const auto hours = [&](double rate) { return compute / (peak * rate) / seconds_per_hour; };
  return {hours(mfu.high), hours(mfu.mid), hours(mfu.low)};
}

void MachineFlags::declare(CLI::App& app) {
  app.add_option("--gpu", gpu, "GPU-hours on this one: isoloop list gpus, or a device file")
      ->type_name("NAME|FILE.json");
  app.add_option("--gpus", gpus, "Number of GPUs (default 1)")->type_name("N");
  app.add_option("--mfu", mfu, "Model FLOPs utilisation, e.g. 0.4 (default: 0.3 to 0.5)")
      ->type_name("X");
  app.add_option("--arch", arch, "Plan the step time of this architecture, and allocate for it")
      ->type_name("ARCH");
  app.add_option("--loop", loop, "Loop its layers first, e.g. middle or 3+6x2+3")
      ->type_name("LOOP");
  app.add_option("--convention", count.convention, "What F of --arch counts (default causal)")
      ->type_name("NAME");
  app.add_option("--context", count.context, "Sequence length of --arch (default: the model's)")
      ->type_name("N");
  app.add_option("--attended", count.attended, "Mean attended tokens of --arch, instead of S")
      ->type_name("N");
  plan.declare_beside_gpus(app);
}

std::optional<Trained> MachineFlags::trained(const Context& context) const {
  if (arch.empty()) {
    const std::pair<const std::string&, const char*> only[] = {{loop, "--loop"},
                                                               {count.convention, "--convention"},
                                                               {count.context, "--context"},
                                                               {count.attended, "--attended"}};
    for (const auto& [text, name] : only)
      if (!text.empty()) refuse_without_arch(name);
    for (const std::string& name : plan.given())
      if (name != "--dtype") refuse_without_arch(name);  // chooses the peak, too
    return {};
  }
  Trained out{looped(load(arch, context).architecture, loop), 0, ""};
  if (!loop.empty()) out.architecture.name += "-" + loop;
  const cost::Options options = count.options();
  out.flops_per_token =
      about(arch, [&] { return cost::count(out.architecture, options).train.value().to_double(); });
  out.counted = fmt::format("convention {}", options.convention.name);
  if (options.attended)
    out.counted += fmt::format(", {:g} tokens attended", options.attended->to_double());
  else
    out.counted += fmt::format(", context {}",
                               options.context > 0 ? options.context : out.architecture.context);
  return out;
}

double MachineFlags::given_mfu() const {
  const Ratio value = parse_ratio(mfu, "--mfu");
  if (value <= Ratio(0) || value > Ratio(1))
    throw usage_error(fmt::format("'{}' is not a fraction above 0 and at most 1", mfu), "--mfu",
                      "write e.g. --mfu 0.4");
  return value.to_double();
}

void MachineFlags::plan_mfu(const Trained& trained, Machine& machine) const {
  gpu::PlanOptions options = plan.options();
  const std::int64_t model_gpus = options.tp * options.pp;
  if (machine.gpus % model_gpus != 0)
    throw usage_error(
        fmt::format("{} GPUs are not a multiple of TP x PP = {}", machine.gpus, model_gpus),
        "--gpus",
        fmt::format("write e.g. --gpus {}", (machine.gpus / model_gpus + 1) * model_gpus));
  options.dp = machine.gpus / model_gpus;
  machine.plan =
      plan.planning(arch, [&] { return gpu::plan(trained.architecture, machine.device, options); });
  const gpu::Plan& plan_ = *machine.plan;
  const double rate = trained.flops_per_token * plan_.tokens_per_s / machine.peak;
  const gpu::Time& t = plan_.step_ms;
  machine.mfu = {rate * t.mid / t.high, rate, rate * t.mid / t.low};
  machine.basis = "planned";
  machine.meaning = fmt::format("planned for {} (isoloop plan), its F under {}",
                                trained.architecture.name, trained.counted);
}

std::optional<Machine> MachineFlags::machine(const std::optional<Trained>& trained,
                                             const Context& context) const {
  if (gpu.empty()) {
    std::vector<std::string> given = plan.given();
    if (!mfu.empty()) given.insert(given.begin(), "--mfu");
    if (!gpus.empty()) given.insert(given.begin(), "--gpus");
    if (!given.empty())
      throw usage_error("says nothing without a GPU", given.front(), "add --gpu h100-sxm5");
    return {};
  }
  if (!mfu.empty() && trained)
    throw usage_error("is planned where --arch is given", "--mfu", "keep one of the two");
  Machine out;
  out.device = device_of(gpu, context, "--gpu");
  if (!gpus.empty()) out.gpus = positive(gpus, "--gpus", "write e.g. --gpus 256");
  const DType dtype = plan.options().dtype;
  out.peak =
      plan.planning(gpu, [&] { return gpu::peak_flops(out.device, gpu::tensor_precision(dtype)); });
  if (trained) {
    plan_mfu(*trained, out);
  } else if (!mfu.empty()) {
    const double value = given_mfu();
    out.mfu = {value, value, value};
    out.basis = "given";
    out.meaning = "given by --mfu";
  } else {
    out.mfu = usual_mfu;
    out.basis = "assumed";
    out.meaning = "assumed, not planned: add --arch ARCH to plan it or --mfu X to state it";
  }
  return out;
}

}  // namespace isoloop::cli
