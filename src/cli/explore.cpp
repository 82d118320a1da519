// isoloop explore: the Pareto front of the whole design space within tolerance of a baseline.
//
// Held by tests/cli/explore_test.cpp, tests/explore_jobs_test.sh.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/explore_result.h"
#include "cli/input.h"
#include "cli/match_view.h"
#include "cli/options.h"
#include "cli/price_flags.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Flags {
  std::string model, directory, measures, threads, shard, resume, stream, progress;
  CountFlags count;
  MatchFlags match;
  PriceFlags price;
};

bool has_experts(const arch::Architecture& model) {
  return std::any_of(model.segments.begin(), model.segments.end(),
                     [](const arch::Segment& s) { return s.ffn.moe; });
}

/// The largest depth any candidate has, so that a span may be the whole stack of each.
std::int64_t deepest_asked(const solve::MatchRequest& r) {
  const auto fixed = r.fixed.find(solve::Unknown::depth);
  if (fixed != r.fixed.end()) return fixed->second;
  const auto freed = r.freed.find(solve::Unknown::depth);
  if (freed != r.freed.end() && freed->second) return freed->second->high;
  return 2 * arch::depth(r.baseline);
}

/// Everything is free that was not fixed: depth and top-k, and the loop unless --loop says it.
void free_everything(const Flags& flags, solve::MatchRequest& r) {
  using solve::Unknown;
  const std::int64_t deepest = deepest_asked(r);
  std::vector<std::pair<Unknown, std::optional<solve::Range>>> wanted = {
      {Unknown::depth, std::nullopt}};
  if (has_experts(r.baseline)) wanted.push_back({Unknown::top_k, std::nullopt});
  if (flags.match.loop.empty()) {
    wanted.push_back({Unknown::loop_span, solve::Range{0, deepest, 1}});
    wanted.push_back({Unknown::loop_visits, std::nullopt});  // a range from 2 would ask for a loop
  }
  for (const auto& [unknown, range] : wanted)
    if (!r.fixed.contains(unknown)) r.freed.emplace(unknown, range);
}

space::ExploreRequest request_of(const Flags& flags, const Context& context) {
  if (!flags.match.rank.empty() || !flags.match.top.empty())
    throw usage_error("orders single answers; a front has measures", "--rank, --top",
                      "write e.g. --measures mismatch,step-time");
  space::ExploreRequest request;
  solve::MatchRequest& r = request.match;
  r.baseline = load(flags.model, context).architecture;
  r.options = flags.count.options();
  if (r.options.context == 0) r.options.context = r.baseline.context;
  r.alignment = solve::parse_alignment("loose", "--align");
  flags.match.apply(r);
  free_everything(flags, r);
  std::vector<std::string> keys;
  if (!flags.measures.empty()) keys = split(flags.measures, ',');
  request.prices = flags.price.prices(keys, r, flags.model, context);
  if (keys.empty()) {
    keys.emplace_back("mismatch");
    for (const space::Price& price : request.prices) keys.push_back(price.key);
    if (request.prices.empty()) keys.emplace_back("decode-bytes");
  }
  request.measures = space::front_measures(keys, request.prices, "--measures");
  return request;
}

std::pair<std::size_t, std::size_t> parse_shard(const std::string& text) {
  const std::string hint = "write i/n, e.g. --shard 3/8";
  const std::vector<std::string> parts = split(text, '/');
  if (parts.size() != 2)
    throw usage_error(fmt::format("'{}' is not a shard", text), "--shard", hint);
  const std::int64_t i = positive(parts[0], "--shard", hint), n = positive(parts[1], "--shard", hint);
  if (i > n) throw usage_error(fmt::format("'{}': there is no shard {} of {}", text, i, n), "--shard", hint);
  return {static_cast<std::size_t>(i), static_cast<std::size_t>(n)};
}

/// The state a partial result left.
space::Exploration::State resumed(const Flags& flags, const space::Exploration& exploration,
                                  const std::optional<std::pair<std::size_t, std::size_t>>& shard,
                                  const Context& context) {
  if (flags.resume.empty()) return exploration.start();
  ExploreResult before = read_explore(read_result(flags.resume, context), flags.resume);
  const std::string differs = difference(before.question, question_json(exploration));
  if (!differs.empty())
    throw usage_error(fmt::format("answers another question: {} differs", differs), flags.resume,
                      "resume with the command line it was begun with");
  if (before.shard != shard)
    throw usage_error(before.shard ? fmt::format("is of shard {}/{}", before.shard->first, before.shard->second)
                                   : std::string("is of the whole space"),
                      flags.resume, "resume with the --shard it was begun with");
  return std::move(before.state);
}

/// A stream begins before the answer is known, so nothing that is there may be lost to it.
void check_stream(const Flags& flags, const Context& context) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(flags.stream, code)) return;
  for (const std::string& other : {flags.model, flags.resume, context.common.output})
    if (!other.empty() && std::filesystem::equivalent(flags.stream, other, code))
      throw usage_error("is read or written by this command already", "--stream " + flags.stream,
                        "name another file");
  if (!context.common.force)
    throw usage_error("exists already", "--stream " + flags.stream, "name a new file or add --force");
}

/// Says how far the work is: a line that is rewritten on a terminal, or JSON Lines.
class Progress {
 public:
  Progress(const std::string& kind, const space::Exploration& exploration, std::size_t units,
           std::size_t done_before, const Context& context)
      : err_(context.streams.err),
        json_(kind == "json"),
        line_(kind.empty() && context.streams.err_is_terminal && !context.common.quiet),
        units_(units),
        done_before_(static_cast<double>(done_before)),
        candidates_(solve::candidates(exploration.space().problem()).to_double() *
                    static_cast<double>(units) / static_cast<double>(exploration.units())) {}

  void show(const space::Exploration::State& state, bool last) {
    if (!json_ && !line_) return;
    const Clock::time_point now = Clock::now();
    constexpr std::chrono::milliseconds pause(250);
    if (!last && shown_ && now - *shown_ < pause) return;
    shown_ = now;
    const auto done = static_cast<double>(std::count(state.done.begin(), state.done.end(), true));
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double fraction = units_ == 0 ? 1 : done / static_cast<double>(units_);
    const double fresh = units_ == 0 ? 0 : (done - done_before_) / static_cast<double>(units_);
    const double rate = seconds > 0 ? fresh * candidates_ / seconds : 0;
    const double left = fresh > 0 ? seconds * (1 - fraction) / fresh : 0;
    const std::size_t front = state.front.points().size();
    if (json_) {
      const Json line = {{"done", fraction}, {"units_done", static_cast<std::size_t>(done)},
                         {"units", units_}, {"points_per_s", rate}, {"priced", state.priced},
                         {"front", front}, {"seconds_left", fresh > 0 ? Json(left) : Json(nullptr)}};
      err_ << line.dump() << '\n' << std::flush;
      return;
    }
    err_ << fmt::format("\r\033[K{:.1f} % · {:.3g} points/s · {} within tolerance · {} on the front · {:.0f} s left",
                        fraction * 100, rate, state.priced, front, left)
         << std::flush;
  }
  void end() const {
    if (line_) err_ << "\r\033[K" << std::flush;
  }

 private:
  std::ostream& err_;
  bool json_, line_;
  std::size_t units_;
  double done_before_, candidates_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> shown_;
};

int thread_count(const std::string& text) {
  constexpr std::int64_t most = 1024;
  if (!text.empty())
    return static_cast<int>(std::min(positive(text, "--threads", "write e.g. --threads 4"), most));
  return static_cast<int>(std::clamp<unsigned>(std::thread::hardware_concurrency(), 1, most));
}

Answer explore(const Flags& flags, const Context& context) {
  const std::vector<std::string> kinds = {"json"};
  if (!flags.progress.empty() && flags.progress != "json")
    throw unknown_name(ErrorKind::usage, "progress", flags.progress, kinds, "--progress");
  const int threads = thread_count(flags.threads);
  std::optional<std::pair<std::size_t, std::size_t>> shard;
  if (!flags.shard.empty()) shard = parse_shard(flags.shard);
  if (shard && shard->second == 1) shard.reset();
  const space::Exploration exploration =
      about(flags.model, [&] { return space::Exploration(request_of(flags, context)); });
  space::Exploration::State state = resumed(flags, exploration, shard, context);
  const auto units = shard ? exploration.shard(shard->first, shard->second) : exploration.shard(1, 1);
  std::ofstream stream;
  if (!flags.stream.empty()) {
    check_stream(flags, context);
    stream.open(flags.stream, std::ios::binary);
    if (!stream)
      throw usage_error("cannot be written", "--stream " + flags.stream, "name a file or a named pipe");
  }
  Progress progress(flags.progress, exploration, units.size(),
                    static_cast<std::size_t>(std::count(state.done.begin(), state.done.end(), true)),
                    context);
  space::Exploration::Observer observer;
  if (context.streams.interrupted) {
    (void)context.streams.interrupted();  // from here on a signal is noted, not obeyed
    observer.stop = context.streams.interrupted;
  }
  observer.progress = [&](const auto& s) { progress.show(s, false); };
  if (stream.is_open())
    observer.proven = [&](const space::FrontPoint& point) {
      stream << entry_json(exploration, point).dump() << '\n' << std::flush;
    };
  exploration.run(state, units, threads, observer);
  progress.show(state, true);
  progress.end();
  if (!flags.stream.empty() && !stream)
    context.warn(fmt::format("--stream {}: could not be written to its end", flags.stream));
  return explore_answer(result_of(exploration, state, shard), flags.directory, context);
}

}  // namespace

Action declare_explore(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("BASELINE", flags->model, "File, - for stdin, or a built-in name")->required();
  app.add_option("--measures", flags->measures,
                 "step-time[@GPU], loss, distance, budgets (default mismatch with prices or decode-bytes)")
      ->type_name("KEY,...");
  app.add_option("--threads", flags->threads, "Threads (default: one per core); the result is the same")
      ->type_name("N");
  app.add_option("--shard", flags->shard, "Only part i of n: isoloop merge joins the parts")
      ->type_name("I/N");
  app.add_option("--resume", flags->resume, "Continue this partial result, written as JSON")
      ->type_name("FILE");
  app.add_option("--stream", flags->stream, "Write answers to this file as they are proven, as JSON Lines")
      ->type_name("FILE");
  app.add_option("--progress", flags->progress, "json: progress as JSON Lines on standard error")
      ->type_name("json");
  flags->price.declare(app);
  flags->count.declare(app, "causal");
  flags->match.declare(app, " (default flops=1%,params=1%,kv=2%)");
  app.get_option("--loop")->description("Only this loop, e.g. none, middle, middle:1/3x4 or 4-9x2 (default: all shapes)");
  for (const char* order : {"--rank", "--top"}) app.get_option(order)->group("");  // refused, so not listed
  app.add_option("-o,--directory", flags->directory,
                 "Write baseline, front and pairs.json into this new folder")
      ->type_name("DIR");
  return [flags](Context& context) { return explore(*flags, context); };
}

}  // namespace isoloop::cli
