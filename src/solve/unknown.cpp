// Names of the unknowns, alignments as data, default tolerances.
//
// Held by tests/solve/match_test.cpp and tests/cli.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "isoloop/solve.h"

namespace isoloop::solve {
namespace {

constexpr std::array<std::string_view, unknown_count> unknown_names = {
    "hidden",  "heads", "kv-heads", "head-size", "kv-rank", "expert-size", "experts", "shared-size",
    "top-k",   "ffn-size", "depth", "start", "span", "visits"};

std::int64_t step_value(std::string_view text, std::string_view where) {
  const Ratio value = parse_ratio(text, where);
  if (!value.is_integer() || value < Ratio(1) || value > Ratio(1 << 20))
    throw usage_error(fmt::format("'{}' is not a step from 1 to {}", text, 1 << 20),
                      std::string(where), "steps are whole numbers, e.g. hidden=64");
  return value.num().to_int64();
}

}  // namespace

std::string_view name(Unknown unknown) { return unknown_names[static_cast<std::size_t>(unknown)]; }

Unknown parse_unknown(std::string_view text, std::string_view where) {
  std::string key(text);
  std::replace(key.begin(), key.end(), '_', '-');
  for (std::size_t i = 0; i < unknown_count; ++i)
    if (unknown_names[i] == key) return static_cast<Unknown>(i);
  const std::vector<std::string> known(unknown_names.begin(), unknown_names.end());
  throw unknown_name(ErrorKind::usage, "dimension", text, known, where);
}

Range limits(Unknown unknown) {
  switch (unknown) {
    case Unknown::depth:
    case Unknown::loop_start: return {1, arch::max_layers};
    case Unknown::loop_span: return {0, arch::max_layers};
    case Unknown::loop_visits: return {1, arch::max_visits};
    default: return {0, arch::max_dimension};
  }
}

const std::vector<Alignment>& alignments() {
  static const std::vector<Alignment> table = [] {
    std::vector<Alignment> result;
    const auto file = nlohmann::json::parse(data_file("alignments.json"));
    for (const auto& entry : file.at("alignments"))
      result.push_back({entry.at("name"), entry.at("reason"), entry.at("hidden"),
                        entry.at("expert"), entry.at("head"), entry.at("experts")});
    return result;
  }();
  return table;
}

Alignment parse_alignment(std::string_view text, std::string_view where) {
  std::vector<std::string> names;
  for (const Alignment& alignment : alignments()) {
    if (alignment.name == text) return alignment;
    names.push_back(alignment.name);
  }
  if (text.find('=') == std::string_view::npos)
    throw unknown_name(ErrorKind::usage, "alignment", text, names, where);
  Alignment result = alignments().front();
  result.name = "by hand";
  result.reason = "given on the command line";
  const std::vector<std::pair<std::string, std::int64_t*>> keys = {{"hidden", &result.hidden},
                                                                   {"expert", &result.expert},
                                                                   {"head", &result.head},
                                                                   {"experts", &result.experts}};
  std::vector<std::string> known, seen;
  for (const auto& [key, step] : keys) known.push_back(key);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, end - at);
    const std::size_t equals = item.find('=');
    const std::string key(item.substr(0, equals));
    const auto found = std::find_if(keys.begin(), keys.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (found == keys.end())
      throw unknown_name(ErrorKind::usage, "alignment key", key, known, where);
    if (equals == std::string_view::npos)
      throw usage_error(fmt::format("'{}' has no value", key), std::string(where),
                        "write e.g. hidden=64,expert=32,head=16,experts=8");
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      throw usage_error(fmt::format("{} is given twice", key), std::string(where), "keep one of the two");
    seen.push_back(key);
    *found->second = step_value(item.substr(equals + 1), where);
    at = end + 1;
  }
  return result;
}

std::string alignment_text(const Alignment& a) {
  return fmt::format("hidden={},expert={},head={},experts={}", a.hidden, a.expert, a.head,
                     a.experts);
}

Ratio parse_tolerance(std::string_view text, std::string_view where) {
  const Ratio most = 10;
  const Int finest = 1'000'000'000;
  const std::string hint = "write it like 1%, 0.5% or 0.005";
  const Ratio value = parse_ratio(text, where);
  if (value < Ratio(0)) throw input_error(fmt::format("'{}' is negative", text), std::string(where), hint);
  if (value > most)
    throw input_error(fmt::format("'{}' is more than 1000 %", text), std::string(where), hint);
  if (value.den() > finest)
    throw input_error(fmt::format("'{}' is finer than a billionth", text), std::string(where),
                      "0 asks for equality");
  return value;
}

std::vector<BudgetTolerance> default_budgets() {
  return {{cost::Budget::flops, Ratio(1, 100)},
          {cost::Budget::params, Ratio(1, 100)},
          {cost::Budget::kv, Ratio(2, 100)}};
}

}  // namespace isoloop::solve
