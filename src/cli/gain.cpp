// isoloop gain: the share of compute a target law saves against a reference law.
//
// Held by tests/cli/law_test.cpp; the numbers by tests/law/gain_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/gain_view.h"
#include "cli/law_view.h"

namespace isoloop::cli {
namespace {

using report::Align;
using report::Cell;
using report::Tone;

struct Flags {
  // As given; lists are read when the laws are known.
  std::string reference, target;
  std::string budgets = "1e20,1e21,1e22", sparsities;
};

std::string rounding_text(double rounding) {
  return rounding > 0 ? "± " + percent_text(rounding, 2) : "";
}

report::Table gain_table(const GainView& view) {
  const law::Gain& gain = view.gain;
  const auto& paper = view.paper;
  report::Table table;
  table.title = fmt::format("Compute saved by {} against {}", gain.target, gain.reference);
  table.columns = {{"C", "training FLOPs"},
                   {"S"},
                   {"gain"},
                   {"rounding"},
                   {"95 % interval", "", Align::left},
                   {"loss", "nats"},
                   {"reference needs", "training FLOPs"}};
  if (paper) {
    table.columns.push_back({"paper"});
    table.columns.push_back({"paper's interval", "", Align::left});
  }
  table.columns.push_back({"", "", Align::left});
  for (const law::GainRow& row : gain.rows) {
    std::vector<Cell> cells = {significant(row.compute),
                               significant(row.sparsity),
                               {percent_text(row.gain, 2), row.gain > 0 ? Tone::good : Tone::bad},
                               rounding_text(gain_rounding(view, row).total),
                               row.interval
                                   ? fmt::format("{} to {}", percent_text(row.interval->low),
                                                 percent_text(row.interval->high))
                                   : std::string(),
                               significant(row.loss),
                               significant(row.reference_compute)};
    if (paper) {
      const law::PublishedGain* p = printed(*paper, row);
      cells.push_back(p ? percent_text(p->gain) : std::string());
      cells.push_back(p ? fmt::format("{} to {}", percent_text(p->interval.low, 0),
                                      percent_text(p->interval.high, 0))
                        : std::string());
    }
    cells.push_back(row.extrapolated ? Cell(fmt::format("extrapolated, {} x the fitted budgets",
                                                        significant(row.over_window, 3)),
                                            Tone::warn)
                                     : Cell(""));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Table tpp_table(const GainView& view) {
  report::Table table;
  table.title = fmt::format("Compute-optimal tokens per parameter at {} FLOPs",
                            significant(view.tpp_compute));
  table.columns = {{"S"}};
  for (const law::Law* l : {&view.reference, &view.target}) {
    table.columns.push_back({l->name});
    if (view.paper) table.columns.push_back({"paper"});
  }
  for (const double s : view.sparsities) {
    std::vector<Cell> cells = {significant(s)};
    for (const law::Law* l : {&view.reference, &view.target}) {
      cells.push_back(fmt::format("{:.2f}", tokens_per_param(*l, s, view.tpp_compute)));
      if (!view.paper) continue;
      std::string text;
      for (const law::PublishedTpp& p : view.paper->tpp)
        if (p.law == l->name && std::abs(p.sparsity - s) < 1e-9)
          text = fmt::format("{:.0f}", p.tokens_per_param);
      cells.emplace_back(text);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// The coefficients whose rounding moves a gain most; "" if both laws are exact.
std::string rounding_lines(const GainView& view, const law::GainRow& row) {
  constexpr std::size_t most = 3;
  std::vector<law::RoundingLine> lines = gain_rounding(view, row).lines;
  std::stable_sort(lines.begin(), lines.end(), [](const auto& x, const auto& y) {
    return std::abs(x.change) > std::abs(y.change);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
    text += fmt::format("{}{} ± {}", text.empty() ? "" : ", ", lines[i].coefficient,
                        percent_text(std::abs(lines[i].change), 2));
  return text;
}

report::Facts shape_facts(const GainView& view) {
  report::Facts facts;
  for (const law::Law* l : {&view.reference, &view.target}) {
    const double s = view.sparsities.front(), budget = view.tpp_compute;
    facts.lines.emplace_back("gamma of " + l->name,
                             significant(law::frontier(*l, s, std::span(&budget, 1)).gamma, 8));
  }
  for (const law::GainShape& shape : view.gain.shapes) {
    std::string text = shape.peak_compute
                           ? fmt::format("peaks at {} with {}", significant(*shape.peak_compute, 3),
                                         percent_text(*shape.peak_gain))
                           : std::string("no peak");
    for (const double c : shape.sign_changes)
      text += fmt::format(", changes sign at {}", significant(c, 3));
    facts.lines.emplace_back(fmt::format("gain at S = {}", significant(shape.sparsity)), text);
  }
  const law::GainRow& middle = view.gain.rows[view.gain.rows.size() / 2];
  if (const std::string lines = rounding_lines(view, middle); !lines.empty())
    facts.lines.emplace_back(
        "most by rounding", fmt::format("{}, at C = {} and S = {}", lines,
                                        significant(middle.compute), significant(middle.sparsity)));
  return facts;
}

/// The paper's three, or 0 where neither law knows a sparsity.
std::vector<double> sparsities_under(const Flags& flags, const GainView& view) {
  const bool known = has_sparsity(view.reference) || has_sparsity(view.target);
  if (!known && flags.sparsities.empty()) return {0};
  return sparsities_of(flags.sparsities);
}

GainView view_of(const Flags& flags, const Context& context) {
  GainView view;
  view.reference = load_law(flags.reference, context);
  view.target = load_law(flags.target, context);
  if (view.reference.name == view.target.name) {
    view.reference.name += " (reference)";
    view.target.name += " (target)";
  }
  view.budgets = budgets_of(flags.budgets);
  view.sparsities = sparsities_under(flags, view);
  view.gain = law::gain(view.reference, view.target, view.sparsities, view.budgets);
  law::Published paper = law::published();
  view.tpp_compute = paper.tpp_compute;
  if (flags.reference == "baseline" && flags.target == "smelt") view.paper = std::move(paper);
  return view;
}

}  // namespace

Action declare_gain(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("REFERENCE", flags->reference, "Law: built-in name, file, or E=...,A=...,...")
      ->required();
  app.add_option("TARGET", flags->target, "Law whose budget C is")->required();
  app.add_option("--compute", flags->budgets, "Budgets C (default 1e20,1e21,1e22)")
      ->type_name("C,...");
  app.add_option("--sparsity", flags->sparsities, sparsity_help)->type_name("S,...");
  return [flags](Context& context) {
    const GainView view = view_of(*flags, context);
    Answer answer;
    auto& blocks = answer.document.blocks;
    blocks.emplace_back(gain_table(view));
    blocks.emplace_back(report::Paragraph{view.gain.side});
    blocks.emplace_back(shape_facts(view));
    blocks.emplace_back(tpp_table(view));
    add_warnings(view.gain.warnings, answer.document);
    answer.json = json::pretty(gain_json(view));
    return answer;
  };
}

}  // namespace isoloop::cli
