// The result of an exploration as JSON: what a run writes, what --resume and merge read, and all
// that its views show. A part of a result is a result, so runs, shards and merges end alike.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "isoloop/space.h"

namespace isoloop::cli {

struct ExploreResult {
  nlohmann::ordered_json question;  // everything the answer depends on
  std::optional<std::pair<std::size_t, std::size_t>> shard;  // i of n
  std::size_t blocks = 0;
  space::Exploration::State state;
  std::map<std::string, nlohmann::ordered_json> entries;  // of the front, by index
  /// Whether every unit of the shard, or of the whole, is done.
  bool complete() const;
  bool mine(std::size_t unit) const;
};

nlohmann::ordered_json question_json(const space::Exploration& exploration);
ExploreResult result_of(const space::Exploration& exploration,
                        const space::Exploration::State& state,
                        std::optional<std::pair<std::size_t, std::size_t>> shard);
/// One point of the front with its architecture; verified.
nlohmann::ordered_json entry_json(const space::Exploration& exploration,
                                  const space::FrontPoint& point);

nlohmann::ordered_json explore_json(const ExploreResult& result);
/// Throws Error (kind input) if the text is no such result.
ExploreResult read_explore(const std::string& text, const std::string& file);
/// "" or the first field in which two questions differ.
std::string difference(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

/// The answer of explore and merge; writes the folder if one is named.
Answer explore_answer(const ExploreResult& result, const std::string& directory,
                      const Context& context);

}  // namespace isoloop::cli
