// isoloop gain: the share of compute a target law saves against a reference law.
//
// Held by tests/cli/law_test.cpp; the numbers by tests/law/gain_test.cpp.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/law_view.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

struct Flags {
  std::string reference, target;
  std::string budgets = "1e20,1e21,1e22", sparsities = "0.85,0.95,0.97";
};

/// What the paper prints for a row, where both laws are the paper's.
const law::PublishedGain* printed(const law::Published& paper, const law::GainRow& row) {
  for (const law::PublishedGain& p : paper.gains)
    if (std::abs(p.compute / row.compute - 1) < 1e-9 && std::abs(p.sparsity - row.sparsity) < 1e-9)
      return &p;
  return nullptr;
}

/// How far the gain of a row may be off because coefficients are printed with few digits; 0 if
/// exact.
double rounding_of(const law::Law& reference, const law::Law& target, const law::GainRow& row) {
  if (!law::is_rounded(reference) && !law::is_rounded(target)) return 0;
  const std::vector<law::Law> laws = {reference, target};
  return law::rounding(laws,
                       [&](std::span<const law::Law> moved) {
                         const std::vector<double> sparsity = {row.sparsity},
                                                   budget = {row.compute};
                         return law::gain(moved[0], moved[1], sparsity, budget).rows.front().gain;
                       })
      .total;
}

std::string rounding_text(double rounding) {
  return rounding > 0 ? "± " + percent_text(rounding, 2) : "";
}

report::Table gain_table(const law::Gain& gain, const law::Law& reference, const law::Law& target,
                         const law::Published* paper) {
  report::Table table;
  table.title = fmt::format("Compute saved by {} against {}", gain.target, gain.reference);
  table.columns = {{"C", "training FLOPs"},
                   {"S"},
                   {"gain"},
                   {"rounding"},
                   {"95 % interval", "", Align::left},
                   {"loss", "nats"},
                   {"reference needs", "training FLOPs"}};
  if (paper != nullptr) {
    table.columns.push_back({"paper"});
    table.columns.push_back({"paper's interval", "", Align::left});
  }
  table.columns.push_back({"", "", Align::left});
  for (const law::GainRow& row : gain.rows) {
    std::vector<Cell> cells = {significant(row.compute),
                               significant(row.sparsity),
                               {percent_text(row.gain, 2), row.gain > 0 ? Tone::good : Tone::bad},
                               rounding_text(rounding_of(reference, target, row)),
                               row.interval
                                   ? fmt::format("{} to {}", percent_text(row.interval->low),
                                                 percent_text(row.interval->high))
                                   : std::string(),
                               significant(row.loss),
                               significant(row.reference_compute)};
    if (paper != nullptr) {
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

report::Table tpp_table(const std::vector<law::Law>& laws, const std::vector<double>& sparsities,
                        double compute, const law::Published* paper) {
  report::Table table;
  table.title =
      fmt::format("Compute-optimal tokens per parameter at {} FLOPs", significant(compute));
  table.columns = {{"S"}};
  for (const law::Law& l : laws) {
    table.columns.push_back({l.name});
    if (paper != nullptr) table.columns.push_back({"paper"});
  }
  for (const double s : sparsities) {
    std::vector<Cell> cells = {significant(s)};
    for (const law::Law& l : laws) {
      const std::vector<double> budget = {compute};
      cells.push_back(
          fmt::format("{:.1f}", law::frontier(l, s, budget).points.front().tokens_per_param));
      if (paper == nullptr) continue;
      std::string text;
      for (const law::PublishedTpp& p : paper->tpp)
        if (p.law == l.name && std::abs(p.sparsity - s) < 1e-9)
          text = fmt::format("{:.0f}", p.tokens_per_param);
      cells.emplace_back(text);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Facts shape_facts(const law::Gain& gain) {
  report::Facts facts;
  for (const law::GainShape& shape : gain.shapes) {
    std::string text = shape.peak_compute
                           ? fmt::format("peaks at {} with {}", significant(*shape.peak_compute, 3),
                                         percent_text(*shape.peak_gain))
                           : std::string("no peak");
    for (const double c : shape.sign_changes)
      text += fmt::format(", changes sign at {}", significant(c, 3));
    facts.lines.emplace_back(fmt::format("gain at S = {}", significant(shape.sparsity)), text);
  }
  return facts;
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json gain_json(const law::Gain& gain) {
  Json j;
  j["schema"] = "isoloop/gain/v1";
  j["reference"] = gain.reference;
  j["target"] = gain.target;
  j["compute_is_of"] = "target";
  j["rows"] = Json::array();
  for (const law::GainRow& row : gain.rows) {
    Json r = {{"compute", row.compute}, {"sparsity", row.sparsity}, {"gain", finite(row.gain)}};
    r["low"] = row.interval ? finite(row.interval->low) : Json(nullptr);
    r["high"] = row.interval ? finite(row.interval->high) : Json(nullptr);
    r["loss_nats"] = row.loss;
    r["reference_compute"] = finite(row.reference_compute);
    r["extrapolated"] = row.extrapolated;
    j["rows"].push_back(std::move(r));
  }
  j["warnings"] = Json::array();
  for (const law::Warning& w : gain.warnings) j["warnings"].push_back(w.text);
  return j;
}

}  // namespace

Action declare_gain(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("REFERENCE", flags->reference, "Law: built-in name, file, or E=...,A=...,...")
      ->required();
  app.add_option("TARGET", flags->target, "Law whose budget C is")->required();
  app.add_option("--compute", flags->budgets, "Budgets C (default 1e20,1e21,1e22)")
      ->type_name("C,...");
  app.add_option("--sparsity", flags->sparsities, "Sparsities S (default 0.85,0.95,0.97)")
      ->type_name("S,...");
  return [flags](Context& context) {
    const law::Law reference = load_law(flags->reference, context);
    const law::Law target = load_law(flags->target, context);
    const std::vector<double> budgets = numbers(flags->budgets, "--compute", 1e40);
    const std::vector<double> sparsities = numbers(flags->sparsities, "--sparsity", 1);
    const law::Gain gain = law::gain(reference, target, sparsities, budgets);
    const law::Published paper = law::published();
    const bool papers = flags->reference == "baseline" && flags->target == "smelt";
    Answer answer;
    auto& blocks = answer.document.blocks;
    blocks.emplace_back(gain_table(gain, reference, target, papers ? &paper : nullptr));
    blocks.emplace_back(report::Paragraph{gain.side});
    blocks.emplace_back(shape_facts(gain));
    blocks.emplace_back(
        tpp_table({reference, target}, sparsities, paper.tpp_compute, papers ? &paper : nullptr));
    add_warnings(gain.warnings, answer.document);
    answer.json = json::pretty(gain_json(gain));
    return answer;
  };
}

}  // namespace isoloop::cli
