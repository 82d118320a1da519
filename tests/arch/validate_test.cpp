// The rules of a valid architecture, one broken at a time.
//
// Source: the comments in arch.h. Holds src/arch/validate.cpp.
#include <doctest/doctest.h>

#include "arch/examples.h"
#include "support/numbers.h"

namespace isoloop::arch {
namespace {

// The message after `change` was applied to a valid one-segment model (or its only segment).
template <class Change>
std::string message(Change change) {
  Architecture a = test::one_segment(4);
  change(a);
  const Error error = isoloop::test::error_of([&] { validate(a); });
  CHECK(error.kind == ErrorKind::input);
  return error.what();
}
template <class Change>
std::string in_segment(Change change) {
  return message([&](Architecture& a) { change(a.segments[0]); });
}
template <class Change>
std::string in_attention(Change change) {
  return in_segment([&](Segment& s) { change(s.attention); });
}
template <class Change>
std::string in_ffn(Change change) {
  return in_segment([&](Segment& s) { change(s.ffn); });
}
template <class Change>
std::string in_mla(Change change) {
  return in_attention([&](Attention& a) {
    a = {.kind = AttentionKind::mla,
         .heads = 4,
         .kv_rank = 16,
         .nope_size = 8,
         .rope_size = 4,
         .value_size = 8};
    change(a);
  });
}
template <class Change>
std::string in_dense(Change change) {
  return in_ffn([&](Ffn& f) {
    f = {.size = 256};
    change(f);
  });
}

}  // namespace

TEST_CASE("random architectures are valid") {
  test::Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const Architecture a = random.any();
    CAPTURE(to_json(a));
    REQUIRE_NOTHROW(validate(a));
  }
}

TEST_CASE("sizes of the model") {
  CHECK(message([](auto& a) { a.hidden = 0; }) ==
        "hidden_size: is 0; expected a whole number of at least 1");
  CHECK(message([](auto& a) { a.hidden = max_dimension + 1; }) ==
        "hidden_size: is 1099511627777; expected a whole number of at most 1099511627776");
  CHECK(message([](auto& a) { a.vocab = -1; }) ==
        "vocab_size: is -1; expected a whole number of at least 0");
  CHECK(message([](auto& a) { a.context = 0; }) ==
        "context: is 0; expected a whole number of at least 1");
  CHECK(message([](auto& a) { a.mtp_layers = -1; }) ==
        "mtp_layers: is -1; expected a whole number of at least 0");
  CHECK(message([](auto& a) { a.state_vectors = -1; }) ==
        "state_vectors: is -1; expected a whole number of at least 0");
  CHECK(message([](auto& a) { a.segments.clear(); }) ==
        "segments: is empty; expected at least one segment");
  CHECK(message([](auto& a) {
          a.segments.push_back(a.segments[0]);
          a.segments[1].name = "more";
          a.segments[1].layers = max_layers;
        }) == "segments: have 100004 layers in all; expected at most 100000");
}

TEST_CASE("names of segments") {
  CHECK(in_segment([](auto& s) { s.name = ""; }) ==
        "segments[0].name: is empty\n  hint: name the segment");
  CHECK(message([](auto& a) { a.segments.push_back(a.segments[0]); }) ==
        "segments[1].name: 'layers' is already the name of segments[0]\n  hint: give every segment "
        "its own name");
}

TEST_CASE("layers and visits") {
  CHECK(in_segment([](auto& s) { s.layers = 0; }) ==
        "segments[0].layers: is 0; expected a whole number of at least 1");
  CHECK(in_segment([](auto& s) { s.layers = max_layers + 1; }) ==
        "segments[0].layers: is 100001; expected a whole number of at most 100000");
  CHECK(in_segment([](auto& s) {
          s.visits = {0, 0};
        }) ==
        "segments[0].visits: is 0; expected at least 1 visit\n  hint: 1 means no loop; to leave "
        "the layers out, remove them");
  CHECK(in_segment([](auto& s) {
          s.visits = {Ratio(1, 2), 1};
        }) ==
        "segments[0].visits: is 1/2; expected at least 1 visit\n  hint: 1 means no loop; to leave "
        "the layers out, remove them");
  CHECK(in_segment([](auto& s) {
          s.visits = {max_visits + 1, 1};
        }) == "segments[0].visits: is 100001; expected at most 100000 visits");
  CHECK(in_segment([](auto& s) {
          s.visits = {2, 3};
        }) ==
        "segments[0].visits.backward: is 3; expected more than 0 and at most the 2 forward "
        "visits\n  hint: leave it out if every visit is back-propagated");
  CHECK(in_segment([](auto& s) {
          s.visits = {2, 0};
        }) ==
        "segments[0].visits.backward: is 0; expected more than 0 and at most the 2 forward "
        "visits\n  hint: leave it out if every visit is back-propagated");
  CHECK(in_segment([](auto& s) {
          s.visits = {Ratio(2'000'000'001, 1'000'000'001), 1};
        }) ==
        "segments[0].visits: is 2000000001/1000000001; expected a ratio whose denominator is at "
        "most 1000000000\n  hint: round it");
  CHECK(in_segment([](auto& s) {
          s.visits = {2, Ratio(1, 1'000'000'001)};
        }) ==
        "segments[0].visits.backward: is 1/1000000001; expected a ratio whose denominator is at "
        "most 1000000000\n  hint: round it");
}

TEST_CASE("what a loop carries") {
  CHECK(in_segment([](auto& s) { s.residual_scale = 0; }) ==
        "segments[0].residual_scale: is 0; expected more than 0\n  hint: inside a loop of r visits "
        "it is usually 1/r");
  CHECK(in_segment([](auto& s) { s.residual_scale = Ratio(-1, 2); }) ==
        "segments[0].residual_scale: is -1/2; expected more than 0\n  hint: inside a loop of r "
        "visits it is usually 1/r");
  CHECK(in_segment([](auto& s) { s.residual_scale = max_dimension + 1; }) ==
        "segments[0].residual_scale: is 1099511627777; expected at most 1099511627776");
  CHECK(in_segment([](auto& s) { s.kv_policy = KvPolicy::modulo; }) ==
        "segments[0].kv_policy: is modulo, which needs kv_slots\n  hint: visit i uses slot i mod "
        "kv_slots");
  CHECK(in_segment([](auto& s) { s.kv_slots = 2; }) ==
        "segments[0].kv_slots: applies to kv_policy \"modulo\" only, but kv_policy is "
        "\"per_visit\"\n  hint: remove kv_slots, or set kv_policy to \"modulo\"");
  CHECK(in_segment([](auto& s) {
          s.kv_policy = KvPolicy::modulo;
          s.kv_slots = -1;
        }) == "segments[0].kv_slots: is -1; expected a whole number of at least 0");
  CHECK(in_segment([](auto& s) { s.adapter_rank = -1; }) ==
        "segments[0].adapter_rank: is -1; expected a whole number of at least 0");
  CHECK(in_segment([](auto& s) {
          s.visits = {Ratio(5, 2), 1};
          s.norms_per_visit = true;
        }) ==
        "segments[0].norms_per_visit: is stored once per visit, but there are 5/2 visits\n  hint: "
        "make visits whole, or remove it");
  CHECK(in_segment([](auto& s) {
          s.visits = {Ratio(5, 2), 1};
          s.adapter_rank = 8;
        }) ==
        "segments[0].adapter_rank: is stored once per visit, but there are 5/2 visits\n  hint: "
        "make visits whole, or remove it");
}

TEST_CASE("grouped-query attention") {
  CHECK(in_attention([](auto& a) { a.heads = 0; }) ==
        "segments[0].attention.heads: is 0; expected a whole number of at least 1");
  CHECK(in_attention([](auto& a) { a.kv_heads = 0; }) ==
        "segments[0].attention.kv_heads: is 0; expected a whole number of at least 1");
  CHECK(in_attention([](auto& a) { a.head_size = 0; }) ==
        "segments[0].attention.head_size: is 0; expected a whole number of at least 1");
  CHECK(in_attention([](auto& a) { a = {.heads = 20, .kv_heads = 3, .head_size = 8}; }) ==
        "segments[0].attention.kv_heads: is 3, which does not divide the 20 heads\n  hint: "
        "kv_heads can be 1, 2, 4, 5, 10, 20");
  CHECK(in_attention([](auto& a) { a = {.heads = 4, .kv_heads = 8, .head_size = 8}; }) ==
        "segments[0].attention.kv_heads: is 8, which does not divide the 4 heads\n  hint: kv_heads "
        "can be 1, 2, 4");
  CHECK(in_attention([](auto& a) { a = {.heads = 720, .kv_heads = 50, .head_size = 8}; }) ==
        "segments[0].attention.kv_heads: is 50, which does not divide the 720 heads\n  hint: "
        "kv_heads can be 24, 30, 36, 40, 45, 48, 60, 72, 80, 90, 120, 144, …");
  CHECK(in_attention([](auto& a) { a.kv_rank = 8; }) ==
        "segments[0].attention.kv_rank: belongs to kind \"mla\", but the kind is \"gqa\"\n  hint: "
        "remove it, or set kind to \"mla\"");
  CHECK(in_attention([](auto& a) {
          a.windows = {0, -1};
        }) == "segments[0].attention.windows[1]: is -1; expected a whole number of at least 0");
  CHECK(in_attention([](auto& a) { a.experts = 8; }) ==
        "segments[0].attention: experts and top_k of attention must be given together\n  hint: "
        "give both for a mixture of attention heads, neither for plain attention");
  CHECK(in_attention([](auto& a) { a.top_k = 2; }) ==
        "segments[0].attention: experts and top_k of attention must be given together\n  hint: "
        "give both for a mixture of attention heads, neither for plain attention");
  CHECK(in_attention([](auto& a) { a.experts = -8, a.top_k = 2; }) ==
        "segments[0].attention.experts: is -8; expected a whole number of at least 0");
  CHECK(in_attention([](auto& a) { a.experts = 2, a.top_k = 4; }) ==
        "segments[0].attention.top_k: is 4, more than the 2 experts\n  hint: top_k can be 1 to 2");
  CHECK(in_attention([](auto& a) { a.experts = 8, a.top_k = 3; }) ==
        "segments[0].attention.top_k: is 3, which does not divide the 4 heads\n  hint: top_k can "
        "be 1, 2, 4");
}

TEST_CASE("latent attention") {
  CHECK(in_mla([](auto& a) { a.kv_heads = 4; }) ==
        "segments[0].attention.kv_heads: belongs to kind \"gqa\", but the kind is \"mla\"\n  hint: "
        "remove it, or set kind to \"gqa\"");
  CHECK(in_mla([](auto& a) { a.head_size = 64; }) ==
        "segments[0].attention.head_size: belongs to kind \"gqa\", but the kind is \"mla\"\n  "
        "hint: remove it, or set kind to \"gqa\"");
  CHECK(in_mla([](auto& a) { a.qk_norm = QkNorm::per_head; }) ==
        "segments[0].attention.qk_norm: belongs to kind \"gqa\", but the kind is \"mla\"\n  hint: "
        "remove it, or set kind to \"gqa\"");
  CHECK(in_mla([](auto& a) { a.experts = 4; }) ==
        "segments[0].attention.experts: belongs to kind \"gqa\", but the kind is \"mla\"\n  hint: "
        "remove it, or set kind to \"gqa\"");
  CHECK(in_mla([](auto& a) { a.q_rank = -1; }) ==
        "segments[0].attention.q_rank: is -1; expected a whole number of at least 0");
  CHECK(in_mla([](auto& a) { a.kv_rank = 0; }) ==
        "segments[0].attention.kv_rank: is 0; expected a whole number of at least 1");
  CHECK(in_mla([](auto& a) { a.nope_size = 0; }) ==
        "segments[0].attention.nope_size: is 0; expected a whole number of at least 1");
  CHECK(in_mla([](auto& a) { a.rope_size = -1; }) ==
        "segments[0].attention.rope_size: is -1; expected a whole number of at least 0");
  CHECK(in_mla([](auto& a) { a.value_size = 0; }) ==
        "segments[0].attention.value_size: is 0; expected a whole number of at least 1");
}

TEST_CASE("feed-forward networks") {
  CHECK(in_dense([](auto& f) { f.size = 0; }) ==
        "segments[0].ffn.size: is 0; expected a whole number of at least 1");
  CHECK(in_dense([](auto& f) { f.experts = 8; }) ==
        "segments[0].ffn.experts: belongs to kind \"moe\", but the kind is \"dense\"\n  hint: "
        "remove it, or set kind to \"moe\"");
  CHECK(in_dense([](auto& f) { f.router_bias = true; }) ==
        "segments[0].ffn.router_bias: belongs to kind \"moe\", but the kind is \"dense\"\n  hint: "
        "remove it, or set kind to \"moe\"");
  CHECK(in_ffn([](auto& f) { f.size = 256; }) ==
        "segments[0].ffn.size: belongs to kind \"dense\", but the kind is \"moe\"\n  hint: remove "
        "it, or set kind to \"dense\"");
  CHECK(in_ffn([](auto& f) { f.experts = 0; }) ==
        "segments[0].ffn.experts: is 0; expected a whole number of at least 1");
  CHECK(in_ffn([](auto& f) { f.top_k = 0; }) ==
        "segments[0].ffn.top_k: is 0; expected a whole number of at least 1");
  CHECK(in_ffn([](auto& f) { f.top_k = 9; }) ==
        "segments[0].ffn.top_k: is 9, more than the 8 experts\n  hint: top_k can be 1 to 8");
  CHECK(in_ffn([](auto& f) { f.expert_size = 0; }) ==
        "segments[0].ffn.expert_size: is 0; expected a whole number of at least 1");
  CHECK(in_ffn([](auto& f) { f.shared_size = -1; }) ==
        "segments[0].ffn.shared_size: is -1; expected a whole number of at least 0");
  CHECK(in_ffn([](auto& f) { f.shared_gate = true; }) ==
        "segments[0].ffn.shared_gate: gates a shared expert, but there is none\n  hint: give "
        "shared_size, or remove shared_gate");
}

TEST_CASE("schedules") {
  const auto scheduled = [](std::vector<std::string> names, Ratio visits, Order order) {
    return message([&](Architecture& a) {
      a = with_loop(a, {2, 2, 2});
      a.segments[1].visits = {visits, 1};
      a.segments[1].order = order;
      a.schedule = std::move(names);
    });
  };
  CHECK(scheduled({"prelude", "recur", "recurr", "coda"}, 2, Order::block) ==
        "schedule[2]: unknown segment 'recurr'\n  hint: did you mean 'recur'?");
  CHECK(scheduled({"prelude", "recur", "coda"}, 2, Order::block) ==
        "schedule: names 'recur' 1 time, but its visits are 2\n  hint: name each segment as often "
        "as it is visited");
  CHECK(scheduled({"recur", "recur", "coda"}, 2, Order::block) ==
        "schedule: names 'prelude' 0 times, but its visits are 1\n  hint: name each segment as "
        "often as it is visited");
  CHECK(scheduled({"prelude", "recur", "recur", "coda"}, Ratio(5, 2), Order::block) ==
        "schedule: names 'recur' 2 times, but its visits are 5/2\n  hint: a schedule needs whole "
        "visits");
  CHECK(scheduled({"prelude", "recur", "recur", "coda"}, 2, Order::layer) ==
        "segments[1].order: is layer, but a schedule runs whole segments\n  hint: remove the "
        "schedule, or use order \"block\"");
}

}  // namespace isoloop::arch
