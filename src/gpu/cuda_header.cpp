// A plan as CUDA text: shapes as constexpr structs, and kernels of ours in mma.sync shapes.
//
// The launches list the shapes of the device's own family (wgmma and tcgen05 shapes are for
// libraries). Our kernels are mma.sync, which every device from sm_80 on runs, so each GEMM names
// its best mma.sync shape, too, and the kernels are instantiated with those.
//
// Held by tests/gpu/cuda_header_test.cpp, which compiles it with nvcc.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gpu/cuda_kernel.h"
#include "gpu/model.h"

namespace isoloop::gpu {
namespace {

/// "experts gate and up" + "forward" -> "experts_gate_and_up_forward".
std::string identifier(std::string_view name, std::string_view pass) {
  std::string out;
  for (const char c : std::string(name) + "_" + std::string(pass)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  return out;
}

std::string shape_name(const TileShape& s, bool along_m) {
  return fmt::format("Tile{}x{}x{}s{}w{}x{}{}", s.m, s.n, s.k, s.stages, s.warps_m, s.warps_n,
                     along_m ? "" : "n");
}

std::string shape_text(const TileShape& s, bool along_m) {
  return fmt::format(
      "struct {} {{\n"
      "  static constexpr int m = {}, n = {}, k = {}, stages = {}, warps_m = {}, warps_n = {};\n"
      "  static constexpr int threads = {}, registers = {}, smem_bytes = {}, blocks_per_sm = {};\n"
      "  static constexpr bool raster_along_m = {};\n"
      "}};\n",
      shape_name(s, along_m), s.m, s.n, s.k, s.stages, s.warps_m, s.warps_n, s.threads, s.registers,
      s.smem_bytes, s.blocks_per_sm, along_m);
}

/// The most registers per thread with which blocks_per_sm blocks are resident.
int register_bound(const TileShape& s, const Limits& limits) {
  for (int registers = limits.max_registers_per_thread; registers > s.registers; --registers)
    if (occupancy(limits, {s.threads, registers, 0, s.smem_bytes}).blocks_per_sm >= s.blocks_per_sm)
      return registers;
  return s.registers;
}

struct Emitted {
  std::string shapes, launches, instances;
  std::set<std::string> shape_names, launch_names, instance_names;
};

/// The launch's problem for our kernels, which store groups without padding.
GemmProblem problem_of(const GemmLaunch& launch, Precision precision) {
  GemmProblem p = launch.problem;
  p.precision = precision;
  if (p.backend != GroupBackend::none) p.backend = GroupBackend::quantised;
  return p;
}

void emit_launch(Emitted& out, const Kernel& k, const GemmLaunch& l, const GemmLaunch& own,
                 const std::string& type, const Limits& limits) {
  std::string name = identifier(k.name, gpu::name(k.pass));
  for (int i = 2; !out.launch_names.insert(name).second; ++i)
    name = fmt::format("{}_{}", identifier(k.name, gpu::name(k.pass)), i);
  TileShape t = own.tile;
  t.registers = register_bound(t, limits);
  const std::string tile = shape_name(t, own.raster_along_m);
  if (out.shape_names.insert(tile).second) out.shapes += shape_text(t, own.raster_along_m);
  out.launches += fmt::format(
      "// {}: {} launches per microbatch, {:.1f} us each, {}\n"
      "struct {} {{\n"
      "  static constexpr long long m = {}, n = {}, k = {}, groups = {}, grid = {};\n"
      "  static constexpr int tile_m = {}, tile_n = {}, tile_k = {}, stages = {}, split_k = {};\n"
      "  static constexpr int threads = {}, registers = {}, smem_bytes = {}, blocks_per_sm = {};\n"
      "  static constexpr int cluster_m = {}, cluster_n = {}, tmem_columns = {};\n"
      "  using MmaSync = {};\n"
      "}};\n",
      gpu::name(l.tile.family), k.count.str(), l.time.mid, text(l.tile), name, k.m, k.n, k.k,
      k.groups, l.grid, l.tile.m, l.tile.n, l.tile.k, l.tile.stages, l.split_k, l.threads,
      l.registers, l.smem_bytes, l.blocks_per_sm, l.tile.cluster_m, l.tile.cluster_n,
      l.tile.tmem_columns, tile);
  const bool grouped = k.kind == KernelKind::grouped_gemm;
  if (!out.instance_names.insert((grouped ? "g" : "d") + tile).second) return;
  out.instances +=
      grouped ? fmt::format(
                    "template __global__ void grouped_gemm<isoloop_plan::{0}, {1}>(const {1}*, "
                    "const {1}*, {1}*, const int*, int, int, int);\n",
                    tile, type)
              : fmt::format(
                    "template __global__ void gemm<isoloop_plan::{0}, {1}>(const {1}*, const {1}*, "
                    "{1}*, int, int, int);\n",
                    tile, type);
}

}  // namespace

std::string cuda_header(const Plan& plan, const Device& device) {
  const Precision precision = tensor_precision(plan.options.dtype);
  if (precision != Precision::bf16 && precision != Precision::fp16)
    throw input_error(fmt::format("kernels are emitted for bf16 and fp16, not {}",
                                  isoloop::name(plan.options.dtype)),
                      "dtype");
  if (family_of(device.limits) == Family::mma_register)
    throw input_error(fmt::format("{} has no mma.sync.m16n8k16", device.name), "gpu",
                      "compute capability 8.0 or newer");
  const std::string type = precision == Precision::bf16 ? "__nv_bfloat16" : "__half";
  const DeviceModel model(device, efficiency());
  Emitted out;
  for (const Kernel& k : plan.kernels) {
    const auto* launch = std::get_if<GemmLaunch>(&k.detail);
    // A weight gradient reads both operands across their rows, which our kernel does not.
    if (launch == nullptr || k.pass == Pass::weight_gradient || k.weights_from_l2) continue;
    emit_launch(out, k, *launch,
                predict_gemm(model, problem_of(*launch, precision), Family::mma_sync), type,
                device.limits);
  }
  return fmt::format(
      "// Launch shapes planned for {} on {}, and a tiled GEMM in mma.sync shapes.\n"
      "// Compile with nvcc for sm_{}{}. registers: the most a thread uses; a kernel's dynamic\n"
      "// shared memory is its shape's smem_bytes.\n"
      "//\n"
      "// The structs named after a kernel hold the shape planned for the device's own libraries;\n"
      "// MmaSync is the shape in which the plain kernels below run the same product on any sm_80\n"
      "// or newer. Left out: weight gradients (both operands are read across their rows, which\n"
      "// needs transposed loads), split-K (a second kernel would add the parts; these kernels\n"
      "// take the whole of k), fp8 and fp32 (other MMA shapes and scales), attention (its "
      "library\n"
      "// is the reference), and elementwise passes.\n"
      "#pragma once\n\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include "
      "<cuda_runtime.h>\n\nnamespace isoloop_plan {{\n\n{}\n{}\n}}  // namespace isoloop_plan\n{}\n"
      "namespace isoloop {{\n\n{}\n}}  // namespace isoloop\n",
      plan.arch.empty() ? "an architecture" : plan.arch, device.name,
      device.limits.compute_capability.substr(0, device.limits.compute_capability.find('.')),
      device.limits.compute_capability.substr(device.limits.compute_capability.find('.') + 1),
      out.shapes, out.launches, cuda_kernel_text(), out.instances);
}

}  // namespace isoloop::gpu
