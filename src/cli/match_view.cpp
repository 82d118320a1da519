// Views of a match.
//
// Held by tests/cli/match_test.cpp.
#include "cli/match_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/counting.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pair_folder.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

std::string budget_label(cost::Budget budget) { return std::string(cost::name(budget).name); }

std::string loop_label(const solve::MatchAnswer& a) {
  return a.loop.span == 0 ? "none" : arch::loop_text(a.loop, a.depth);
}

/// "1, 2, 4, 8, 16", shortened where it is long.
std::string irregular(const std::vector<std::int64_t>& values) {
  constexpr std::ptrdiff_t shown = 8;
  if (std::ssize(values) <= shown) return fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("{}, …, {}", fmt::join(values.begin(), values.begin() + shown - 1, ", "), values.back());
}

Cell mismatch_cell(const Ratio& mismatch, const Ratio& tolerance) {
  return {percent(mismatch, 3), abs(mismatch) <= tolerance ? Tone::good : Tone::bad};
}

/// Unknowns that vary between architectures and that the baseline has.
std::vector<solve::Unknown> shown_unknowns(const solve::MatchAnswer& a) {
  std::vector<solve::Unknown> result;
  for (const auto& [unknown, value] : a.values)
    if (unknown != solve::Unknown::loop_start && unknown != solve::Unknown::loop_span &&
        unknown != solve::Unknown::loop_visits)
      result.push_back(unknown);
  return result;
}

struct Priced {
  const space::PricedRequest& request;
  const space::PricedResult& result;
};

Tone price_tone(const Priced& priced, std::size_t answer, std::size_t price) {
  Tone tone = Tone::plain;
  for (const space::Requirement& r : priced.request.require)
    if (r.key == priced.request.prices[price].key)
      tone = priced.result.values[answer][price].mid <= r.at_most ? Tone::good : Tone::bad;
  return tone;
}

report::Table answers_table(const solve::MatchRequest& r, const solve::MatchResult& result,
                            const std::vector<solve::MatchAnswer>& answers,
                            const Priced& priced) {
  report::Table table;
  table.columns = {{"", "", Align::left}, {"loop", "", Align::left}};
  const std::vector<solve::Unknown> unknowns = shown_unknowns(answers.front());
  for (const solve::Unknown u : unknowns) {
    std::string title(solve::name(u));
    std::replace(title.begin(), title.end(), '-', ' ');
    table.columns.push_back({title});
  }
  for (const solve::BudgetTolerance& b : result.budgets) table.columns.push_back({budget_label(b.budget)});
  std::vector<Cell> base = {"baseline"};
  const auto own = arch::loop_of(r.baseline);
  base.emplace_back(own && own->span > 0 ? arch::loop_text(*own, arch::depth(r.baseline)) : "none");
  for (const solve::Unknown u : unknowns) base.emplace_back(std::to_string(baseline_value(r.baseline, u)));
  for (std::size_t i = 0; i < result.budgets.size(); ++i) base.emplace_back("");
  for (const space::Price& price : priced.request.prices) {
    table.columns.push_back({price.key, price.unit});
    base.emplace_back(price_text(price.baseline));
  }
  table.rows.push_back(std::move(base));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const solve::MatchAnswer& a = answers[i];
    std::vector<Cell> row = {Cell(result.answers.empty() ? "nearest miss" : fmt::format("answer {}", i + 1), Tone::strong),
                             loop_label(a)};
    for (const solve::Unknown u : unknowns) row.emplace_back(std::to_string(a.values.at(u)));
    for (std::size_t b = 0; b < result.budgets.size(); ++b)
      row.push_back(mismatch_cell(a.mismatch[b], result.budgets[b].tolerance));
    for (std::size_t p = 0; p < priced.request.prices.size(); ++p)
      row.push_back({price_text(priced.result.values.at(i)[p]), price_tone(priced, i, p)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Table budgets_table(const solve::MatchResult& result, const solve::MatchAnswer& a) {
  report::Table table;
  table.columns = {{"budget", "", Align::left}, {"baseline"}, {result.answers.empty() ? "nearest miss" : "answer 1"},
                   {"mismatch"}, {"tolerance"}, {"what", "", Align::left}};
  for (std::size_t i = 0; i < result.budgets.size(); ++i) {
    const cost::BudgetName b = cost::name(result.budgets[i].budget);
    const Ratio value = result.targets[i] * (Ratio(1) + a.mismatch[i]);
    table.rows.push_back({std::string(b.name), grouped(result.targets[i]), grouped(value),
                          mismatch_cell(a.mismatch[i], result.budgets[i].tolerance),
                          decimal(result.budgets[i].tolerance * Ratio(100), 2) + " %",
                          std::string(b.meaning)});
  }
  return table;
}

/// Domains without depth and loop where these have one value, which the loop's line says.
auto searched(const solve::MatchResult& result) {
  auto domains = result.domains;
  std::erase_if(domains, [](const auto& d) {
    const solve::Unknown unknown = solve::parse_unknown(d.first, "domains");
    return d.second.size() == 1 && unknown >= solve::Unknown::depth;
  });
  return domains;
}

report::Facts assumptions(const solve::MatchRequest& r, const solve::MatchResult& result) {
  report::Facts facts;
  facts.lines.emplace_back("loop", r.loop);
  facts.lines.emplace_back("alignment", fmt::format("{} ({})", r.alignment.name,
                                                    solve::alignment_text(r.alignment)));
  for (const auto& [name, domain] : searched(result)) facts.lines.emplace_back(name, list_of(domain));
  for (const std::string& rule : result.assumptions) facts.lines.emplace_back("rule", rule);
  return facts;
}

report::Table residual_table(const solve::MatchRequest& r, const solve::MatchAnswer& a) {
  report::Table table;
  table.title = "FLOPs mismatch under every convention";
  for (const auto& [name, residual] : residual_by_convention(r.baseline, a.architecture, r.options)) {
    table.columns.push_back({name});
    if (table.rows.empty()) table.rows.emplace_back();
    table.rows.front().emplace_back(percent(residual, 2));
  }
  return table;
}

/// Something is within tolerance, but a requirement refuses all of it.
void add_refused(const Priced& priced, report::Document& d) {
  for (const space::Requirement& r : priced.request.require)
    if (r.key == priced.result.match.binding)
      d.blocks.emplace_back(report::Paragraph{
          fmt::format("Architectures are within tolerance, but none of them has {} of at most {:g}; "
                      "the nearest is shown.", r.key, r.at_most),
          Tone::bad});
}

void add_infeasible(const solve::MatchResult& result, report::Document& d) {
  d.blocks.emplace_back(report::Paragraph{
      fmt::format("No architecture is within tolerance; the budget that binds is {}.", result.binding),
      Tone::bad});
  if (result.remedies.empty()) {
    d.blocks.emplace_back(report::Paragraph{"No single change of alignment, tolerance or freedom helps."});
    return;
  }
  report::Table table;
  table.title = "Smallest single changes that make it possible, each solved again";
  table.columns = {{"add", "", Align::left}, {"leads to", "", Align::left}, {"largest mismatch"}};
  for (const solve::Remedy& remedy : result.remedies)
    table.rows.push_back({remedy.option, shape_text(remedy.answer.architecture),
                          percent(remedy.answer.largest, 3)});
  d.blocks.emplace_back(std::move(table));
}

Json answer_json(const solve::MatchRequest& r, const solve::MatchResult& result,
                 const solve::MatchAnswer& a) {
  Json j;
  j["arch"] = arch_json(a.architecture);
  j["loop"] = loop_label(a);
  for (std::size_t i = 0; i < result.budgets.size(); ++i)
    j["mismatch"][budget_label(result.budgets[i].budget)] = fraction(a.mismatch[i]);
  j["max_mismatch"] = fraction(a.largest);
  j["within_tolerance"] = a.within;
  for (const auto& [name, residual] : residual_by_convention(r.baseline, a.architecture, r.options))
    j["residual_by_convention"][name] = fraction(residual);
  return j;
}

}  // namespace

std::int64_t baseline_value(const arch::Architecture& b, solve::Unknown unknown) {
  using solve::Unknown;
  const auto with = [&](bool moe) -> const arch::Segment& {
    for (const arch::Segment& s : b.segments)
      if (s.ffn.moe == moe) return s;
    return b.segments.front();
  };
  switch (unknown) {
    case Unknown::hidden: return b.hidden;
    case Unknown::heads: return b.segments.front().attention.heads;
    case Unknown::kv_heads: return b.segments.front().attention.kv_heads;
    case Unknown::head_size: return b.segments.front().attention.head_size;
    case Unknown::kv_rank: return b.segments.front().attention.kv_rank;
    case Unknown::expert_size: return with(true).ffn.expert_size;
    case Unknown::experts: return with(true).ffn.experts;
    case Unknown::shared_size: return with(true).ffn.shared_size;
    case Unknown::top_k: return with(true).ffn.top_k;
    case Unknown::ffn_size: return with(false).ffn.size;
    default: return arch::depth(b);
  }
}

std::string price_text(const space::Predicted& p) {
  if (!std::isfinite(p.mid)) return "–";
  if (p.low == p.high) return fmt::format("{:.4f}", p.mid);
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", p.mid, p.low, p.high);
}

std::string list_of(const std::vector<std::int64_t>& values) {
  if (values.size() == 1) return std::to_string(values.front());
  const std::int64_t step = values[1] - values[0];
  for (std::size_t i = 2; i < values.size(); ++i)
    if (values[i] - values[i - 1] != step) return irregular(values);
  return fmt::format("{}–{}{}", values.front(), values.back(),
                     step == 1 ? "" : fmt::format(" step {}", step));
}

std::string certificate_text(const solve::Certificate& c) {
  std::string text = fmt::format("{} points, {} counted, {} nodes", grouped(Ratio(c.points)),
                                 grouped(Ratio(c.visited)), grouped(Ratio(c.nodes)));
  std::string pruned;
  for (const auto& [by, points] : c.pruned)
    if (points != Int(0))
      pruned += fmt::format("{}{} {}", pruned.empty() ? "" : " · ", by, scaled(Ratio(points)));
  return pruned.empty() ? text : text + "; cut off by " + pruned;
}

Json certificate_json(const solve::Certificate& c) {
  Json j;
  j["points"] = c.points.str();
  j["visited"] = c.visited.str();
  j["nodes"] = c.nodes.str();
  j["pruned"] = Json::object();
  for (const auto& [by, points] : c.pruned) j["pruned"][by] = points.str();
  return j;
}

std::vector<std::pair<std::string, Ratio>> residual_by_convention(const arch::Architecture& baseline,
                                                                  const arch::Architecture& match,
                                                                  const cost::Options& options) {
  std::vector<std::pair<std::string, Ratio>> result;
  for (const convention::Convention& c : convention::all()) {
    cost::Options o = options;
    o.convention = c;
    const auto flops = [&](const arch::Architecture& model) {
      return cost::total(cost::ledger(model, o), cost::Budget::flops, o);
    };
    const Ratio base = flops(baseline);
    result.emplace_back(c.name, (flops(match) - base) / base);
  }
  return result;
}

Json arch_json(const arch::Architecture& model) { return Json::parse(arch::to_json(model)); }

report::Facts price_facts(const Priced& priced) {
  report::Facts facts;
  for (const space::Price& price : priced.request.prices)
    facts.lines.emplace_back(price.key, price.meaning);
  if (priced.result.priced > 0)
    facts.lines.emplace_back(
        "priced", fmt::format("{} evaluations, those the ranking came down to{}", priced.result.priced,
                              priced.result.without == 0
                                  ? ""
                                  : fmt::format("; {} without a prediction", priced.result.without)));
  return facts;
}

report::Document match_document(const space::PricedRequest& request,
                                const space::PricedResult& priced_result,
                                const std::string& argument, bool written) {
  const Priced priced{request, priced_result};
  const solve::MatchRequest& r = request.match;
  const solve::MatchResult& result = priced_result.match;
  report::Document d;
  const bool found = !result.answers.empty();
  d.blocks.emplace_back(report::Heading{fmt::format("{}: {}", r.baseline.name, shape_text(r.baseline))});
  if (!found && !result.nearest) {
    d.blocks.emplace_back(report::Paragraph{
        priced_result.within_budgets
            ? fmt::format(
                  "Architectures are within tolerance, but none of them has {}: it cannot be "
                  "predicted for any.",
                  result.binding)
            : "No architecture satisfies the rules at all, whatever the tolerance.",
        Tone::bad});
    if (!request.prices.empty()) d.blocks.emplace_back(price_facts(priced));
    d.blocks.emplace_back(assumptions(r, result));
    return d;
  }
  const std::vector<solve::MatchAnswer> answers =
      found ? result.answers : std::vector<solve::MatchAnswer>{*result.nearest};
  d.blocks.emplace_back(answers_table(r, result, answers, priced));
  d.blocks.emplace_back(budgets_table(result, answers.front()));
  if (!found && priced_result.within_budgets)
    add_refused(priced, d);
  else if (!found)
    add_infeasible(result, d);
  d.blocks.emplace_back(report::Facts{
      {{"proof", fmt::format("{}: {}", found ? "nothing in the space is better"
                                    : priced_result.within_budgets ? "nothing in the space is within tolerance and requirement"
                                    : "nothing in the space is within tolerance",
                             certificate_text(result.certificate))}}});
  if (!request.prices.empty()) d.blocks.emplace_back(price_facts(priced));
  d.blocks.emplace_back(residual_table(r, answers.front()));
  d.blocks.emplace_back(report::Heading{"Assumed (change with --loop, --align, --fix, --free, --gqa, "
                                        "--square, --attention-ratio, --min-head, --expert-ratio)"});
  d.blocks.emplace_back(assumptions(r, result));
  std::string next = fmt::format("FLOPs under convention '{}' at context {}.", r.options.convention.name,
                                 r.options.context);
  if (!found)
    next += written ? " Nothing was written." : "";
  else if (written)
    next += " Next: isoloop check pairs.json in the folder written.";
  else
    next += fmt::format(" Next: isoloop match {} -o DIR writes the configs and a pairs.json for "
                        "isoloop check; --top 3 shows alternatives.", argument);
  d.blocks.emplace_back(report::Paragraph{next, Tone::dim});
  return d;
}

Json predicted_json(const space::Predicted& p) {
  if (!std::isfinite(p.mid)) return nullptr;
  return {{"low", p.low}, {"mid", p.mid}, {"high", p.high}};
}

void add_prices(const Priced& priced, Json& j) {
  if (priced.request.prices.empty()) return;
  for (const space::Price& price : priced.request.prices)
    j["prices"].push_back({{"key", price.key}, {"unit", price.unit}, {"meaning", price.meaning},
                           {"baseline", predicted_json(price.baseline)}});
  j["require"] = Json::object();
  for (const space::Requirement& r : priced.request.require) j["require"][r.key] = r.at_most;
  j["priced"] = priced.result.priced;
  j["without_prediction"] = priced.result.without;
  const auto add_values = [&](std::size_t i, Json& answer) {
    for (std::size_t p = 0; p < priced.request.prices.size(); ++p)
      answer["prices"][priced.request.prices[p].key] = predicted_json(priced.result.values[i][p]);
  };
  for (std::size_t i = 0; i < j["answers"].size(); ++i) add_values(i, j["answers"][i]);
  if (j["answers"].empty() && !j["nearest"].is_null() && !priced.result.values.empty())
    add_values(0, j["nearest"]);
}

Json match_json(const space::PricedRequest& request, const space::PricedResult& priced_result) {
  const solve::MatchRequest& r = request.match;
  const solve::MatchResult& result = priced_result.match;
  Json j;
  j["schema"] = "isoloop/match/v1";
  j["baseline"] = arch_json(r.baseline);
  add_counting(j, r.options);
  for (std::size_t i = 0; i < result.budgets.size(); ++i) {
    const std::string name = budget_label(result.budgets[i].budget);
    j["budget"][name] = number(result.targets[i]);
    j["tolerance"][name] = fraction(result.budgets[i].tolerance);
  }
  j["alignment"] = solve::alignment_text(r.alignment);
  j["assumptions"] = result.assumptions;
  for (const auto& [name, domain] : searched(result)) j["domains"][name] = list_of(domain);
  j["space"] = certificate_json(result.certificate);
  j["optimal"] = true;
  j["answers"] = Json::array();
  for (const solve::MatchAnswer& a : result.answers) j["answers"].push_back(answer_json(r, result, a));
  if (!result.answers.empty()) {
    add_prices({request, priced_result}, j);
    return j;
  }
  j["nearest"] = result.nearest ? answer_json(r, result, *result.nearest) : Json(nullptr);
  j["binding"] = result.binding;
  j["remedies"] = Json::array();
  for (const solve::Remedy& remedy : result.remedies)
    j["remedies"].push_back({{"kind", remedy.kind},
                             {"option", remedy.option},
                             {"answer", answer_json(r, result, remedy.answer)}});
  add_prices({request, priced_result}, j);
  return j;
}

std::map<std::string, std::string> match_files(const solve::MatchRequest& r,
                                               const solve::MatchResult& result) {
  PairFolder folder(r.options, result.budgets);
  const std::string baseline = folder.add("baseline.json", r.baseline);
  for (std::size_t i = 0; i < result.answers.size(); ++i)
    folder.pair(fmt::format("answer {}", i + 1), baseline,
                folder.add(fmt::format("answer-{}.json", i + 1), result.answers[i].architecture));
  return folder.files();
}

}  // namespace isoloop::cli
