// A fit as sections of the page: coefficients, loss against compute for each sparsity with the
// fitted frontier and its band, residuals; or the curve from loss to a benchmark.
//
// Held by tests/cli/report_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/report_parts.h"

namespace isoloop::cli {
namespace {

using report::Align;
using report::Tone;

report::Table coefficient_table(json::Fields& result) {
  report::Table table;
  table.title = result.optional_text("equation").value_or(result.text("form"));
  table.columns = {{"coefficient", "", Align::left}, {"value"}, {"low", "95 %"}, {"high", "95 %"}};
  auto intervals = result.optional_object("intervals");
  const std::vector<std::string> order = {"E", "A", "K",     "B",    "a",
                                          "b", "c", "alpha", "beta", "tau"};
  json::Fields coefficients = result.object("coefficients");
  for (const std::string& name : order) {
    if (!coefficients.has(name)) continue;
    auto interval = intervals ? intervals->optional_object(name) : std::nullopt;
    const auto end = [&](const char* key) {
      return interval ? fmt::format("{:.5g}", interval->number(key)) : std::string();
    };
    table.rows.push_back(
        {name, fmt::format("{:.8g}", coefficients.number(name)), end("low"), end("high")});
  }
  return table;
}

struct Point {
  double compute, sparsity, observed, predicted, residual;
  std::string label;
};
std::vector<Point> points_of(json::Fields& result) {
  std::vector<Point> points;
  for (json::Fields& p : result.optional_objects("points")) {
    const auto compute = p.optional_number("compute");
    if (!compute || !(*compute > 0)) continue;
    const std::string cell = p.optional_text("cell").value_or("");
    points.push_back(
        {*compute, p.optional_number("sparsity").value_or(0), p.number("observed_nats"),
         p.number("predicted_nats"), p.number("log_residual"),
         fmt::format("{}{}line {}", cell, cell.empty() ? "" : ", ", number_text(p, "line"))});
  }
  return points;
}

void add_fit_charts(json::Fields& result, Page& page) {
  const std::vector<Point> points = points_of(result);
  if (points.empty())
    return page.add(report::Paragraph{
        "The result holds no points, so there is no picture of the fit.", Tone::dim});
  std::vector<double> sparsities;
  for (const Point& p : points) (void)colour_of(sparsities, p.sparsity);
  std::sort(sparsities.begin(), sparsities.end());
  const std::string table = page.name("points");
  report::Plot losses, residuals;
  losses.x = residuals.x = {"training compute", "FLOPs", true};
  losses.y = {"loss", "nats"};
  residuals.y = {"predicted over observed loss", "% in log"};
  residuals.guides.push_back({false, 0, ""});
  report::Table rows;
  rows.title = "Runs";
  rows.id = table;
  rows.columns = {{"run", "", Align::left}, {"C", "FLOPs"},        {"S"},
                  {"loss", "nats"},         {"predicted", "nats"}, {"residual", "% in log"}};
  for (const double s : sparsities)
    for (report::Plot* plot : {&losses, &residuals})
      plot->series.push_back({fmt::format("runs, S = {:g}", s),
                              report::Mark::dots,
                              colour_of(sparsities, s),
                              false,
                              {}});
  for (const Point& p : points) {
    const std::size_t i = colour_of(sparsities, p.sparsity);
    losses.series[i].points.push_back({p.compute, p.observed, {}, p.label, rows.rows.size()});
    residuals.series[i].points.push_back(
        {p.compute, p.residual * 100, {}, p.label, rows.rows.size()});
    rows.rows.push_back({p.label, fmt::format("{:.4g}", p.compute), fmt::format("{:g}", p.sparsity),
                         fmt::format("{:.4f}", p.observed), fmt::format("{:.4f}", p.predicted),
                         fmt::format("{:+.3f}", p.residual * 100)});
  }
  add_frontiers(result, losses, sparsities, false);
  page.add(report::Chart{page.name("loss"), "Loss against compute",
                         "Frontier: the best split of compute into size and tokens; bands 95 %.",
                         std::move(losses), table});
  page.add(report::Chart{page.name("residuals"), "Residuals", "", std::move(residuals), table});
  page.add(std::move(rows));
}

/// Loss to a benchmark: points of one or two architectures about the fitted curve.
void add_sigmoid(json::Fields& result, Page& page) {
  report::Plot plot;
  plot.x = {"loss", "nats"};
  plot.y = {"benchmark"};
  const auto add_points = [&](json::Fields& of, const std::string& name) {
    report::Series series{name, report::Mark::dots, plot.series.size(), false, {}};
    for (json::Fields& p : of.optional_objects("points"))
      series.points.push_back(
          {p.number("loss_nats"), p.number("value"), {}, p.optional_text("label").value_or("")});
    plot.series.push_back(std::move(series));
  };
  add_points(result, "fitted");
  if (auto against = result.optional_object("against"))
    add_points(*against, against->optional_text("file").value_or("against"));
  report::Series curve{"curve", report::Mark::line, 0, false, {}};
  for (json::Fields& p : result.optional_objects("curve"))
    curve.points.push_back({p.number("loss_nats"), p.number("value")});
  plot.series.push_back(std::move(curve));
  page.add(
      report::Chart{page.name("calibration"), "From loss to the benchmark", "", std::move(plot)});
}

}  // namespace

void add_fit(json::Fields& result, Page& page) {
  page.add(report::Heading{"Fit" + (result.has("name") ? ": " + result.text("name") : "")});
  page.add(coefficient_table(result));
  json::Fields starts = result.object("starts");
  report::Facts facts;
  if (result.has("rows")) facts.lines.emplace_back("rows", number_text(result, "rows"));
  if (const auto objective = result.optional_number("objective"))
    facts.lines.emplace_back("objective", fmt::format("{:.10g}", *objective));
  facts.lines.emplace_back("rmse", fmt::format("{:.5g}", result.number("rmse")));
  facts.lines.emplace_back(
      "starts", fmt::format("{} tried, {} reached the best optimum", number_text(starts, "tried"),
                            number_text(starts, "reached")));
  page.add(std::move(facts));
  if (result.text("form") == "sigmoid")
    add_sigmoid(result, page);
  else
    add_fit_charts(result, page);
  add_warnings(result, page);
}

}  // namespace isoloop::cli
