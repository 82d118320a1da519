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
/// Where nothing is known of the model: published training runs lie about here.
constexpr Estimate usual_mfu = {0.3, 0.4, 0.5};

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
  app.add_option("--tokens", plan.tokens, "Tokens of a microbatch (default 8192)")->type_name("N");
  app.add_option("--sequence", plan.sequence, "Tokens per sequence on the GPU (default: context)")
      ->type_name("N");
  app.add_option("--dtype", plan.dtype, "fp32, bf16, fp16 or fp8 (default bf16)")
      ->type_name("NAME");
  app.add_option("--tp", plan.tp, "Heads, FFN and vocabulary over N GPUs")->type_name("N");
  app.add_option("--ep", plan.ep, "Experts over N GPUs")->type_name("N");
  app.add_option("--pp", plan.pp, "Executed layers over N stages")->type_name("N");
  app.add_option("--microbatches", plan.microbatches, "Microbatches of a step (default 1)")
      ->type_name("N");
  app.add_option("--recompute", plan.recompute, "none, elementwise or full (default none)")
      ->type_name("NAME");
  app.add_option("--link", plan.link, "Link between GPUs, both ways (default: NVLink)")
      ->type_name("GB/s");
}

std::optional<Trained> MachineFlags::trained(const Context& context) const {
  if (arch.empty()) {
    const std::pair<const std::string&, const char*> only[] = {
        {loop, "--loop"},
        {count.convention, "--convention"},
        {count.context, "--context"},
        {count.attended, "--attended"},
        {plan.tokens, "--tokens"},
        {plan.sequence, "--sequence"},
        {plan.tp, "--tp"},
        {plan.ep, "--ep"},
        {plan.pp, "--pp"},
        {plan.microbatches, "--microbatches"},
        {plan.recompute, "--recompute"},
        {plan.link, "--link"}};
    for (const auto& [text, name] : only)
      if (!text.empty())
        throw usage_error("is about the architecture of --arch", name, "add --arch ARCH");
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
      planning(arch, [&] { return gpu::plan(trained.architecture, machine.device, options); });
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
    for (const auto& [text, name] :
         {std::pair(&gpus, "--gpus"), std::pair(&mfu, "--mfu"), std::pair(&plan.dtype, "--dtype")})
      if (!text->empty())
        throw usage_error("says nothing without a GPU", name, "add --gpu h100-sxm5");
    return {};
  }
  if (!mfu.empty() && trained)
    throw usage_error("is planned where --arch is given", "--mfu", "keep one of the two");
  Machine out;
  out.device = device_of(gpu, context, "--gpu");
  if (!gpus.empty()) out.gpus = positive(gpus, "--gpus", "write e.g. --gpus 256");
  const DType dtype = plan.options().dtype;
  out.peak =
      planning(gpu, [&] { return gpu::peak_flops(out.device, gpu::tensor_precision(dtype)); });
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
