// How a match is shown: text, JSON, and files.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "isoloop/report.h"
#include "isoloop/space.h"

namespace isoloop::cli {

report::Document match_document(const space::PricedRequest& request,
                                const space::PricedResult& result, const std::string& argument,
                                bool written);
nlohmann::ordered_json match_json(const space::PricedRequest& request,
                                  const space::PricedResult& result);
/// Baseline, answers and pairs.json by path.
std::map<std::string, std::string> match_files(const solve::MatchRequest& request,
                                               const solve::MatchResult& result);

/// "1.043 (1.021 to 1.065)", "2.4312", or a dash where there is no prediction.
std::string price_text(const space::Predicted& predicted);
/// low, mid and high, or null.
nlohmann::ordered_json predicted_json(const space::Predicted& predicted);
/// Value of a dimension in the baseline.
std::int64_t baseline_value(const arch::Architecture& baseline, solve::Unknown unknown);
/// "8, 16, 24" or "8–64 step 8".
std::string list_of(const std::vector<std::int64_t>& values);

/// The points of the space, how many were visited and what cut off the rest.
std::string certificate_text(const solve::Certificate& certificate);
nlohmann::ordered_json certificate_json(const solve::Certificate& certificate);
/// (value - baseline) / baseline of training FLOPs under every convention.
std::vector<std::pair<std::string, Ratio>> residual_by_convention(const arch::Architecture& baseline,
                                                                  const arch::Architecture& match,
                                                                  const cost::Options& options);
/// An architecture file as JSON, nested.
nlohmann::ordered_json arch_json(const arch::Architecture& model);

}  // namespace isoloop::cli
