// Reads data/grids/*.json, recounts every row, and states the paper's question for each cell.
//
// Right by the printed figures in the data file; held by tests/grid/grid_test.cpp.
#include "isoloop/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace isoloop::grid {
namespace {

using nlohmann::json;

constexpr std::string_view folder = "grids/";

/// The S = 0 looped model of a scale: what is known of it.
struct Control {
  Ratio flops_ratio;
  Ratio total;  // middle of the interval that the printed S leave
};

struct Totals {
  Ratio flops, params, active, kv;
};

Totals totals(const arch::Architecture& model, const cost::Options& options) {
  const auto rows = cost::ledger(model, options);
  return {cost::total(rows, cost::Budget::flops, options),
          cost::total(rows, cost::Budget::params, options),
          cost::total(rows, cost::Budget::active, options),
          cost::total(rows, cost::Budget::kv, options)};
}

Figures read_figures(const json& entry) {
  return {entry.value("active_b", ""), entry.value("total_b", ""), entry.value("sparsity", ""),
          entry.value("flops_ratio", ""), entry.value("kv_ratio", "")};
}

arch::Architecture read_architecture(const json& row, const std::string& name,
                                     std::int64_t context) {
  arch::Architecture model;
  model.name = name;
  model.hidden = row.at("hidden");
  model.context = context;
  arch::Segment layers;
  layers.name = "layers";
  layers.layers = row.at("layers");
  layers.attention.heads = row.at("heads");
  layers.attention.kv_heads = row.at("kv_heads");
  layers.attention.head_size = row.at("head_size");
  layers.ffn.moe = true;
  layers.ffn.experts = row.at("experts");
  layers.ffn.top_k = row.at("top_k");
  layers.ffn.expert_size = row.at("expert_size");
  model.segments = {layers};
  if (!row.contains("loop")) return model;
  const std::string loop = row.at("loop");
  return arch::with_loop(model, arch::parse_loop(loop, layers.layers, "data/grids"));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Row read_row(const json& entry, const std::string& name, std::int64_t context) {
  Row row;
  row.experts = entry.at("experts");
  row.published = read_figures(entry.at("published"));
  if (entry.value("reproducible", true)) row.architecture = read_architecture(entry, name, context);
  return row;
}

/// S = 1 - (F/F0) N0/N.
Ratio sparsity(const Ratio& flops, const Ratio& params, const Ratio& flops0, const Ratio& params0) {
  return Ratio(1) - (flops / flops0) * (params0 / params);
}

Figures round(const Totals& t, const Ratio& s) {
  const Ratio billion = 1'000'000'000;
  return {decimal(t.active / billion, 3), decimal(t.params / billion, 2), decimal(s, 3), "", ""};
}

void reproduce(Cell& cell, const Grid& grid, const Totals& dense, const Control& control) {
  const Totals base = totals(*cell.baseline.architecture, grid.options);
  cell.baseline.reproduced = round(base, sparsity(base.flops, base.params, dense.flops, dense.params));
  if (!cell.looped.architecture) return;
  const Totals looped = totals(*cell.looped.architecture, grid.options);
  const Ratio s =
      sparsity(looped.flops, looped.params, control.flops_ratio * dense.flops, control.total);
  cell.looped.reproduced = round(looped, s);
  cell.looped.reproduced.flops_ratio = decimal(looped.flops / base.flops, 3);
  cell.looped.reproduced.kv_ratio = decimal(looped.kv / base.kv, 3);
}

Ratio published_mismatch(const Cell& cell) {
  const auto value = [](const std::string& text) { return parse_ratio(text, "data/grids"); };
  const Figures& p = cell.looped.published;
  return std::max({abs(value(p.flops_ratio) - Ratio(1)), abs(value(p.kv_ratio) - Ratio(1)),
                   abs(value(p.total_b) / value(cell.baseline.published.total_b) - Ratio(1))});
}

Cell read_cell(const json& entry, const Grid& grid) {
  Cell cell;
  cell.scale = entry.at("scale");
  cell.name = fmt::format("{}-E{}", cell.scale, entry.at("baseline").at("experts").get<int>());
  const std::string name = lower(fmt::format("{}-{}", grid.name, cell.name));
  cell.baseline = read_row(entry.at("baseline"), name, grid.options.context);
  const int looped_experts = entry.at("looped").at("experts");
  const std::string looped =
      lower(fmt::format("{}-{}-e{}-looped", grid.name, cell.scale, looped_experts));
  cell.looped = read_row(entry.at("looped"), looped, grid.options.context);
  cell.published_mismatch = published_mismatch(cell);
  return cell;
}

Control read_control(const json& file, const std::string& scale) {
  for (const json& entry : file.at("controls"))
    if (entry.at("scale") == scale) {
      const Ratio low(entry.at("total_low").get<std::int64_t>());
      const Ratio high(entry.at("total_high").get<std::int64_t>());
      return {parse_ratio(entry.at("flops_ratio").get<std::string>(), "data/grids"),
              (low + high) / Ratio(2)};
    }
  throw internal_error(fmt::format("data/grids: no control for scale {}", scale));
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const DataFile& file : data_files())
    if (file.path.starts_with(folder)) {
      const std::size_t end = file.path.rfind('.');
      result.emplace_back(file.path.substr(folder.size(), end - folder.size()));
    }
  return result;
}

Grid load(std::string_view name, std::string_view where) {
  const std::vector<std::string> known = names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw unknown_name(ErrorKind::usage, "grid", name, known, where);
  const json file = json::parse(data_file(fmt::format("{}{}.json", folder, name)));
  Grid grid;
  grid.name = file.at("name");
  grid.title = file.at("title");
  grid.source = file.at("source");
  grid.confidence = file.at("confidence");
  grid.options.convention = convention::find(file.at("convention").get<std::string>(), "data/grids");
  grid.options.attended = Ratio(file.at("attended").get<std::int64_t>());
  grid.options.context = file.at("context");
  grid.train_tokens = file.value("train_tokens", std::int64_t{0});
  for (const auto& [key, note] : file.at("notes").items()) grid.notes.push_back(note);
  for (const json& entry : file.at("cells")) grid.cells.push_back(read_cell(entry, grid));
  for (Cell& cell : grid.cells) {
    const auto dense = std::find_if(grid.cells.begin(), grid.cells.end(),
                                    [&](const Cell& c) { return c.scale == cell.scale; });
    reproduce(cell, grid, totals(*dense->baseline.architecture, grid.options),
              read_control(file, cell.scale));
  }
  return grid;
}

solve::MatchRequest request(const Grid& grid, const Cell& cell) {
  solve::MatchRequest r;
  r.baseline = *cell.baseline.architecture;
  r.options = grid.options;
  r.alignment = solve::parse_alignment("paper", "data/grids");
  const arch::Ffn& ffn = r.baseline.segments.front().ffn;
  if (ffn.experts == ffn.top_k) r.alignment.experts = 1;  // dense cells: steps of 8 are too coarse
  const Ratio tolerance(2, 100);
  r.budgets = {{cost::Budget::flops, tolerance},
               {cost::Budget::params, tolerance},
               {cost::Budget::kv, tolerance}};
  return r;
}

std::vector<arch::Architecture> built_in_architectures() {
  std::vector<arch::Architecture> result;
  for (const std::string& name : names())
    for (const Cell& cell : load(name, "data/grids").cells)
      for (const Row* row : {&cell.baseline, &cell.looped})
        if (row->architecture) result.push_back(*row->architecture);
  return result;
}

}  // namespace isoloop::grid
