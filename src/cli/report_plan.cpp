// A plan as sections of the page: step time by kind of kernel, kernels as a table and against the
// roofline's axes, what to change; a pair side by side where the plan has a baseline.
//
// Held by tests/cli/report_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/report_parts.h"

namespace isoloop::cli {

void add_planned_grid(json::Fields& result, Page& page);  // report_grid.cpp

namespace {

using report::Align;
using report::Cell;
using report::Tone;

struct Time {
  double low = 0, mid = 0, high = 0;
};
Time time_of(json::Fields& fields, std::string_view key) {
  json::Fields time = fields.object(key);
  return {time.number("low"), time.number("mid"), time.number("high")};
}
std::string text(const Time& t) {
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", t.mid, t.low, t.high);
}

std::string plain(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

report::Facts facts(json::Fields& result) {
  report::Facts f;
  json::Fields options = result.object("options");
  f.lines.emplace_back("GPU", result.text("gpu"));
  f.lines.emplace_back("phase", fmt::format("{}, {} tokens, {}", options.text("phase"),
                                            number_text(options, "tokens"), options.text("dtype")));
  f.lines.emplace_back("step", Cell(text(time_of(result, "step_time_ms")) + " ms", Tone::strong));
  f.lines.emplace_back("tokens per second", fmt::format("{:.0f}", result.number("tokens_per_s")));
  f.lines.emplace_back("model FLOPs utilisation",
                       fmt::format("{:.1f} %", result.number("mfu") * 100));
  if (auto ratio = result.optional_object("step_time_ratio"))
    f.lines.emplace_back("over the baseline's step",
                         fmt::format("{:.3f} ({:.3f} to {:.3f})", ratio->number("mid"),
                                     ratio->number("low"), ratio->number("high")));
  return f;
}

report::Chart kind_bars(std::vector<json::Fields>& plans, const Page& page) {
  report::Bars bars;
  bars.panels = {{"time of a step", "ms", {}}};
  for (json::Fields& p : plans) {
    bars.series.push_back(p.text("arch"));
    json::Fields kinds = p.object("time_ms_by_kind");
    auto& series = bars.panels.front().bars.emplace_back(bars.categories.size());
    for (const auto& item : p.find("time_ms_by_kind")->items()) {
      const Time t = time_of(kinds, item.key());
      auto at = std::find(bars.categories.begin(), bars.categories.end(), plain(item.key()));
      if (at == bars.categories.end()) {
        if (t.high == 0) continue;
        at = bars.categories.insert(at, plain(item.key()));
        for (auto& each : bars.panels.front().bars) each.resize(bars.categories.size());
      }
      series[static_cast<std::size_t>(at - bars.categories.begin())] = {
          t.mid, report::Range{t.low, t.high}};
    }
  }
  return {page.name("kinds"), "Time by kind of kernel", "Lines: low to high estimate.",
          std::move(bars)};
}

/// Layers of one segment are alike; segments of the same name in both plans stand together.
report::Chart segment_bars(std::vector<json::Fields>& plans, const Page& page) {
  report::Bars bars;
  bars.panels = {{"forward, one layer", "µs", {}}, {"backward, one layer", "µs", {}}};
  for (report::Panel& panel : bars.panels) panel.bars.resize(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    bars.series.push_back(plans[i].text("arch"));
    for (json::Fields& s : plans[i].optional_objects("layer_time_us")) {
      const std::string visits = number_text(s, "visits");
      const std::string name = s.text("name") + (visits == "1" ? "" : " × " + visits);
      const auto at =
          std::find(bars.categories.begin(), bars.categories.end(), name) - bars.categories.begin();
      if (at == static_cast<std::ptrdiff_t>(bars.categories.size())) {
        bars.categories.push_back(name);
        for (report::Panel& panel : bars.panels)
          for (auto& series : panel.bars) series.emplace_back();
      }
      constexpr std::array<const char*, 2> keys = {"forward", "backward"};
      for (std::size_t k = 0; k < keys.size(); ++k) {
        const Time t = s.has(keys[k]) ? time_of(s, keys[k]) : Time{};
        bars.panels[k].bars[i][static_cast<std::size_t>(at)] = {t.mid,
                                                                report::Range{t.low, t.high}};
      }
    }
  }
  return {page.name("segments"), "Time of one layer, by segment",
          "× visits of the segment. Lines: low to high estimate.", std::move(bars)};
}

report::Table kernel_table(std::vector<json::Fields>& kernels, const std::string& id) {
  report::Table table;
  table.id = id;
  table.title = "Kernels";
  table.columns = {{"kernel", "", Align::left},
                   {"kind", "", Align::left},
                   {"pass", "", Align::left},
                   {"segment", "", Align::left},
                   {"count"},
                   {"time", "µs each"},
                   {"low"},
                   {"high"},
                   {"bound", "", Align::left},
                   {"m"},
                   {"n"},
                   {"k"},
                   {"groups"},
                   {"tile", "", Align::left},
                   {"blocks"},
                   {"waves"},
                   {"occupancy", "%"},
                   {"tile use", "%"},
                   {"wave use", "%"}};
  for (json::Fields& k : kernels) {
    std::string tile;
    if (auto t = k.optional_object("tile"))
      tile =
          fmt::format("{}x{}x{}", number_text(*t, "m"), number_text(*t, "n"), number_text(*t, "k"));
    const auto whole = [&](const char* key) {
      return k.optional_number(key).value_or(0) == 0 ? std::string() : number_text(k, key);
    };
    const auto share = [&](const char* key) { return fmt::format("{:.1f}", k.number(key) * 100); };
    const Time t = time_of(k, "time_us");
    table.rows.push_back({k.text("name"), plain(k.text("kind")), plain(k.text("pass")),
                          k.optional_text("segment").value_or(""), number_text(k, "count"),
                          fmt::format("{:.2f}", t.mid), fmt::format("{:.2f}", t.low),
                          fmt::format("{:.2f}", t.high), k.text("bound"), whole("m"), whole("n"),
                          whole("k"), number_text(k, "groups"), tile, number_text(k, "grid"),
                          fmt::format("{:.2f}", k.number("waves")), share("occupancy"),
                          share("tile_efficiency"), share("wave_efficiency")});
  }
  return table;
}

/// Work per byte against work per second of each launch. Kernels without multiplications have none.
report::Chart roofline(std::vector<json::Fields>& kernels, const Page& page,
                       const std::string& table) {
  report::Plot plot;
  plot.x = {"arithmetic intensity, FLOPs per byte of memory traffic", "", true};
  plot.y = {"achieved", "TFLOP/s", true};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    json::Fields& k = kernels[i];
    const double flops = 2 * k.optional_number("macs").value_or(0),
                 bytes = k.optional_number("memory_bytes").value_or(0);
    const Time t = time_of(k, "time_us");
    if (!(flops > 0) || !(bytes > 0) || !(t.low > 0)) continue;
    const auto rate = [&](double us) { return flops / us * 1e-6; };
    series_of(plot, plain(k.text("kind")))
        .points.push_back({flops / bytes, rate(t.mid), report::Range{rate(t.high), rate(t.low)},
                           fmt::format("{}, {}, {}", k.text("name"), k.text("pass"),
                                       k.optional_text("segment").value_or("")),
                           i});
  }
  return {page.name("roofline"), "Kernels by intensity and rate", "Bars: low to high estimate.",
          std::move(plot), table};
}

void add_texts(json::Fields& result, Page& page) {
  for (const std::string& note : result.optional_texts("notes"))
    page.add(report::Paragraph{"Note: " + note, Tone::dim});
  for (json::Fields& a : result.optional_objects("advice"))
    page.add(report::Paragraph{"Faster: " + a.text("text")});
}

}  // namespace

void add_plan(json::Fields& result, Page& page) {
  if (result.has("grid")) return add_planned_grid(result, page);
  std::vector<json::Fields> plans;  // the baseline first: of one colour here and in charts of pairs
  if (auto baseline = result.optional_object("baseline")) plans.push_back(std::move(*baseline));
  plans.push_back(result);
  page.add(report::Heading{fmt::format("Plan: {} on {}", result.text("arch"), result.text("gpu"))});
  page.add(facts(result));
  page.add(kind_bars(plans, page));
  page.add(segment_bars(plans, page));
  add_texts(result, page);
  std::vector<json::Fields> kernels = result.optional_objects("kernels");
  if (!result.has("kernels")) throw result.missing("kernels");
  const std::string table = page.name("kernels");
  page.add(roofline(kernels, page, table));
  page.add(kernel_table(kernels, table));
}

}  // namespace isoloop::cli
