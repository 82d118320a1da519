// Explanations: the same formulas read with text for numbers.
//
// Text is a sum of products, each a coefficient and factors, written with letters and with numbers
// side by side; equal products merge, so K*d + K*d prints as 2·K·d. Held by tests/cost/explain_test.cpp, which evaluates the printed
// numbers again.
#include <algorithm>

#include "cost/ledger.h"

namespace isoloop::cost {
namespace {

class Text {
 public:
  Text() = default;
  explicit Text(int constant) : Text(Ratio(constant)) {}
  explicit Text(const Ratio& constant) {
    if (constant != Ratio(0)) products_.push_back({constant, {}, {}});
  }
  static Text atom(std::string symbol, std::string value) {
    Text t;
    t.products_.push_back({Ratio(1), std::move(symbol), std::move(value)});
    return t;
  }

  std::string letters() const { return str(&Product::factors); }
  std::string numbers() const { return str(&Product::values); }

  friend Text operator+(Text a, const Text& b) {
    for (const Product& product : b.products_) {
      const auto same = std::find_if(a.products_.begin(), a.products_.end(), [&](const Product& p) {
        return p.factors == product.factors;
      });
      if (same == a.products_.end())
        a.products_.push_back(product);
      else
        same->coefficient += product.coefficient;
    }
    return a;
  }

  friend Text operator*(const Text& a, const Text& b) {
    if (a.products_.empty() || b.products_.empty()) return {};
    const Product x = a.as_factor(), y = b.as_factor();
    const std::string dot = x.factors.empty() || y.factors.empty() ? "" : "·";
    Text t;
    t.products_.push_back({x.coefficient * y.coefficient, x.factors + dot + y.factors,
                           x.values + dot + y.values});
    return t;
  }

 private:
  struct Product {
    Ratio coefficient;
    std::string factors, values;  // the same product with letters and with numbers
  };
  std::string str(std::string Product::* side) const {
    std::string out;
    for (const Product& product : products_) {
      if (!out.empty()) out += " + ";
      if (product.factors.empty())
        out += product.coefficient.str();
      else
        out += product.coefficient == Ratio(1) ? product.*side
                                               : product.coefficient.str() + "·" + product.*side;
    }
    return out;
  }
  Product as_factor() const {
    if (products_.size() == 1) return products_.front();
    return {Ratio(1), "(" + letters() + ")", "(" + numbers() + ")"};
  }
  std::vector<Product> products_;
};

constexpr std::array<LetterName, letter_count> letter_table = {{
    {"h", "hidden size"},
    {"V", "vocabulary"},
    {"Vₚ", "vocabulary, padded as the convention says"},
    {"H", "query heads"},
    {"K", "kv heads"},
    {"d", "head size"},
    {"Eₐ", "attention experts"},
    {"kₐ", "active attention experts"},
    {"Hₐ", "heads per attention expert"},
    {"q", "query latent rank"},
    {"c", "kv latent rank"},
    {"n", "head size without position"},
    {"r", "rotary head size"},
    {"v", "value head size"},
    {"E", "experts"},
    {"k", "top-k"},
    {"f", "expert size"},
    {"s", "shared expert size"},
    {"g", "dense FFN size"},
    {"a", "adapter rank"},
    {"T", "mean attended tokens"},
}};

std::vector<Row<Text>> text_ledger(const arch::Architecture& model, const Options& options) {
  return build_ledger<Text>(model, options, [&](Letter letter, const Ratio& value) {
    if (value == Ratio(0)) return Text();
    const bool unpadded = letter == Letter::padded_vocab && value == Ratio(model.vocab);
    return Text::atom(std::string(name(unpadded ? Letter::vocab : letter).symbol), value.str());
  });
}

}  // namespace

LetterName name(Letter letter) { return letter_table[static_cast<std::size_t>(letter)]; }

std::vector<Explanation> explain(const arch::Architecture& model, const Options& options) {
  const std::vector<Row<Ratio>> counted = ledger(model, options);
  const std::vector<Row<Text>> texts = text_ledger(model, options);
  std::vector<Explanation> result;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const Row<Ratio>& row = counted[i];
    const Row<Text>& text = texts[i];
    result.push_back({row.name, row.segment, row.part, row.layers, row.visits,
                      text.params.letters(), text.params.numbers(), text.macs.letters(),
                      text.macs.numbers(), text.cache.letters(), text.cache.numbers(), row});
  }
  return result;
}

std::vector<LetterValue> letters(const arch::Architecture& model, const Options& options) {
  std::vector<LetterValue> result;
  for (const LayerGroup& group : resolve(model, options).groups)
    bind_letters<Ratio>(group.value, [&](Letter letter, const Ratio& value) {
      const auto known = std::find_if(result.begin(), result.end(), [&](const LetterValue& l) {
        return l.letter == letter && l.value == value;
      });
      const bool unpadded = letter == Letter::padded_vocab && value == Ratio(model.vocab);
      if (value != Ratio(0) && !unpadded && known == result.end())
        result.push_back({letter, group.segment->name, value});
      return value;
    });
  return result;
}

}  // namespace isoloop::cost
