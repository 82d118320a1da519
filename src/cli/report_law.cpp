// Fits and gains as sections of the page: coefficients, loss against compute for each sparsity with
// the fitted frontier and its band, residuals, and compute saved.
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
using report::Cell;
using report::Tone;

std::string percent_or_empty(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:.2f}", *fraction * 100) : "";
}

void add_warnings(json::Fields& result, Page& page) {
  for (const std::string& warning : result.optional_texts("warnings"))
    page.add(report::Paragraph{"Warning: " + warning, Tone::warn});
}

report::Table coefficient_table(json::Fields& result) {
  report::Table table;
  table.title = result.optional_text("equation").value_or(result.text("form"));
  table.columns = {{"coefficient", "", Align::left}, {"value"}, {"low", "95 %"}, {"high", "95 %"}};
  auto intervals = result.optional_object("intervals");
  const std::vector<std::string> order = {"E", "A", "K", "B", "a", "b", "c", "alpha", "beta"};
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

/// The colour of a sparsity: points and frontier of one are alike.
std::size_t colour_of(std::vector<double>& known, double sparsity) {
  for (std::size_t i = 0; i < known.size(); ++i)
    if (std::abs(known[i] - sparsity) < 1e-9) return i;
  known.push_back(sparsity);
  return known.size() - 1;
}

/// Frontiers as curves; the target of a gain is solid, its reference dashed.
void add_frontiers(json::Fields& result, report::Plot& plot, std::vector<double>& sparsities,
                   bool name_laws) {
  std::string first;
  for (json::Fields& f : result.optional_objects("frontiers")) {
    const double s = f.number("sparsity");
    const std::string law = f.optional_text("law").value_or("");
    if (first.empty()) first = law;
    report::Series curve{fmt::format("{}{:g}", name_laws ? law + ", S = " : "frontier, S = ", s),
                         report::Mark::line,
                         colour_of(sparsities, s),
                         name_laws && law == first,
                         {}};
    for (json::Fields& p : f.optional_objects("points")) {
      const double compute = p.number("compute"), loss = p.number("loss_nats");
      const auto low = p.optional_number("low"), high = p.optional_number("high");
      if (!(compute > 0)) continue;
      curve.points.push_back(
          {compute, loss, low && high ? std::optional(report::Range{*low, *high}) : std::nullopt});
    }
    if (!curve.points.empty()) plot.series.push_back(std::move(curve));
  }
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

report::Table gain_table(std::vector<json::Fields>& rows, const std::string& id) {
  report::Table table;
  table.id = id;
  table.columns = {{"C", "training FLOPs"},
                   {"S"},
                   {"gain", "%"},
                   {"low", "95 %"},
                   {"high", "95 %"},
                   {"loss", "nats"},
                   {"reference needs", "training FLOPs"},
                   {"window", "", Align::left}};
  for (json::Fields& r : rows) {
    const auto needs = r.optional_number("reference_compute");
    table.rows.push_back({fmt::format("{:.4g}", r.number("compute")),
                          fmt::format("{:g}", r.number("sparsity")),
                          {percent_or_empty(r.optional_number("gain")),
                           r.optional_number("gain").value_or(0) > 0 ? Tone::good : Tone::bad},
                          percent_or_empty(r.optional_number("low")),
                          percent_or_empty(r.optional_number("high")),
                          fmt::format("{:.4f}", r.number("loss_nats")),
                          needs ? fmt::format("{:.4g}", *needs) : "never",
                          r.optional_boolean("extrapolated").value_or(false)
                              ? Cell("extrapolated", Tone::warn)
                              : Cell("")});
  }
  return table;
}

report::Chart gain_plot(std::vector<json::Fields>& rows, const Page& page,
                        const std::string& table) {
  report::Plot plot;
  plot.x = {"training compute of the target", "FLOPs", true};
  plot.y = {"compute saved", "%"};
  std::vector<double> sparsities;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double s = rows[i].number("sparsity");
    const auto gain = rows[i].optional_number("gain"), low = rows[i].optional_number("low"),
               high = rows[i].optional_number("high");
    const std::size_t colour = colour_of(sparsities, s);
    if (colour == plot.series.size() / 2) {
      plot.series.push_back({fmt::format("S = {:g}", s), report::Mark::dots, colour, false, {}});
      plot.series.push_back({"", report::Mark::line, colour, false, {}});
    }
    if (!gain || !(rows[i].number("compute") > 0)) continue;
    report::Point p{rows[i].number("compute"), *gain * 100, {}, fmt::format("S = {:g}", s), i};
    if (low && high) p.y_range = report::Range{*low * 100, *high * 100};
    plot.series[2 * colour].points.push_back(p);
    p.row.reset();
    plot.series[2 * colour + 1].points.push_back(p);
  }
  for (report::Series& s : plot.series)
    if (s.mark == report::Mark::line)
      std::sort(s.points.begin(), s.points.end(),
                [](const auto& a, const auto& b) { return a.x < b.x; });
  plot.guides.push_back({false, 0, ""});
  return {page.name("compute"), "Compute saved at equal loss",
          "Bands: 95 % intervals, where the laws have draws.", std::move(plot), table};
}

}  // namespace

void add_fit(json::Fields& result, Page& page) {
  page.add(report::Heading{"Fit" + (result.has("name") ? ": " + result.text("name") : "")});
  page.add(coefficient_table(result));
  json::Fields starts = result.object("starts");
  page.add(report::Facts{
      {{"rows", number_text(result, "rows")},
       {"objective", fmt::format("{:.10g}", result.number("objective"))},
       {"rmse", fmt::format("{:.5g} nats", result.number("rmse"))},
       {"starts", fmt::format("{} tried, {} reached the best optimum", number_text(starts, "tried"),
                              number_text(starts, "reached"))}}});
  add_fit_charts(result, page);
  add_warnings(result, page);
}

void add_gain(json::Fields& result, Page& page) {
  page.add(report::Heading{
      fmt::format("Gain of {} over {}", result.text("target"), result.text("reference"))});
  std::vector<json::Fields> rows = result.optional_objects("rows");
  if (!result.has("rows")) throw result.missing("rows");
  const std::string table = page.name("rows");
  page.add(gain_table(rows, table));
  page.add(gain_plot(rows, page, table));
  report::Plot plot;
  plot.x = {"training compute", "FLOPs", true};
  plot.y = {"loss on the frontier", "nats"};
  std::vector<double> sparsities;
  add_frontiers(result, plot, sparsities, true);
  if (!plot.series.empty())
    page.add(report::Chart{page.name("frontiers"), "Frontiers",
                           "Dashed: the reference. Bands: 95 % intervals.", std::move(plot)});
  add_warnings(result, page);
}

}  // namespace isoloop::cli
