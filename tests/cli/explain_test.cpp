// isoloop explain: every formula with letters and with numbers, and the same totals as count.
#include <doctest/doctest.h>

#include "support/json_keys.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;

TEST_CASE("Markdown, to the letter") {
  const TempFolder folder;
  const auto ran = run_cli({"explain", folder.write("small.json", small_model()), "--format", "md"});
  CHECK(ran.code() == 0);
  CHECK(ran.out == R"(## small

4 layers, hidden 64, 4 heads × 16 (2 kv), 8 experts of 32, top-2

**Letters**

| letter | meaning              | value | first segment |
| ------ | -------------------- | ----: | ------------- |
| h      | hidden size          |    64 | layers        |
| V      | vocabulary           |   100 | layers        |
| H      | query heads          |     4 | layers        |
| K      | kv heads             |     2 | layers        |
| d      | head size            |    16 | layers        |
| E      | experts              |     8 | layers        |
| k      | top-k                |     2 | layers        |
| f      | expert size          |    32 | layers        |
| T      | mean attended tokens | 64.50 | layers        |

**Segment 'layers': formulas per layer, executed once**

| row               | formula | with numbers |   each | layers | parameters (all layers) | MACs (per token, all visits) | KV entries (per token, all slots) |
| ----------------- | ------- | ------------ | -----: | -----: | ----------------------: | ---------------------------: | --------------------------------: |
| q projection      | h·H·d   | 64·4·16      |  4,096 |      4 |                  16,384 |                       16,384 |                                   |
| output projection | H·d·h   | 4·16·64      |  4,096 |      4 |                  16,384 |                       16,384 |                                   |
| k projection      | h·K·d   | 64·2·16      |  2,048 |      4 |                   8,192 |                        8,192 |                                   |
| v projection      | h·K·d   | 64·2·16      |  2,048 |      4 |                   8,192 |                        8,192 |                                   |
| scores and values | 2·H·d·T | 2·4·16·129/2 |  8,256 |      4 |                         |                       33,024 |                                   |
| scores and values | 2·K·d   | 2·2·16       |     64 |      4 |                         |                              |                               256 |
| router            | h·E     | 64·8         |    512 |      4 |                   2,048 |                        2,048 |                                   |
| routed experts    | 3·h·f·E | 3·64·32·8    | 49,152 |      4 |                 196,608 |                              |                                   |
| routed experts    | 3·h·f·k | 3·64·32·2    | 12,288 |      4 |                         |                       49,152 |                                   |
| two norms         | 2·h     | 2·64         |    128 |      4 |                     512 |                              |                                   |

**Whole model**

| row             | formula | with numbers |  each | layers | parameters (all layers) | MACs (per token, all visits) | KV entries (per token, all slots) |
| --------------- | ------- | ------------ | ----: | -----: | ----------------------: | ---------------------------: | --------------------------------: |
| token embedding | h·V     | 64·100       | 6,400 |      1 |                   6,400 |                              |                                   |
| head            | h·V     | 64·100       | 6,400 |      1 |                   6,400 |                        6,400 |                                   |
| final norm      | h       | 64           |    64 |      1 |                      64 |                              |                                   |

FLOPs under 'causal' (Exact: every executed matmul, exact causal, window and document sums; arithmetic of the forward pass: one multiply-accumulate is 2 FLOPs, backward is twice forward): 2 per MAC forward; backward twice the forward.

- parameters: 261,184
- forward FLOPs per token: 279,552
- training FLOPs per token: 838,656
- KV cache bytes per token: 512
)");
}

TEST_CASE("JSON: letters, rows, formulas; the totals are count's") {
  for (const char* model : {"smelt-200m-e192", "deepseek-v3", "gemma-3-4b", "ouro-1.4b"}) {
    CAPTURE(model);
    const Json j = run_json({"explain", model});
    CHECK(j.begin().key() == "schema");
    for (const Json& letter : at(j, "/letters")) {
      check_strings(letter, "", {"/symbol", "/meaning"});
      check_numbers(letter, "", {"/value"});
    }
    for (const Json& row : at(j, "/rows"))
      for (const Json& formula : at(row, "/formulas")) check_strings(formula, "", {"/formula", "/numbers"});
    CHECK(at(j, "/train_flops_per_token") ==
          at(run_json({"count", model}), "/models/0/flops_per_token/train"));
  }
}

}  // namespace
