// The rows `isoloop count` prints sum to the totals it prints, also where weights are stored once per
// visit (norms_per_visit, adapters).
//
// Right by definition: totals are sums of rows. scripts/prove holds the same against real modules.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "support/run_cli.h"

namespace isoloop {
namespace {

constexpr const char* per_visit_weights = R"({
  "schema": "isoloop/arch/v1", "name": "per visit", "hidden_size": 32, "vocab_size": 160,
  "segments": [{
    "name": "recur", "layers": 2, "visits": 3, "norms_per_visit": true, "adapter_rank": 4,
    "attention": {"kind": "gqa", "heads": 4, "kv_heads": 2, "head_size": 8},
    "ffn": {"kind": "moe", "experts": 8, "top_k": 2, "expert_size": 24}
  }]
})";

nlohmann::json counted() {
  const test::Ran ran = test::run_cli({"count", "-", "--format", "json"}, per_visit_weights);
  REQUIRE(ran.code() == 0);
  return nlohmann::json::parse(ran.out).at("models").at(0);
}

std::int64_t sum(const nlohmann::json& model, const std::string& key) {
  std::int64_t total = 0;
  for (const nlohmann::json& row : model.at("rows")) total += row.at(key).get<std::int64_t>();
  return total;
}

}  // namespace

TEST_CASE("count: stored and active parameters of the rows sum to the totals") {
  const nlohmann::json model = counted();
  CHECK(sum(model, "stored_params") == model.at("params").at("total").get<std::int64_t>());
  CHECK(sum(model, "active_params") == model.at("params").at("active").get<std::int64_t>());
}

TEST_CASE("count: norms and adapters stored per visit appear once per visit in their rows") {
  const nlohmann::json model = counted();  // a temporary would end before the loop
  for (const nlohmann::json& row : model.at("rows")) {
    if (row.at("part") == "norm") CHECK(row.at("stored_params") == 2 * 3 * 2 * 32);
    if (row.at("part") == "adapter") CHECK(row.at("stored_params") == 2 * 3 * 2 * 32 * 4);
  }
}

}  // namespace isoloop
