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
#include "cli/views.h"

namespace isoloop::cli {
namespace {

struct Flags {
  std::string model, directory;
  CountFlags count;
  MatchFlags match;
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

}  // namespace

Action declare_match(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("BASELINE", flags->model, "File, - for stdin, or a built-in name")->required();
  flags->count.declare(app, "causal");
  flags->match.declare(app, " (default flops=1%,params=1%,kv=2%)");
  app.add_option("-o,--directory", flags->directory,
                 "Write baseline, answers and pairs.json into this new folder")
      ->type_name("DIR");
  return [flags](Context& context) {
    const solve::MatchRequest request = request_of(*flags, context);
    const solve::MatchResult result = about(flags->model, [&] { return solve::match(request); });
    Answer answer;
    answer.exit = result.answers.empty() ? ExitCode::no : ExitCode::done;
    answer.document = match_document(request, result, flags->model, !flags->directory.empty());
    answer.json = json::pretty(match_json(request, result));
    if (!flags->directory.empty() && !result.answers.empty())
      write_folder(flags->directory, match_files(request, result), context.common.force);
    return answer;
  };
}

}  // namespace isoloop::cli
