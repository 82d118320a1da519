// isoloop plan: launch shape, occupancy, waves and time of every kernel of a step on a GPU.
//
// Held by tests/cli/plan_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_writer.h"
#include "cli/input.h"
#include "cli/law_view.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plan_flags.h"
#include "cli/plan_grid.h"
#include "cli/plan_view.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

struct Flags {
  // As given; "" = not given.
  std::string model, gpu, loop, against, emit, directory, occupancy, grid, compute;
  PlanFlags plan;
  bool why = false;
};

constexpr std::string_view header_name = "plan.cuh";

/// Training FLOPs.
double budget(const std::string& text) {
  const double value = parse_ratio(text, "--compute").to_double();
  if (!(value > 0) || value > largest_budget)
    throw usage_error(fmt::format("'{}' is no budget of training FLOPs", text), "--compute",
                      "write e.g. --compute 1e21");
  return value;
}

// ---- The three questions
// -------------------------------------------------------------------------

/// "threads=256,regs=128,smem=65536".
gpu::BlockNeeds block_needs(const std::string& text) {
  const std::string hint = "write e.g. --occupancy threads=256,regs=128,smem=65536";
  gpu::BlockNeeds needs;
  std::vector<std::string> known = {"threads", "regs", "smem", "static", "barriers"}, seen;
  for (const std::string& item : split(text, ',')) {
    const std::size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw unknown_name(ErrorKind::usage, "need", key, known, "--occupancy");
    if (equals == item.npos || equals + 1 == item.size())
      throw usage_error(fmt::format("'{}' has no value", item), "--occupancy", hint);
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      throw usage_error(fmt::format("{} is given twice", key), "--occupancy", hint);
    seen.push_back(key);
    const Ratio value = parse_ratio(item.substr(equals + 1), "--occupancy");
    constexpr std::int64_t most = 1 << 24;  // above every limit of a block
    if (!value.is_integer() || value < Ratio(0) || value > Ratio(most))
      throw usage_error(fmt::format("'{}' is not a whole number from 0 to {}", item, most),
                        "--occupancy", hint);
    const std::int64_t whole = value.num().to_int64();
    if (key == "threads") needs.threads = static_cast<int>(whole);
    if (key == "regs") needs.registers = static_cast<int>(whole);
    if (key == "smem") needs.dynamic_smem = whole;
    if (key == "static") needs.static_smem = whole;
    if (key == "barriers") needs.barriers = static_cast<int>(whole);
  }
  if (needs.threads == 0) throw usage_error("states no threads", "--occupancy", hint);
  return needs;
}

Answer occupancy_answer(const Flags& flags, const gpu::Device& device) {
  const gpu::BlockNeeds needs = block_needs(flags.occupancy);
  const gpu::Occupancy occupancy =
      about("--occupancy", [&] { return gpu::occupancy(device.limits, needs); });
  Answer answer;
  answer.document = occupancy_document(device, needs, occupancy);
  answer.json = json::pretty(occupancy_json(device, needs, occupancy));
  return answer;
}

std::string closing_line(const Flags& f) {
  const std::string given = fmt::format("isoloop plan {} --gpu {}{}", f.model, f.gpu,
                                        f.loop.empty() ? "" : fmt::format(" --loop '{}'", f.loop));
  if (!f.directory.empty())
    return fmt::format("Next: include {}/{} in a .cu file.", f.directory, header_name);
  if (f.against.empty())
    return fmt::format("Next: {} --against BASELINE sets a pair side by side.", given);
  return fmt::format("Next: {} shows every kernel with its launch.", given);
}

/// What was not planned, and why: GEMM shapes of the device, attention shapes of this plan.
void add_reasons(PlanView& view, const gpu::Device& device) {
  view.shapes = gpu::gemm_shapes(device, gpu::tensor_precision(view.plan.options.dtype));
  std::vector<gpu::AttentionProblem> seen;
  std::set<std::pair<std::string, std::string>> listed;
  for (const gpu::Kernel& k : view.plan.kernels) {
    const auto* launch = std::get_if<gpu::AttentionLaunch>(&k.detail);
    if (launch == nullptr || std::ranges::find(seen, launch->problem) != seen.end()) continue;
    seen.push_back(launch->problem);
    for (gpu::RejectedAttention& r : gpu::rejected_attention(device, launch->problem))
      if (listed.emplace(r.shape, r.reason).second) view.attention_shapes.push_back(std::move(r));
  }
}

/// The plan of what can be looped; the baseline of a pair stays as it is.
Answer plan_answer(const Flags& flags, gpu::Device device, const gpu::PlanOptions& options,
                   const Context& context) {
  const gpu::Planner planner =
      flags.plan.planning("", [&] { return gpu::Planner(device, options); });
  PlanView view{
      device, looped(load(flags.model, context).architecture, flags.loop), {}, {}, {}, {}, {}, {},
      {}};
  if (!flags.loop.empty()) view.architecture.name += "-" + flags.loop;
  std::replace(view.architecture.name.begin(), view.architecture.name.end(), ' ', '-');
  view.plan = flags.plan.planning(flags.model, [&] { return planner.plan(view.architecture); });
  if (!flags.against.empty()) {
    view.other = load(flags.against, context).architecture;
    view.baseline = flags.plan.planning(flags.against, [&] { return planner.plan(*view.other); });
  }
  view.advice = flags.plan.planning(
      flags.model, [&] { return gpu::advice(view.architecture, device, options); });
  if (flags.why) add_reasons(view, device);
  view.next = closing_line(flags);
  Answer answer;
  answer.document = plan_document(view);
  answer.json = json::pretty(plan_json(view));
  if (!flags.emit.empty()) {
    const std::string header =
        flags.plan.planning(flags.model, [&] { return gpu::cuda_header(view.plan, device); });
    write_folder(flags.directory, {{std::string(header_name), header}, {"plan.json", answer.json}},
                 context.common.force);
  }
  return answer;
}

void check_emit(const Flags& f) {
  if (f.emit.empty() && f.directory.empty()) return;
  const std::vector<std::string> known = {"cuda"};
  if (f.emit.empty())
    throw usage_error("says where, but not what to write", "-o", "add --emit cuda");
  if (f.emit != "cuda")
    throw unknown_name(ErrorKind::usage, "text to emit", f.emit, known, "--emit");
  if (f.directory.empty()) throw usage_error("needs a folder to write", "--emit", "add -o DIR");
}

/// --occupancy and --grid answer by themselves: what only a plan of ARCH uses is refused with them.
void refuse_beside(const Flags& f, const std::string& option) {
  const std::pair<bool, const char*> others[] = {
      {!f.model.empty(), "ARCH"},
      {!f.loop.empty(), "--loop"},
      {!f.against.empty(), "--against"},
      {!f.emit.empty(), "--emit"},
      {f.why, "--why"},
      {option == "--occupancy" && !f.grid.empty(), "--grid"}};
  for (const auto& [given, name] : others)
    if (given)
      throw usage_error(fmt::format("answers by itself and takes no {}", name), option,
                        "keep one of the two");
}

void declare_options(CLI::App& app, Flags& f) {
  app.add_option("ARCH", f.model, "File, - for stdin, or a built-in name");
  app.add_option("--gpu", f.gpu, "isoloop list gpus, or a device file")
      ->type_name("NAME|FILE.json");
  f.plan.declare(app);
  app.add_option("--loop", f.loop, "Loop its layers first, e.g. middle or 3+6x2+3")
      ->type_name("LOOP");
  app.add_option("--against", f.against, "Set it beside this architecture")->type_name("BASELINE");
  app.add_flag("--why", f.why, "List the launch shapes that were rejected, with reasons");
  app.add_option("--emit", f.emit, "cuda: shapes as constexpr structs, and kernels, into -o")
      ->type_name("cuda");
  app.add_option("-o,--directory", f.directory, "New folder for --emit")->type_name("DIR");
  app.add_option("--occupancy", f.occupancy,
                 "Blocks per SM of threads=,regs=,smem=[,static=,barriers=]")
      ->type_name("LIST");
  app.add_option("--grid", f.grid, "All cells of a published grid: isoloop list grids")
      ->type_name("NAME");
  app.add_option("--compute", f.compute,
                 "With --grid: budget of the gain (default: each cell's own)")
      ->type_name("FLOPS");
}

}  // namespace

Action declare_plan(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  declare_options(app, *flags);
  return [flags](Context& context) {
    const Flags& f = *flags;
    check_emit(f);
    if (!f.compute.empty() && f.grid.empty())
      throw usage_error("belongs to --grid", "--compute", "add --grid smelt");
    const gpu::Device device = device_of(f.gpu, context, "--gpu");
    if (!f.occupancy.empty()) {
      refuse_beside(f, "--occupancy");
      return occupancy_answer(f, device);
    }
    const gpu::PlanOptions options = f.plan.options();
    if (!f.grid.empty()) {
      refuse_beside(f, "--grid");
      if (!f.compute.empty() && options.phase != gpu::Phase::training)
        throw usage_error("is a budget of training", "--compute", "leave it out, or --phase");
      const double compute = f.compute.empty() ? 0 : budget(f.compute);
      return f.plan.planning(f.grid, [&] { return plan_grid(f.grid, device, options, compute); });
    }
    if (f.model.empty()) throw usage_error("ARCH is missing", "plan", "see isoloop plan --help");
    return plan_answer(f, device, options, context);
  };
}

}  // namespace isoloop::cli
