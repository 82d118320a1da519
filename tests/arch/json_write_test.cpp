// The written form of architectures, and that reading it gives the same value.
//
// Source: data/schemas/arch.schema.json. Holds src/arch/json_write.cpp and json_read.cpp.
#include <doctest/doctest.h>

#include "arch/examples.h"
#include "support/numbers.h"

namespace isoloop::arch {

TEST_CASE("written architectures leave out what is at its default") {
  CHECK(to_json(test::one_segment(6)) == R"({
  "schema": "isoloop/arch/v1",
  "name": "plain",
  "hidden_size": 64,
  "segments": [
    {
      "name": "layers",
      "layers": 6,
      "attention": {
        "kind": "gqa",
        "heads": 4,
        "kv_heads": 2,
        "head_size": 16
      },
      "ffn": {
        "kind": "moe",
        "experts": 8,
        "top_k": 2,
        "expert_size": 32
      }
    }
  ]
}
)");
}

TEST_CASE("written architectures keep the order of fields") {
  Architecture a = with_loop(test::one_segment(1), {1, 1, 32});
  a.vocab = 100;
  a.tied = true;
  a.context = 2048;
  a.norm = NormKind::layer_without_bias;
  a.norm_layout = NormLayout::sandwich;
  a.final_norm = false;
  a.mtp_layers = 1;
  a.state_vectors = 2;
  a.schedule.assign(32, "recur");
  Segment& s = a.segments[0];
  s.visits.backward = 8;
  s.injection = Injection::linear;
  s.kv_policy = KvPolicy::modulo;
  s.kv_slots = 4;
  s.norms_per_visit = true;
  s.adapter_rank = 8;
  s.exit_gate = true;
  s.attention = {.kind = AttentionKind::mla,
                 .heads = 4,
                 .q_rank = 32,
                 .kv_rank = 16,
                 .nope_size = 8,
                 .rope_size = 0,
                 .value_size = 8,
                 .qkv_bias = true,
                 .output_bias = true,
                 .sinks = true,
                 .output_gate = true,
                 .windows = {0, 128},
                 .chunked = true};
  s.ffn = {.gated = false, .size = 256, .bias = true};
  std::string text = to_json(a);
  CHECK(from_json(text, "a.json") == a);
  const auto schedule = text.find("  \"schedule\"");
  CHECK(text.substr(schedule, 33) == "  \"schedule\": [\"recur\", \"recur\", ");
  CHECK(text.substr(0, schedule) == R"({
  "schema": "isoloop/arch/v1",
  "name": "plain",
  "hidden_size": 64,
  "vocab_size": 100,
  "tie_embeddings": true,
  "context": 2048,
  "norm": "layer_without_bias",
  "norm_layout": "sandwich",
  "final_norm": false,
  "mtp_layers": 1,
  "state_vectors": 2,
  "segments": [
    {
      "name": "recur",
      "layers": 1,
      "visits": {
        "forward": 32,
        "backward": 8
      },
      "residual_scale": "1/32",
      "injection": "linear",
      "kv_policy": "modulo",
      "kv_slots": 4,
      "norms_per_visit": true,
      "adapter_rank": 8,
      "exit_gate": true,
      "attention": {
        "kind": "mla",
        "heads": 4,
        "q_rank": 32,
        "kv_rank": 16,
        "nope_size": 8,
        "rope_size": 0,
        "value_size": 8,
        "qkv_bias": true,
        "output_bias": true,
        "sinks": true,
        "output_gate": true,
        "windows": [0, 128],
        "chunked": true
      },
      "ffn": {
        "kind": "dense",
        "size": 256,
        "gated": false,
        "bias": true
      }
    }
  ],
)");
}

TEST_CASE("fractional visits are exact ratios in quotes") {
  Architecture a = test::one_segment(4);
  a.segments[0].visits = {Ratio(5, 2), Ratio(5, 2)};
  CHECK(to_json(a).find("\"visits\": \"5/2\",") != std::string::npos);
  CHECK(from_json(to_json(a), "a.json") == a);
}

TEST_CASE("reading what was written gives the same architecture") {
  test::Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Architecture a = random.any();
    const std::string text = to_json(a);
    CAPTURE(text);
    REQUIRE(from_json(text, "random.json") == a);
    REQUIRE(to_json(from_json(text, "random.json")) == text);
  }
}

TEST_CASE("a name that is not UTF-8 cannot be written") {
  Architecture a = test::one_segment(1);
  a.name = "\xff";
  CHECK(std::string(isoloop::test::error_of([&] { to_json(a); }).what()) ==
        "a text to be written as JSON is not valid UTF-8");
}

}  // namespace isoloop::arch
