// isoloop merge: the shards of an exploration into the result one run would have given.
//
// Held by tests/cli/explore_test.cpp, tests/explore_jobs_test.sh.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/explore_result.h"
#include "cli/input.h"

namespace isoloop::cli {
namespace {

struct Flags {
  std::vector<std::string> files;
  std::string directory;
};

struct Part {
  std::string file;
  ExploreResult result;
};

std::string shard_text(const ExploreResult& r) {
  return r.shard ? fmt::format("shard {}/{}", r.shard->first, r.shard->second) : "the whole space";
}

void check_same_question(const Part& first, const Part& other) {
  const std::string differs = difference(first.result.question, other.result.question);
  if (!differs.empty())
    throw input_error(fmt::format("answers another question than {}: {} differs", first.file, differs),
                      other.file, "merge shards of one exploration");
  const auto of = [](const ExploreResult& r) { return r.shard ? r.shard->second : 1; };
  if (of(first.result) != of(other.result))
    throw input_error(fmt::format("is {}, {} is {}", shard_text(other.result), first.file,
                                  shard_text(first.result)),
                      other.file, "merge shards of one number of shards");
}

/// Every shard once and complete.
void check_shards(const std::vector<Part>& parts) {
  const std::size_t n = parts.front().result.shard ? parts.front().result.shard->second : 1;
  std::vector<const Part*> by_shard(n);
  for (const Part& part : parts) {
    const Part*& place = by_shard[part.result.shard ? part.result.shard->first - 1 : 0];
    if (place != nullptr)
      throw input_error(fmt::format("{} is given twice, also as {}", shard_text(part.result), place->file),
                        part.file, "give each shard once");
    if (!part.result.complete())
      throw input_error(fmt::format("{} is not complete", shard_text(part.result)), part.file,
                        fmt::format("continue it with isoloop explore ... --resume {}", part.file));
    place = &part;
  }
  std::vector<std::string> lost;
  for (std::size_t i = 0; i < n; ++i)
    if (by_shard[i] == nullptr) lost.push_back(fmt::format("{}/{}", i + 1, n));
  constexpr std::size_t shown = 20;
  const std::string more =
      lost.size() > shown ? fmt::format(" and {} more", lost.size() - shown) : "";
  const std::size_t missing = lost.size();
  if (missing > shown) lost.resize(shown);
  if (missing > 0)
    throw input_error(fmt::format("shard{} {} missing: {}{}", missing == 1 ? "" : "s",
                                  missing == 1 ? "is" : "are", fmt::join(lost, ", "), more),
                      "merge", "give the results of all shards");
}

ExploreResult merged(const std::vector<Part>& parts) {
  ExploreResult sum = parts.front().result;
  sum.shard.reset();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const ExploreResult& part = parts[i].result;
    for (std::size_t unit = 0; unit < sum.state.done.size(); ++unit)
      if (part.state.done[unit]) sum.state.done[unit] = true;
    solve::add(sum.state.certificate, part.state.certificate);
    sum.state.priced += part.state.priced;
    sum.state.without += part.state.without;
    for (const space::FrontPoint& point : part.state.front.points()) sum.state.front.add(point);
    sum.entries.insert(part.entries.begin(), part.entries.end());
  }
  return sum;
}

}  // namespace

Action declare_merge(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("SHARD", flags->files, "Results of isoloop explore --shard, written as JSON")
      ->required();
  app.add_option("-o,--directory", flags->directory,
                 "Write baseline, front and pairs.json into this new folder")
      ->type_name("DIR");
  return [flags](Context& context) {
    std::vector<Part> parts;
    for (const std::string& file : flags->files) {
      parts.push_back({file, read_explore(read_result(file, context), file)});
      check_same_question(parts.front(), parts.back());
    }
    check_shards(parts);
    return explore_answer(merged(parts), flags->directory, context);
  };
}

}  // namespace isoloop::cli
