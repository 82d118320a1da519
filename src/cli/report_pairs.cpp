// Charts of pairs: budgets by row of the ledger, layer stacks, and where mismatches lie.
//
// Held by tests/cli/report_test.cpp: bars add up to the totals of isoloop count.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cli/report_parts.h"

namespace isoloop::cli {
namespace {

constexpr std::array budgets = {cost::Budget::flops, cost::Budget::params, cost::Budget::kv};
constexpr std::array<const char*, 3> budget_titles = {"training FLOPs per token", "parameters",
                                                      "KV cache, bytes per token"};

/// Contributions by name of row and budget, summed over segments; a row of one part has one name.
struct ByRow {
  std::vector<std::string> order;
  std::map<std::string, std::array<double, budgets.size()>> values;
};

ByRow by_row(const arch::Architecture& model, const cost::Options& options) {
  ByRow result;
  for (const cost::Row<Ratio>& row : cost::ledger(model, options)) {
    if (row.mtp) continue;
    std::array<double, budgets.size()> parts{};
    for (std::size_t b = 0; b < budgets.size(); ++b)
      parts[b] = cost::contribution(row, budgets[b], options).to_double();
    if (std::all_of(parts.begin(), parts.end(), [](double v) { return v == 0; })) continue;
    const auto [at, fresh] = result.values.emplace(row.name, parts);
    if (fresh)
      result.order.push_back(row.name);
    else
      for (std::size_t b = 0; b < budgets.size(); ++b) at->second[b] += parts[b];
  }
  return result;
}

/// Which blocks run together, several times. A schedule that repeats one run of segments is one
/// loop over them; any other schedule is drawn without.
std::vector<report::Repeat> repeats_of(const arch::Architecture& model) {
  std::vector<report::Repeat> repeats;
  for (std::size_t i = 0; i < model.segments.size(); ++i)
    if (model.segments[i].visits.forward != Ratio(1)) {
      const Ratio visits = model.segments[i].visits.forward;
      repeats.push_back({i, i, visits.is_integer() ? visits.str() : decimal(visits, 2)});
    }
  if (model.schedule.empty()) return repeats;
  std::map<std::string, std::size_t> times;
  for (const std::string& name : model.schedule) ++times[name];
  for (std::size_t i = 0; i < model.segments.size();) {
    const std::size_t n = times[model.segments[i].name];
    std::size_t end = i;
    while (end + 1 < model.segments.size() && times[model.segments[end + 1].name] == n) ++end;
    if (n > 1) repeats.push_back({i, end, std::to_string(n)});
    i = end + 1;
  }
  return repeats;
}

report::Stack stack_of(const Named& named) {
  report::Stack stack;
  stack.name = named.name;
  const arch::Architecture& m = named.model;
  stack.text = fmt::format("hidden {}, {} layers run", m.hidden, grouped(arch::effective_depth(m)));
  for (const arch::Segment& s : m.segments) {
    const std::string ffn = s.ffn.moe ? fmt::format("{} experts of {}, top-{}", s.ffn.experts,
                                                    s.ffn.expert_size, s.ffn.top_k)
                                      : fmt::format("FFN of {}", s.ffn.size);
    stack.blocks.push_back({s.name, static_cast<std::size_t>(s.layers),
                            fmt::format("{} heads, {}", s.attention.heads, ffn)});
  }
  stack.repeats = repeats_of(m);
  return stack;
}

}  // namespace

report::Chart budget_bars(std::string name, std::string title, const std::vector<Named>& models,
                          const cost::Options& options) {
  std::vector<ByRow> counted;
  report::Bars bars;
  for (const Named& m : models) {
    counted.push_back(by_row(m.model, options));
    bars.series.push_back(m.name);
    for (const std::string& row : counted.back().order)
      if (std::find(bars.categories.begin(), bars.categories.end(), row) == bars.categories.end())
        bars.categories.push_back(row);
  }
  for (std::size_t b = 0; b < budgets.size(); ++b) {
    report::Panel panel{budget_titles[b], "", {}};
    for (const ByRow& c : counted) {
      auto& series = panel.bars.emplace_back();
      for (const std::string& row : bars.categories) {
        const auto at = c.values.find(row);
        series.push_back({at == c.values.end() ? 0 : at->second[b]});
      }
    }
    bars.panels.push_back(std::move(panel));
  }
  const std::string note =
      fmt::format("Convention '{}'. Each panel adds up to a budget.", options.convention.name);
  return {std::move(name), std::move(title), note, std::move(bars)};
}

bool recounts(const Named& baseline, const Named& match, const Values& mismatch,
              const cost::Options& options, const Values& targets) {
  const std::vector<std::string> known = cost::budget_names();
  for (const auto& [name, stated] : mismatch) {
    if (std::find(known.begin(), known.end(), name) == known.end()) continue;
    const cost::Budget budget = cost::parse_budget(name, "mismatch");
    const double from =
        value_or(targets, name, 1) *
        cost::total(cost::ledger(baseline.model, options), budget, options).to_double();
    const double to = cost::total(cost::ledger(match.model, options), budget, options).to_double();
    if (from == 0 || std::abs((to - from) / from - stated) > 1e-9) return false;
  }
  return true;
}

report::Chart layer_stacks(std::string name, std::string title, const std::vector<Named>& models) {
  report::Stacks stacks;
  for (const Named& m : models) stacks.stacks.push_back(stack_of(m));
  return {std::move(name), std::move(title),
          "One slab per physical layer; × how often a block runs for each token.",
          std::move(stacks)};
}

bool add_pair(Page& page, const std::string& table, std::size_t row, const Named& baseline,
              const Named& match, const Values& mismatch, const cost::Options& options,
              const Values& targets) {
  const std::string word = chart_word(match.name);
  const bool same = recounts(baseline, match, mismatch, options, targets);
  const auto add = [&](report::Chart chart) {
    chart.table = table;
    chart.row = row;
    page.add(std::move(chart));
  };
  const std::string rows = std::to_string(row + 1);
  if (same)
    add(budget_bars(page.name("budgets-" + rows), fmt::format("Budgets by row: {}", match.name),
                    {baseline, match}, options));
  add(layer_stacks(page.name("layers-" + rows), fmt::format("Layers: {}", match.name),
                   {baseline, match}));
  return same;
}

void say_left_out(Page& page, const std::vector<std::string>& names) {
  if (!names.empty())
    page.add(report::Paragraph{
        fmt::format(
            "Budgets by row are left out for {}: recounting the models with the options that "
            "this page knows does not give the mismatch stated.",
            list_text(names)),
        report::Tone::warn});
}

report::Chart mismatch_plot(std::string name, const std::string& table,
                            const std::vector<MismatchPoint>& points, const Values& tolerance) {
  report::Plot plot;
  plot.x = {"training FLOPs, match over baseline", "%"};
  plot.y = {"parameters, match over baseline", "%"};
  const auto percent_of = [](double fraction) { return fraction * 100; };
  for (const MismatchPoint& p : points) {
    const double flops = value_or(p.mismatch, "flops", NAN),
                 params = value_or(p.mismatch, "params", NAN);
    if (std::isnan(flops) || std::isnan(params)) continue;
    series_of(plot, p.series)
        .points.push_back({percent_of(flops), percent_of(params), {}, p.label, p.row});
  }
  for (const bool vertical : {true, false}) {
    const double limit = percent_of(value_or(tolerance, vertical ? "flops" : "params", 0));
    if (limit <= 0) continue;
    plot.guides.push_back({vertical, -limit, ""});
    plot.guides.push_back({vertical, limit, vertical ? "" : "tolerance"});
  }
  return {std::move(name), "Where the matches lie within the tolerance", "", std::move(plot),
          table};
}

}  // namespace isoloop::cli
