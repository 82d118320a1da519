// Step time, MFU and notes of a plan whose kernels are complete.
//
// Right by 1F1B pipelining (arXiv 2104.04473): a stage waits for pp - 1 microbatches beside its
// own; and by ZeRO (arXiv 1910.02054) for optimizer state split over replicas. Held by
// tests/gpu/plan_test.cpp.
#include "gpu/totals.h"

#include <fmt/core.h>

#include <algorithm>

namespace isoloop::gpu {
namespace {

/// Weights, and in training fp32 gradients and the optimizer state kept here; no activations.
void memory_note(Plan& plan, const LocalParams& params, const Sharding& s,
                 const DeviceModel& model) {
  const bool training = s.options.phase == Phase::training;
  const double all = params.dense + params.experts;
  const double bytes = training ? all * (4 + s.activation_bytes) + owned_params(params, s) * 12
                                : all * bytes_per_element(s.precision);
  if (bytes <= static_cast<double>(model.device.memory_bytes)) return;
  plan.notes.push_back(fmt::format("does not fit: {} need {}, the device has {}",
                                   training ? "weights, gradients and optimizer state" : "weights",
                                   byte_text(Ratio(static_cast<std::int64_t>(bytes))),
                                   byte_text(Ratio(model.device.memory_bytes))));
}

void add_once(std::vector<std::string>& notes, std::string note) {
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

/// Padded heads, and kernels without measured points.
void attention_notes(Plan& plan, const DeviceModel& model) {
  for (const Kernel& k : plan.kernels) {
    const auto* launch = std::get_if<AttentionLaunch>(&k.detail);
    if (launch == nullptr) continue;
    const AttentionProblem& p = launch->problem;
    if (launch->kernel_head_size != p.head_size && !p.backward)
      add_once(
          plan.notes,
          fmt::format("{} pads heads of {} to {}: with the blocks that the mask cuts, {:.0f} % "
                      "of its arithmetic is of no use",
                      name(launch->kernel), p.head_size, launch->kernel_head_size,
                      100 * launch->padded_share));
    if (!launch->measured)
      add_once(plan.notes,
               fmt::format("no measured {} {} of compute capability {}: the range is wider",
                           name(launch->kernel),
                           p.queries == 1 && p.keys > 1 ? "decoding"
                           : p.backward                 ? "backward"
                                                        : "forward",
                           model.device.limits.compute_capability));
  }
}

}  // namespace

double expert_replicas(const Sharding& s) {
  return std::max(1.0,
                  static_cast<double>(s.dp * s.options.tp) / static_cast<double>(s.options.ep));
}

double owned_params(const LocalParams& params, const Sharding& s) {
  return params.dense / static_cast<double>(s.dp) + params.experts / expert_replicas(s);
}

void add_totals(Plan& plan, const Sharding& s, const DeviceModel& model) {
  for (const Kernel& k : plan.kernels) {
    if (k.pass == Pass::forward) plan.forward_macs += k.count * k.macs;
    if (k.pass != Pass::recompute) plan.useful_macs += k.count * k.macs;
  }
  const auto pp = static_cast<double>(s.options.pp);
  const auto count = static_cast<double>(s.options.microbatches);
  plan.step_ms = step_time(plan).step_ms;
  const double seconds = plan.step_ms.mid * 1e-3;
  const double peak = peak_flops(model.device, s.precision);
  plan.mfu = count * 2 * plan.useful_macs.to_double() / (seconds * peak);
  const double tokens = static_cast<double>(s.decode ? s.sequences : s.tokens);
  plan.tokens_per_s = count * tokens / (static_cast<double>(s.options.tp) * pp) / seconds;
}

void add_notes(Plan& plan, const arch::Architecture& architecture, const LocalParams& params,
               const Sharding& s, const DeviceModel& model) {
  const std::string& capability = model.device.limits.compute_capability;
  if (model.rates.gemm[static_cast<std::size_t>(width_of(s.precision))].points == 0)
    plan.notes.push_back(
        fmt::format("no measured {} GEMM of compute capability {}: the range is wider",
                    name(s.precision), capability));
  if (s.precision != s.attention_precision)
    plan.notes.push_back(
        fmt::format("attention is planned in {}: FlashAttention has no {} kernel that trains",
                    name(s.attention_precision), name(s.precision)));
  attention_notes(plan, model);
  memory_note(plan, params, s, model);
  if (architecture.mtp_layers > 0)
    plan.notes.push_back("multi-token-prediction layers are left out");
  if (architecture.vocab == 0)
    plan.notes.push_back("no vocabulary is stated: embedding, head and loss are left out");
}

}  // namespace isoloop::gpu
