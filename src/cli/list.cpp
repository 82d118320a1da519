// isoloop list: what can be named on the command line, from the tables the code reads.
//
// Held by tests/cli/list_test.cpp.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/input.h"
#include "cli/options.h"
#include "isoloop/gpu.h"
#include "isoloop/grid.h"
#include "isoloop/law.h"
#include "isoloop/space.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using Rows = std::vector<std::vector<std::string>>;

struct Listing {
  std::vector<std::string> titles;
  Rows rows;
  std::string heading = {};  // where the titles do not say what is listed
};

Listing list_models() {
  Listing l{{"name", "kind", "title", "source"}, {}};
  for (const BuiltIn& m : built_in_models()) l.rows.push_back({m.name, m.kind, m.title, m.source});
  return l;
}

Listing list_grids() {
  Listing l{{"name", "cells", "title", "source"}, {}};
  for (const std::string& name : grid::names()) {
    const grid::Grid g = grid::load(name, "list");
    l.rows.push_back({g.name, std::to_string(g.cells.size()), g.title, g.source});
  }
  return l;
}

Listing list_conventions() {
  Listing l{{"name", "what it counts", "source"}, {}};
  for (const convention::Convention& c : convention::all()) l.rows.push_back({c.name, c.title, c.source});
  return l;
}

Listing list_alignments() {
  Listing l{{"name", "multiples", "reason"}, {}};
  for (const solve::Alignment& a : solve::alignments())
    l.rows.push_back({a.name, solve::alignment_text(a), a.reason});
  return l;
}

Listing list_budgets() {
  Listing l{{"name", "unit", "meaning"}, {}};
  for (std::size_t i = 0; i < cost::budget_count; ++i) {
    const cost::BudgetName b = cost::name(static_cast<cost::Budget>(i));
    l.rows.push_back({std::string(b.name), std::string(b.unit), std::string(b.meaning)});
  }
  return l;
}

/// A dimension in words, with what it is a number of.
std::string meaning(solve::Unknown unknown) {
  using U = solve::Unknown;
  switch (unknown) {
    case U::hidden: return "hidden size, the width of the residual stream";
    case U::heads: return "query heads";
    case U::kv_heads: return "key and value heads";
    case U::head_size: return "width of one head";
    case U::kv_rank: return "width of the latent that MLA caches";
    case U::expert_size: return "inner width of one routed expert";
    case U::experts: return "routed experts of a layer";
    case U::shared_size: return "inner width of all shared experts of a layer together";
    case U::top_k: return "experts chosen per token";
    case U::ffn_size: return "inner width of a dense feed-forward block";
    case U::depth: return "physical layers";
    case U::loop_start: return "first looped layer, counted from 1";
    case U::loop_span: return "layers in the loop";
    case U::loop_visits: return "times the loop is executed";
  }
  throw internal_error("a dimension without a meaning");
}

Listing list_unknowns() {
  Listing l{{"name", "meaning"}, {}, "Dimensions: the keys of --fix and --free"};
  for (std::size_t i = 0; i < solve::unknown_count; ++i) {
    const auto unknown = static_cast<solve::Unknown>(i);
    l.rows.push_back({std::string(solve::name(unknown)), meaning(unknown)});
  }
  return l;
}

Listing list_sweeps() {
  Listing l{{"name", "title", "source"}, {}};
  for (const std::string& name : space::sweep_names()) {
    const space::NamedSweep sweep = space::load_sweep(name, "list");
    l.rows.push_back({sweep.name, sweep.title, sweep.source});
  }
  return l;
}

Listing list_laws() {
  Listing l{{"name", "equation", "rounded", "fitted on C", "source"}, {}};
  for (const law::Law& law : law::built_in_laws())
    l.rows.push_back({law.name, law::equation(law.form), law::is_rounded(law) ? "as printed" : "no",
                      fmt::format("{:.2g} to {:.2g}", law.window.compute.low, law.window.compute.high),
                      law.source});
  return l;
}

/// The dense bf16 peak, or fp16 where the device has no bf16.
std::string peak_text(const gpu::Device& d) {
  const auto at = [&](gpu::Precision p) { return d.dense_tflops[static_cast<std::size_t>(p)]; };
  const double bf16 = at(gpu::Precision::bf16);
  return bf16 > 0 ? fmt::format("{:g} bf16", bf16) : fmt::format("{:g} fp16", at(gpu::Precision::fp16));
}

Listing list_gpus() {
  Listing l{{"name", "title", "capability", "SMs", "memory", "GB per s", "dense TFLOPs", "NVLink GB per s",
             "unconfirmed", "source"}, {}};
  for (const gpu::Device& d : gpu::devices()) {
    std::string source;
    for (const auto& [field, text] : d.sources)
      source += fmt::format("{}{}: {}", source.empty() ? "" : "; ", field, text);
    l.rows.push_back({d.id, d.name, d.limits.compute_capability, std::to_string(d.sms),
                      byte_text(Ratio(d.memory_bytes)), fmt::format("{:g}", d.memory_bytes_per_s / 1e9),
                      peak_text(d), fmt::format("{:g}", d.nvlink_gbs_both_ways),
                      d.unconfirmed.empty() ? "no" : fmt::format("{} field{}", d.unconfirmed.size(), d.unconfirmed.size() == 1 ? "" : "s"),
                      source});
  }
  return l;
}

Listing list_families() {
  Listing l{{"Hugging Face model_type"}, {}};
  for (const std::string& family : formats::hf_families()) l.rows.push_back({family});
  return l;
}

/// What each target can say, feature by feature.
Listing list_targets() {
  Listing l{{"feature"}, {}};
  std::vector<std::string> read_back = {"can be imported again"};
  for (const formats::Target& target : formats::targets()) {
    l.titles.emplace_back(target.name);
    read_back.emplace_back(target.readable ? "yes" : "no");
  }
  for (std::size_t i = 0; i < formats::feature_count; ++i) {
    const auto feature = static_cast<formats::Feature>(i);
    std::vector<std::string> row = {std::string(formats::name(feature).name)};
    for (const formats::Target& target : formats::targets())
      row.emplace_back(target.can_say(feature) ? "yes" : "no");
    l.rows.push_back(std::move(row));
  }
  l.rows.push_back(std::move(read_back));
  return l;
}

const std::vector<std::pair<std::string, Listing (*)()>>& lists() {
  static const std::vector<std::pair<std::string, Listing (*)()>> table = {
      {"models", list_models},         {"grids", list_grids},     {"sweeps", list_sweeps},     {"gpus", list_gpus},
      {"conventions", list_conventions},
      {"alignments", list_alignments}, {"budgets", list_budgets}, {"unknowns", list_unknowns},
      {"families", list_families},     {"targets", list_targets},
      {"laws", list_laws}};
  return table;
}

std::string choices() {
  std::string text;
  for (const auto& [name, make] : lists()) text += (text.empty() ? "" : "|") + name;
  return text;
}

}  // namespace

Action declare_list(CLI::App& app) {
  const auto what = std::make_shared<std::string>();
  app.add_option("WHAT", *what, choices())->required();
  return [what](Context& context) {
    std::vector<std::string> known;
    for (const auto& [name, make] : lists()) {
      known.push_back(name);
      if (name != *what) continue;
      const Listing listing = make();
      report::Table table;
      table.title = listing.heading;
      // Sources are whole sentences; on a terminal they would push the lines apart.
      const bool shorter = context.common.format == OutputFormat::text && listing.titles.back() == "source";
      const std::size_t columns = listing.titles.size() - (shorter ? 1 : 0);
      for (std::size_t i = 0; i < columns; ++i) table.columns.push_back({listing.titles[i], "", Align::left});
      Json items = Json::array();
      for (const auto& row : listing.rows) {
        table.rows.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns));
        Json item;
        for (std::size_t i = 0; i < row.size(); ++i) {
          std::string key = listing.titles[i];
          std::replace(key.begin(), key.end(), ' ', '_');
          item[key] = row[i];
        }
        items.push_back(std::move(item));
      }
      Answer answer;
      answer.document.blocks.emplace_back(std::move(table));
      if (shorter)
        answer.document.blocks.emplace_back(report::Paragraph{
            fmt::format("Sources: isoloop list {} --format md", *what), report::Tone::dim});
      answer.json = json::pretty(Json{{"schema", "isoloop/list/v1"}, {*what, std::move(items)}});
      return answer;
    }
    throw unknown_name(ErrorKind::usage, "list", *what, known, "list");
  };
}

}  // namespace isoloop::cli
