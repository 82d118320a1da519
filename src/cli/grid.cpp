// isoloop grid: a published grid recounted, and matched cell by cell.
//
// Held by tests/cli/grid_test.cpp.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/counting.h"
#include "cli/grid_compare.h"
#include "cli/match_view.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pair_folder.h"
#include "cli/views.h"
#include "isoloop/grid.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

struct Flags {
  std::string name, directory;
  CountFlags count;
  MatchFlags match;
  bool compare = false;
};

struct Matched {
  const grid::Cell* cell = nullptr;
  solve::MatchRequest request;
  solve::MatchResult result;
  /// The best answer: within tolerance, or the nearest miss.
  const solve::MatchAnswer* best() const {
    if (!result.answers.empty()) return &result.answers.front();
    return result.nearest ? &*result.nearest : nullptr;
  }
  bool within() const { return !result.answers.empty(); }
};

solve::MatchRequest request_of(const Flags& flags, const grid::Grid& grid, const grid::Cell& cell) {
  solve::MatchRequest r = grid::request(grid, cell);
  r.remedies = false;
  const std::int64_t dense_experts = r.alignment.experts;
  flags.match.apply(r);
  // Whatever the alignment, a dense cell needs expert counts in steps of 1.
  if (dense_experts == 1) r.alignment.experts = 1;
  r.options = flags.count.over(r.options);
  return r;
}

Cell figure(const std::string& published, const std::string& reproduced) {
  if (published.empty()) return "";
  if (reproduced.empty()) return {published, Tone::dim};
  if (published == reproduced) return {published + " ✓", Tone::good};
  return {fmt::format("{} ✗ {}", published, reproduced), Tone::bad};
}

std::vector<Cell> published_row(const grid::Cell& cell, const grid::Row& row, const std::string& kind) {
  const grid::Figures &p = row.published, &r = row.reproduced;
  return {cell.scale, kind, std::to_string(row.experts), figure(p.active_b, r.active_b),
          figure(p.total_b, r.total_b), figure(p.sparsity, r.sparsity),
          figure(p.flops_ratio, r.flops_ratio), figure(p.kv_ratio, r.kv_ratio),
          row.architecture ? "" : Cell("not reproducible as printed", Tone::warn)};
}

report::Table published_table(const grid::Grid& grid) {
  report::Table table;
  table.title = "Published against recounted (✓ equal to the printed digit)";
  table.columns = {{"scale", "", Align::left}, {"model", "", Align::left}, {"experts"},
                   {"active", "1e9"}, {"total", "1e9"}, {"S"}, {"FLOPs ratio"}, {"KV ratio"},
                   {"", "", Align::left}};
  std::string scale;
  for (const grid::Cell& cell : grid.cells) {
    if (cell.scale != scale && !scale.empty()) table.rules.push_back(table.rows.size());
    scale = cell.scale;
    table.rows.push_back(published_row(cell, cell.baseline, "baseline"));
    table.rows.push_back(published_row(cell, cell.looped, "looped"));
  }
  return table;
}

report::Table matches_table(const std::vector<Matched>& cells) {
  report::Table table;
  table.title = "Best match per cell, proven optimal";
  table.columns = {{"cell", "", Align::left}, {"loop", "", Align::left}, {"hidden"}, {"heads", "", Align::left},
                   {"kv"}, {"experts"}, {"expert size"}};
  for (const solve::BudgetTolerance& b : cells.front().request.budgets)
    table.columns.push_back({std::string(cost::name(b.budget).name)});
  table.columns.push_back({"largest"});
  table.columns.push_back({"paper's largest"});
  table.columns.push_back({"points proven"});
  std::string scale;
  for (const Matched& m : cells) {
    if (m.cell->scale != scale && !scale.empty()) table.rules.push_back(table.rows.size());
    scale = m.cell->scale;
    const solve::MatchAnswer* a = m.best();
    if (a == nullptr) {
      table.rows.push_back({m.cell->name, Cell("no architecture satisfies the rules", Tone::bad)});
      continue;
    }
    const arch::Segment& s = a->architecture.segments.front();
    std::vector<Cell> row = {m.cell->name,
                             a->loop.span == 0 ? "none" : arch::loop_text(a->loop, a->depth),
                             std::to_string(a->architecture.hidden),
                             fmt::format("{} × {}", s.attention.heads, s.attention.head_size),
                             std::to_string(s.attention.kv_heads), std::to_string(s.ffn.experts),
                             std::to_string(s.ffn.expert_size)};
    for (std::size_t i = 0; i < a->mismatch.size(); ++i)
      row.push_back({percent(a->mismatch[i], 3),
                     abs(a->mismatch[i]) <= m.request.budgets[i].tolerance ? Tone::plain : Tone::bad});
    const bool beats = a->largest < m.cell->published_mismatch;
    row.push_back({percent(a->largest, 3).substr(1), beats ? Tone::good : Tone::bad});
    row.push_back(percent(m.cell->published_mismatch, 1).substr(1));
    row.push_back(scaled(Ratio(m.result.certificate.points)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string summary(const std::vector<Matched>& cells) {
  std::size_t within = 0, better = 0;
  Ratio worst = 0, paper = 0;
  for (const Matched& m : cells) {
    within += m.within() ? 1 : 0;
    paper = std::max(paper, m.cell->published_mismatch);
    if (m.best() == nullptr) continue;
    better += m.best()->largest < m.cell->published_mismatch ? 1 : 0;
    worst = std::max(worst, m.best()->largest);
  }
  return fmt::format("{} of {} cells within tolerance ({}); largest mismatch {} % against the paper's {} %, "
                     "smaller in {} of {} cells.",
                     within, cells.size(), tolerance_text(cells.front().request.budgets),
                     decimal(worst * Ratio(100), 2), decimal(paper * Ratio(100), 1), better, cells.size());
}

report::Document document(const grid::Grid& grid, const std::vector<Matched>& cells,
                          const std::string& next) {
  report::Document d;
  d.blocks.emplace_back(report::Heading{grid.title});
  d.blocks.emplace_back(report::Paragraph{"Source: " + grid.source + "."});
  d.blocks.emplace_back(published_table(grid));
  d.blocks.emplace_back(matches_table(cells));
  d.blocks.emplace_back(report::Paragraph{summary(cells), Tone::strong});
  const solve::MatchRequest& r = cells.front().request;
  d.blocks.emplace_back(report::Paragraph{
      fmt::format("Convention '{}', T = {}; loop {}; alignment {} ({}; dense cells: experts in steps of 1).",
                  r.options.convention.name,
                  r.options.attended ? r.options.attended->str() : "from the context", r.loop,
                  r.alignment.name, solve::alignment_text(cells.back().request.alignment))});
  d.blocks.emplace_back(report::Paragraph{grid.confidence});
  for (const std::string& note : grid.notes) d.blocks.emplace_back(report::Paragraph{note});
  if (!next.empty()) d.blocks.emplace_back(report::Paragraph{next, Tone::dim});
  return d;
}

Json figures_json(const grid::Figures& f) {
  Json j = Json::object();
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) j[key] = value;
  };
  add("active_1e9", f.active_b);
  add("total_1e9", f.total_b);
  add("sparsity", f.sparsity);
  add("flops_ratio", f.flops_ratio);
  add("kv_ratio", f.kv_ratio);
  return j;
}

Json cell_json(const Matched& m) {
  Json j;
  j["name"] = m.cell->name;
  j["scale"] = m.cell->scale;
  j["sparsity"] = m.cell->baseline.published.sparsity;
  j["baseline"] = arch_json(*m.cell->baseline.architecture);
  j["paper_looped"] = m.cell->looped.architecture ? arch_json(*m.cell->looped.architecture) : Json(nullptr);
  j["published"] = {{"baseline", figures_json(m.cell->baseline.published)},
                    {"looped", figures_json(m.cell->looped.published)}};
  j["reproduced"] = {{"baseline", figures_json(m.cell->baseline.reproduced)},
                     {"looped", figures_json(m.cell->looped.reproduced)}};
  j["paper_max_mismatch"] = fraction(m.cell->published_mismatch);
  j["within_tolerance"] = m.within();
  j["space"] = certificate_json(m.result.certificate);
  j["optimal"] = true;
  const solve::MatchAnswer* a = m.best();
  j["match"] = a == nullptr ? Json(nullptr) : arch_json(a->architecture);
  if (a == nullptr) return j;
  for (std::size_t i = 0; i < a->mismatch.size(); ++i)
    j["mismatch"][std::string(cost::name(m.request.budgets[i].budget).name)] = fraction(a->mismatch[i]);
  j["max_mismatch"] = fraction(a->largest);
  return j;
}

/// Every config, the manifest of the pairs within tolerance, and a README with the tables.
std::map<std::string, std::string> files(const grid::Grid& grid, const std::vector<Matched>& cells) {
  PairFolder folder(cells.front().request.options, cells.front().request.budgets);
  const auto add = [&](const std::string& name, const arch::Architecture& model) {
    return folder.add(fmt::format("configs/{}.json", name), model);
  };
  for (const Matched& m : cells) {
    const std::string baseline = add(m.cell->name + "-baseline", *m.cell->baseline.architecture);
    if (m.cell->looped.architecture) add(m.cell->name + "-paper", *m.cell->looped.architecture);
    if (m.within())
      folder.pair(m.cell->name, baseline, add(m.cell->name + "-match", m.best()->architecture));
  }
  folder.text("README.md",
              report::write(document(grid, cells,
                                     "configs/NAME-baseline.json is the baseline of a cell, "
                                     "NAME-paper.json the paper's looped model where it can be "
                                     "reproduced, NAME-match.json the best match. isoloop check "
                                     "pairs.json checks them."),
                            report::Format::markdown));
  return folder.files();
}

}  // namespace

Action declare_grid(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("NAME", flags->name, "Grid: isoloop list grids")->required();
  app.add_option("-o,--directory", flags->directory, "Write configs, pairs.json and README.md into this new folder")
      ->type_name("DIR");
  app.add_flag("--compare", flags->compare,
               "Optimum per cell under every alignment, with the loop's span or depth freed");
  flags->count.declare(app, "the grid's own");
  flags->match.declare(app, " (default 2% for all three)");
  return [flags](Context& context) {
    const grid::Grid grid = grid::load(flags->name, "grid");
    if (flags->compare && !flags->directory.empty())
      throw usage_error("--compare writes no folder", "-o", "leave one of the two out");
    if (flags->compare)
      return compare_grid(grid, [&](const grid::Cell& cell, const solve::Alignment& alignment) {
        solve::MatchRequest r = request_of(*flags, grid, cell);
        const std::int64_t experts = r.alignment.experts;
        r.alignment = alignment;
        if (experts == 1) r.alignment.experts = 1;
        return r;
      });
    std::vector<Matched> cells;
    for (const grid::Cell& cell : grid.cells) {
      Matched m{&cell, request_of(*flags, grid, cell), {}};
      m.result = solve::match(m.request);
      cells.push_back(std::move(m));
    }
    const bool all = std::all_of(cells.begin(), cells.end(), [](const Matched& m) { return m.within(); });
    Answer answer;
    answer.exit = all ? ExitCode::done : ExitCode::no;
    answer.document = document(grid, cells,
                               flags->directory.empty()
                                   ? fmt::format("Next: isoloop grid {} -o DIR writes the configs and pairs.json.", grid.name)
                                   : fmt::format("Next: isoloop check {}/pairs.json", flags->directory));
    Json j;
    j["schema"] = "isoloop/grid/v1";
    j["name"] = grid.name;
    j["source"] = grid.source;
    add_counting(j, cells.front().request.options);
    for (const solve::BudgetTolerance& b : cells.front().request.budgets)
      j["tolerance"][std::string(cost::name(b.budget).name)] = fraction(b.tolerance);
    for (const Matched& m : cells) j["cells"].push_back(cell_json(m));
    answer.json = json::pretty(j);
    if (!flags->directory.empty()) write_folder(flags->directory, files(grid, cells), context.common.force);
    return answer;
  };
}

}  // namespace isoloop::cli
