// One emitted run.
//
// The hash covers the architecture in its canonical JSON (schema isoloop/arch/v1, defaults left
// out, fixed order) without its name, the target and the sharding: renaming a model keeps it, and
// anything that changes what is trained changes it.
// Source: see emit_run.h. Held by tests/cli/emit_test.cpp.
#include "cli/emit_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json_writer.h"
#include "cli/output.h"
#include "cli/sharding.h"
#include "cli/views.h"
#include "formats/targets.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string hash_of(const Run& run) {
  arch::Architecture nameless = run.model;
  nameless.name.clear();
  return content_hash(fmt::format("isoloop/run/v1\n{}\ntp {} ep {} pp {}\n{}", run.target->name,
                                  run.sharding.tp, run.sharding.ep, run.sharding.pp,
                                  arch::to_json(nameless)));
}

std::string budgets_table(const Run& run) {
  const cost::Count& c = run.count;
  return fmt::format(
      "| budget | value |\n|---|---:|\n"
      "| parameters | {} |\n| without embedding and head | {} |\n| active parameters | {} |\n"
      "| training FLOPs per token (convention `{}`, {} tokens) | {} |\n"
      "| KV cache per token | {} B |\n| layers stored / executed | {} / {} |\n",
      grouped(c.params_total.value()), grouped(c.params_non_embedding.value()),
      grouped(c.active.value()), run.options.convention.name, grouped(Ratio(run.options.context)),
      grouped(c.train.value()), grouped(c.kv_bytes_per_token.value()), c.depth.str(),
      c.effective_depth.str());
}

std::string card(const Run& run) {
  std::string text = fmt::format(
      "# {}\n\n{}.\n\nWritten for {} ({}).\n\n## Budgets\n\n{}", run.name, shape_text(run.model),
      run.target->title, run.emitted.variant.empty() ? run.target->writes : run.emitted.variant,
      budgets_table(run));
  if (!run.padding.empty()) text += fmt::format("\n{}\n", run.padding);
  text += fmt::format("\n## Training\n\n    {}\n\n`run.sh` runs this line in its own directory.\n",
                      run.emitted.train);
  for (const std::string& note : run.emitted.notes) text += fmt::format("\n{}\n", note);
  return text + fmt::format(
                    "\n## Identity\n\nContent hash `{}`: 64-bit FNV-1a over the architecture "
                    "(canonical JSON without its name), the target and the sharding.\n",
                    run.hash);
}

}  // namespace

std::string content_hash(std::string_view text) { return fnv1a(text); }

Run make_run(const arch::Architecture& model, const formats::Target& target,
             const formats::Sharding& sharding, const cost::Options& options) {
  Run run;
  run.options = options;
  run.name = formats::slug(model.name);
  run.model = model;
  run.target = &target;
  run.sharding = sharding;
  run.emitted = formats::emit(model, target, sharding);
  check_sharding(model, target, sharding);
  run.padding = padding_text(model, target, sharding);
  if (run.options.context == 0) run.options.context = model.context;
  run.count = cost::count(model, run.options);
  run.hash = hash_of(run);
  return run;
}

void write_as_package(Run& run) { run.emitted = formats::emit_package(run.model); }

Json run_json(const Run& run) {
  const cost::Count& c = run.count;
  Json j;
  j["schema"] = "isoloop/run/v1";
  j["name"] = run.name;
  j["hash"] = run.hash;
  if (!run.pair.empty()) j["pair"] = run.pair;
  if (!run.role.empty()) j["role"] = run.role;
  for (std::size_t i = 0; i < run.mismatch.size(); ++i)
    j["mismatch"][std::string(cost::name(run.tolerance[i].budget).name)] = fraction(run.mismatch[i]);
  j["target"] = run.target->name;
  if (!run.emitted.variant.empty()) j["variant"] = run.emitted.variant;
  j["train"] = run.emitted.train;
  j["tp"] = run.sharding.tp;
  j["ep"] = run.sharding.ep;
  j["pp"] = run.sharding.pp;
  j["vocab_size"] = run.model.vocab;
  j["padded_vocab_size"] = number(Ratio(padded_vocab(run.model, *run.target, run.sharding)));
  j["context"] = run.model.context;
  j["convention"] = run.options.convention.name;
  j["params_total"] = number(c.params_total.value());
  j["params_non_embedding"] = number(c.params_non_embedding.value());
  j["params_active"] = number(c.active.value());
  j["train_flops_per_token"] = number(c.train.value());
  j["kv_bytes_per_token"] = number(c.kv_bytes_per_token.value());
  return j;
}

std::map<std::string, std::string> run_files(const Run& run) {
  std::map<std::string, std::string> files = run.emitted.files;
  files["run.sh"] = fmt::format(
      "#!/usr/bin/env bash\n# Trains {}.\nset -euo pipefail\ncd \"$(dirname "
      "\"${{BASH_SOURCE[0]}}\")\"\n"
      "exec {} \"$@\"\n",
      run.name, run.emitted.train);
  files["architecture.json"] = arch::to_json(run.model);
  files["run.json"] = json::pretty(run_json(run));
  files["README.md"] = card(run);
  return files;
}

}  // namespace isoloop::cli
