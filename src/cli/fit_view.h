// How a fit is shown: text and JSON.
//
// Held by tests/cli/fit_test.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "isoloop/law.h"
#include "isoloop/report.h"

namespace isoloop::cli {

using CoefficientIntervals = std::array<law::Interval, law::coefficient_count>;

/// Refits under one heading; `key` names them in JSON.
struct RefitTable {
  std::string key, title, what;
  law::Sensitivity sensitivity;
};

struct FitView {
  law::Fit fit;
  law::Law law;  // with the draws
  std::optional<CoefficientIntervals> intervals;
  std::vector<RefitTable> refits;
  std::vector<law::Warning> warnings;  // of the fit, the draws and the refits
  bool residuals = false;              // a row for every run, in text
  std::string next;                    // the closing line
};

report::Document fit_document(const FitView& view);
nlohmann::ordered_json fit_json(const FitView& view);

}  // namespace isoloop::cli
