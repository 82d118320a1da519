// What the visits of a loop share: with kv_policy "first" keys and values are made once and the other
// visits only read them; with every other policy each visit makes its own.
//
// Source: recursive KV sharing, arXiv 2507.10524. scripts/prove holds the same against
// FLOPs that torch counts.
#include <doctest/doctest.h>

#include <set>

#include "isoloop/cost.h"

namespace isoloop::cost {
namespace {

arch::Architecture looped(arch::KvPolicy policy, const char* attention) {
  arch::Architecture model = arch::from_json(std::string(R"({
    "schema": "isoloop/arch/v1", "hidden_size": 32, "vocab_size": 160,
    "segments": [{"name": "recur", "layers": 2, "visits": 3,
      "ffn": {"kind": "dense", "size": 48}, "attention": )") + attention + "}]}", "test");
  model.segments[0].kv_policy = policy;
  if (policy == arch::KvPolicy::modulo) model.segments[0].kv_slots = 2;
  return model;
}

constexpr const char* gqa = R"({"kind": "gqa", "heads": 4, "kv_heads": 2, "head_size": 8})";
constexpr const char* mla = R"({"kind": "mla", "heads": 4, "kv_rank": 16, "nope_size": 8,
                               "rope_size": 4, "value_size": 12})";
const std::set<std::string> makers = {"k projection", "v projection", "kv down-projection",
                                      "kv up-projection"};

}  // namespace

TEST_CASE("kv_policy first: keys and values are made by the first visit only") {
  for (const char* attention : {gqa, mla}) {
    int found = 0;
    for (const Row<Ratio>& row : ledger(looped(arch::KvPolicy::first, attention), {})) {
      if (row.segment != "recur") continue;
      const bool maker = makers.contains(row.name);
      found += maker;
      CAPTURE(row.name);
      CHECK(row.visits == Ratio(maker ? 1 : 3));
      CHECK(row.backward_visits == Ratio(maker ? 1 : 3));
    }
    CHECK(found == 2);
  }
}

TEST_CASE("kv_policy first: a first visit that is not back-propagated does not train them") {
  arch::Architecture model = looped(arch::KvPolicy::first, gqa);
  model.segments[0].visits.backward = 2;
  for (const Row<Ratio>& row : ledger(model, {}))
    if (makers.contains(row.name)) CHECK(row.backward_visits == Ratio(0));
}

TEST_CASE("other policies: every visit makes its keys and values") {
  for (const auto policy : {arch::KvPolicy::per_visit, arch::KvPolicy::last, arch::KvPolicy::modulo})
    for (const Row<Ratio>& row : ledger(looped(policy, gqa), {}))
      if (makers.contains(row.name)) CHECK(row.visits == Ratio(3));
}

}  // namespace isoloop::cost
