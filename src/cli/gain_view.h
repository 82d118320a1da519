// What isoloop gain has found, and its JSON.
//
// Held by tests/cli/law_test.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "isoloop/law.h"
#include "law/published.h"

namespace isoloop::cli {

struct GainView {
  law::Law reference, target;
  std::vector<double> sparsities, budgets;
  law::Gain gain;
  double tpp_compute = 0;
  std::optional<law::Published> paper;  // where both laws are the paper's
};

/// What the paper prints for a row; null if nothing.
const law::PublishedGain* printed(const law::Published& paper, const law::GainRow& row);
/// How far a gain may be off because coefficients are printed with few digits; 0 if exact.
law::Rounding gain_rounding(const GainView& view, const law::GainRow& row);
double tokens_per_param(const law::Law& law, double sparsity, double compute);
nlohmann::ordered_json gain_json(const GainView& view);

}  // namespace isoloop::cli
