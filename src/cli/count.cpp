// isoloop count: parameters, FLOPs per token, KV cache and memory.
//
// Held by tests/cli/count_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/input.h"
#include "cli/options.h"
#include "cli/output.h"
#include "base/json_writer.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::vector<std::string> models;
  CountFlags count;
  std::string loop;
  bool rows = false;
};

struct Counted {
  Loaded loaded;
  cost::Options options;
  cost::Count count;
  std::vector<std::pair<std::string, Flops>> conventions;  // training FLOPs, with --convention all
};

Json row_json(const cost::Row<Ratio>& row, const cost::Options& options) {
  Json j;
  j["name"] = row.name;
  j["part"] = convention::name(row.part);
  if (!row.segment.empty()) j["segment"] = row.segment;
  j["layers"] = number(row.layers);
  j["visits"] = number(row.visits);
  j["stored_params"] = number(row.copies() * row.params);
  j["active_params"] = number(row.copies() * row.active);
  j["macs_per_token_forward"] = number(row.layers * row.visits * row.macs);
  j["macs_per_token_backward"] = number(Ratio(2) * row.layers * row.backward_visits * row.macs);
  j["train_flops_per_token"] = number(cost::contribution(row, cost::Budget::flops, options));
  j["kv_bytes_per_token"] = number(cost::contribution(row, cost::Budget::kv, options));
  if (row.mtp) j["multi_token_prediction"] = true;
  return j;
}

Json params_json(const cost::Count& c) {
  Json j;
  j["total"] = number(c.params_total.value());
  j["non_embedding"] = number(c.params_non_embedding.value());
  j["embedding"] = number(c.params_embedding.value());
  j["active"] = number(c.active.value());
  j["active_without_input_embedding"] = number(c.active_without_input_embedding.value());
  j["active_non_embedding"] = number(c.active_non_embedding.value());
  j["multi_token_prediction"] = number(c.mtp.value());
  return j;
}

Json memory_json(const cost::Memory& m) {
  Json j;
  j["weights_bytes"] = number(m.weights.value());
  j["gradients_bytes"] = number(m.gradients.value());
  j["optimizer_bytes"] = number(m.optimizer.value());
  j["activation_bytes_per_token"] = number(m.activations_per_token.value());
  j["kv_bytes_per_sequence"] = number(m.kv_per_sequence.value());
  return j;
}

Json model_json(const Counted& x, bool all) {
  const cost::Count& c = x.count;
  Json j;
  j["name"] = c.name;
  j["format"] = x.loaded.format;
  if (!x.loaded.family.empty()) j["family"] = x.loaded.family;
  j["depth"] = number(c.depth);
  j["effective_depth"] = number(c.effective_depth);
  j["convention"] = x.options.convention.name;
  j["context_tokens"] = x.options.context;
  j["params"] = params_json(c);
  j["flops_per_token"]["forward"] = number(c.forward.value());
  j["flops_per_token"]["train"] = number(c.train.value());
  Json rows = Json::array();
  for (const cost::Row<Ratio>& row : c.rows) rows.push_back(row_json(row, x.options));
  j["flops_per_token"]["rows"] = Json::array();
  for (const cost::Row<Ratio>& row : c.rows)
    if (const Ratio train = cost::contribution(row, cost::Budget::flops, x.options); train != Ratio(0))
      j["flops_per_token"]["rows"].push_back(
          {{"name", row.name},
           {"segment", row.segment},
           {"forward", number(cost::contribution(row, cost::Budget::prefill_flops, x.options))},
           {"train", number(train)}});
  j["kv_cache"]["elements_per_token"] = number(c.kv_elements_per_token.value());
  j["kv_cache"]["bytes_per_token"] = number(c.kv_bytes_per_token.value());
  j["kv_cache"]["bytes_per_token_beyond_windows"] = number(c.kv_bytes_per_token_long.value());
  j["kv_cache"]["slots"] = number(c.kv_slots);
  j["memory"] = memory_json(c.memory);
  j["rows"] = std::move(rows);
  if (all)
    for (const auto& [name, train] : x.conventions)
      j["conventions"][name]["train_flops_per_token"] = number(train.value());
  j["left_out"] = x.loaded.left_out;
  if (x.loaded.published_stored != Int(0)) {
    j["published_stored_params"] = number(x.loaded.published_stored);
    for (const auto& [extra, params] : x.loaded.stored_extras)
      j["stored_extras"][extra] = number(Ratio(params));
  }
  return j;
}

report::Table parts_table(const Counted& x) {
  report::Table table;
  table.columns = {{"part", "", report::Align::left},
                   {"parameters"}, {"active"}, {"train FLOPs", "per token"}, {"share"}};
  const cost::Count& c = x.count;
  for (const PartSum& p : sum_by_part(c.rows, x.options)) {
    const Ratio share = c.train.value() == Ratio(0) ? Ratio(0) : p.train / c.train.value();
    table.rows.push_back({p.name, p.params == Ratio(0) ? "" : grouped(p.params),
                          p.active == Ratio(0) ? "" : grouped(p.active),
                          p.train == Ratio(0) ? "" : grouped(p.train),
                          p.train == Ratio(0) ? "" : decimal(share * Ratio(100), 1) + " %"});
  }
  table.rules.push_back(table.rows.size());
  table.rows.push_back({report::Cell("total", report::Tone::strong), grouped(c.params_total.value()),
                        grouped(c.active.value()), grouped(c.train.value()), ""});
  return table;
}

report::Table rows_table(const Counted& x) {
  report::Table table;
  table.title = "Rows";
  table.columns = {{"row", "", report::Align::left}, {"segment", "", report::Align::left},
                   {"layers"}, {"visits"}, {"stored parameters"}, {"MACs", "per token, forward"},
                   {"train FLOPs", "per token"}};
  for (const cost::Row<Ratio>& row : x.count.rows)
    table.rows.push_back({row.name, row.segment, grouped(row.layers), grouped(row.visits),
                          grouped(row.copies() * row.params),
                          grouped(row.layers * row.visits * row.macs),
                          grouped(cost::contribution(row, cost::Budget::flops, x.options))});
  return table;
}

report::Table conventions_table(const std::vector<Counted>& models) {
  report::Table table;
  table.title = "Training FLOPs per token under every convention";
  table.columns = {{"convention", "", report::Align::left}};
  for (const Counted& x : models) table.columns.push_back({x.count.name});
  table.columns.push_back({"what it counts", "", report::Align::left});
  for (std::size_t i = 0; i < models.front().conventions.size(); ++i) {
    const std::string& name = models.front().conventions[i].first;
    std::vector<report::Cell> row = {name};
    for (const Counted& x : models) row.push_back(grouped(x.conventions[i].second.value()));
    row.push_back(convention::find(name, "").title);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string stored_text(const Counted& x) {
  std::string text = fmt::format("{} published", grouped(Ratio(x.loaded.published_stored)));
  for (const auto& [extra, params] : x.loaded.stored_extras) {
    std::string words = extra;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += fmt::format(" · {} {}", words, grouped(Ratio(params)));
  }
  return text;
}

/// What a checkpoint of this architecture may hold beside it, for files without published figures.
std::string extras_text(const Counted& x) {
  std::string text;
  for (const cost::StoredExtra& extra : cost::possible_stored_extras(x.loaded.architecture))
    if (extra.name != "rotary_inv_freq_buffers")
      text += fmt::format("{}{}: {}", text.empty() ? "" : " · ", extra.meaning,
                          grouped(Ratio(extra.params.value())));
  return text;
}

report::Facts facts(const Counted& x) {
  const cost::Count& c = x.count;
  report::Facts f;
  f.lines.emplace_back("shape", shape_text(x.loaded.architecture));
  f.lines.emplace_back("active without input embedding",
                       grouped(c.active_without_input_embedding.value()));
  f.lines.emplace_back("without embedding and head",
                       fmt::format("{} stored, {} active", grouped(c.params_non_embedding.value()),
                                   grouped(c.active_non_embedding.value())));
  if (c.mtp.value() != Int(0))
    f.lines.emplace_back("multi-token prediction", grouped(c.mtp.value()) + ", not in the total");
  if (x.loaded.published_stored != Int(0))
    f.lines.emplace_back("checkpoint", stored_text(x));
  else if (const std::string extras = extras_text(x); !extras.empty())
    f.lines.emplace_back("a checkpoint may add", extras);
  f.lines.emplace_back("forward", fmt::format("{} FLOPs per token ({} MACs)",
                                              grouped(c.forward.value()), grouped(c.forward_macs.value())));
  f.lines.emplace_back("KV cache", kv_text(c, x.options));
  f.lines.emplace_back("training memory", memory_text(c, x.options));
  f.lines.emplace_back("activations", activation_text(c));
  for (const std::string& left_out : x.loaded.left_out)
    f.lines.emplace_back("left out", report::Cell(left_out, report::Tone::warn));
  if (x.loaded.architecture.vocab == 0)
    f.lines.emplace_back("vocabulary", report::Cell("not stated: embedding and head are not counted",
                                                    report::Tone::warn));
  return f;
}

report::Table comparison_table(const std::vector<Counted>& models) {
  report::Table table;
  table.columns = {{"model", "", report::Align::left}, {"parameters"}, {"active"},
                   {"train FLOPs", "per token"}, {"KV cache", "B/token"}, {"layers"}, {"executed"}};
  for (const Counted& x : models)
    table.rows.push_back({x.count.name, grouped(x.count.params_total.value()),
                          grouped(x.count.active.value()), grouped(x.count.train.value()),
                          grouped(x.count.kv_bytes_per_token.value()), grouped(x.count.depth),
                          grouped(x.count.effective_depth)});
  return table;
}

report::Document document(const std::vector<Counted>& models, const Flags& flags, bool all) {
  report::Document d;
  if (models.size() > 1) d.blocks.emplace_back(comparison_table(models));
  for (const Counted& x : models) {
    if (models.size() > 1 && !flags.rows) break;
    d.blocks.emplace_back(report::Heading{x.count.name});
    d.blocks.emplace_back(parts_table(x));
    d.blocks.emplace_back(facts(x));
    if (flags.rows) d.blocks.emplace_back(rows_table(x));
  }
  if (all) d.blocks.emplace_back(conventions_table(models));
  const Counted& first = models.front();
  d.blocks.emplace_back(report::Paragraph{
      fmt::format("FLOPs under convention '{}' at context {}. Next: isoloop explain {} shows every "
                  "formula, isoloop match {} finds its equal-cost looped twin.",
                  first.options.convention.name, first.options.context, flags.models.front(),
                  flags.models.front()),
      report::Tone::dim});
  return d;
}

Counted count_one(const std::string& argument, const Flags& flags, const cost::Options& options,
                  bool all, const Context& context) {
  Counted x;
  x.loaded = load(argument, context);
  x.loaded.architecture = looped(x.loaded.architecture, flags.loop);
  x.options = options;
  if (x.options.context == 0) x.options.context = x.loaded.architecture.context;
  x.count = about(argument, [&] { return cost::count(x.loaded.architecture, x.options); });
  if (!all) return x;
  for (const convention::Convention& c : convention::all()) {
    cost::Options other = x.options;
    other.convention = c;
    x.conventions.emplace_back(c.name, cost::count(x.loaded.architecture, other).train);
  }
  return x;
}

}  // namespace

Action declare_count(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("ARCH", flags->models, "File, - for stdin, or a built-in name")->required();
  flags->count.declare(app, "causal");
  app.add_option("--loop", flags->loop, "Loop its layers first, e.g. middle or 3+6x2+3")
      ->type_name("LOOP");
  app.add_flag("--rows", flags->rows, "Every row of the ledger");
  return [flags](Context& context) {
    bool all = false;
    const cost::Options options = flags->count.options(all);
    std::vector<Counted> models;
    for (const std::string& argument : flags->models)
      models.push_back(count_one(argument, *flags, options, all, context));
    Answer answer;
    answer.document = document(models, *flags, all);
    Json j;
    j["schema"] = "isoloop/count/v1";
    j["models"] = Json::array();
    for (const Counted& x : models) j["models"].push_back(model_json(x, all));
    answer.json = json::pretty(j);
    return answer;
  };
}

}  // namespace isoloop::cli
