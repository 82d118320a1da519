// A count as sections of the page: models, their rows, their layers.
//
// Held by tests/cli/report_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/report_parts.h"

namespace isoloop::cli {
namespace {

using report::Align;

/// Rows of the ledger by name, from the result itself: it was counted with options it need not
/// state.
void collect(json::Fields& model, report::Bars& bars, std::size_t which) {
  constexpr std::array<const char*, 3> keys = {"train_flops_per_token", "stored_params",
                                               "kv_bytes_per_token"};
  for (json::Fields& row : model.optional_objects("rows")) {
    if (row.has("multi_token_prediction")) continue;  // not in the model's totals
    const std::string name = row.text("name");
    auto at = std::find(bars.categories.begin(), bars.categories.end(), name);
    if (at == bars.categories.end()) {
      at = bars.categories.insert(at, name);
      for (report::Panel& panel : bars.panels)
        for (auto& series : panel.bars) series.emplace_back();
    }
    const auto c = static_cast<std::size_t>(at - bars.categories.begin());
    for (std::size_t p = 0; p < keys.size(); ++p)
      bars.panels[p].bars[which][c].value += row.optional_number(keys[p]).value_or(0);
  }
}

/// Segments as its rows name them.
report::Stack stack_of(json::Fields& model) {
  report::Stack stack;
  stack.name = model.text("name");
  stack.text = fmt::format("{} layers, {} run", number_text(model, "depth"),
                           number_text(model, "effective_depth"));
  for (json::Fields& row : model.optional_objects("rows")) {
    const std::string segment = row.optional_text("segment").value_or("");
    const double layers = row.optional_number("layers").value_or(0),
                 visits = row.optional_number("visits").value_or(1);
    if (segment.empty() || row.has("multi_token_prediction") || layers < 1 || layers > 1e5)
      continue;
    const bool seen = std::any_of(stack.blocks.begin(), stack.blocks.end(),
                                  [&](const auto& b) { return b.name == segment; });
    if (seen) continue;
    stack.blocks.push_back({segment, static_cast<std::size_t>(layers), ""});
    if (visits != 1)
      stack.repeats.push_back(
          {stack.blocks.size() - 1, stack.blocks.size() - 1, fmt::format("{:g}", visits)});
  }
  return stack;
}

void add_conventions(std::vector<json::Fields>& models, Page& page) {
  report::Table table;
  table.title = "Training FLOPs per token under every convention";
  table.columns = {{"convention", "", Align::left}};
  std::vector<std::string> names;
  for (json::Fields& m : models)
    if (auto all = m.optional_object("conventions")) {
      table.columns.push_back({m.text("name")});
      for (const auto& item : m.find("conventions")->items())
        if (std::find(names.begin(), names.end(), item.key()) == names.end())
          names.push_back(item.key());
    }
  for (const std::string& name : names) {
    std::vector<report::Cell> row = {name};
    for (json::Fields& m : models)
      if (auto all = m.optional_object("conventions")) {
        auto one = all->optional_object(name);
        row.emplace_back(one ? number_text(*one, "train_flops_per_token") : "");
      }
    table.rows.push_back(std::move(row));
  }
  if (!names.empty()) page.add(std::move(table));
}

report::Table models_table(std::vector<json::Fields>& models, const std::string& id) {
  report::Table table;
  table.id = id;
  table.columns = {{"model", "", Align::left},
                   {"layers"},
                   {"layers run"},
                   {"parameters"},
                   {"active"},
                   {"forward", "FLOPs per token"},
                   {"training", "FLOPs per token"},
                   {"KV cache", "bytes per token"},
                   {"weights", "bytes"},
                   {"convention", "", Align::left}};
  for (json::Fields& m : models) {
    json::Fields params = m.object("params"), flops = m.object("flops_per_token"),
                 kv = m.object("kv_cache"), memory = m.object("memory");
    table.rows.push_back({m.text("name"), number_text(m, "depth"),
                          number_text(m, "effective_depth"), number_text(params, "total"),
                          number_text(params, "active"), number_text(flops, "forward"),
                          number_text(flops, "train"), number_text(kv, "bytes_per_token"),
                          number_text(memory, "weights_bytes"), m.text("convention")});
  }
  return table;
}

report::Chart scatter(std::vector<json::Fields>& models, Page& page) {
  report::Plot plot;
  plot.x = {"training FLOPs per token", "", true};
  plot.y = {"parameters", "", true};
  report::Series series{"models", report::Mark::dots, 0, false, {}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    const double x = models[i].object("flops_per_token").number("train"),
                 y = models[i].object("params").number("total");
    if (x > 0 && y > 0) series.points.push_back({x, y, {}, models[i].text("name"), i});
  }
  plot.series.push_back(std::move(series));
  return {page.name("scatter"), "Compute and size", "", std::move(plot), page.name("models")};
}

}  // namespace

void add_count(json::Fields& result, Page& page) {
  std::vector<json::Fields> models = result.optional_objects("models");
  if (models.empty()) throw result.missing("models");
  page.add(report::Heading{models.size() == 1 ? "Count: " + models.front().text("name")
                                              : fmt::format("Count of {} models", models.size())});
  page.add(models_table(models, page.name("models")));
  if (models.size() > 1) page.add(scatter(models, page));
  const std::size_t shown =
      std::min<std::size_t>(models.size(), 4);  // more bars than that are no picture
  report::Bars bars;
  report::Stacks stacks;
  bars.panels = {{"training FLOPs per token", "", {}},
                 {"parameters", "", {}},
                 {"KV cache, bytes per token", "", {}}};
  for (report::Panel& panel : bars.panels) panel.bars.resize(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    bars.series.push_back(models[i].text("name"));
    collect(models[i], bars, i);
    stacks.stacks.push_back(stack_of(models[i]));
  }
  const std::string note = shown < models.size() ? fmt::format("The first {} models.", shown) : "";
  page.add(report::Chart{page.name("rows"), "Cost by row", note, std::move(bars)});
  page.add(report::Chart{page.name("layers"), "Layers", note, std::move(stacks)});
  add_conventions(models, page);
}

}  // namespace isoloop::cli
