// Options of the planner.
//
// Held by tests/cli/plan_test.cpp, priced_match_test.cpp and allocate_test.cpp.
#include "cli/plan_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/input.h"
#include "cli/options.h"

namespace isoloop::cli {
namespace {

double link_speed(const std::string& text) {
  const Ratio value = parse_ratio(text, "--link");
  if (value <= Ratio(0))
    throw usage_error(fmt::format("'{}' is not a positive number", text), "--link",
                      "write the GB/s of both directions together, e.g. --link 900");
  return value.to_double();
}

}  // namespace

gpu::Device device_of(const std::string& argument, const Context& context, const char* where) {
  if (argument.empty())
    throw usage_error("is missing", where,
                      "isoloop list gpus names them; a .json file may be given");
  if (!argument.ends_with(".json")) return gpu::find_device(argument, where);
  constexpr Reading device_file = {
      64, "name a device file that is there, or a built-in GPU: isoloop list gpus",
      "a device file has a few kilobytes"};
  return gpu::device_from_json(read_text(argument, context, device_file), argument);
}

/// An option: the field of gpu::PlanOptions it states, its help, and where that differs the help
/// where nothing but training is planned.
struct PlanFlags::Entry {
  std::string_view field;
  const char* option;
  const char* type;
  std::string PlanFlags::*text;
  const char* help;
  const char* training_help = nullptr;
};

const std::vector<PlanFlags::Entry>& PlanFlags::entries() {
  static const std::vector<Entry> all = {
      {"tokens", "--tokens", "N", &PlanFlags::tokens,
       "Tokens of a microbatch (8192); in decode sequences (128)",
       "Tokens of a microbatch (default 8192)"},
      {"sequence", "--sequence", "N", &PlanFlags::sequence,
       "Tokens per sequence; in decode, cached (default: context)",
       "Tokens per sequence on the GPU (default: context)"},
      {"dtype", "--dtype", "NAME", &PlanFlags::dtype, "fp32, bf16, fp16 or fp8 (default bf16)"},
      {"kv_dtype", "--kv-dtype", "NAME", &PlanFlags::kv_dtype,
       "Type of the KV cache (default: as --dtype)"},
      {"tp", "--tp", "N", &PlanFlags::tp, "Heads, FFN and vocabulary over N GPUs"},
      {"ep", "--ep", "N", &PlanFlags::ep, "Experts over N GPUs"},
      {"pp", "--pp", "N", &PlanFlags::pp, "Executed layers over N stages"},
      {"phase", "--phase", "NAME", &PlanFlags::phase,
       "training, prefill or decode (default training)"},
      {"dp", "--dp", "N", &PlanFlags::dp, "Replicas (default: as many as EP needs)"},
      {"microbatches", "--microbatches", "N", &PlanFlags::microbatches,
       "Microbatches of a step (default 1)"},
      {"recompute", "--recompute", "NAME", &PlanFlags::recompute,
       "none, elementwise or full (default none)"},
      {"link_gbs_both_ways", "--link", "GB/s", &PlanFlags::link,
       "Link between GPUs, both ways (default: NVLink)"},
  };
  return all;
}

void PlanFlags::add(CLI::App& app, const Entry& entry, bool training_only) {
  const char* help =
      training_only && entry.training_help != nullptr ? entry.training_help : entry.help;
  app.add_option(option_of(entry.field), this->*entry.text, help)->type_name(entry.type);
}

void PlanFlags::declare(CLI::App& app) {
  for (const Entry& entry : entries()) add(app, entry);
}

void PlanFlags::declare_beside_match(CLI::App& app) {
  renamed = {{"tokens", "--tokens-per-gpu"}, {"sequence", "--context"}};
  constexpr std::array<std::string_view, 6> of_matching = {"sequence", "dtype", "kv_dtype",
                                                           "tp",       "ep",    "pp"};
  for (const Entry& entry : entries())
    if (std::find(of_matching.begin(), of_matching.end(), entry.field) == of_matching.end())
      add(app, entry);
}

void PlanFlags::declare_beside_gpus(CLI::App& app) {
  renamed = {{"dp", "--gpus"}};
  constexpr std::array<std::string_view, 3> settled = {"phase", "dp", "kv_dtype"};
  for (const Entry& entry : entries())
    if (std::find(settled.begin(), settled.end(), entry.field) == settled.end())
      add(app, entry, true);
}

std::string PlanFlags::option_of(std::string_view field) const {
  if (field == "gpu") return "--gpu";
  if (field == "vocab_multiple") return "--vocab-multiple";
  for (const auto& [name, option] : renamed)
    if (name == field) return std::string(option);
  for (const Entry& entry : entries())
    if (entry.field == field) return entry.option;
  return {};
}

std::vector<std::string> PlanFlags::given() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries())
    if (!(this->*entry.text).empty()) names.push_back(option_of(entry.field));
  return names;
}

gpu::PlanOptions PlanFlags::options() const {
  gpu::PlanOptions o;
  if (!phase.empty()) o.phase = gpu::parse_phase(phase, "--phase");
  constexpr std::int64_t decode_sequences = 128;
  if (o.phase == gpu::Phase::decode) o.tokens = decode_sequences;
  const auto read = [this](const std::string& text, std::string_view field, std::int64_t& into) {
    if (text.empty()) return;
    const std::string option = option_of(field);
    into = positive(text, option, fmt::format("write e.g. {} 8", option));
  };
  read(tokens, "tokens", o.tokens);
  read(sequence, "sequence", o.sequence);
  read(tp, "tp", o.tp);
  read(ep, "ep", o.ep);
  read(pp, "pp", o.pp);
  read(dp, "dp", o.dp);
  read(microbatches, "microbatches", o.microbatches);
  if (!dtype.empty()) o.dtype = o.kv_dtype = parse_dtype(dtype, "--dtype");
  if (!kv_dtype.empty()) o.kv_dtype = parse_dtype(kv_dtype, "--kv-dtype");
  if (!recompute.empty()) o.recompute = gpu::parse_recompute(recompute, "--recompute");
  if (!link.empty()) o.link_gbs_both_ways = link_speed(link);
  return o;
}

void PlanFlags::rethrow_about(const Error& error, const std::string& argument) const {
  std::string where = option_of(error.where);
  if (where.empty()) where = error.where.empty() ? argument : argument + ": " + error.where;
  throw Error(error.kind, error.message, where, error.hint);
}

}  // namespace isoloop::cli
