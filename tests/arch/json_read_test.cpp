// Reading architecture files: what is accepted and the full message of everything that is not.
//
// Source: data/schemas/arch.schema.json. Holds src/arch/json_read.cpp.
#include <doctest/doctest.h>

#include "arch/examples.h"
#include "support/numbers.h"

namespace isoloop::arch {
namespace {

// The message for the two-segment example with the first `from` replaced by `to`.
std::string message(std::string_view from, std::string_view to) {
  const std::string text = test::edited(test::two_segments, from, to);
  REQUIRE_FALSE(text.empty());
  const Error error = isoloop::test::error_of([&] { from_json(text, "small.json"); });
  CHECK(error.kind == ErrorKind::input);
  return error.what();
}

// The example with an MLA attention in its first segment.
constexpr std::string_view gqa = R"("kind": "gqa", "heads": 20, "kv_heads": 4, "head_size": 64)";
constexpr std::string_view mla =
    R"("kind": "mla", "heads": 16, "q_rank": 768, "kv_rank": 512, "nope_size": 128, "rope_size": 64, "value_size": 128)";

}  // namespace

TEST_CASE("a file becomes an architecture") {
  const Architecture a = from_json(test::two_segments, "small.json");
  CHECK(a.name == "small");
  CHECK(a.hidden == 1280);
  CHECK(a.vocab == 50304);
  CHECK_FALSE(a.tied);
  CHECK(a.context == 4096);
  CHECK(a.norm == NormKind::rms);
  REQUIRE(a.segments.size() == 2);
  CHECK_FALSE(a.segments[0].ffn.moe);
  CHECK(a.segments[0].ffn.size == 5120);
  CHECK(a.segments[1].layers == 11);
  CHECK(a.segments[1].visits == Visits{});
  CHECK(a.segments[1].attention.kv_heads == 4);
  CHECK(a.segments[1].attention.windows == std::vector<std::int64_t>{0, 128});
  CHECK(a.segments[1].ffn.expert_size == 432);
  CHECK(a.segments[1].ffn.gated);
}

TEST_CASE("visits are a number, a ratio, or one for each direction") {
  const auto visits = [](std::string_view value) {
    const std::string field = "\"layers\": 11, \"visits\": " + std::string(value);
    const std::string text = test::edited(test::two_segments, "\"layers\": 11", field);
    return from_json(text, "small.json").segments[1].visits;
  };
  CHECK(visits("3") == Visits{3, 3});
  CHECK(visits("\"5/2\"") == Visits{Ratio(5, 2), Ratio(5, 2)});
  CHECK(visits("\"2.5\"") == Visits{Ratio(5, 2), Ratio(5, 2)});
  CHECK(visits(R"({"forward": 32, "backward": 8})") == Visits{32, 8});
  CHECK(visits(R"({"forward": 32})") == Visits{32, 32});
}

TEST_CASE("the short loop is applied") {
  const auto looped = [](std::string_view loop) {
    const std::string field = "\"loop\": \"" + std::string(loop) + "\", \"segments\"";
    return from_json(test::edited(test::two_segments, "\"segments\"", field), "small.json");
  };
  const Architecture plain = from_json(test::two_segments, "small.json");
  CHECK(looped("3+6x2+3") == with_loop(plain, {4, 6, 2}));
  CHECK(looped("all x2") == with_loop(plain, {1, 12, 2}));
  CHECK(looped("none") == plain);
}

TEST_CASE("malformed JSON is refused with line and column") {
  CHECK(message("\"name\": \"small\",", "\"name\": \"small\"") ==
        "small.json:4:15: not valid JSON: unexpected string literal in object; expected '}'");
  CHECK(message("\"layers\": 1,", "\"layers\": 1,\n \"layers\": 2,") ==
        "small.json:10:9: field 'layers' appears twice in one object\n  hint: keep one of the two");
}

TEST_CASE("another schema is refused") {
  CHECK(message("arch/v1", "arch/v2") ==
        "small.json: schema: is \"isoloop/arch/v2\"; expected \"isoloop/arch/v1\"\n  hint: other "
        "formats are read by `isoloop import`");
  CHECK(message("\"schema\": \"isoloop/arch/v1\",", "") == "small.json: field 'schema' is missing");
  CHECK(message("\"isoloop/arch/v1\"", "1") == "small.json: schema: is 1; expected text in quotes");
  CHECK(std::string(isoloop::test::error_of([] { from_json("[]", "small.json"); }).what()) ==
        "small.json: is a list; expected an object { … }");
}

TEST_CASE("unknown fields are refused with the nearest name, at every level") {
  CHECK(message("\"hidden_size\"", "\"hidden\"") ==
        "small.json: unknown field 'hidden'\n  hint: known: schema, name, hidden_size, vocab_size, "
        "tie_embeddings, context, norm, norm_layout, final_norm, mtp_layers, state_vectors, "
        "segments, loop, schedule");
  CHECK(message("\"layers\": 1,", "\"layer\": 1,") ==
        "small.json: segments[0]: unknown field 'layer'\n  hint: did you mean 'layers'?");
  CHECK(message("\"kv_heads\"", "\"kv_head\"") ==
        "small.json: segments[0].attention: unknown field 'kv_head'\n  hint: did you mean "
        "'kv_heads'?");
  CHECK(message("\"top_k\"", "\"topk\"") ==
        "small.json: segments[1].ffn: unknown field 'topk'\n  hint: did you mean 'top_k'?");
  CHECK(
      message("\"layers\": 1,", "\"layers\": 1, \"visits\": {\"forwards\": 2},") ==
      "small.json: segments[0].visits: unknown field 'forwards'\n  hint: did you mean 'forward'?");
  CHECK(message("\"name\": \"small\"", "\"activation\": \"silu\"") ==
        "small.json: unknown field 'activation'\n  hint: known: schema, name, hidden_size, "
        "vocab_size, tie_embeddings, context, norm, norm_layout, final_norm, mtp_layers, "
        "state_vectors, segments, loop, schedule");
}

TEST_CASE("unknown words are refused with the nearest one") {
  CHECK(message("\"gqa\"", "\"gqq\"") ==
        "small.json: segments[0].attention.kind: unknown attention kind 'gqq'\n  hint: did you "
        "mean 'gqa'?");
  CHECK(message("\"dense\", \"size\"", "\"sparse\", \"size\"") ==
        "small.json: segments[0].ffn.kind: unknown FFN kind 'sparse'\n  hint: known: dense, moe");
  CHECK(message("\"name\": \"small\"", "\"norm\": \"rmsnorm\"") ==
        "small.json: norm: unknown norm 'rmsnorm'\n  hint: known: rms, layer, layer_without_bias, "
        "unweighted");
  CHECK(message("\"name\": \"small\"", "\"norm_layout\": \"Pre\"") ==
        "small.json: norm_layout: unknown norm_layout 'Pre'\n  hint: did you mean 'pre'?");
  CHECK(message("\"layers\": 1,", "\"layers\": 1, \"order\": \"layers\",") ==
        "small.json: segments[0].order: unknown order 'layers'\n  hint: did you mean 'layer'?");
  CHECK(message("\"layers\": 1,", "\"layers\": 1, \"injection\": \"concat\",") ==
        "small.json: segments[0].injection: unknown injection 'concat'\n  hint: known: none, add, "
        "diagonal, linear");
  CHECK(message("\"layers\": 1,", "\"layers\": 1, \"kv_policy\": \"per-visit\",") ==
        "small.json: segments[0].kv_policy: unknown kv_policy 'per-visit'\n  hint: did you mean "
        "'per_visit'?");
  CHECK(message("\"head_size\": 64", "\"head_size\": 64, \"qk_norm\": \"head\"") ==
        "small.json: segments[0].attention.qk_norm: unknown qk_norm 'head'\n  hint: known: none, "
        "unweighted, per_head, all_heads");
}

TEST_CASE("missing dimensions are never guessed") {
  CHECK(message("\"hidden_size\": 1280,", "") == "small.json: field 'hidden_size' is missing");
  CHECK(message("\"name\": \"dense\",", "") == "small.json: segments[0]: field 'name' is missing");
  CHECK(message("\"layers\": 1,", "") == "small.json: segments[0]: field 'layers' is missing");
  CHECK(message("\"heads\": 20,", "") ==
        "small.json: segments[0].attention: field 'heads' is missing");
  CHECK(message("\"kv_heads\": 4,", "") ==
        "small.json: segments[0].attention: field 'kv_heads' is missing");
  CHECK(message(", \"head_size\": 64", "") ==
        "small.json: segments[0].attention: field 'head_size' is missing");
  CHECK(message("\"kind\": \"gqa\",", "") ==
        "small.json: segments[0].attention: field 'kind' is missing");
  CHECK(message(", \"size\": 5120", "") == "small.json: segments[0].ffn: field 'size' is missing");
  CHECK(message(", \"expert_size\": 432", "") ==
        "small.json: segments[1].ffn: field 'expert_size' is missing");
  CHECK(message("\"top_k\": 8, ", "") == "small.json: segments[1].ffn: field 'top_k' is missing");
  CHECK(message("\"experts\": 192, ", "") ==
        "small.json: segments[1].ffn: field 'experts' is missing");
  CHECK(std::string(isoloop::test::error_of([] {
                      from_json(R"({"schema": "isoloop/arch/v1", "hidden_size": 64})",
                                "small.json");
                    }).what()) == "small.json: field 'segments' is missing");
  std::string mla_text = test::edited(test::two_segments, gqa, mla);
  CHECK_NOTHROW(from_json(mla_text, "small.json"));
  CHECK(message(gqa, test::edited(mla, "\"rope_size\": 64, ", "")) ==
        "small.json: segments[0].attention: field 'rope_size' is missing");
  CHECK(message(gqa, test::edited(mla, "\"kv_rank\": 512, ", "")) ==
        "small.json: segments[0].attention: field 'kv_rank' is missing");
  CHECK(message(R"("ffn": {"kind": "dense", "size": 5120})", "\"exit_gate\": true") ==
        "small.json: segments[0]: field 'ffn' is missing");
}

TEST_CASE("dimensions are whole numbers of at least 1 and not huge") {
  CHECK(message("\"hidden_size\": 1280", "\"hidden_size\": 0") ==
        "small.json: hidden_size: is 0; expected a whole number of at least 1");
  CHECK(message("\"hidden_size\": 1280", "\"hidden_size\": -1280") ==
        "small.json: hidden_size: is -1280; expected a whole number of at least 1");
  CHECK(message("\"hidden_size\": 1280", "\"hidden_size\": 1.5") ==
        "small.json: hidden_size: is 1.5; expected a whole number");
  CHECK(message("\"hidden_size\": 1280", "\"hidden_size\": \"1280\"") ==
        "small.json: hidden_size: is \"1280\"; expected a whole number\n  hint: write 1280 without "
        "quotes");
  CHECK(message("\"hidden_size\": 1280", "\"hidden_size\": null") ==
        "small.json: hidden_size: is null; expected a whole number");
  CHECK(message("\"hidden_size\": 1280", "\"hidden_size\": 1099511627777") ==
        "small.json: hidden_size: is 1099511627777; expected a whole number of at most "
        "1099511627776");
  CHECK(message("\"hidden_size\": 1280", "\"hidden_size\": 9223372036854775808") ==
        "small.json: hidden_size: is 9223372036854775808; expected a whole number of at most "
        "1099511627776");
  CHECK(message("\"vocab_size\": 50304", "\"vocab_size\": 0") ==
        "small.json: vocab_size: is 0; expected a whole number of at least 1");
  CHECK(message("\"heads\": 20", "\"heads\": [20]") ==
        "small.json: segments[0].attention.heads: is a list; expected a whole number");
  CHECK(message("\"layers\": 11", "\"layers\": 100001") ==
        "small.json: segments[1].layers: is 100001; expected a whole number of at most 100000");
  CHECK(message("\"experts\": 192", "\"experts\": 0") ==
        "small.json: segments[1].ffn.experts: is 0; expected a whole number of at least 1");
  CHECK(
      message("[0, 128]", "[0, -1]") ==
      "small.json: segments[1].attention.windows[1]: is -1; expected a whole number of at least 0");
  CHECK(message("[0, 128]", "128") ==
        "small.json: segments[1].attention.windows: is 128; expected a list [ … ]");
  CHECK(message("\"top_k\": 8", "\"top_k\": 8, \"gated\": 1") ==
        "small.json: segments[1].ffn.gated: is 1; expected true or false");
  CHECK(message("\"layers\": 11,", "\"layers\": 11, \"visits\": 2.5,") ==
        "small.json: segments[1].visits: is 2.5; expected a whole number or an exact ratio in "
        "quotes\n  hint: for example 2 or \"5/2\"");
  CHECK(message("\"layers\": 11,", "\"layers\": 11, \"visits\": \"twice\",") ==
        "small.json: segments[1].visits: cannot read 'twice' as a number\n  hint: write it like 3, "
        "-1.25, 1e-3, 7/2 or 1.5%");
  CHECK(message("\"layers\": 11,", "\"layers\": 11, \"residual_scale\": 0.5,") ==
        "small.json: segments[1].residual_scale: is 0.5; expected a whole number or an exact ratio "
        "in quotes\n  hint: for example 2 or \"5/2\"");
}

TEST_CASE("fields of another kind are refused, whatever their value") {
  CHECK(message("\"head_size\": 64", "\"head_size\": 64, \"rope_size\": 0") ==
        "small.json: segments[0].attention.rope_size: belongs to kind \"mla\", but the kind is "
        "\"gqa\"\n  hint: remove it, or set kind to \"mla\"");
  CHECK(message(gqa, std::string(mla) + ", \"kv_heads\": 4") ==
        "small.json: segments[0].attention.kv_heads: belongs to kind \"gqa\", but the kind is "
        "\"mla\"\n  hint: remove it, or set kind to \"gqa\"");
  CHECK(message(gqa, std::string(mla) + ", \"qk_norm\": \"none\"") ==
        "small.json: segments[0].attention.qk_norm: belongs to kind \"gqa\", but the kind is "
        "\"mla\"\n  hint: remove it, or set kind to \"gqa\"");
  CHECK(message("\"size\": 5120", "\"size\": 5120, \"shared_gate\": false") ==
        "small.json: segments[0].ffn.shared_gate: belongs to kind \"moe\", but the kind is "
        "\"dense\"\n  hint: remove it, or set kind to \"moe\"");
  CHECK(message("\"experts\": 192", "\"experts\": 192, \"size\": 5120") ==
        "small.json: segments[1].ffn.size: belongs to kind \"dense\", but the kind is \"moe\"\n  "
        "hint: remove it, or set kind to \"dense\"");
}

TEST_CASE("rules beyond single fields are reported with file and path") {
  CHECK(message("\"kv_heads\": 4", "\"kv_heads\": 3") ==
        "small.json: segments[0].attention.kv_heads: is 3, which does not divide the 20 heads\n  "
        "hint: kv_heads can be 1, 2, 4, 5, 10, 20");
  CHECK(message("\"name\": \"moe\"", "\"name\": \"dense\"") ==
        "small.json: segments[1].name: 'dense' is already the name of segments[0]\n  hint: give "
        "every segment its own name");
}

TEST_CASE("a loop is stated once") {
  const auto with = [](std::string_view loop, std::string_view from, std::string_view to) {
    const std::string text = test::edited(test::two_segments, from, to);
    const std::string field = "\"loop\": " + std::string(loop) + ", \"segments\"";
    return std::string(isoloop::test::error_of([&] {
                         from_json(test::edited(text, "\"segments\"", field), "small.json");
                       }).what());
  };
  CHECK(with("\"3+6x2+3\"", "\"layers\": 11", "\"layers\": 11, \"visits\": 2") ==
        "small.json: loop: segments[1] already states visits or other loop fields\n  hint: remove "
        "\"loop\", or remove visits, order, injection, kv_policy, norms_per_visit, adapter_rank "
        "and exit_gate from the segments");
  CHECK(with("\"3+6x2+3\"", "\"layers\": 11", "\"layers\": 11, \"exit_gate\": true") ==
        "small.json: loop: segments[1] already states visits or other loop fields\n  hint: remove "
        "\"loop\", or remove visits, order, injection, kv_policy, norms_per_visit, adapter_rank "
        "and exit_gate from the segments");
  CHECK(with("\"3+6x2+3\"", "\"name\": \"small\"", "\"schedule\": [\"dense\", \"moe\"]") ==
        "small.json: loop: a schedule and a loop cannot both be given\n  hint: remove one of them");
  CHECK(with("\"3+6x2+4\"", "small", "big") ==
        "small.json: loop: cannot use the loop '3+6x2+4': 3 + 6 + 4 are 13 layers, but the model "
        "has 12\n  hint: for example 3+6x2+3");
  CHECK(with("\"4-14x2\"", "small", "big") ==
        "small.json: loop: cannot use the loop '4-14x2': there is no layer 14\n  hint: the model "
        "has layers 1 to 12");
  CHECK(with("2", "small", "big") == "small.json: loop: is 2; expected text in quotes");
}

TEST_CASE("damaged files are refused as input errors or mean something that can be written") {
  constexpr std::string_view pieces[] = {"0", "-1", "1e9", "null", "[]", "{}", "\"",   "\"x\"",
                                         ",", ":",  "}",   "]",    "\n", "\\", "\xff", "moe"};
  test::Random random(6);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(test::two_segments);
    for (std::int64_t edits = random.between(1, 3); edits > 0; --edits) {
      const auto size = static_cast<std::int64_t>(text.size());
      const auto at = static_cast<std::size_t>(random.between(0, size - 1));
      const auto length = static_cast<std::size_t>(random.between(0, 4));
      text.replace(at, length, pieces[static_cast<std::size_t>(random.between(0, 15))]);
    }
    CAPTURE(text);
    try {
      const Architecture a = from_json(text, "damaged.json");
      REQUIRE(from_json(to_json(a), "again.json") == a);
    } catch (const Error& error) {
      REQUIRE(error.kind == ErrorKind::input);
      REQUIRE(error.where.starts_with("damaged.json"));
    }
  }
}

}  // namespace isoloop::arch
