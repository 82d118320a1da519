// The table of targets: needs of an architecture, refusals by name.
#include "formats/targets.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/random_architecture.h"

using namespace isoloop;
using namespace isoloop::formats;

namespace {

arch::Architecture model() {
  arch::Architecture m;
  m.name = "m";
  m.hidden = 64;
  m.vocab = 100;
  arch::Segment s;
  s.name = "layers";
  s.layers = 4;
  s.attention = {.heads = 4, .kv_heads = 2, .head_size = 16};
  s.ffn = {.moe = true, .experts = 8, .top_k = 2, .expert_size = 32};
  m.segments = {s};
  return m;
}

std::string refusal(const arch::Architecture& m, std::string_view target) {
  try {
    emit(m, find_target(target, ""), {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("targets: a plain MoE needs MoE and nothing else, and all can say it") {
  CHECK(needs(model()) == std::vector<Need>{{Feature::moe, "layers"}});
  for (const Target& target : targets()) CHECK_NOTHROW(emit(model(), target, {}));
}

TEST_CASE("targets: a loop is refused by name") {
  const arch::Architecture m = arch::with_loop(model(), arch::parse_loop("middle", 4, ""));
  for (const char* target : {"maxtext", "olmo", "nanotron"})
    CHECK(refusal(m, target) == std::string("segment 'recur': ") + target +
                                    " cannot say loop (layers that are executed more than once)\n"
                                    "  hint: targets that can: hf, megatron, torchtitan");
  for (const char* target : {"hf", "megatron", "torchtitan"}) CHECK(refusal(m, target).empty());
}

TEST_CASE("targets: a loop that a layer file cannot run is refused by name") {
  arch::Architecture m = arch::with_loop(model(), arch::parse_loop("middle:1/2x4", 4, ""));
  arch::Segment& recur = m.segments.at(1);
  recur.visits.backward = 2;
  for (const char* target : {"megatron", "torchtitan"})
    CHECK(refusal(m, target) ==
          std::string("segment 'recur': ") + target +
              " cannot say truncated back-propagation (visits that are not back-propagated through)\n"
              "  hint: targets that can: hf");
  recur.visits = {Ratio(Int(7), Int(2)), Ratio(Int(7), Int(2))};
  for (const char* target : {"hf", "megatron", "torchtitan"})
    CHECK(refusal(m, target) == std::string("segment 'recur': ") + target +
                                    " cannot say 7/2 visits: a mean over sampled depths\n"
                                    "  hint: a model that runs needs whole visits");
  recur.visits = {4, 4};
  m.mtp_layers = 1;
  CHECK(refusal(m, "megatron") ==
        "megatron cannot say MTP layers beside a loop\n"
        "  hint: its MTP layers copy the last layer");
}

TEST_CASE("targets: two stacks in turn are a schedule, which only some can run") {
  arch::Architecture m = model();
  m.segments.push_back(m.segments.front());
  m.segments.front().name = "low";
  m.segments.back().name = "high";
  m.segments.front().visits = {4, 4};
  m.segments.back().visits = {2, 2};
  m.schedule = {"low", "low", "high", "low", "low", "high"};
  CHECK(refusal(m, "torchtitan").empty());
  CHECK(refusal(m, "megatron") ==
        "megatron cannot say a schedule that is not one block run again\n"
        "  hint: its layer file repeats blocks of neighbouring layers");
}

TEST_CASE("targets: the feature and the segment that need it") {
  arch::Architecture m = model();
  m.segments.push_back(m.segments.front());
  m.segments.back().name = "last";
  m.segments.back().attention.sinks = true;
  CHECK(refusal(m, "maxtext") ==
        "segment 'last': maxtext cannot say attention sinks (one learned logit per query head)\n"
        "  hint: targets that can: hf");
  m = model();
  m.mtp_layers = 1;
  CHECK(refusal(m, "hf") ==
        "hf cannot say MTP (multi-token-prediction layers)\n"
        "  hint: targets that can: megatron");
  m.segments.front().attention.chunked = true;
  m.segments.front().attention.windows = {8};
  CHECK(refusal(m, "hf") ==
        "hf cannot say MTP (multi-token-prediction layers)\n"
        "  hint: no target can say all that this architecture needs");
}

TEST_CASE("targets: no vocabulary, no embedding") {
  arch::Architecture m = model();
  m.vocab = 0;
  CHECK(refusal(m, "hf") ==
        "vocab_size: is not stated, and a model that trains needs an embedding\n"
        "  hint: add --vocab N, or vocab_size to the file");
}

TEST_CASE("targets: unknown names get the nearest") {
  CHECK_THROWS_WITH_AS(find_target("megatrn", "--to"),
                       "--to: unknown target 'megatrn'\n  hint: did you mean 'megatron'?", Error);
}

TEST_CASE("targets: every writer writes or refuses by name") {
  test::Dice dice(3);
  for (int i = 0; i < 500; ++i) {
    const arch::Architecture m = test::random_architecture(dice);
    for (const Target& target : targets()) {
      const std::string why = refusal(m, target.name);
      const std::vector<Need> all = needs(m);
      const bool sayable = std::all_of(all.begin(), all.end(),
                                       [&](const Need& n) { return target.can_say(n.feature); });
      if (!sayable) CHECK(!why.empty());
      if (!why.empty()) CHECK(why.find(" cannot say ") != std::string::npos);
    }
  }
}

TEST_CASE("targets: names as words") {
  CHECK(slug("Qwen3 30B/A3B!") == "Qwen3-30B-A3B");
  CHECK(slug("../..") == "model");
}
