// Plans as JSON, schema isoloop/plan/v1.
//
// Held by tests/cli/plan_test.cpp.
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/plan_pair.h"
#include "cli/plan_view.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int warp_threads = 32;

Json tile_json(const gpu::TileShape& shape) {
  return {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
}

/// What only a GEMM or only an attention kernel has; absent keys would be harder on programs.
void add_shape(Json& j, const gpu::Kernel& kernel) {
  if (const auto* g = std::get_if<gpu::GemmLaunch>(&kernel.detail)) {
    j["tile"] = tile_json(g->tile);
    j["stages"] = g->tile.stages;
    j["cluster"] = {g->tile.cluster_m, g->tile.cluster_n};
    j["family"] = gpu::name(g->tile.family);
    j["shape"] = gpu::text(g->tile);
    j["tmem_columns"] = g->tile.tmem_columns;
    j["persistent"] = g->tile.persistent;
    j["split_k"] = g->split_k;
    j["raster"] = g->raster_along_m ? "along m" : "along n";
    return;
  }
  if (const auto* a = std::get_if<gpu::AttentionLaunch>(&kernel.detail)) {
    j["tile"] = {{"m", a->tile_m}, {"n", a->tile_n}, {"k", a->kernel_head_size}};
    j["stages"] = a->stages;
    j["cluster"] = {1, 1};
    j["family"] = gpu::name(a->kernel);
    j["split_kv"] = a->splits;
    j["padded_share"] = a->padded_share;
    return;
  }
  j["tile"] = nullptr;
  j["stages"] = nullptr;
  j["cluster"] = nullptr;
}

Json kernel_json(const gpu::Kernel& k, const gpu::Plan& plan) {
  const gpu::Launch& l = k.launch();
  Json j;
  j["name"] = k.name;
  j["kind"] = gpu::name(k.kind);
  j["pass"] = gpu::name(k.pass);
  j["segment"] = k.segment ? Json(plan.segments[*k.segment].name) : Json(nullptr);
  j["m"] = k.m;
  j["n"] = k.n;
  j["k"] = k.k;
  j["groups"] = k.groups;
  j["count"] = number(k.count);
  j["per_step"] = k.per_step;
  add_shape(j, k);
  j["warps"] = l.threads / warp_threads;
  j["threads"] = l.threads;
  j["registers"] = l.registers;
  j["smem_bytes"] = l.smem_bytes;
  j["grid"] = l.grid;
  j["blocks_per_sm"] = l.blocks_per_sm;
  j["occupancy"] = l.occupancy;
  j["waves"] = l.waves;
  j["tile_efficiency"] = l.tile_efficiency;
  j["wave_efficiency"] = l.wave_efficiency;
  j["fill_efficiency"] = l.fill_efficiency;
  j["bound"] = gpu::name(l.bound);
  j["measured"] = l.measured;
  j["weights_from_l2"] = k.weights_from_l2;
  j["macs"] = number(k.macs);
  j["memory_bytes"] = l.bytes;
  j["time_us"] = time_json(l.time);
  const gpu::Time step = step_ms(plan, k);
  j["step_time_ms"] = time_json(step);
  j["share"] = step.mid / plan.step_ms.mid;
  return j;
}

Json body(const gpu::Plan& plan) {
  Json j;
  j["arch"] = plan.arch;
  j["kernels"] = Json::array();
  for (const gpu::Kernel& k : plan.kernels) j["kernels"].push_back(kernel_json(k, plan));
  j["layer_time_us"] = Json::array();
  for (const gpu::SegmentTime& s : plan.segments)
    j["layer_time_us"].push_back({{"name", s.name},
                                  {"visits", number(s.visits)},
                                  {"forward", time_json(s.forward_us)},
                                  {"backward", time_json(s.backward_us)},
                                  {"weight_bytes", s.weight_bytes},
                                  {"weights_stay_in_l2", s.weights_stay_in_l2}});
  const auto kinds = gpu::time_by_kind(plan);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string kind(gpu::name(static_cast<gpu::KernelKind>(i)));
    j["time_ms_by_kind"][kind] = time_json(kinds[i]);
    j["share_by_kind"][kind] = kinds[i].mid / plan.step_ms.mid;
  }
  j["step_time_ms"] = time_json(plan.step_ms);
  j["mfu"] = plan.mfu;
  j["tokens_per_s"] = plan.tokens_per_s;
  j["forward_macs"] = number(plan.forward_macs);
  j["useful_macs"] = number(plan.useful_macs);
  j["notes"] = plan.notes;
  return j;
}

Json limit_json(const std::optional<int>& allowed) {
  return allowed ? Json(*allowed) : Json(nullptr);
}

}  // namespace

Json time_json(const gpu::Time& time) {
  return {{"low", time.low}, {"mid", time.mid}, {"high", time.high}};
}

Json ratio_json(const gpu::StepRatio& r) {
  return {{"low", r.low},
          {"mid", r.mid},
          {"high", r.high},
          {"unshared_low", r.unshared_low},
          {"unshared_high", r.unshared_high}};
}

Json options_json(const gpu::PlanOptions& o) {
  return {{"phase", gpu::name(o.phase)},
          {"tokens", o.tokens},
          {"sequence", o.sequence},
          {"dtype", name(o.dtype)},
          {"kv_dtype", name(o.kv_dtype)},
          {"tp", o.tp},
          {"ep", o.ep},
          {"pp", o.pp},
          {"dp", o.dp},
          {"microbatches", o.microbatches},
          {"recompute", gpu::name(o.recompute)},
          {"link_gbs_both_ways", o.link_gbs_both_ways}};
}

Json plan_json(const PlanView& view) {
  Json j;
  j["schema"] = "isoloop/plan/v1";
  j["gpu"] = view.device.id;
  j["gpu_name"] = view.device.name;
  j["options"] = options_json(resolved(view.plan.options, view.architecture.context));
  j.update(body(view.plan));
  j["advice"] = Json::array();
  for (const gpu::Advice& a : view.advice)
    j["advice"].push_back({{"text", a.text},
                           {"gain", a.gain},
                           {"dimension", a.dimension},
                           {"from", a.from},
                           {"to", a.to},
                           {"step_time_ms", a.step_ms},
                           {"reason", a.reason}});
  if (view.baseline) {
    j["baseline"] = body(*view.baseline);
    j["step_time_ratio"] = ratio_json(gpu::step_ratio(view.plan, *view.baseline));
    j["pair"] = pair_json(*view.baseline, view.plan);
  }
  if (!view.shapes) return j;
  j["rejected"] = Json::array();
  for (const gpu::RejectedShape& r : view.shapes->rejected)
    j["rejected"].push_back({{"shape", gpu::text(r.shape)}, {"reason", r.reason}});
  j["rejected_attention"] = Json::array();
  for (const gpu::RejectedAttention& r : view.attention_shapes)
    j["rejected_attention"].push_back({{"shape", r.shape}, {"reason", r.reason}});
  return j;
}

Json occupancy_json(const gpu::Device& device, const gpu::BlockNeeds& needs,
                    const gpu::Occupancy& o) {
  Json j;
  j["schema"] = "isoloop/plan/v1";
  j["gpu"] = device.id;
  j["compute_capability"] = device.limits.compute_capability;
  j["block"] = {{"threads", needs.threads},
                {"registers", needs.registers},
                {"static_smem_bytes", needs.static_smem},
                {"dynamic_smem_bytes", needs.dynamic_smem},
                {"barriers", needs.barriers}};
  j["blocks_per_sm"] = o.blocks_per_sm;
  j["occupancy"] = o.fraction;
  j["limiting"] = Json::array();
  for (const gpu::Limit limit : o.limiting) j["limiting"].push_back(gpu::name(limit));
  for (std::size_t i = 0; i < gpu::limit_count; ++i)
    j["allowed"][std::string(gpu::name(static_cast<gpu::Limit>(i)))] = limit_json(o.allowed[i]);
  j["registers_per_block"] = o.registers_per_block;
  j["smem_per_block_bytes"] = o.smem_per_block;
  return j;
}

}  // namespace isoloop::cli
