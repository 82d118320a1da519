// Mean attended tokens against a sum over positions.
//
// Anchor: a causal query at position i of a document sees min(i, window) tokens, or its own chunk
// so far; the conventions' window rules as published. Holds src/cost/resolve.cpp.
#include <doctest/doctest.h>

#include <random>

#include "cost/resolve.h"
#include "isoloop/cost.h"
#include "support/numbers.h"

namespace isoloop::cost {
namespace {

/// Tokens that position i (from 1) of its document sees.
std::int64_t seen(std::int64_t i, std::int64_t window, bool chunked) {
  if (window == 0) return i;
  std::int64_t tokens = 0;
  for (std::int64_t j = 1; j <= i; ++j) {
    const bool near = chunked ? (i - 1) / window == (j - 1) / window : i - j < window;
    if (near) ++tokens;
  }
  return tokens;
}

Ratio mean(const std::vector<std::int64_t>& documents, std::int64_t window, bool chunked) {
  std::int64_t sum = 0, tokens = 0;
  for (const std::int64_t length : documents)
    for (std::int64_t i = 1; i <= length; ++i, ++tokens) sum += seen(i, window, chunked);
  return Ratio(sum, tokens);
}

Options under(const std::string& name) {
  Options o;
  o.convention = convention::find(name, "test");
  return o;
}

}  // namespace

TEST_CASE("attended: causal means of windows and chunks, position by position") {
  const Options o = under("causal");
  for (const std::int64_t context : {1, 2, 7, 16, 33, 60})
    for (const std::int64_t window : {0, 1, 2, 7, 16, 59, 60, 100})
      for (const bool chunked : {false, true}) {
        CAPTURE(context);
        CAPTURE(window);
        CAPTURE(chunked);
        CHECK(mean_attended(o, context, window, chunked) == mean({context}, window, chunked));
      }
}

TEST_CASE("attended: packed documents do not see each other") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) {
    Options o = under("causal");
    for (auto n = random() % 6 + 1; n > 0; --n)
      o.documents.push_back(static_cast<std::int64_t>(random() % 40) + 1);
    const auto window = static_cast<std::int64_t>(random() % 30);
    const bool chunked = random() % 2 == 0;
    CHECK(mean_attended(o, 4096, window, chunked) == mean(o.documents, window, chunked));
  }
}

TEST_CASE("attended: one causal sequence sees (S+1)/2, not S/2") {
  CHECK(mean_attended(under("causal"), 4096, 0, false) == Ratio(4097, 2));
  CHECK(mean_attended(under("megatron"), 4096, 0, false) == Ratio(2048));
  CHECK(mean_attended(under("palm"), 4096, 0, false) == Ratio(4096));
  CHECK(mean_attended(under("smelt"), 4096, 0, false) == Ratio(392));
  CHECK(mean_attended(under("6n"), 4096, 0, false) == Ratio(0));
}

TEST_CASE("attended: what each convention makes of a window") {
  constexpr std::int64_t S = 100, W = 30;
  const std::vector<std::pair<std::string, Ratio>> expected = {
      {"smelt", 392},
      {"causal", Ratio(30 * 31 / 2 + 70 * 30, 100)},
      {"kaplan", 50},
      {"palm", 100},
      {"chinchilla", 100},
      {"megatron", 50},
      {"torchtitan", 30},
      {"olmo", 30},
      {"maxtext", Ratio(S * W * 2 - W * W, 2 * S)},
      {"torch", 100},
      {"torch-flash", 100},
      {"6n", 0}};
  CHECK(expected.size() == convention::all().size());
  for (const auto& [name, mean] : expected) {
    CAPTURE(name);
    CHECK(mean_attended(under(name), S, W, false) == mean);
    // A window as long as the sequence is none, whatever the rule.
    CHECK(mean_attended(under(name), S, S, false) == mean_attended(under(name), S, 0, false));
    CHECK(mean_attended(under(name), S, 5 * S, false) == mean_attended(under(name), S, 0, false));
  }
}

TEST_CASE("attended: maxtext counts half of each chunk's square") {
  // Sum of squares of chunk lengths over 2 S: 3 chunks of 30 and one of 10.
  CHECK(mean_attended(under("maxtext"), 100, 30, true) == Ratio(3 * 900 + 100, 200));
  CHECK(mean_attended(under("maxtext"), 90, 30, true) == Ratio(15));
}

TEST_CASE(
    "attended: a length given by the caller overrides all but conventions without attention") {
  for (const std::string& name : convention::names()) {
    Options o = under(name);
    o.attended = Ratio(785, 2);
    CHECK(mean_attended(o, 4096, 100, false) == (name == "6n" ? Ratio(0) : Ratio(785, 2)));
  }
}

TEST_CASE("attended: windows alternate by layer and bound the cache at the full context") {
  arch::Architecture model;
  model.name = "alternating";
  model.hidden = 16;
  model.context = 100;
  arch::Segment s;
  s.name = "layers";
  s.layers = 5;
  s.attention.heads = 2;
  s.attention.kv_heads = 1;
  s.attention.head_size = 8;
  s.attention.windows = {10, 10, 0};  // layers 1, 2, 4, 5 windowed
  s.ffn.size = 8;
  model.segments = {s};
  const Options o = under("causal");
  const Count c = count(model, o);
  Ratio core = 0;
  for (const Row<Ratio>& row : c.rows)
    if (row.part == Part::attention_core) core += row.layers * row.macs;
  CHECK(core == Ratio(2 * 2 * 8) * (Ratio(4) * mean({100}, 10, false) + mean({100}, 0, false)));
  constexpr std::int64_t bytes = 2 * 8 * 2;  // K and V of one head of 8 in bf16
  CHECK(c.kv_bytes_per_token.value() == Ratio(5 * bytes));
  CHECK(c.kv_bytes_per_token_long.value() == Ratio(bytes));
  CHECK(c.memory.kv_per_sequence.value() == Ratio(bytes * (4 * 10 + 100)));
}

}  // namespace isoloop::cost
