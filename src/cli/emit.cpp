// isoloop emit: a ready-to-train directory for a trainer, or one for every model of a directory.
//
// Held by tests/cli/emit_test.cpp and tests/cli/emit_many_test.cpp.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_writer.h"
#include "cli/emit_many.h"
#include "cli/emit_run.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string model, target, directory, loop;
  std::string vocab_text, context_text, tp, ep, pp;  // as given; "" = not given
  std::int64_t vocab = 0, context = 0;
  formats::Sharding sharding;

  void read() {
    const auto into = [](const std::string& text, const char* option, std::int64_t& value) {
      if (!text.empty()) value = positive(text, option, fmt::format("write e.g. {} 8", option));
    };
    into(vocab_text, "--vocab", vocab);
    into(context_text, "--context", context);
    into(tp, "--tp", sharding.tp);
    into(ep, "--ep", sharding.ep);
    into(pp, "--pp", sharding.pp);
  }
};

arch::Architecture prepared(arch::Architecture model, const Flags& flags) {
  if (flags.vocab != 0 && model.vocab != 0 && model.vocab != flags.vocab)
    throw usage_error(fmt::format("{} was asked for, but the architecture states a vocabulary of {}",
                                  flags.vocab, model.vocab),
                      "--vocab", "leave it out, or change vocab_size in the file");
  if (flags.vocab != 0) model.vocab = flags.vocab;
  if (flags.context != 0) model.context = flags.context;
  return looped(model, flags.loop);
}

Run one_run(const Flags& flags, const formats::Target& target, const Context& context) {
  const Loaded loaded = load(flags.model, context);
  for (const std::string& left_out : loaded.left_out)
    context.warn(fmt::format("{}: left out: {}", flags.model, left_out));
  return make_run(prepared(loaded.architecture, flags), target, flags.sharding);
}

/// The error of one run of many, with the file in front.
Error in_run(const Error& error, const std::string& file) {
  return Error(error.kind, error.message,
               error.where.empty() ? file : fmt::format("{}: {}", file, error.where), error.hint);
}

std::vector<Run> all_runs(const Flags& flags, const formats::Target& target,
                          const Context& context) {
  std::vector<Run> runs;
  std::set<std::string> names;
  for (const Member& member : members(flags.model, context)) {
    arch::Architecture model = load(member.file, context).architecture;
    // Files of a grid are named by cell and part; names inside may repeat.
    model.name = std::filesystem::path(member.file).stem().string();
    try {
      cost::Options options = member.options;
      if (flags.context != 0) options.context = flags.context;
      runs.push_back(make_run(prepared(std::move(model), flags), target, flags.sharding, options));
    } catch (const Error& error) {
      throw in_run(error, member.file);
    }
    Run& run = runs.back();
    run.pair = member.pair;
    run.role = member.role;
    run.file = member.file;
    run.baseline = member.baseline;
    run.tolerance = member.tolerance;
    if (!names.insert(run.name).second)
      throw usage_error(fmt::format("two runs would be named '{}'", run.name), member.file,
                        "rename one of the files");
  }
  join_runs(runs, context);
  return runs;
}

/// A control keeps fewer budgets than its neighbours, so columns go by budget.
report::Cell mismatch_cell(const Run& run, const Run& columns, std::size_t column) {
  for (std::size_t i = 0; i < run.mismatch.size(); ++i)
    if (run.tolerance[i].budget == columns.tolerance[column].budget)
      return {percent(run.mismatch[i], 3), abs(run.mismatch[i]) <= run.tolerance[i].tolerance
                                               ? report::Tone::plain
                                               : report::Tone::bad};
  return "";
}

report::Document document(const std::vector<Run>& runs, const std::string& directory) {
  report::Document d;
  report::Table table;
  table.columns = {{"run", "", report::Align::left},
                   {"as", "", report::Align::left},
                   {"parameters"},
                   {"train FLOPs", "per token"},
                   {"KV cache", "B/token"},
                   {"hash", "", report::Align::left}};
  const auto compared =
      std::find_if(runs.begin(), runs.end(), [](const Run& run) { return !run.mismatch.empty(); });
  const std::size_t budgets = compared == runs.end() ? 0 : compared->mismatch.size();
  for (std::size_t i = 0; i < budgets; ++i)
    table.columns.push_back(
        {std::string(cost::name(compared->tolerance[i].budget).name), "off baseline"});
  for (const Run& run : runs) {
    table.rows.push_back(
        {run.name,
         run.emitted.variant.empty() ? std::string(run.target->name) : run.emitted.variant,
         grouped(run.count.params_total.value()), grouped(run.count.train.value()),
         grouped(run.count.kv_bytes_per_token.value()), run.hash});
    for (std::size_t i = 0; i < budgets; ++i) table.rows.back().push_back(mismatch_cell(run, *compared, i));
  }
  d.blocks.emplace_back(std::move(table));
  const cost::Options& options = runs.front().options;
  d.blocks.emplace_back(report::Paragraph{
      fmt::format("Counted under convention '{}' at {}, head included where a vocabulary is stated.",
                  options.convention.name,
                  options.attended
                      ? fmt::format("{} attended tokens", options.attended->str())
                      : fmt::format("context {}", options.context))});
  for (const std::string& note : runs.front().emitted.notes)
    d.blocks.emplace_back(report::Paragraph{note});
  if (!runs.front().padding.empty())
    d.blocks.emplace_back(report::Paragraph{runs.front().padding, report::Tone::warn});
  const std::string next = runs.size() == 1 ? "run.sh" : "run.sh 0";
  d.blocks.emplace_back(
      report::Paragraph{fmt::format("Written to {}. Next: bash {}/{}", directory, directory, next),
                        report::Tone::dim});
  return d;
}

std::string answer_json(const std::vector<Run>& runs, const std::string& directory) {
  Json j;
  j["schema"] = "isoloop/emit/v1";
  j["directory"] = directory;
  j["runs"] = Json::array();
  for (const Run& run : runs) {
    Json entry = run_json(run);
    entry.erase("schema");
    entry["files"] = Json::array();
    for (const auto& [path, text] : run_files(run)) entry["files"].push_back(path);
    entry["notes"] = run.emitted.notes;
    if (!run.padding.empty()) entry["notes"].push_back(run.padding);
    j["runs"].push_back(std::move(entry));
  }
  return json::pretty(j);
}

}  // namespace

Action declare_emit(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option(
         "ARCH", flags->model,
         "Model, or a directory written by match, grid or sweep")
      ->required();
  app.add_option("--to", flags->target, "Trainer: isoloop list targets")
      ->required()
      ->type_name("TARGET");
  app.add_option("-o,--directory", flags->directory, "Write into this new folder")
      ->required()
      ->type_name("DIR");
  app.add_option("--vocab", flags->vocab_text, "Vocabulary size, where the architecture states none")
      ->type_name("N");
  app.add_option("--context", flags->context_text, "Training sequence length (default: the file's)")
      ->type_name("N");
  app.add_option("--loop", flags->loop, "Loop its layers first, e.g. middle or 3+6x2+3")
      ->type_name("LOOP");
  app.add_option("--tp", flags->tp, "Tensor-parallel ranks")->type_name("N");
  app.add_option("--ep", flags->ep, "Expert-parallel ranks")->type_name("N");
  app.add_option("--pp", flags->pp, "Pipeline-parallel ranks")->type_name("N");
  return [flags](Context& context) {
    flags->read();
    const formats::Target& target = formats::find_target(flags->target, "--to");
    const bool many = names_many(flags->model, context);
    std::vector<Run> runs;
    if (many)
      runs = all_runs(*flags, target, context);
    else
      runs.push_back(one_run(*flags, target, context));
    write_folder(flags->directory, many ? many_files(runs) : run_files(runs.front()),
                 context.common.force);
    Answer answer;
    answer.document = document(runs, flags->directory);
    answer.json = answer_json(runs, flags->directory);
    return answer;
  };
}

}  // namespace isoloop::cli
