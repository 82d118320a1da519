// The printed formulas are evaluated again: with letters, and with numbers.
//
// Anchor: an evaluator of sums and products of its own, and the values that the architecture gives
// each letter. Holds src/cost/explain.cpp.
#include <doctest/doctest.h>

#include <map>

#include "isoloop/cost.h"
#include "support/numbers.h"
#include "support/random_arch.h"

namespace isoloop::cost {
namespace {

using Values = std::map<std::string, Ratio>;

/// sum = product (" + " product)*, product = factor ("·" factor)*, factor = "(" sum ")", a number
/// such as 7/2, or a letter.
class Evaluator {
 public:
  Evaluator(std::string_view text, const Values& values) : text_(text), values_(values) {}

  Ratio run() {
    const Ratio result = text_.empty() ? Ratio(0) : sum();
    REQUIRE(at_ == text_.size());
    return result;
  }

 private:
  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  Ratio sum() {
    Ratio result = product();
    while (take(" + ")) result += product();
    return result;
  }
  Ratio product() {
    Ratio result = factor();
    while (take("·")) result = result * factor();
    return result;
  }
  Ratio factor() {
    if (take("(")) {
      const Ratio inner = sum();
      REQUIRE(take(")"));
      return inner;
    }
    std::size_t end = at_;
    while (end < text_.size() && text_.substr(end, 2) != "·" && text_[end] != ' ' &&
           text_[end] != ')')
      ++end;
    const std::string token(text_.substr(at_, end - at_));
    at_ = end;
    REQUIRE(!token.empty());
    if (token[0] >= '0' && token[0] <= '9') return test::ratio(token);
    CAPTURE(token);
    REQUIRE(values_.contains(token));
    return values_.at(token);
  }

  std::string_view text_;
  const Values& values_;
  std::size_t at_ = 0;
};

Ratio evaluate(const std::string& text, const Values& values) {
  CAPTURE(text);
  return Evaluator(text, values).run();
}

/// Letters of the model as a whole and, if it is not null, of one segment; T apart.
Values values_of(const arch::Architecture& model, const arch::Segment* s, const Options& o) {
  Values v = {
      {"h", model.hidden}, {"V", model.vocab}, {"Vₚ", round_up(model.vocab, o.vocab_multiple)}};
  if (s == nullptr) return v;
  const arch::Attention& a = s->attention;
  v.insert({{"H", a.heads},
            {"K", a.kv_heads},
            {"d", a.head_size},
            {"Eₐ", a.experts},
            {"kₐ", a.top_k},
            {"q", a.q_rank},
            {"c", a.kv_rank},
            {"n", a.nope_size},
            {"r", a.rope_size},
            {"v", a.value_size},
            {"E", s->ffn.experts},
            {"k", s->ffn.top_k},
            {"f", s->ffn.expert_size},
            {"s", s->ffn.shared_size},
            {"g", s->ffn.size},
            {"a", s->adapter_rank}});
  if (a.top_k > 0) v["Hₐ"] = Ratio(a.heads / a.top_k);
  return v;
}

const arch::Segment* segment_of(const arch::Architecture& model, const std::string& name) {
  if (name == "mtp") return &model.segments.back();
  for (const arch::Segment& s : model.segments)
    if (s.name == name) return &s;
  return nullptr;
}

void check(const arch::Architecture& model, const Options& o) {
  for (const Explanation& e : explain(model, o)) {
    CAPTURE(e.name);
    CAPTURE(e.segment);
    const Row<Ratio>& row = e.row;
    Values values = values_of(model, segment_of(model, e.segment), o);
    // Rows with T: scores and values, softmax. One value per explanation.
    if (row.part == Part::attention_core || row.part == Part::softmax)
      for (const LetterValue& l : letters(model, o))
        if (l.letter == Letter::attended) {
          values["T"] = l.value;
          if (evaluate(e.macs_letters, values) == row.macs) break;
        }
    CHECK(evaluate(e.params_letters, values) == row.params);
    CHECK(evaluate(e.macs_letters, values) == row.macs);
    CHECK(evaluate(e.cache_letters, values) == row.cache);
    CHECK(evaluate(e.params_numbers, {}) == row.params);
    CHECK(evaluate(e.macs_numbers, {}) == row.macs);
    CHECK(evaluate(e.cache_numbers, {}) == row.cache);
    CHECK(e.layers == row.layers);
    CHECK(e.visits == row.visits);
  }
}

}  // namespace

TEST_CASE("explain: the evaluator used here") {
  CHECK(evaluate("3·h·(2·f + 1)", {{"h", 5}, {"f", 10}}) == Ratio(315));
  CHECK(evaluate("2·6·8·785/2 + 1", {}) == Ratio(37681));
  CHECK(evaluate("", {}) == Ratio(0));
}

TEST_CASE("explain: letters and numbers evaluate to the rows of random architectures") {
  std::mt19937_64 random(12);
  for (int i = 0; i < 150; ++i) {
    CAPTURE(i);
    const arch::Architecture model = test::random_architecture(random);
    Options o;
    const auto& conventions = convention::all();
    o.convention = conventions[random() % conventions.size()];
    if (o.convention.padded_vocab) o.vocab_multiple = 64;
    check(model, o);
  }
}

TEST_CASE("explain: every row of the ledger is explained once, in its order") {
  std::mt19937_64 random(13);
  const arch::Architecture model = test::random_architecture(random);
  const auto rows = ledger(model, Options{});
  const auto explanations = explain(model, Options{});
  REQUIRE(explanations.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(explanations[i].name == rows[i].name);
    CHECK(explanations[i].segment == rows[i].segment);
    CHECK(explanations[i].part == rows[i].part);
  }
}

TEST_CASE("explain: a padded head is written with a letter of its own") {
  arch::Architecture model;
  model.name = "small";
  model.hidden = 8;
  model.vocab = 100;
  arch::Segment s;
  s.name = "layers";
  s.layers = 2;
  s.attention.heads = s.attention.kv_heads = 2;
  s.attention.head_size = 4;
  s.ffn.size = 16;
  model.segments = {s};
  Options o;
  o.convention = convention::find("megatron", "test");
  const auto head = [&] {
    for (const Explanation& e : explain(model, o))
      if (e.part == Part::head) return e.macs_letters + " = " + e.macs_numbers;
    return std::string();
  };
  CHECK(head() == "h·V = 8·100");
  o.vocab_multiple = 64;
  CHECK(head() == "h·Vₚ = 8·128");
}

TEST_CASE("explain: no two letters share a symbol") {
  std::map<std::string_view, int> times;
  for (std::size_t l = 0; l < letter_count; ++l) ++times[name(static_cast<Letter>(l)).symbol];
  for (const auto& [symbol, n] : times) {
    CAPTURE(symbol);
    CHECK(n == 1);
  }
}

}  // namespace isoloop::cost
