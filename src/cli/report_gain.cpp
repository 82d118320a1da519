// A gain as sections of the page: compute saved by budget and sparsity, and both frontiers; an
// allocation: the best size and tokens, and the frontier.
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
  return fraction ? fixed(*fraction * 100, 2) : "";
}

bool any(std::vector<json::Fields>& rows, std::string_view key) {
  return std::any_of(rows.begin(), rows.end(), [&](json::Fields& r) { return r.has(key); });
}

report::Table gain_table(std::vector<json::Fields>& rows, const std::string& id) {
  const bool rounded = any(rows, "rounding"), printed = any(rows, "published");
  report::Table table;
  table.id = id;
  table.columns = {
      {"C", "training FLOPs"}, {"S"}, {"gain", "%"}, {"low", "95 %"}, {"high", "95 %"}};
  if (rounded) table.columns.push_back({"rounding", "± %"});
  if (printed) table.columns.push_back({"printed", "%"});
  for (const report::Column& c : {report::Column{"loss", "nats"},
                                  {"reference needs", "training FLOPs"},
                                  {"window", "", Align::left}})
    table.columns.push_back(c);
  for (json::Fields& r : rows) {
    const auto gain = r.optional_number("gain"), needs = r.optional_number("reference_compute");
    std::vector<Cell> row = {
        fmt::format("{:.4g}", r.number("compute")),
        fmt::format("{:g}", r.number("sparsity")),
        {percent_or_empty(gain), gain.value_or(0) > 0 ? Tone::good : Tone::bad},
        percent_or_empty(r.optional_number("low")),
        percent_or_empty(r.optional_number("high"))};
    if (rounded) row.emplace_back(percent_or_empty(r.optional_number("rounding")));
    if (printed) {
      auto paper = r.optional_object("published");
      row.emplace_back(paper ? percent_or_empty(paper->optional_number("gain")) : "");
    }
    row.emplace_back(fixed(r.number("loss_nats"), 4));
    row.emplace_back(needs ? fmt::format("{:.4g}", *needs) : "never");
    row.emplace_back(r.optional_boolean("extrapolated").value_or(false)
                         ? Cell("extrapolated", Tone::warn)
                         : Cell(""));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::optional<report::Range> percent_range(json::Fields& p) {
  const auto low = p.optional_number("low"), high = p.optional_number("high");
  return low && high ? std::optional(report::Range{*low * 100, *high * 100}) : std::nullopt;
}

/// Rows as dots, with curves through them where the result has them.
report::Chart gain_plot(json::Fields& result, std::vector<json::Fields>& rows, const Page& page,
                        const std::string& table) {
  report::Plot plot;
  plot.x = {"training compute of the target", "FLOPs", true};
  plot.y = {"compute saved", "%"};
  std::vector<double> sparsities;
  const bool curves = result.has("curves");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double s = rows[i].number("sparsity");
    const std::size_t colour = colour_of(sparsities, s);
    if (colour == plot.series.size())
      plot.series.push_back({fmt::format("S = {:g}", s), report::Mark::dots, colour, false, {}});
    const auto gain = rows[i].optional_number("gain");
    if (!gain || !(rows[i].number("compute") > 0)) continue;
    // A band says what error bars would.
    plot.series[colour].points.push_back({rows[i].number("compute"), *gain * 100,
                                          curves ? std::nullopt : percent_range(rows[i]),
                                          fmt::format("S = {:g}", s), i});
  }
  for (json::Fields& c : result.optional_objects("curves")) {
    report::Series line{
        "", report::Mark::line, colour_of(sparsities, c.number("sparsity")), false, {}};
    for (json::Fields& p : c.optional_objects("points"))
      if (const auto gain = p.optional_number("gain"); gain && p.number("compute") > 0)
        line.points.push_back({p.number("compute"), *gain * 100, percent_range(p)});
    if (!line.points.empty()) plot.series.push_back(std::move(line));
  }
  plot.guides.push_back({false, 0, ""});
  return {page.name("compute"), "Compute saved at equal loss",
          "Bands and bars: 95 % intervals, where the laws have draws.", std::move(plot), table};
}

void add_frontier_chart(json::Fields& result, bool name_laws, Page& page) {
  report::Plot plot;
  plot.x = {"training compute", "FLOPs", true};
  plot.y = {"loss on the frontier", "nats"};
  std::vector<double> sparsities;
  add_frontiers(result, plot, sparsities, name_laws);
  const std::string note =
      name_laws ? "Dashed: the reference. Bands: 95 % intervals." : "Bands: 95 % intervals.";
  if (!plot.series.empty())
    page.add(report::Chart{page.name("frontiers"), name_laws ? "Frontiers" : "Frontier by sparsity",
                           note, std::move(plot)});
}

/// "1.2e+10 (1.1e+10 to 1.3e+10)" where the law has draws.
template <class Format>
std::string with_interval(json::Fields& row, const std::string& key, const std::string& interval,
                          const Format& format) {
  std::string text = format(row.number(key));
  auto range = row.optional_object(interval);
  const auto low = range ? range->optional_number("low") : std::nullopt;
  const auto high = range ? range->optional_number("high") : std::nullopt;
  return low && high ? fmt::format("{} ({} to {})", text, format(*low), format(*high)) : text;
}

report::Table allocation_table(std::vector<json::Fields>& rows, const std::string& id) {
  const bool hours = any(rows, "gpu_hours");
  report::Table table;
  table.id = id;
  table.columns = {{"C", "training FLOPs"}, {"S"},      {"F", "FLOPs per token"},
                   {"parameters", "F / 6"}, {"tokens"}, {"tokens per parameter"},
                   {"loss", "nats"}};
  if (hours)
    for (const report::Column& c : {report::Column{"GPU-hours"}, {"low"}, {"high"}})
      table.columns.push_back(c);
  table.columns.push_back({"window", "", Align::left});
  for (json::Fields& r : rows) {
    std::vector<Cell> row = {fmt::format("{:.4g}", r.number("compute")),
                             fmt::format("{:g}", r.number("sparsity"))};
    const auto digits = [](double v) { return fmt::format("{:.4g}", v); };
    row.emplace_back(with_interval(r, "flops_per_token", "flops_per_token_interval", digits));
    row.emplace_back(digits(r.number("params")));
    row.emplace_back(with_interval(r, "tokens", "tokens_interval", digits));
    row.emplace_back(with_interval(r, "tokens_per_param", "tokens_per_param_interval",
                                   [](double v) { return fixed(v, 1); }));
    row.emplace_back(
        with_interval(r, "loss_nats", "loss_interval", [](double v) { return fixed(v, 4); }));
    auto time = r.optional_object("gpu_hours");
    if (hours)
      for (const char* key : {"mid", "low", "high"})
        row.emplace_back(time ? fmt::format("{:.4g}", time->number(key)) : "");
    row.emplace_back(r.optional_boolean("extrapolated").value_or(false)
                         ? Cell("extrapolated", Tone::warn)
                         : Cell(""));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Loss of other sizes on the same budget, of one sparsity and budget a curve.
report::Chart size_plot(std::vector<json::Fields>& rows, const Page& page,
                        const std::string& table) {
  report::Plot plot;
  plot.x = {"size over the best size", "", true};
  plot.y = {"loss above the best", "nats", false, true};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    report::Series dots{
        fmt::format("C = {:.3g}, S = {:g}", rows[i].number("compute"), rows[i].number("sparsity")),
        report::Mark::dots,
        i,
        false,
        {{1, 0, {}, "the best size", i}}};
    for (json::Fields& s : rows[i].optional_objects("sizes"))
      if (s.number("size_factor") > 0)
        dots.points.push_back(
            {s.number("size_factor"),
             s.number("extra_loss_nats"),
             {},
             fmt::format("{:.3g} tokens per parameter", s.number("tokens_per_param")),
             i});
    plot.series.push_back(std::move(dots));
  }
  return {page.name("sizes"), "What another size costs", "", std::move(plot), table};
}

}  // namespace

void add_gain(json::Fields& result, Page& page) {
  page.add(report::Heading{
      fmt::format("Gain of {} over {}", result.text("target"), result.text("reference"))});
  std::vector<json::Fields> rows = result.optional_objects("rows");
  if (!result.has("rows")) throw result.missing("rows");
  const std::string table = page.name("rows");
  page.add(gain_table(rows, table));
  page.add(gain_plot(result, rows, page, table));
  add_frontier_chart(result, true, page);
  add_warnings(result, page);
}

void add_allocate(json::Fields& result, Page& page) {
  page.add(report::Heading{"Allocation under " + result.text("law")});
  std::vector<json::Fields> rows = result.optional_objects("rows");
  if (!result.has("rows")) throw result.missing("rows");
  if (auto machine = result.optional_object("machine")) {
    report::Facts f{
        {{"machine", fmt::format("{} x {}", number_text(*machine, "gpus"), machine->text("gpu"))}}};
    std::string value;
    if (auto mfu = machine->optional_object("mfu")) {
      value = fmt::format("{:.1f} %", mfu->number("mid") * 100);
      if (mfu->number("low") != mfu->number("high"))
        value += fmt::format(" ({:.1f} % to {:.1f} %)", mfu->number("low") * 100,
                             mfu->number("high") * 100);
      value += "; ";
    }
    f.lines.emplace_back("MFU", value + machine->optional_text("mfu_meaning").value_or(""));
    page.add(std::move(f));
  }
  const std::string table = page.name("rows");
  page.add(allocation_table(rows, table));
  page.add(size_plot(rows, page, table));
  add_frontier_chart(result, false, page);
  add_warnings(result, page);
}

}  // namespace isoloop::cli
