// How a sweep is shown: its table, its sentences, its JSON.
//
// Held by tests/cli/sweep_test.cpp.
#include "cli/sweep_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/counting.h"
#include "cli/match_view.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

/// As everywhere else: "3+6x2+3". Of the answer where there is one: --free may have moved the loop.
std::string loop_of(const space::Member& m) {
  if (const solve::MatchAnswer* a = m.best()) return arch::loop_text(a->loop, a->depth);
  return arch::loop_text(arch::parse_loop(m.request.loop, m.shape.depth, "sweep"), m.shape.depth);
}

std::string sizes(const solve::MatchAnswer& a) {
  const arch::Segment& s = a.architecture.segments.front();
  const std::string heads =
      s.attention.kind == arch::AttentionKind::gqa
          ? fmt::format("{} × {} ({} kv)", s.attention.heads, s.attention.head_size,
                        s.attention.kv_heads)
          : fmt::format("{} (latent {})", s.attention.heads, s.attention.kv_rank);
  return heads;
}

/// The name, with what a control asks beyond the baseline.
std::string shown_name(const space::Member& m) {
  std::string text = m.name();
  for (const solve::BudgetTolerance& b : m.request.budgets)
    if (b.of_baseline != Ratio(1))
      text += fmt::format(" ({} x {})", cost::name(b.budget).name, b.of_baseline.str());
  return text;
}

Json member_json(const space::Member& m) {
  Json j;
  j["name"] = m.name();
  j["depth"] = m.shape.depth;
  j["span"] = m.shape.span;
  j["visits"] = m.shape.visits;
  j["loop"] = loop_of(m);
  if (m.control) j["control"] = std::string(space::name(*m.control));
  for (const solve::BudgetTolerance& b : m.request.budgets)
    if (b.of_baseline != Ratio(1))
      j["target_of_baseline"][std::string(cost::name(b.budget).name)] = fraction(b.of_baseline);
  if (m.control)
    j["mismatch_relative_to"] = "baseline times target_of_baseline, 1 where none is given";
  j["within_tolerance"] = m.within();
  j["optimal"] = true;
  j["space"] = certificate_json(m.result.certificate);
  if (const solve::MatchAnswer* a = m.best()) {
    j["arch"] = arch_json(a->architecture);
    for (std::size_t i = 0; i < a->mismatch.size(); ++i)
      j["mismatch"][std::string(cost::name(m.request.budgets[i].budget).name)] =
          fraction(a->mismatch[i]);
    j["max_mismatch"] = fraction(a->largest);
  }
  if (!m.within()) j["binding"] = m.result.binding;
  if (m.published)
    j["published"] = {{"val_loss", m.published->val_loss},
                      {"dclm_core", m.published->core},
                      {"dclm_core_se", m.published->core_error},
                      {"dclm_completion", m.published->completion_loss}};
  return j;
}

std::vector<const space::Member*> missing(const std::vector<Swept>& all) {
  std::vector<const space::Member*> result;
  for (const Swept& swept : all)
    for (const space::Member& m : swept.members)
      if (!m.within()) result.push_back(&m);
  return result;
}

/// "kv=4.2%": the tolerances that admit every nearest miss; empty where there is none.
std::string admitting(const std::vector<const space::Member*>& members) {
  std::map<cost::Budget, Ratio> needed;
  for (const space::Member* m : members)
    if (const solve::MatchAnswer* a = m->best())
      for (std::size_t i = 0; i < a->mismatch.size(); ++i) {
        const solve::BudgetTolerance& b = m->request.budgets[i];
        if (const Ratio off = abs(a->mismatch[i]); off > b.tolerance)
          needed[b.budget] = std::max(needed[b.budget], off);
      }
  std::string text;
  for (const auto& [budget, off] : needed)
    text += fmt::format("{}{}={}%", text.empty() ? "" : ",", cost::name(budget).name,
                        decimal(Ratio(ceil(off * Ratio(1000))) / Ratio(10), 1));
  return text;
}

std::string summary(const std::vector<Swept>& all) {
  std::size_t within = 0, members = 0;
  for (const Swept& swept : all)
    for (const space::Member& m : swept.members) {
      ++members;
      within += m.within() ? 1 : 0;
    }
  return fmt::format("{} of {} members within tolerance ({}).", within, members,
                     tolerance_text(all.front().members.front().request.budgets));
}

/// What misses, and what to do about it.
std::string missing_text(const std::vector<Swept>& all, bool written) {
  const std::vector<const space::Member*> members = missing(all);
  std::string names;
  for (const space::Member* m : members) {
    const std::string baseline = all.size() > 1 ? m->request.baseline.name + "-" : "";
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", baseline, m->name());
  }
  const std::string tolerance = admitting(members);
  return fmt::format(
      "{} member{} outside tolerance{}: {}. {}--free KEY, e.g. --free top-k, searches a larger "
      "space.",
      members.size(), members.size() == 1 ? " is" : "s are",
      written ? " and not written" : ", which -o would not write", names,
      tolerance.empty() ? ""
                        : fmt::format("--tol {} admits the nearest misses shown; ", tolerance));
}

}  // namespace

report::Table members_table(const Swept& swept) {
  const bool published = swept.members.front().published.has_value();
  report::Table table;
  table.title = fmt::format("{}{}", swept.baseline().name,
                            swept.sparsity.empty() ? "" : ", S = " + swept.sparsity);
  table.columns = {{"member", "", Align::left},
                   {"loop", "", Align::left},
                   {"depth"},
                   {"executed"},
                   {"hidden"},
                   {"heads", "", Align::left},
                   {"experts"},
                   {"expert size"},
                   {"top k"}};
  for (const solve::BudgetTolerance& b : swept.members.front().request.budgets)
    table.columns.push_back({std::string(cost::name(b.budget).name)});
  table.columns.push_back({"", "", Align::left});
  if (published)
    for (const char* title : {"paper: loss", "core", "completion"})
      table.columns.push_back({title});
  for (const space::Member& m : swept.members) {
    std::vector<Cell> row = {shown_name(m), loop_of(m), std::to_string(m.shape.depth),
                             std::to_string(m.shape.depth + (m.shape.visits - 1) * m.shape.span)};
    if (const solve::MatchAnswer* a = m.best()) {
      const auto moe =
          std::find_if(a->architecture.segments.begin(), a->architecture.segments.end(),
                       [](const arch::Segment& s) { return s.ffn.moe; });
      const bool has = moe != a->architecture.segments.end();
      row.insert(row.end(), {std::to_string(a->architecture.hidden), sizes(*a),
                             has ? std::to_string(moe->ffn.experts) : "",
                             std::to_string(has ? moe->ffn.expert_size
                                                : a->architecture.segments.front().ffn.size),
                             has ? std::to_string(moe->ffn.top_k) : ""});
      for (std::size_t i = 0; i < a->mismatch.size(); ++i)
        row.push_back(
            {percent(a->mismatch[i], 3),
             abs(a->mismatch[i]) <= m.request.budgets[i].tolerance ? Tone::plain : Tone::bad});
      row.push_back(m.within() ? Cell("ok", Tone::good)
                               : Cell("nearest miss: " + m.result.binding, Tone::bad));
    } else {
      row.resize(table.columns.size() - (published ? 4 : 1));
      row.push_back({"impossible", Tone::bad});
    }
    if (published && !m.published)
      row.insert(row.end(), 3, "");
    else if (published)
      row.insert(row.end(),
                 {m.published->val_loss, m.published->core + " ± " + m.published->core_error,
                  m.published->completion_loss});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<report::Paragraph> sweep_remarks(const std::vector<Swept>& all, bool written) {
  std::vector<report::Paragraph> result = {{summary(all), Tone::strong}};
  if (!missing(all).empty()) result.push_back({missing_text(all, written), Tone::warn});
  const bool controls = std::any_of(all.begin(), all.end(), [](const Swept& swept) {
    return std::any_of(swept.members.begin(), swept.members.end(),
                       [](const space::Member& m) { return m.control.has_value(); });
  });
  if (controls)
    result.push_back(
        {"Controls are unlooped. Their mismatch is relative to the baseline's budgets; "
         "params of control-params to the baseline's times the factor shown."});
  return result;
}

Json series_json(const Swept& swept) {
  Json s;
  s["baseline"] = arch_json(swept.baseline());
  if (!swept.sparsity.empty()) s["sparsity"] = swept.sparsity;
  for (const space::Member& m : swept.members) s["members"].push_back(member_json(m));
  return s;
}

Json missing_json(const std::vector<Swept>& all) {
  Json result = Json::array();
  for (const space::Member* m : missing(all))
    result.push_back({{"baseline", m->request.baseline.name},
                      {"name", m->name()},
                      {"binding", m->result.binding}});
  return result;
}

}  // namespace isoloop::cli
