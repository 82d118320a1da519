// Laws that hold whatever the dimensions are, on random small architectures.
//
// Anchor: the laws themselves (design: one definition of cost). Holds src/cost: ledger, count,
// total, resolve.
#include <doctest/doctest.h>

#include "isoloop/cost.h"
#include "support/numbers.h"
#include "support/random_arch.h"

namespace isoloop::cost {
namespace {

using Random = std::mt19937_64;

Options random_options(Random& random, const arch::Architecture& model) {
  Options o;
  const auto& conventions = convention::all();
  o.convention = conventions[random() % conventions.size()];
  o.context = random() % 2 == 0 ? model.context : static_cast<std::int64_t>(random() % 90 + 1);
  o.dtype = static_cast<DType>(random() % 4);
  o.kv_dtype = static_cast<DType>(random() % 4);
  o.vocab_multiple = random() % 2 == 0 ? 1 : 64;
  if (random() % 4 == 0) o.attended = Ratio(static_cast<int>(random() % 99) + 1, 2);
  return o;
}

Budget budget(std::size_t i) { return static_cast<Budget>(i); }

/// Where polynomials can be open: one value for all layers, as the solver has it.
arch::Architecture uniform(arch::Architecture model) {
  model.segments.resize(1);
  return model;
}

/// The value of each letter; 0 for one that does not occur or, like T under alternating windows,
/// has several.
std::array<Ratio, letter_count> letter_values(const arch::Architecture& model, const Options& o) {
  std::array<std::vector<Ratio>, letter_count> all;
  for (const LetterValue& l : letters(model, o))
    all[static_cast<std::size_t>(l.letter)].push_back(l.value);
  std::array<Ratio, letter_count> result;
  for (std::size_t l = 0; l < letter_count; ++l)
    if (all[l].size() == 1) result[l] = all[l].front();
  return result;
}

/// Letters with a whole value, which an unknown can stand for.
std::vector<std::size_t> open_letters(const std::array<Ratio, letter_count>& values) {
  std::vector<std::size_t> result;
  for (std::size_t l = 0; l < letter_count; ++l)
    if (values[l] != Ratio(0) && values[l].is_integer()) result.push_back(l);
  return result;
}

void check_open(const arch::Architecture& model, const Options& o, const Unknowns& unknowns,
                const std::vector<Int>& at) {
  const auto exact = ledger(model, o);
  const auto open = ledger(model, o, unknowns);
  REQUIRE(open.size() == exact.size());
  for (std::size_t b = 0; b < budget_count; ++b)
    CHECK(total(open, budget(b), o).at(at) == total(exact, budget(b), o));
  for (std::size_t r = 0; r < exact.size(); ++r) {
    CHECK(open[r].params.at(at) == exact[r].params);
    CHECK(open[r].macs.at(at) == exact[r].macs);
    CHECK(open[r].cache.at(at) == exact[r].cache);
  }
}

}  // namespace

TEST_CASE("identity: the polynomial at a letter's value is the count, one letter at a time") {
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const arch::Architecture model = uniform(test::random_architecture(random));
    const Options o = random_options(random, model);
    const auto values = letter_values(model, o);
    for (const std::size_t letter : open_letters(values)) {
      CAPTURE(i);
      CAPTURE(letter);
      Unknowns unknowns;
      unknowns[letter] = 0;
      check_open(model, o, unknowns, {values[letter].num()});
    }
  }
}

TEST_CASE("identity: the polynomial in many letters at once is the count") {
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const arch::Architecture model = uniform(test::random_architecture(random));
    const Options o = random_options(random, model);
    const auto values = letter_values(model, o);
    Unknowns unknowns;
    std::vector<Int> at;
    for (const std::size_t letter : open_letters(values)) {
      if (at.size() == Poly::max_unknowns) break;
      unknowns[letter] = at.size();
      at.push_back(values[letter].num());
    }
    check_open(model, o, unknowns, at);
  }
}

TEST_CASE("identity: no coefficient of a budget is negative") {
  Random random(3);
  for (int i = 0; i < 40; ++i) {
    const arch::Architecture model = test::random_architecture(random);
    const Options o = random_options(random, model);
    Unknowns unknowns;
    for (std::size_t l = 0; l < 16; ++l) unknowns[l] = l;
    const auto rows = ledger(model, o, unknowns);
    for (std::size_t b = 0; b < budget_count; ++b) {
      const Poly sum = total(rows, budget(b), o);
      for (const auto& [monomial, coefficient] : sum.terms()) CHECK(coefficient > Ratio(0));
    }
  }
}

TEST_CASE("identity: rows sum to the totals of the report") {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const arch::Architecture model = test::random_architecture(random);
    const Options o = random_options(random, model);
    const Count c = count(model, o);
    std::array<Ratio, budget_count> sums;
    for (const Row<Ratio>& row : c.rows)
      for (std::size_t b = 0; b < budget_count; ++b) sums[b] += contribution(row, budget(b), o);
    const auto sum = [&](Budget b) { return sums[static_cast<std::size_t>(b)]; };
    CHECK(sum(Budget::flops) == c.train.value());
    CHECK(sum(Budget::prefill_flops) == c.forward.value());
    CHECK(c.forward == flops(c.forward_macs));
    CHECK(sum(Budget::params) == Ratio(c.params_non_embedding.value()));
    CHECK(sum(Budget::params_total) == Ratio(c.params_total.value()));
    CHECK(c.params_total == c.params_non_embedding + c.params_embedding);
    CHECK(sum(Budget::active) == Ratio(c.active_non_embedding.value()));
    CHECK(sum(Budget::kv) == c.kv_bytes_per_token.value());
    CHECK(sum(Budget::kv_context) == c.memory.kv_per_sequence.value());
    CHECK(sum(Budget::weights_bytes) == c.memory.weights.value());
    CHECK(sum(Budget::activation_bytes) == c.memory.activations_per_token.value());
    const Int h = model.hidden, V = model.vocab;
    CHECK(c.params_embedding.value() == h * V * (model.tied ? 1 : 2));
    CHECK(c.active_without_input_embedding.value() - c.active_non_embedding.value() == h * V);
    CHECK(c.active.value() - c.active_non_embedding.value() == c.params_embedding.value());
  }
}

TEST_CASE("identity: memory follows from parameters: gradients, and 12 bytes of Adam state each") {
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    const arch::Architecture model = test::random_architecture(random);
    Options o = random_options(random, model);
    o.dtype = DType::bf16;
    const Count c = count(model, o);
    const Ratio params(c.params_total.value());
    CHECK(c.memory.weights.value() == Ratio(2) * params);
    CHECK(c.memory.gradients.value() == Ratio(2) * params);
    CHECK(c.memory.optimizer.value() == Ratio(12) * params);
    CHECK(c.kv_bytes_per_token.value() ==
          Ratio(bytes_per_element(o.kv_dtype)) * c.kv_elements_per_token.value());
    // Windows only ever bound a cache; the part that grows without end is what they leave.
    CHECK(c.kv_bytes_per_token_long <= c.kv_bytes_per_token);
    CHECK(c.memory.kv_per_sequence.value() <= Ratio(o.context) * c.kv_bytes_per_token.value());
  }
}

TEST_CASE("identity: looped r times, a layer stores once and executes r times") {
  Random random(6);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    arch::Architecture once = arch::without_loop(test::random_architecture(random));
    once.mtp_layers = 0;
    const auto depth = arch::depth(once);
    const std::int64_t r = static_cast<std::int64_t>(random() % 4) + 2;
    const arch::Architecture looped = arch::with_loop(once, {1, depth, r});
    const Options o = random_options(random, once);
    const auto layers = [&](const arch::Architecture& model, Budget b) {
      Ratio sum = 0;
      for (const Row<Ratio>& row : ledger(model, o))
        if (!row.segment.empty()) sum += contribution(row, b, o);
      return sum;
    };
    for (const Budget b :
         {Budget::params, Budget::params_total, Budget::active, Budget::weights_bytes})
      CHECK(layers(looped, b) == layers(once, b));
    for (const Budget b : {Budget::flops, Budget::prefill_flops, Budget::kv, Budget::kv_context,
                           Budget::decode_bytes, Budget::activation_bytes})
      CHECK(layers(looped, b) == Ratio(r) * layers(once, b));
  }
}

TEST_CASE("identity: unrolling a loop keeps FLOPs and multiplies parameters by the visits") {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    arch::Architecture model = test::random_architecture(random);
    model.mtp_layers = 0;
    for (arch::Segment& s : model.segments) {
      s.visits.backward = s.visits.forward;
      s.adapter_rank = 0;  // stored once per visit already
      s.norms_per_visit = false;
      // A copy cannot read the first visit's keys and values (tests/cost/kv_policy_test.cpp).
      if (s.kv_policy == arch::KvPolicy::first) s.kv_policy = arch::KvPolicy::per_visit;
    }
    const Options o = random_options(random, model);
    const arch::Architecture copies = test::unrolled_copies(model);
    const auto looped = ledger(model, o), unrolled = ledger(copies, o);
    CHECK(total(looped, Budget::flops, o) == total(unrolled, Budget::flops, o));
    CHECK(total(looped, Budget::prefill_flops, o) == total(unrolled, Budget::prefill_flops, o));
    Ratio expected = 0;
    for (const Row<Ratio>& row : looped) {
      const bool whole = row.visits.is_integer() && !row.segment.empty();
      expected += (whole ? row.visits : Ratio(1)) * contribution(row, Budget::params_total, o);
    }
    CHECK(total(unrolled, Budget::params_total, o) == expected);
  }
}

TEST_CASE("identity: what a loop stores per visit is stored once per copy when unrolled") {
  Random random(8);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    arch::Architecture model = test::random_architecture(random);
    model.mtp_layers = 0;
    for (arch::Segment& s : model.segments) s.visits.backward = s.visits.forward;
    const auto per_visit = [](const arch::Architecture& m) {
      Ratio sum = 0;
      for (const Row<Ratio>& row : ledger(m, Options{}))
        if (row.stored_per_visit) sum += contribution(row, Budget::params, Options{});
      return sum;
    };
    CHECK(per_visit(model) == per_visit(test::unrolled_copies(model)));
  }
}

TEST_CASE("identity: cache slots by policy") {
  Random random(9);
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    const arch::Architecture model = test::random_architecture(random);
    Ratio slots = 0, elements = 0;
    for (const arch::Segment& s : model.segments) {
      Ratio own = 1;
      if (s.kv_policy == arch::KvPolicy::per_visit) own = s.visits.forward;
      if (s.kv_policy == arch::KvPolicy::modulo)
        own = std::min(Ratio(s.kv_slots), s.visits.forward);
      const arch::Attention& a = s.attention;
      const Int width = a.kind == arch::AttentionKind::mla ? Int(a.kv_rank) + Int(a.rope_size)
                                                           : 2 * Int(a.kv_heads) * Int(a.head_size);
      slots += Ratio(s.layers) * own;
      elements += Ratio(s.layers) * own * Ratio(width);
    }
    const Count c = count(model, Options{});
    CHECK(c.kv_slots == slots);
    CHECK(c.kv_elements_per_token.value() == elements);
  }
}

TEST_CASE("counts of dimensions far beyond any model are refused, not wrong") {
  arch::Architecture model;
  model.name = "huge";
  constexpr std::int64_t huge = arch::max_dimension;
  model.hidden = model.vocab = model.context = huge;
  arch::Segment s;
  s.name = "layers";
  s.layers = arch::max_layers;
  s.attention.heads = s.attention.kv_heads = s.attention.head_size = huge;
  s.ffn.moe = true;
  s.ffn.experts = s.ffn.top_k = s.ffn.expert_size = s.ffn.shared_size = huge;
  model.segments = {s};
  arch::validate(model);
  const Error error = test::error_of([&] { count(model, Options{}); });
  CHECK(error.kind == ErrorKind::input);
  CHECK(std::string(error.what()) ==
        "count overflows 128 bits in multiplication\n  hint: a dimension is far too large");
}

}  // namespace isoloop::cost
