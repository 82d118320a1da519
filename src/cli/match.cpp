// isoloop match: the looped architecture nearest in cost to a baseline, with proof.
//
// Held by tests/cli/match_test.cpp.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/input.h"
#include "cli/match_view.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/price_flags.h"
#include "cli/views.h"

namespace isoloop::cli {
namespace {

struct Flags {
  std::string model, directory;
  CountFlags count;
  MatchFlags match;
  PriceFlags price;
  std::vector<std::string> require;
};

solve::MatchRequest request_of(const Flags& flags, const Context& context) {
  solve::MatchRequest request;
  request.baseline = load(flags.model, context).architecture;
  request.options = flags.count.options();
  if (request.options.context == 0) request.options.context = request.baseline.context;
  request.alignment = solve::parse_alignment("loose", "--align");
  flags.match.apply(request);
  return request;
}

/// Requirements, and the prices that ranking, requirements and options speak of.
space::PricedRequest priced_request(const Flags& flags, const Context& context) {
  space::PricedRequest request;
  request.match = request_of(flags, context);
  request.rank = request.match.rank;
  request.match.rank.clear();
  std::vector<std::string> keys = request.rank;
  for (const std::string& list : flags.require)
    for (const std::string& item : split(list, ',')) {
      request.require.push_back(space::parse_requirement(item, "--require"));
      keys.push_back(request.require.back().key);
    }
  request.prices = flags.price.prices(keys, request.match, flags.model, context);
  return request;
}

/// Without prices the search does with less than a look at every candidate.
space::PricedResult solved(const space::PricedRequest& request) {
  if (!request.prices.empty() || !request.require.empty()) return space::match(request);
  space::PricedResult result;
  solve::MatchRequest exact = request.match;
  exact.rank = request.rank;
  result.match = solve::match(exact);
  return result;
}

}  // namespace

Action declare_match(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("BASELINE", flags->model, "File, - for stdin, or a built-in name")->required();
  flags->count.declare(app, "causal");
  flags->match.declare(app, " (default flops=1%,params=1%,kv=2%)");
  app.get_option("--rank")->description(
      "Order of answers: mismatch, sum, a budget, hidden, experts, step-time, loss, ...");
  flags->price.declare(app);
  app.add_option("--require", flags->require, "Keep only answers with e.g. step-time<=1.02 (baseline 1)")
      ->allow_extra_args(false)
      ->type_name("KEY<=X");
  app.add_option("-o,--directory", flags->directory,
                 "Write baseline, answers and pairs.json into this new folder")
      ->type_name("DIR");
  return [flags](Context& context) {
    const space::PricedRequest request = priced_request(*flags, context);
    const space::PricedResult result = about(flags->model, [&] { return solved(request); });
    Answer answer;
    answer.exit = result.match.answers.empty() ? ExitCode::no : ExitCode::done;
    answer.document = match_document(request, result, flags->model, !flags->directory.empty());
    answer.json = json::pretty(match_json(request, result));
    if (!flags->directory.empty() && !result.match.answers.empty())
      write_folder(flags->directory, match_files(request.match, result.match),
                   context.common.force);
    return answer;
  };
}

}  // namespace isoloop::cli
