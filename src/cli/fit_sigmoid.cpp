// The calibration of a benchmark by the loss, as text and JSON.
//
// Held by tests/cli/fit_test.cpp; the numbers by tests/law/calibrate_test.cpp.
#include "cli/fit_sigmoid.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/law_view.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;

law::Direction direction_of(const std::string& text) {
  const std::vector<std::string> known = {"loss", "score"};
  if (text == known[0]) return law::Direction::loss;
  if (text == known[1]) return law::Direction::score;
  throw unknown_name(ErrorKind::usage, "direction", text, known, "--direction");
}

std::string equation(const law::Calibration& c) {
  return fmt::format("y = b + a / (1 + exp({}alpha (L - tau)))",
                     c.direction == law::Direction::loss ? "-" : "");
}

report::Table coefficient_table(const law::Calibration& c) {
  report::Table table;
  table.title = equation(c);
  table.columns = {{"coefficient", "", Align::left}, {"value"}, {"", "", Align::left}};
  table.rows = {{"a", significant(c.a, 8), "height of the curve"},
                {"b", significant(c.b, 8), "its lower end"},
                {"alpha", significant(c.alpha, 8), "slope, per nat"},
                {"tau", significant(c.tau, 8), "loss at half height, nats"}};
  return table;
}

report::Table residual_table(const std::string& title, const law::CalibrationResiduals& residuals) {
  report::Table table;
  table.title = title;
  table.columns = {{"point", "", Align::left}, {"loss", "nats"},     {"value"}, {"curve"},
                   {"value - curve"},          {"", "", Align::left}};
  for (const law::CalibrationResidual& row : residuals.rows)
    table.rows.push_back({row.point.label, significant(row.point.loss),
                          significant(row.point.value), significant(row.predicted),
                          fmt::format("{:+.4g}", row.residual),
                          row.extrapolated ? "outside the calibrated range" : ""});
  table.note = fmt::format("mean {:+.4g}, rms {:.4g}", residuals.mean, residuals.rmse);
  return table;
}

Json points_json(const law::CalibrationResiduals& residuals) {
  Json out = Json::array();
  for (const law::CalibrationResidual& row : residuals.rows)
    out.push_back({{"label", row.point.label},
                   {"loss_nats", row.point.loss},
                   {"value", row.point.value},
                   {"predicted", row.predicted},
                   {"residual", row.residual},
                   {"extrapolated", row.extrapolated}});
  return out;
}

/// The curve over the points of both, for a picture.
Json curve_json(const law::Calibration& c, const law::CalibrationResiduals* against) {
  constexpr int steps = 50;
  double low = c.loss_window.low, high = c.loss_window.high;
  if (against)
    for (const law::CalibrationResidual& row : against->rows) {
      low = std::min(low, row.point.loss);
      high = std::max(high, row.point.loss);
    }
  Json out = Json::array();
  for (int i = 0; i <= steps; ++i) {
    const double loss = low + (high - low) * i / steps;
    out.push_back({{"loss_nats", loss}, {"value", law::value(c, loss)}});
  }
  return out;
}

Json sigmoid_json(const law::Calibration& c, const law::CalibrationResiduals& own,
                  const law::CalibrationResiduals* against, const std::string& against_file) {
  Json j;
  j["schema"] = "isoloop/fit/v1";
  j["form"] = "sigmoid";
  j["equation"] = equation(c);
  j["direction"] = c.direction == law::Direction::loss ? "loss" : "score";
  j["coefficients"] = {{"a", c.a}, {"b", c.b}, {"alpha", c.alpha}, {"tau", c.tau}};
  j["rmse"] = c.rmse;
  j["starts"] = {{"tried", c.starts.tried},
                 {"converged", c.starts.converged},
                 {"reached", c.starts.reached},
                 {"dead", c.starts.dead}};
  j["stop"] = law::name(c.stop);
  j["loss_window"] = interval_json(c.loss_window);
  j["points"] = points_json(own);
  j["against"] = nullptr;
  if (against)
    j["against"] = {{"file", against_file},
                    {"mean", against->mean},
                    {"rmse", against->rmse},
                    {"points", points_json(*against)}};
  j["curve"] = curve_json(c, against);
  return j;
}

}  // namespace

Answer sigmoid_answer(const law::Runs& runs, const std::optional<law::Runs>& against,
                      const std::string& direction) {
  const std::vector<law::Point> points = law::points_of(runs);
  const law::Calibration c = law::calibrate(points, direction_of(direction));
  const law::CalibrationResiduals own = law::residuals(c, points);
  std::vector<law::Warning> warnings = c.warnings;
  std::optional<law::CalibrationResiduals> other;
  if (against) {
    other = law::residuals(c, law::points_of(*against));
    warnings.insert(warnings.end(), other->warnings.begin(), other->warnings.end());
  }
  Answer answer;
  auto& blocks = answer.document.blocks;
  blocks.emplace_back(coefficient_table(c));
  blocks.emplace_back(report::Facts{
      {{"points", fmt::format("{} at losses {} to {}", points.size(),
                              significant(c.loss_window.low), significant(c.loss_window.high))},
       {"rmse", significant(c.rmse)},
       {"starts",
        fmt::format("{} tried, {} reached the best curve", c.starts.tried, c.starts.reached)}}});
  blocks.emplace_back(residual_table("Points of " + runs.file, own));
  if (other)
    blocks.emplace_back(residual_table(
        fmt::format("{} against the curve of {}", against->file, runs.file), *other));
  add_warnings(warnings, answer.document);
  if (!other)
    blocks.emplace_back(report::Paragraph{
        "Next: --against FILE sets the points of a second architecture beside this curve."});
  Json j = sigmoid_json(c, own, other ? &*other : nullptr, against ? against->file : "");
  j["warnings"] = warnings_json(warnings);
  answer.json = json::pretty(j);
  return answer;
}

}  // namespace isoloop::cli
