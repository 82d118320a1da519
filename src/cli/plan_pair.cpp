// A pair of plans side by side: by kind, and kernel by kernel.
//
// Held by tests/cli/plan_test.cpp.
#include "cli/plan_pair.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/plan_view.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

/// Kernels of a plan by name and pass; the one that takes longest stands for its launch shape.
struct Summed {
  double ms = 0, most = 0;
  const gpu::Kernel* kernel = nullptr;
};
using Sums = std::map<std::pair<std::string, gpu::Pass>, Summed>;

Sums sums_of(const gpu::Plan& plan) {
  Sums sums;
  for (const gpu::Kernel& k : plan.kernels) {
    Summed& sum = sums[{std::string(k.name), k.pass}];
    const double ms = step_ms(plan, k).mid;
    sum.ms += ms;
    if (sum.kernel != nullptr && ms <= sum.most) continue;
    sum.most = ms;
    sum.kernel = &k;
  }
  return sums;
}

std::string ratio_text(double value, double over) {
  return over > 0 && value > 0 ? fmt::format("{:.3f}", value / over) : "";
}

void add_side(std::vector<Cell>& row, const Summed& sum) {
  if (sum.kernel == nullptr) {
    row.insert(row.end(), 4, Cell());
    return;
  }
  const gpu::Launch& l = sum.kernel->launch();
  const bool tiles = has_tiles(*sum.kernel);
  row.emplace_back(launch_text(*sum.kernel).tile);
  row.push_back(tiles ? efficiency_cell(l.tile_efficiency) : Cell());
  row.push_back(tiles ? efficiency_cell(l.wave_efficiency) : Cell());
  row.emplace_back(short_number(sum.ms));
}

/// Both sides of every kernel, in the order they run.
struct Joined {
  Sums::key_type key;
  Summed baseline, plan;
};

std::vector<Joined> joined(const gpu::Plan& baseline, const gpu::Plan& plan) {
  const Sums a = sums_of(baseline), b = sums_of(plan);
  Sums left = b;
  left.insert(a.begin(), a.end());
  const auto find = [](const Sums& sums, const Sums::key_type& key) {
    const auto at = sums.find(key);
    return at == sums.end() ? Summed{} : at->second;
  };
  std::vector<Joined> result;
  for (const gpu::Plan* source : {&plan, &baseline})
    for (const gpu::Kernel& k : source->kernels) {
      const Sums::key_type key{std::string(k.name), k.pass};
      if (left.erase(key) > 0) result.push_back({key, find(a, key), find(b, key)});
    }
  return result;
}

}  // namespace

report::Table side_by_side(const gpu::Plan& baseline, const gpu::Plan& plan) {
  report::Table table;
  table.title = fmt::format("Kernel by kernel: A is {}, B is {}", baseline.arch, plan.arch);
  table.columns = {{"kernel", "", Align::left},
                   {"pass", "", Align::left},
                   {"A: tile", "", Align::left},
                   {"tile eff."},
                   {"wave eff."},
                   {"A", "ms"},
                   {"B: tile", "", Align::left},
                   {"tile eff."},
                   {"wave eff."},
                   {"B", "ms"},
                   {"B / A"}};
  for (const Joined& j : joined(baseline, plan)) {
    std::vector<Cell> row = {j.key.first, pass_text(j.key.second)};
    add_side(row, j.baseline);
    add_side(row, j.plan);
    row.emplace_back(ratio_text(j.plan.ms, j.baseline.ms));
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Table pair_table(const gpu::Plan& baseline, const gpu::Plan& plan) {
  report::Table table;
  table.columns = {{"", "", Align::left}, {baseline.arch}, {plan.arch}, {"ratio"}};
  const auto a = gpu::time_by_kind(baseline), b = gpu::time_by_kind(plan);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].high > 0 || b[i].high > 0)
      table.rows.push_back({kind_text(static_cast<gpu::KernelKind>(i)) + ", ms", range_text(a[i]),
                            range_text(b[i]), ratio_text(b[i].mid, a[i].mid)});
  table.rules.push_back(table.rows.size());
  const gpu::StepRatio r = gpu::step_ratio(plan, baseline);
  table.rows.push_back(
      {Cell("step, ms", Tone::strong), range_text(baseline.step_ms), range_text(plan.step_ms),
       Cell(fmt::format("{:.3f} ({:.3f}–{:.3f})", r.mid, r.low, r.high), Tone::strong)});
  table.rows.push_back({"MFU", fmt::format("{:.1f} %", 100 * baseline.mfu),
                        fmt::format("{:.1f} %", 100 * plan.mfu),
                        ratio_text(plan.mfu, baseline.mfu)});
  table.rows.push_back({"tokens/s per GPU", short_number(baseline.tokens_per_s),
                        short_number(plan.tokens_per_s),
                        ratio_text(plan.tokens_per_s, baseline.tokens_per_s)});
  table.note = fmt::format(
      "Range of the ratio: each kind of kernel at its low or high end in both plans at once. If "
      "the "
      "errors of the two had nothing in common it would be {:.2f}–{:.2f}.",
      r.unshared_low, r.unshared_high);
  return table;
}

Json pair_json(const gpu::Plan& baseline, const gpu::Plan& plan) {
  Json j;
  const auto compared = [](double ms, double baseline_ms) {
    Json entry = {{"baseline_ms", baseline_ms}, {"ms", ms}, {"ratio", nullptr}};
    if (ms > 0 && baseline_ms > 0) entry["ratio"] = ms / baseline_ms;
    return entry;
  };
  const auto a = gpu::time_by_kind(baseline), b = gpu::time_by_kind(plan);
  for (std::size_t i = 0; i < a.size(); ++i)
    j["by_kind"][std::string(gpu::name(static_cast<gpu::KernelKind>(i)))] =
        compared(b[i].mid, a[i].mid);
  j["kernels"] = Json::array();
  for (const Joined& both : joined(baseline, plan)) {
    Json entry = {{"name", both.key.first}, {"pass", gpu::name(both.key.second)}};
    entry.update(compared(both.plan.ms, both.baseline.ms));
    j["kernels"].push_back(std::move(entry));
  }
  return j;
}

}  // namespace isoloop::cli
