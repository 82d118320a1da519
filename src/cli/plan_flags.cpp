// Options of the planner.
//
// Held by tests/cli/plan_test.cpp and priced_match_test.cpp.
#include "cli/plan_flags.h"

#include <fmt/format.h>

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
  try {
    return gpu::device_from_json(read_text(argument, context), argument);
  } catch (const Error& error) {
    if (error.message.starts_with("cannot be read"))
      throw Error(error.kind, error.message, error.where,
                  "name a device file that is there, or a built-in GPU: isoloop list gpus");
    throw;
  }
}

void PlanFlags::declare_rest(CLI::App& app) {
  app.add_option("--phase", phase, "training, prefill or decode (default training)")
      ->type_name("NAME");
  app.add_option("--dp", dp, "Replicas (default: as many as EP needs)")->type_name("N");
  app.add_option("--microbatches", microbatches, "Microbatches of a step (default 1)")
      ->type_name("N");
  app.add_option("--recompute", recompute, "none, elementwise or full (default none)")
      ->type_name("NAME");
  app.add_option("--link", link, "Link between GPUs, both ways (default: NVLink)")
      ->type_name("GB/s");
}

void PlanFlags::declare(CLI::App& app) {
  app.add_option("--tokens", tokens, "Tokens of a microbatch (8192); in decode sequences (128)")
      ->type_name("N");
  app.add_option("--sequence", sequence,
                 "Tokens per sequence; in decode, cached (default: context)")
      ->type_name("N");
  app.add_option("--dtype", dtype, "fp32, bf16, fp16 or fp8 (default bf16)")->type_name("NAME");
  app.add_option("--kv-dtype", kv_dtype, "Type of the KV cache (default: as --dtype)")
      ->type_name("NAME");
  app.add_option("--tp", tp, "Heads, FFN and vocabulary over N GPUs")->type_name("N");
  app.add_option("--ep", ep, "Experts over N GPUs")->type_name("N");
  app.add_option("--pp", pp, "Executed layers over N stages")->type_name("N");
  declare_rest(app);
}

void PlanFlags::declare_beside_match(CLI::App& app) {
  tokens_option = "--tokens-per-gpu";
  app.add_option(tokens_option, tokens, "Tokens of a microbatch (8192); in decode sequences (128)")
      ->type_name("N");
  declare_rest(app);
}

bool PlanFlags::any() const {
  return !(phase + tokens + sequence + dtype + kv_dtype + tp + ep + pp + dp + microbatches +
           recompute + link)
              .empty();
}

gpu::PlanOptions PlanFlags::options() const {
  gpu::PlanOptions o;
  if (!phase.empty()) o.phase = gpu::parse_phase(phase, "--phase");
  constexpr std::int64_t decode_sequences = 128;
  if (o.phase == gpu::Phase::decode) o.tokens = decode_sequences;
  const auto read = [](const std::string& text, const char* option, std::int64_t& into) {
    if (!text.empty()) into = positive(text, option, fmt::format("write e.g. {} 8", option));
  };
  read(tokens, tokens_option, o.tokens);
  read(sequence, "--sequence", o.sequence);
  read(tp, "--tp", o.tp);
  read(ep, "--ep", o.ep);
  read(pp, "--pp", o.pp);
  read(dp, "--dp", o.dp);
  read(microbatches, "--microbatches", o.microbatches);
  if (!dtype.empty()) o.dtype = o.kv_dtype = parse_dtype(dtype, "--dtype");
  if (!kv_dtype.empty()) o.kv_dtype = parse_dtype(kv_dtype, "--kv-dtype");
  if (!recompute.empty()) o.recompute = gpu::parse_recompute(recompute, "--recompute");
  if (!link.empty()) o.link_gbs_both_ways = link_speed(link);
  return o;
}

void rethrow_about(const Error& error, const std::string& argument) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> flags = {
      {{"tokens", "--tokens"},
       {"sequence", "--sequence"},
       {"tp", "--tp"},
       {"ep", "--ep"},
       {"pp", "--pp"},
       {"dp", "--dp"},
       {"microbatches", "--microbatches"},
       {"dtype", "--dtype"},
       {"gpu", "--gpu"},
       {"link_gbs_both_ways", "--link"},
       {"kv_dtype", "--kv-dtype"},
       {"recompute", "--recompute"}}};
  for (const auto& [field, flag] : flags)
    if (error.where == field) throw Error(error.kind, error.message, std::string(flag), error.hint);
  const std::string where = error.where.empty() ? argument : argument + ": " + error.where;
  throw Error(error.kind, error.message, where, error.hint);
}

}  // namespace isoloop::cli
