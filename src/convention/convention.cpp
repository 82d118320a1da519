// Reads data/conventions.json into the table of conventions.
//
// Right by the sources named in each entry; held by tests/cost/convention_test.cpp.
#include "isoloop/convention.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace isoloop::convention {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, part_count> part_names = {
    "embedding",   "head",        "attention",     "attention_core", "softmax",   "attention_bias",
    "attention_gate", "qk_norm",  "mla_norm",      "sinks",          "router",    "router_bias",
    "experts",     "expert_bias", "shared_expert", "shared_gate",    "dense_ffn", "ffn_bias",
    "norm",        "final_norm",  "injection",     "adapter",        "exit_gate", "state",
    "mtp_projection", "mtp_norm"};

Part parse_part(const std::string& text) {
  const auto at = std::find(part_names.begin(), part_names.end(), text);
  if (at == part_names.end()) throw internal_error("data/conventions.json: no part '" + text + "'");
  return static_cast<Part>(at - part_names.begin());
}

template <class Enum, std::size_t N>
Enum parse_enum(const std::string& text, const std::array<std::string_view, N>& known) {
  const auto at = std::find(known.begin(), known.end(), text);
  if (at == known.end()) throw internal_error("data/conventions.json: no value '" + text + "'");
  return static_cast<Enum>(at - known.begin());
}

/// Parts whose row is a product of matrices; the others only hold parameters.
void count_every_matmul(Convention& c) {
  c.mac_weight.fill(1);
  c.param_weight.fill(0);
  c.mac_weight[static_cast<std::size_t>(Part::softmax)] = 0;
}

Convention read(const json& entry) {
  Convention c;
  count_every_matmul(c);
  c.name = entry.at("name");
  c.title = entry.at("title");
  c.source = entry.at("source");
  constexpr std::array<std::string_view, 5> attended = {"given", "causal", "half", "full", "none"};
  constexpr std::array<std::string_view, 4> window = {"exact", "ignored", "clipped", "band"};
  constexpr std::array<std::string_view, 3> embedding = {"none", "untied", "always"};
  c.attended = parse_enum<Attended>(entry.at("attended"), attended);
  c.window = parse_enum<Window>(entry.at("window"), window);
  c.embedding = parse_enum<EmbeddingWork>(entry.value("embedding", "none"), embedding);
  if (entry.contains("mean_attended"))
    c.mean_attended = Ratio(entry.at("mean_attended").get<std::int64_t>());
  const std::string where = "data/conventions.json";
  c.core_backward = parse_ratio(entry.value("attention_backward", "2"), where);
  c.mtp = entry.value("mtp", false);
  c.padded_vocab = entry.value("padded_vocab", false);
  c.mac_weight[static_cast<std::size_t>(Part::softmax)] =
      parse_ratio(entry.value("softmax", "0"), where);
  for (const json& part : entry.value("matmuls_left_out", json::array()))
    c.mac_weight[static_cast<std::size_t>(parse_part(part))] = 0;
  for (const json& part : entry.value("parameters_counted", json::array()))
    c.param_weight[static_cast<std::size_t>(parse_part(part))] = 1;
  return c;
}

}  // namespace

std::string_view name(Part part) { return part_names[static_cast<std::size_t>(part)]; }

const std::vector<Convention>& all() {
  static const std::vector<Convention> table = [] {
    std::vector<Convention> result;
    const json file = json::parse(data_file("conventions.json"));
    for (const json& entry : file.at("conventions")) result.push_back(read(entry));
    return result;
  }();
  return table;
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Convention& c : all()) result.push_back(c.name);
  return result;
}

const Convention& find(std::string_view name, std::string_view where) {
  for (const Convention& c : all())
    if (c.name == name) return c;
  throw unknown_name(ErrorKind::usage, "convention", name, names(), where);
}

}  // namespace isoloop::convention
