// The manifest of pairs: what is written is read back, and what is wrong is refused at its field.
//
// Anchor: schema isoloop/pairs/v1 as described in isoloop/pairs.h. Holds src/pairs/manifest.cpp.
#include <doctest/doctest.h>

#include <string>

#include "isoloop/pairs.h"
#include "support/numbers.h"

namespace isoloop::pairs {
namespace {

using test::error_of;

Manifest example() {
  Manifest m;
  m.options.convention = convention::find("smelt", "test");
  m.options.context = 4096;
  m.options.attended = Ratio(785, 2);
  m.options.documents = {1000, 3096};
  m.options.dtype = DType::fp8;
  m.options.kv_dtype = DType::fp16;
  m.options.vocab_multiple = 128;
  m.tolerance = {{cost::Budget::flops, Ratio(1, 100)}, {cost::Budget::kv, Ratio(5, 1000)}};
  Pair recorded{"one", "a.json", "b.json", {}, {}, {}};
  recorded.baseline_rows["layers / q projection"]["flops"] = Ratio(7, 2);
  recorded.baseline_rows["head"]["flops"] = test::ratio("7e24");
  recorded.match_rows["layers / router"]["kv"] = 3;
  Pair own{"two", "c.json", "d.json", {{cost::Budget::params, Ratio(1, 3)}}, {}, {}};
  m.pairs = {recorded, own};
  return m;
}

std::string refusal(const std::string& text) {
  const Error error = error_of([&] { from_json(text, "pairs.json"); });
  CHECK(error.kind == ErrorKind::input);
  return error.what();
}

/// A good manifest with one piece of text replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = R"({
  "schema": "isoloop/pairs/v1",
  "convention": "causal",
  "dtype": "bf16",
  "tolerance": {"flops": "1%"},
  "pairs": [{"name": "one", "baseline": "a.json", "match": "b.json"}]
})";
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

void check_equal(const Pair& a, const Pair& b) {
  CHECK(a.name == b.name);
  CHECK(a.baseline == b.baseline);
  CHECK(a.match == b.match);
  CHECK(a.baseline_rows == b.baseline_rows);
  CHECK(a.match_rows == b.match_rows);
  REQUIRE(a.tolerance.size() == b.tolerance.size());
  for (std::size_t i = 0; i < a.tolerance.size(); ++i) {
    CHECK(a.tolerance[i].budget == b.tolerance[i].budget);
    CHECK(a.tolerance[i].tolerance == b.tolerance[i].tolerance);
  }
}

}  // namespace

TEST_CASE("manifest: written and read back it is the same") {
  const Manifest m = example();
  const Manifest back = from_json(to_json(m), "pairs.json");
  CHECK(back.options.convention.name == "smelt");
  CHECK(back.options.context == 4096);
  CHECK(back.options.attended == Ratio(785, 2));
  CHECK(back.options.documents == m.options.documents);
  CHECK(back.options.dtype == DType::fp8);
  CHECK(back.options.kv_dtype == DType::fp16);
  CHECK(back.options.vocab_multiple == 128);
  REQUIRE(back.pairs.size() == 2);
  check_equal(back.pairs[0], m.pairs[0]);
  check_equal(back.pairs[1], m.pairs[1]);
  check_equal({"", "", "", back.tolerance, {}, {}}, {"", "", "", m.tolerance, {}, {}});
  CHECK(to_json(back) == to_json(m));
}

TEST_CASE("manifest: the text, tolerances as percentages where they are round") {
  Manifest m;
  m.tolerance = {{cost::Budget::flops, Ratio(1, 100)},
                 {cost::Budget::params, Ratio(15, 1000)},
                 {cost::Budget::kv, Ratio(1, 3)},
                 {cost::Budget::active, 0},
                 {cost::Budget::kv_context, Ratio(1, 1'000'000)},
                 {cost::Budget::weights_bytes, 1}};
  m.pairs = {{"one", "a.json", "b.json", {}, {}, {}}};
  CHECK(to_json(m) == R"({
  "schema": "isoloop/pairs/v1",
  "convention": "causal",
  "dtype": "bf16",
  "kv_dtype": "bf16",
  "tolerance": {
    "flops": "1%",
    "params": "1.5%",
    "kv": "1/3",
    "active": "0%",
    "kv_context": "1/1000000",
    "weights_bytes": "100%"
  },
  "pairs": [
    {
      "name": "one",
      "baseline": "a.json",
      "match": "b.json"
    }
  ]
}
)");
}

TEST_CASE("manifest: broken and misspelt ones are refused at the field that is wrong") {
  CHECK(refusal("{\n \"schema\": }").starts_with("pairs.json:2:"));
  CHECK(refusal("[]") == "pairs.json: is a list; expected an object { … }");
  CHECK(refusal("{}") == "pairs.json: field 'schema' is missing");
  CHECK(refusal(changed("pairs/v1", "arch/v1")) ==
        "pairs.json: schema: is 'isoloop/arch/v1'\n  hint: expected 'isoloop/pairs/v1'");
  CHECK(refusal(changed("\"convention\": \"causal\",", "")) ==
        "pairs.json: field 'convention' is missing");
  CHECK(refusal(changed("\"causal\"", "\"casual\"")) ==
        "pairs.json: convention: unknown convention 'casual'\n  hint: did you mean 'causal'?");
  CHECK(refusal(changed("\"bf16\"", "\"bf61\""))
            .starts_with("pairs.json: dtype: unknown data type 'bf61'"));
  CHECK(refusal(changed("\"dtype\"", "\"dtpye\"")) ==
        "pairs.json: unknown field 'dtpye'\n  hint: did you mean 'dtype'?");
  CHECK(refusal(changed("\"match\"", "\"mathc\"")) ==
        "pairs.json: pairs[0]: field 'match' is missing");
  CHECK(refusal(changed("\"b.json\"", "7")) ==
        "pairs.json: pairs[0].match: is 7; expected text in quotes");
}

TEST_CASE("manifest: without pairs or tolerance there is nothing to check") {
  CHECK(refusal(changed(R"({"name": "one", "baseline": "a.json", "match": "b.json"})", "")) ==
        "pairs.json: pairs: has no pair to check\n"
        "  hint: each pair has a name, a baseline file and a match file");
  CHECK(refusal(changed(R"("tolerance": {"flops": "1%"},)", "")) ==
        "pairs.json: tolerance: is missing and pair 'one' has none\n"
        "  hint: write e.g. {\"flops\": \"1%\", \"params\": \"1%\", \"kv\": \"2%\"}");
  CHECK(refusal(changed(R"({"flops": "1%"})", "{}")) ==
        "pairs.json: tolerance: names no budget\n  hint: write e.g. {\"flops\": \"1%\"}");
}

TEST_CASE("manifest: tolerances must name budgets and be zero or more") {
  CHECK(refusal(changed("\"flops\"", "\"flosp\""))
            .starts_with("pairs.json: tolerance: unknown field 'flosp'"));
  CHECK(refusal(changed("\"1%\"", "\"-1%\"")) ==
        "pairs.json: tolerance.flops: '-1%' is negative\n  hint: write it like 1%, 0.5% or 0.005");
  CHECK(refusal(changed("\"1%\"", "\"much\"")).starts_with("pairs.json: tolerance.flops: "));
  CHECK(refusal(changed("\"1%\"", "0.01")) ==
        "pairs.json: tolerance.flops: is 0.01; expected text in quotes");
  CHECK(refusal(changed("\"dtype\": \"bf16\",", "\"context\": 0,"))
            .starts_with("pairs.json: context: is 0; expected a whole number of at least 1"));
}

TEST_CASE("manifest: two pairs of one name could not be told apart") {
  CHECK(refusal(changed("\"b.json\"}",
                        "\"b.json\"}, {\"name\": \"one\", \"baseline\": \"c.json\", "
                        "\"match\": \"d.json\"}")) ==
        "pairs.json: pairs[1].name: is 'one', the name of an earlier pair\n"
        "  hint: give every pair its own name");
}

TEST_CASE("manifest: recorded counts are exact and belong to known budgets") {
  const auto with = [](const std::string& recorded) {
    return changed("\"b.json\"", "\"b.json\", \"recorded\": " + recorded);
  };
  const Manifest m =
      from_json(with(R"({"baseline": {"head": {"flops": "7/2"}}, "match": {}})"), "pairs.json");
  CHECK(m.pairs[0].baseline_rows.at("head").at("flops") == Ratio(7, 2));
  CHECK(refusal(with(R"({"baseline": {"head": {"flops": 1.5}}})"))
            .starts_with("pairs.json: pairs[0].recorded.baseline.head.flops: is 1.5; expected"));
  CHECK(refusal(with(R"({"base": {}})"))
            .starts_with("pairs.json: pairs[0].recorded: unknown field 'base'"));
  CHECK(refusal(with(R"({"baseline": {"head": {"flosp": "1"}}})"))
            .starts_with("pairs.json: pairs[0].recorded.baseline.head: unknown field 'flosp'"));
}

}  // namespace isoloop::pairs
