// Names of the gpu module's enumerations.
//
// Held by tests/gpu/device_test.cpp and tests/gpu/plan_errors_test.cpp.
#include <algorithm>
#include <span>

#include "isoloop/gpu.h"

namespace isoloop::gpu {
namespace {

constexpr std::array<std::string_view, precision_count> precisions = {
    "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"};
constexpr std::array<std::string_view, limit_count> limit_names = {"warps", "registers", "smem",
                                                                   "blocks", "barriers"};
constexpr std::array<std::string_view, 4> families = {"mma", "mma.sync", "wgmma", "tcgen05"};
constexpr std::array<std::string_view, 5> bounds = {"compute", "memory", "l2", "latency", "link"};
constexpr std::array<std::string_view, 4> backends = {"none", "quantised", "padded", "masked"};
constexpr std::array<std::string_view, 3> attention_kernels = {
    "FlashAttention-2", "FlashAttention-3", "FlashAttention-4"};
constexpr std::array<std::string_view, 3> phases = {"training", "prefill", "decode"};
constexpr std::array<std::string_view, 3> recomputes = {"none", "elementwise", "full"};
constexpr std::array<std::string_view, 5> kinds = {"gemm", "grouped_gemm", "attention",
                                                   "elementwise", "link"};
constexpr std::array<std::string_view, 5> passes = {"forward", "recompute", "data_gradient",
                                                    "weight_gradient", "update"};

template <class Enum, std::size_t N>
std::string_view of(Enum value, const std::array<std::string_view, N>& names) {
  return names[static_cast<std::size_t>(value)];
}

template <class Enum, std::size_t N>
Enum parse(std::string_view text, const std::array<std::string_view, N>& names, ErrorKind kind,
           std::string_view what, std::string_view where) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at == names.end()) {
    const std::vector<std::string> list(names.begin(), names.end());
    throw unknown_name(kind, what, text, list, where);
  }
  return static_cast<Enum>(at - names.begin());
}

}  // namespace

std::string_view name(Precision v) { return of(v, precisions); }
std::string_view name(Limit v) { return of(v, limit_names); }
std::string_view name(Family v) { return of(v, families); }
std::string_view name(Bound v) { return of(v, bounds); }
std::string_view name(GroupBackend v) { return of(v, backends); }
std::string_view name(AttentionKernel v) { return of(v, attention_kernels); }
std::string_view name(Phase v) { return of(v, phases); }
std::string_view name(Recompute v) { return of(v, recomputes); }
std::string_view name(KernelKind v) { return of(v, kinds); }
std::string_view name(Pass v) { return of(v, passes); }

Precision parse_precision(std::string_view text, std::string_view where) {
  return parse<Precision>(text, precisions, ErrorKind::input, "number format", where);
}
Phase parse_phase(std::string_view text, std::string_view where) {
  return parse<Phase>(text, phases, ErrorKind::usage, "phase", where);
}
Recompute parse_recompute(std::string_view text, std::string_view where) {
  return parse<Recompute>(text, recomputes, ErrorKind::usage, "recomputation", where);
}

Precision tensor_precision(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return Precision::tf32;
    case DType::bf16:
      return Precision::bf16;
    case DType::fp16:
      return Precision::fp16;
    default:
      return Precision::fp8;
  }
}

double bytes_per_element(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return 4;
    case Precision::bf16:
    case Precision::fp16:
      return 2;
    case Precision::fp4:
      return 0.5;
    default:
      return 1;
  }
}

}  // namespace isoloop::gpu
