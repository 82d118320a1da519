// isoloop count: what a person sees, in three formats, to the letter; the figures are those of the
// model worked out by hand in the comment below.
//
// JSON is held by json_test.cpp, the figures of real models by tests/formats/published_counts_test.cpp.
#include <doctest/doctest.h>

#include "support/json_keys.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;

// Per layer: attention 2·64·(4·16) + 2·64·(2·16) = 12,288, router 64·8 = 512, experts 3·64·32 = 6,144
// each. Scores and values 2·4·16·T MACs with T = (128 + 1)/2. KV 2·2·16 entries of 2 bytes.
std::string shown(const std::string& format) {
  const TempFolder folder;
  const auto ran = run_cli({"count", folder.write("small.json", small_model()), "--format", format});
  CHECK(ran.code() == 0);
  CHECK(ran.err == "");
  return ran.out.substr(0, ran.out.find("Next:"));
}

TEST_CASE("text") {
  CHECK(shown("text") == R"(small
─────

part                         parameters   active  train FLOPs   share
                                                    per token
─────────────────────────────────────────────────────────────────────
attention projections            49,152   49,152      294,912  35.2 %
attention scores and values                           198,144  23.6 %
router                            2,048    2,048       12,288   1.5 %
routed experts                  196,608   49,152      294,912  35.2 %
norms                               576      576
embedding                         6,400    6,400
head                              6,400    6,400       38,400   4.6 %
─────────────────────────────────────────────────────────────────────
total                           261,184  113,728      838,656

shape                           4 layers, hidden 64, 4 heads × 16 (2 kv), 8 experts of 32, top-2
active without input embedding  107,328
without embedding and head      248,384 stored, 100,928 active
forward                         279,552 FLOPs per token (139,776 MACs)
KV cache                        512 B per token (bf16, 4 slots) · 64.0 KiB at 128 tokens
training memory                 weights 510.1 KiB (bf16 × 2 B) + gradients 510.1 KiB (bf16 × 2 B) +
                                Adam 3.0 MiB (12 B: fp32 copy, two moments)
activations                     7.2 KiB per token kept for backward (inputs of matmuls, norms and
                                attention; without dropout masks, workspaces, recomputation)

FLOPs under convention 'causal' at context 128. )");
}

TEST_CASE("Markdown") {
  CHECK(shown("md") == R"(## small

| part                        | parameters |  active | train FLOPs (per token) |  share |
| --------------------------- | ---------: | ------: | ----------------------: | -----: |
| attention projections       |     49,152 |  49,152 |                 294,912 | 35.2 % |
| attention scores and values |            |         |                 198,144 | 23.6 % |
| router                      |      2,048 |   2,048 |                  12,288 |  1.5 % |
| routed experts              |    196,608 |  49,152 |                 294,912 | 35.2 % |
| norms                       |        576 |     576 |                         |        |
| embedding                   |      6,400 |   6,400 |                         |        |
| head                        |      6,400 |   6,400 |                  38,400 |  4.6 % |
| **total**                   |    261,184 | 113,728 |                 838,656 |        |

- shape: 4 layers, hidden 64, 4 heads × 16 (2 kv), 8 experts of 32, top-2
- active without input embedding: 107,328
- without embedding and head: 248,384 stored, 100,928 active
- forward: 279,552 FLOPs per token (139,776 MACs)
- KV cache: 512 B per token (bf16, 4 slots) · 64.0 KiB at 128 tokens
- training memory: weights 510.1 KiB (bf16 × 2 B) + gradients 510.1 KiB (bf16 × 2 B) + Adam 3.0 MiB (12 B: fp32 copy, two moments)
- activations: 7.2 KiB per token kept for backward (inputs of matmuls, norms and attention; without dropout masks, workspaces, recomputation)

FLOPs under convention 'causal' at context 128. )");
}

TEST_CASE("CSV has plain numbers") {
  CHECK(shown("csv") ==
          "part,parameters,active,train FLOPs (per token),share\r\n"
          "attention projections,49152,49152,294912,35.2 %\r\n"
          "attention scores and values,,,198144,23.6 %\r\n"
          "router,2048,2048,12288,1.5 %\r\n"
          "routed experts,196608,49152,294912,35.2 %\r\n"
          "norms,576,576,,\r\n"
          "embedding,6400,6400,,\r\n"
          "head,6400,6400,38400,4.6 %\r\n"
          "total,261184,113728,838656,\r\n");
}

TEST_CASE("several models side by side, and every convention") {
  const auto ran = run_cli(words("count qwen3-30b-a3b mixtral-8x7b --convention all"));
  CHECK(ran.code() == 0);
  CHECK(ran.out.starts_with("model              parameters          active"));
  for (const char* name : {"smelt", "causal", "kaplan", "palm", "chinchilla", "megatron", "torchtitan", "olmo",
                           "maxtext", "torch", "torch-flash", "6n"})
    CHECK(ran.out.find(std::string("\n") + name + " ") != ran.out.npos);
}

TEST_CASE("a loop multiplies what is executed, not what is stored") {
  const Json plain = run_json({"count", "smelt-200m-e192"});
  const Json looped = run_json({"count", "smelt-200m-e192", "--loop", "all x2"});
  CHECK(at(plain, "/models/0/params") == at(looped, "/models/0/params"));
  CHECK(2 * at(plain, "/models/0/flops_per_token/train").get<std::int64_t>() ==
        at(looped, "/models/0/flops_per_token/train"));
  CHECK(2 * at(plain, "/models/0/kv_cache/bytes_per_token").get<std::int64_t>() ==
        at(looped, "/models/0/kv_cache/bytes_per_token"));
}

TEST_CASE("packed documents set the context and shorten attention") {
  const Json whole = run_json({"count", "smelt-200m-e192", "--context", "4096"});
  const Json packed = run_json({"count", "smelt-200m-e192", "--documents", "1024,3072"});
  CHECK(at(packed, "/models/0/context_tokens") == 4096);
  CHECK(at(packed, "/models/0/flops_per_token/train").get<double>() <
        at(whole, "/models/0/flops_per_token/train").get<double>());
}

TEST_CASE("numbers on the command line may be written exactly in any form") {
  for (const char* context : {"4096", "4.096e3", "8192/2"})
    CHECK(at(run_json({"count", "smelt-200m-e192", "--context", context}), "/models/0/context_tokens") == 4096);
}

}  // namespace
