// Plans as text: kernels by layer kind, shares of the step, two plans side by side.
//
// Held by tests/cli/plan_test.cpp.
#include "cli/plan_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/plan_pair.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

using report::Align;
using report::Cell;
using report::Tone;

std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "";
}

std::vector<Cell> kernel_row(const gpu::Kernel& k, const gpu::Plan& plan) {
  const gpu::Launch& l = k.launch();
  const LaunchText shape = launch_text(k);
  const bool tiles = has_tiles(k);
  const std::string bound = k.weights_from_l2
                                ? fmt::format("{} (weights in L2)", gpu::name(l.bound))
                                : std::string(gpu::name(l.bound));
  return {std::string(k.name),
          pass_text(k.pass),
          tiles ? std::to_string(k.m) : "",
          tiles ? std::to_string(k.n) : "",
          tiles ? std::to_string(k.k) : "",
          tiles ? std::to_string(k.groups) : "",
          decimal(k.count, k.count.is_integer() ? 0 : 1),
          shape.tile,
          shape.stages,
          shape.cluster,
          tiles ? std::to_string(l.blocks_per_sm) : "",
          tiles ? fmt::format("{:.0f} %", 100 * l.occupancy) : "",
          tiles ? short_number(l.waves) : "",
          tiles ? efficiency_cell(l.tile_efficiency) : Cell(),
          tiles ? efficiency_cell(l.wave_efficiency) : Cell(),
          bound,
          range_text(l.time),
          share_text(step_ms(plan, k).mid, plan.step_ms.mid)};
}

report::Table kernel_table(const gpu::Plan& plan, std::optional<std::size_t> segment) {
  report::Table table;
  table.columns = {{"kernel", "", Align::left},
                   {"pass", "", Align::left},
                   {"m"},
                   {"n"},
                   {"k"},
                   {"groups"},
                   {"launches"},
                   {"tile", "", Align::left},
                   {"stages"},
                   {"cluster"},
                   {"blocks", "per SM"},
                   {"occupancy"},
                   {"waves"},
                   {"tile", "efficiency"},
                   {"wave", "efficiency"},
                   {"bound by", "", Align::left},
                   {"time", "us each"},
                   {"of step"}};
  for (const gpu::Kernel& k : plan.kernels)
    if (k.segment == segment) table.rows.push_back(kernel_row(k, plan));
  if (!segment) {
    table.title = "Once per model: embedding, head, loss, and in training the update";
    return table;
  }
  const gpu::SegmentTime& s = plan.segments[*segment];
  table.title =
      fmt::format("Layers '{}', {} visit{}: forward {} us per layer and visit", s.name,
                  s.visits.str(), s.visits == Ratio(1) ? "" : "s", range_text(s.forward_us));
  if (s.backward_us.mid > 0)
    table.title += fmt::format(", backward {} us", range_text(s.backward_us));
  return table;
}

report::Table kinds_table(const gpu::Plan& plan) {
  report::Table table;
  table.title = "The step by kind of kernel";
  table.columns = {{"kind", "", Align::left}, {"time", "ms"}, {"share"}};
  const auto kinds = gpu::time_by_kind(plan);
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i].high > 0)
      table.rows.push_back({kind_text(static_cast<gpu::KernelKind>(i)), range_text(kinds[i]),
                            share_text(kinds[i].mid, plan.step_ms.mid)});
  table.rules.push_back(table.rows.size());
  table.rows.push_back({Cell("step", Tone::strong), range_text(plan.step_ms), ""});
  return table;
}

void add_plan(const PlanView& view, report::Document& d) {
  const gpu::Plan& plan = view.plan;
  for (std::size_t i = 0; i < plan.segments.size(); ++i)
    d.blocks.emplace_back(kernel_table(plan, i));
  if (std::ranges::any_of(plan.kernels, [](const gpu::Kernel& k) { return !k.segment; }))
    d.blocks.emplace_back(kernel_table(plan, {}));
  d.blocks.emplace_back(kinds_table(plan));
  d.blocks.emplace_back(report::Facts{
      {{"step time", fmt::format("{} ms", range_text(plan.step_ms))},
       {"MFU", fmt::format("{:.1f} % of the dense {} peak", 100 * plan.mfu,
                           gpu::name(gpu::tensor_precision(plan.options.dtype)))},
       {"throughput", fmt::format("{} tokens/s per GPU", short_number(plan.tokens_per_s))}}});
}

void add_advice(const PlanView& view, report::Document& d) {
  d.blocks.emplace_back(report::Heading{"Advice"});
  if (view.advice.empty()) {
    d.blocks.emplace_back(
        report::Paragraph{"No single dimension moved to a near multiple gains 0.5 % or more."});
    return;
  }
  d.blocks.emplace_back(report::Paragraph{
      "Each moves one dimension and leaves the others, so the work changes a little: gains are "
      "time per multiply-accumulate.",
      Tone::dim});
  report::Facts facts;
  for (std::size_t i = 0; i < view.advice.size(); ++i)
    facts.lines.emplace_back(std::to_string(i + 1), view.advice[i].text);
  d.blocks.emplace_back(std::move(facts));
}

void add_notes(const PlanView& view, report::Document& d) {
  report::Facts facts;
  const auto add = [&](const gpu::Plan& plan) {
    for (const std::string& note : plan.notes)
      facts.lines.emplace_back(view.baseline ? plan.arch : "note", note);
  };
  if (view.baseline) add(*view.baseline);
  add(view.plan);
  if (!facts.lines.empty()) d.blocks.emplace_back(std::move(facts));
}

report::Table rejected_table(const gpu::ShapeList& shapes) {
  report::Table table;
  table.title = fmt::format("Rejected GEMM shapes ({}; {} fit)", shapes.rejected.size(),
                            shapes.fitting.size());
  table.columns = {{"shape", "", Align::left}, {"reason", "", Align::left}};
  for (const gpu::RejectedShape& r : shapes.rejected)
    table.rows.push_back({gpu::text(r.shape), r.reason});
  return table;
}

report::Table rejected_table(const std::vector<gpu::RejectedAttention>& shapes) {
  report::Table table;
  table.title = fmt::format("Attention shapes passed over ({})", shapes.size());
  table.columns = {{"shape", "", Align::left}, {"reason", "", Align::left}};
  for (const gpu::RejectedAttention& r : shapes) table.rows.push_back({r.shape, r.reason});
  return table;
}

}  // namespace

std::string short_number(double value) {
  if (value >= 99.95) return grouped(Ratio(static_cast<std::int64_t>(value + 0.5)));
  return fmt::format("{:.{}f}", value, value >= 9.995 ? 1 : 2);
}

std::string pass_text(gpu::Pass pass) {
  std::string text(gpu::name(pass));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

Cell efficiency_cell(double value) {
  constexpr double wasteful = 0.8;
  return {fmt::format("{:.0f} %", 100 * value), value < wasteful ? Tone::warn : Tone::plain};
}

LaunchText launch_text(const gpu::Kernel& kernel) {
  if (const auto* g = std::get_if<gpu::GemmLaunch>(&kernel.detail))
    return {fmt::format("{}×{}×{}{}", g->tile.m, g->tile.n, g->tile.k,
                        g->split_k > 1 ? fmt::format(" split-K {}", g->split_k) : ""),
            std::to_string(g->tile.stages),
            fmt::format("{}×{}", g->tile.cluster_m, g->tile.cluster_n)};
  if (const auto* a = std::get_if<gpu::AttentionLaunch>(&kernel.detail))
    return {fmt::format("{}×{} head {}{}", a->tile_m, a->tile_n,
                        a->kernel_head_size == a->problem.head_size
                            ? std::string()
                            : std::to_string(a->problem.head_size) + "→",
                        a->kernel_head_size),
            std::to_string(a->stages), ""};
  return {};
}

bool has_tiles(const gpu::Kernel& k) {
  return k.kind != gpu::KernelKind::elementwise && k.kind != gpu::KernelKind::link;
}

std::string range_text(double mid, double low, double high) {
  return fmt::format("{} ({}–{})", short_number(mid), short_number(low), short_number(high));
}

std::string kind_text(gpu::KernelKind kind) {
  std::string text(gpu::name(kind));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

gpu::Time step_ms(const gpu::Plan& plan, const gpu::Kernel& kernel) {
  return (1e-3 * gpu::step_repeats(plan, kernel)) * kernel.total_us();
}

gpu::PlanOptions resolved(gpu::PlanOptions options, std::int64_t context) {
  if (options.sequence > 0) return options;
  const bool decode = options.phase == gpu::Phase::decode;
  options.sequence = decode ? context : std::min(context, options.tokens);
  return options;
}

std::string options_text(const gpu::PlanOptions& o) {
  std::string text = fmt::format("{}, {} {}", gpu::name(o.phase), grouped(Ratio(o.tokens)),
                                 o.phase == gpu::Phase::decode ? "sequences" : "tokens");
  if (o.sequence > 0) text += fmt::format(", sequence {}", grouped(Ratio(o.sequence)));
  text += fmt::format(", {}", name(o.dtype));
  for (const auto& [label, value] :
       {std::pair{"TP", o.tp}, {"EP", o.ep}, {"PP", o.pp}, {"DP", o.dp}})
    if (value > 1) text += fmt::format(", {} {}", label, value);
  if (o.microbatches > 1) text += fmt::format(", {} microbatches", o.microbatches);
  if (o.recompute != gpu::Recompute::none)
    text += fmt::format(", recomputation: {}", gpu::name(o.recompute));
  return text;
}

report::Document plan_document(const PlanView& view) {
  report::Document d;
  const std::string against = view.baseline ? " against " + view.baseline->arch : "";
  d.blocks.emplace_back(
      report::Heading{fmt::format("{}{} on {}", view.plan.arch, against, view.device.name)});
  const gpu::PlanOptions options = resolved(view.plan.options, view.architecture.context);
  d.blocks.emplace_back(report::Paragraph{fmt::format("{}.", options_text(options))});
  if (view.baseline)
    d.blocks.emplace_back(report::Facts{{{view.baseline->arch, shape_text(*view.other)},
                                         {view.plan.arch, shape_text(view.architecture)}}});
  else
    d.blocks.emplace_back(report::Paragraph{shape_text(view.architecture)});
  if (view.baseline) {
    d.blocks.emplace_back(pair_table(*view.baseline, view.plan));
    d.blocks.emplace_back(side_by_side(*view.baseline, view.plan));
  } else {
    add_plan(view, d);
  }
  add_advice(view, d);
  add_notes(view, d);
  if (view.shapes) {
    d.blocks.emplace_back(rejected_table(*view.shapes));
    d.blocks.emplace_back(rejected_table(view.attention_shapes));
  }
  d.blocks.emplace_back(report::Paragraph{
      "Times are estimates: mid (low–high). How far they miss: docs/gpu.md. " + view.next,
      Tone::dim});
  return d;
}

report::Document occupancy_document(const gpu::Device& device, const gpu::BlockNeeds& needs,
                                    const gpu::Occupancy& o) {
  report::Document d;
  d.blocks.emplace_back(report::Heading{
      fmt::format("{} (compute capability {})", device.name, device.limits.compute_capability)});
  std::string limiting;
  for (const gpu::Limit limit : o.limiting)
    limiting += fmt::format("{}{}", limiting.empty() ? "" : ", ", gpu::name(limit));
  d.blocks.emplace_back(report::Facts{
      {{"block", fmt::format("{} threads, {} registers per thread, {} B of shared memory, {} "
                             "barrier{}",
                             needs.threads, needs.registers, needs.static_smem + needs.dynamic_smem,
                             needs.barriers, needs.barriers == 1 ? "" : "s")},
       {"blocks per SM", std::to_string(o.blocks_per_sm)},
       {"limited by", limiting},
       {"occupancy", fmt::format("{:.2f} %", 100 * o.fraction)},
       {"allocated per block", fmt::format("{} registers, {} B of shared memory",
                                           o.registers_per_block, o.smem_per_block)}}});
  report::Table table;
  table.columns = {{"limit", "", Align::left}, {"blocks allowed"}};
  for (std::size_t i = 0; i < gpu::limit_count; ++i)
    table.rows.push_back({std::string(gpu::name(static_cast<gpu::Limit>(i))),
                          o.allowed[i] ? std::to_string(*o.allowed[i]) : "any"});
  d.blocks.emplace_back(std::move(table));
  d.blocks.emplace_back(report::Paragraph{
      "Next: isoloop plan ARCH --gpu NAME shows the shapes its kernels take.", Tone::dim});
  return d;
}

}  // namespace isoloop::cli
