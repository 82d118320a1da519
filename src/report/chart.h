// What the writers of charts share: the check of a chart, and a chart as JSON over ready axes.
//
// Held by tests/report/chart_test.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "isoloop/report.h"

namespace isoloop::report {

/// The chart with its scales and ticks, so that who draws it decides nothing.
nlohmann::ordered_json chart_json(const Chart& chart);

/// Throws Error (kind internal) if two charts have one name, two tables one id, or a chart belongs
/// to a table or row that the document does not have.
void check_links(const Document& document);

}  // namespace isoloop::report
