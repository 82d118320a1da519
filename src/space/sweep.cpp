// Sweeps: one baseline matched at many loop shapes.
//
// Held by tests/space/sweep_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "isoloop/space.h"

namespace isoloop::space {
namespace {

constexpr std::string_view folder = "sweeps/";

Shape normal(Shape shape) {
  if (shape.span == 0 || shape.visits == 1) return {shape.depth, 0, 1, 0};
  if (shape.start == arch::centred_first(shape.depth, shape.span)) shape.start = 0;
  return shape;
}

bool exists(const Shape& shape) {
  return shape.span <= shape.depth && shape.span >= 0 && shape.visits >= 1 &&
         (shape.start == 0 || shape.start + shape.span - 1 <= shape.depth);
}

std::vector<std::int64_t> or_usual(const std::vector<std::int64_t>& axis, std::int64_t usual) {
  return axis.empty() ? std::vector<std::int64_t>{usual} : axis;
}

std::vector<std::int64_t> starts_of(const Axes& axes, const Shape& shape) {
  if (!axes.all_starts) return or_usual(axes.starts, 0);
  std::vector<std::int64_t> result;
  for (std::int64_t first = 1; first + shape.span - 1 <= shape.depth; ++first)
    result.push_back(first);
  return result;
}

std::string loop_grammar(const Shape& shape) {
  if (shape.span == 0) return "none";
  const std::int64_t first =
      shape.start > 0 ? shape.start : arch::centred_first(shape.depth, shape.span);
  return fmt::format("{}-{}x{}", first, first + shape.span - 1, shape.visits);
}

Published read_published(const nlohmann::json& entry) {
  return {entry.at("val_loss"), entry.at("dclm_core"), entry.at("dclm_core_se"),
          entry.at("dclm_completion")};
}

NamedSweep read_sweep(const nlohmann::json& entry, const std::string& source) {
  NamedSweep sweep{entry.at("name"), entry.at("title"), source, {}};
  for (const auto& s : entry.at("series")) {
    Series series{s.at("baseline"), s.at("sparsity"), {}};
    for (const auto& m : s.at("members"))
      series.members.emplace_back(normal({m.at("depth"), m.at("span"), m.at("visits"), 0}),
                                  read_published(m.at("published")));
    sweep.series.push_back(std::move(series));
  }
  return sweep;
}

std::vector<NamedSweep> all_sweeps() {
  std::vector<NamedSweep> result;
  for (const DataFile& file : data_files()) {
    if (!file.path.starts_with(folder)) continue;
    const auto document = nlohmann::json::parse(file.text);
    for (const auto& entry : document.at("sweeps"))
      result.push_back(read_sweep(entry, document.at("source")));
  }
  return result;
}

}  // namespace

const solve::MatchAnswer* Member::best() const {
  if (!result.answers.empty()) return &result.answers.front();
  return result.nearest ? &*result.nearest : nullptr;
}

std::string_view name(Control control) {
  return control == Control::experts ? "control-experts" : "control-params";
}

std::string Member::name() const {
  if (control) return std::string(space::name(*control));
  if (shape.span == 0) return fmt::format("d{}-plain", shape.depth);
  const std::string at = shape.start > 0 ? fmt::format("@{}", shape.start) : "";
  return fmt::format("d{}-s{}x{}{}", shape.depth, shape.span, shape.visits, at);
}

Member member(const solve::MatchRequest& request, const Shape& given,
              std::optional<Published> published) {
  Member m{normal(given), std::move(published), request, {}};
  m.request.loop = loop_grammar(m.shape);
  m.request.fixed[solve::Unknown::depth] = m.shape.depth;
  m.request.remedies = false;
  return m;
}

std::optional<Member> control(const Member& looped, Control kind) {
  const solve::MatchAnswer* answer = looped.best();
  if (answer == nullptr || looped.shape.span == 0) return std::nullopt;
  const std::int64_t depth = arch::depth(looped.request.baseline);
  Member m = member(looped.request, {depth, 0, 1, 0});
  m.control = kind;
  if (kind == Control::experts) {
    const auto experts = answer->values.find(solve::Unknown::experts);
    if (experts == answer->values.end()) return std::nullopt;
    m.request.fixed[solve::Unknown::experts] = experts->second;
    // At equal parameters and FLOPs more experts are finer ones, of which more are chosen.
    const std::int64_t base = answer->values.at(solve::Unknown::top_k);
    m.request.fixed.erase(solve::Unknown::top_k);
    m.request.freed[solve::Unknown::top_k] = solve::Range{base, std::min(2 * base, experts->second), 1};
    return m;
  }
  if (m.request.budgets.empty()) m.request.budgets = solve::default_budgets();
  const auto params = std::find_if(
      m.request.budgets.begin(), m.request.budgets.end(),
      [](const solve::BudgetTolerance& b) { return b.budget == cost::Budget::params; });
  if (params == m.request.budgets.end()) return std::nullopt;
  params->of_baseline = arch::effective_depth(answer->architecture) / Ratio(depth);
  return m;
}

std::vector<Member> members(const solve::MatchRequest& request, const Axes& axes) {
  const std::int64_t base_depth = arch::depth(request.baseline);
  std::vector<Shape> shapes;
  for (const std::int64_t depth : or_usual(axes.depths, base_depth)) {
    const arch::Loop usual = arch::parse_loop(request.loop, depth, "--loop");
    for (const std::int64_t span : or_usual(axes.spans, usual.span))
      for (const std::int64_t visits : or_usual(axes.visits, usual.visits))
        for (const std::int64_t start : starts_of(axes, {depth, span, visits, 0}))
          if (const Shape shape = normal({depth, span, visits, start});
              exists(shape) && std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
            shapes.push_back(shape);
  }
  if (shapes.empty())
    throw usage_error("no loop shape of the sweep exists", "--span, --depth, --start",
                      fmt::format("spans go from 0 to the depth ({} in the baseline)", base_depth));
  std::vector<Member> result;
  for (const Shape& shape : shapes) result.push_back(member(request, shape));
  return result;
}

void run(std::vector<Member>& members, const std::function<void(std::size_t)>& progress) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (progress) progress(i);
    members[i].result = solve::match(members[i].request);
  }
}

std::vector<std::string> sweep_names() {
  std::vector<std::string> names;
  for (const NamedSweep& sweep : all_sweeps()) names.push_back(sweep.name);
  return names;
}

NamedSweep load_sweep(std::string_view name, std::string_view where) {
  for (NamedSweep& sweep : all_sweeps())
    if (sweep.name == name) return std::move(sweep);
  throw unknown_name(ErrorKind::usage, "sweep", name, sweep_names(), where);
}

}  // namespace isoloop::space
