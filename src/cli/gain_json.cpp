// A gain as JSON: rows with intervals, the paper's figures beside them, curves and frontiers for a
// picture.
//
// Held by tests/cli/law_test.cpp; docs/laws.md lists the keys.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/gain_view.h"
#include "cli/law_view.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;

Json row_json(const GainView& view, const law::GainRow& row) {
  Json j = {{"compute", row.compute}, {"sparsity", row.sparsity}, {"gain", finite_json(row.gain)}};
  j["low"] = row.interval ? finite_json(row.interval->low) : Json(nullptr);
  j["high"] = row.interval ? finite_json(row.interval->high) : Json(nullptr);
  j["rounding"] = gain_rounding(view, row).total;
  j["loss_nats"] = row.loss;
  j["reference_compute"] = finite_json(row.reference_compute);
  j["gain_at_reference"] = finite_json(row.gain_at_reference);
  j["over_window"] = finite_json(row.over_window);
  j["extrapolated"] = row.extrapolated;
  j["published"] = nullptr;
  if (const auto* p = view.paper ? printed(*view.paper, row) : nullptr)
    j["published"] = {{"gain", p->gain}, {"low", p->interval.low}, {"high", p->interval.high}};
  return j;
}

Json shapes_json(const law::Gain& gain) {
  Json out = Json::array();
  for (const law::GainShape& shape : gain.shapes)
    out.push_back({{"sparsity", shape.sparsity},
                   {"peak_compute", shape.peak_compute ? Json(*shape.peak_compute) : nullptr},
                   {"peak_gain", shape.peak_gain ? Json(*shape.peak_gain) : nullptr},
                   {"sign_changes", shape.sign_changes}});
  return out;
}

/// Budgets for a picture: the target's window and a decade on, the rows' budgets included.
std::vector<double> curve_budgets(const GainView& view) {
  std::vector<double> out = picture_budgets(view.target);
  const auto [low, high] = std::minmax_element(view.budgets.begin(), view.budgets.end());
  return budgets_between(std::min(out.front(), *low), std::max(out.back(), *high), out.size());
}

Json curves_json(const GainView& view, const std::vector<double>& budgets) {
  Json out = Json::array();
  for (const double sparsity : view.sparsities) {
    const law::Gain gain = law::gain(view.reference, view.target, std::span(&sparsity, 1), budgets);
    Json points = Json::array();
    for (const law::GainRow& row : gain.rows)
      points.push_back({{"compute", row.compute},
                        {"gain", finite_json(row.gain)},
                        {"low", row.interval ? finite_json(row.interval->low) : Json(nullptr)},
                        {"high", row.interval ? finite_json(row.interval->high) : Json(nullptr)},
                        {"extrapolated", row.extrapolated}});
    out.push_back({{"sparsity", sparsity}, {"points", std::move(points)}});
  }
  return out;
}

Json tpp_json(const GainView& view) {
  Json out = Json::array();
  for (const law::Law* law : {&view.reference, &view.target})
    for (const double sparsity : view.sparsities) {
      Json j = {{"law", law->name},
                {"compute", view.tpp_compute},
                {"sparsity", sparsity},
                {"tokens_per_param", tokens_per_param(*law, sparsity, view.tpp_compute)},
                {"published", nullptr}};
      if (view.paper)
        for (const law::PublishedTpp& p : view.paper->tpp)
          if (p.law == law->name && std::abs(p.sparsity - sparsity) < 1e-9)
            j["published"] = p.tokens_per_param;
      out.push_back(std::move(j));
    }
  return out;
}

}  // namespace

const law::PublishedGain* printed(const law::Published& paper, const law::GainRow& row) {
  for (const law::PublishedGain& p : paper.gains)
    if (std::abs(p.compute / row.compute - 1) < 1e-9 && std::abs(p.sparsity - row.sparsity) < 1e-9)
      return &p;
  return nullptr;
}

law::Rounding gain_rounding(const GainView& view, const law::GainRow& row) {
  const std::vector<law::Law> laws = {view.reference, view.target};
  return law::rounding(laws, [&](std::span<const law::Law> moved) {
    return law::gain(moved[0], moved[1], std::span(&row.sparsity, 1), std::span(&row.compute, 1))
        .rows.front()
        .gain;
  });
}

double tokens_per_param(const law::Law& law, double sparsity, double compute) {
  return law::frontier(law, sparsity, std::span(&compute, 1)).points.front().tokens_per_param;
}

Json gain_json(const GainView& view) {
  Json j;
  j["schema"] = "isoloop/gain/v1";
  j["reference"] = view.gain.reference;
  j["target"] = view.gain.target;
  j["compute_is_of"] = "target";
  j["paired"] = view.gain.paired;
  j["rows"] = Json::array();
  for (const law::GainRow& row : view.gain.rows) j["rows"].push_back(row_json(view, row));
  j["shapes"] = shapes_json(view.gain);
  j["tokens_per_param"] = tpp_json(view);
  const std::vector<double> budgets = curve_budgets(view);
  j["curves"] = curves_json(view, budgets);
  j["frontiers"] = frontiers_json(view.reference, view.sparsities, budgets);
  for (Json& frontier : frontiers_json(view.target, view.sparsities, budgets))
    j["frontiers"].push_back(std::move(frontier));
  j["warnings"] = warnings_json(view.gain.warnings);
  return j;
}

}  // namespace isoloop::cli
