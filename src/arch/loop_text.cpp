// The short grammar for loops.
//
//   loop  = "none" | ["each"] range | "each" times
//   range = "middle" [":" fraction] [times]      the middle fraction of the layers, half by default
//         | "all" times
//         | layer "-" layer times                1-based, both included
//         | layers "+" layers times "+" layers   before, looped, after
//   times = ("x" | "×") visits                   of "middle" alone: x2
//
// Fits a model of 12 layers: "3+6x2+3", "4-9x2", "middle". Does not: "3+6x2" (what comes after?),
// "4-14x2" (past the end). The placement of "middle" is the paper's: floor((L-m)/2) layers come
// before a span of m.
//
// Held by tests/arch/loop_text_test.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "isoloop/arch.h"

namespace isoloop::arch {
namespace {

constexpr std::string_view forms =
    "a loop is none, middle, middle:1/3x4, all x4, 4-9x2 (layers 4 to 9 twice), 3+6x2+3 or each x2";

// Walks over the text; everything it refuses says how far it understood.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  bool word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool times_sign() { return word("x") || word("X") || word("×"); }
  bool done() {
    skip_spaces();
    return at_ == text_.size();
  }
  bool at_digit() {
    skip_spaces();
    return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
  }

  std::int64_t number(std::string_view what, std::int64_t most) {
    if (!at_digit()) throw expected(what);
    std::int64_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = std::min(value * 10 + (text_[at_] - '0'), most + 1);
      ++at_;
    }
    if (value > most) throw wrong(fmt::format("{} can be at most {}", what, most), "");
    return value;
  }
  Ratio fraction();
  std::int64_t times();

  void end() {
    if (!done()) throw expected("nothing more");
  }

  /// What was read so far is fine, what follows is not what the grammar wants.
  Error expected(std::string_view what) {
    skip_spaces();
    const std::string rest(text_.substr(at_));
    std::string read(text_.substr(0, at_));
    while (!read.empty() && read.back() == ' ') read.pop_back();
    return wrong(
        fmt::format("{}expected {}, found {}", read.empty() ? "" : fmt::format("after '{}' ", read),
                    what, rest.empty() ? "the end" : fmt::format("'{}'", rest)),
        std::string(forms));
  }
  Error wrong(std::string_view problem, std::string hint) const {
    return usage_error(fmt::format("cannot use the loop '{}': {}", text_, problem),
                       std::string(where_), std::move(hint));
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  std::string_view text_, where_;
  std::size_t at_ = 0;
};

Ratio Scanner::fraction() {
  skip_spaces();
  std::size_t end = at_;
  while (end < text_.size() && std::string_view("0123456789./%").find(text_[end]) != text_.npos) {
    ++end;
  }
  if (end == at_) throw expected("a fraction of the layers");
  const std::string_view text = text_.substr(at_, end - at_);
  Ratio value;
  try {
    value = parse_ratio(text, where_);
  } catch (const Error&) {
    throw expected("a fraction such as 1/3");
  }
  if (value <= Ratio(0) || value > Ratio(1)) {
    throw wrong(fmt::format("the fraction {} is not above 0 and at most 1", text),
                "middle:1/2x2 runs the middle half twice");
  }
  at_ = end;
  return value;
}

std::int64_t Scanner::times() {
  if (!times_sign()) throw expected("x and the number of visits");
  const std::int64_t visits = number("the number of visits", max_visits);
  if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == '/')) {
    throw wrong(
        "the number of visits is not whole",
        "a fractional number of visits goes into an architecture file: \"visits\": \"5/2\"");
  }
  if (visits == 0) {
    throw wrong("0 visits would leave the layers out", "x1 runs them once (no loop), x2 twice");
  }
  return visits;
}

// Nearest whole number of layers, halves down: half of 27 layers is 13, which can be centred.
std::int64_t share_of(std::int64_t depth, const Ratio& fraction) {
  return ceil(Ratio(depth) * fraction - Ratio(1, 2)).to_int64();
}

Loop middle(Scanner& scanner, std::int64_t depth) {
  Loop loop;
  const Ratio fraction = scanner.word(":") ? scanner.fraction() : Ratio(1, 2);
  loop.visits = scanner.done() ? 2 : scanner.times();
  loop.span = share_of(depth, fraction);
  if (loop.span == 0) {
    throw scanner.wrong(
        fmt::format("{} of the layers ({}) rounds to no layer", fraction.str(), depth),
        "name the layers, for example 1-1x2");
  }
  loop.first = centred_first(depth, loop.span);
  return loop;
}

// Behind "first-": the last layer and the visits.
Loop range(Scanner& scanner, std::int64_t first, std::int64_t depth) {
  const std::int64_t last = scanner.number("the last layer of the loop", max_layers);
  const std::int64_t visits = scanner.times();
  const std::string layers = fmt::format("the model has layers 1 to {}", depth);
  if (first < 1 || last < 1) throw scanner.wrong("layers count from 1", layers);
  if (last < first) {
    throw scanner.wrong(fmt::format("layer {} comes before layer {}", last, first),
                        fmt::format("write {}-{}x{}", last, first, visits));
  }
  if (last > depth) throw scanner.wrong(fmt::format("there is no layer {}", last), layers);
  return {first, last - first + 1, visits};
}

// Behind "before+": the span, the visits and the layers after.
Loop sum(Scanner& scanner, std::int64_t before, std::int64_t depth) {
  const std::int64_t span = scanner.number("the number of looped layers", max_layers);
  const std::int64_t visits = scanner.times();
  if (!scanner.word("+")) throw scanner.expected("+ and the number of layers after the loop");
  const std::int64_t after = scanner.number("the number of layers after the loop", max_layers);
  scanner.end();
  if (span == 0) throw scanner.wrong("no layer is looped", "write none for no loop");
  if (const std::int64_t total = before + span + after; total != depth) {
    const std::int64_t fitting = std::min(span, depth);
    const Loop centred{centred_first(depth, fitting), fitting, visits};
    throw scanner.wrong(fmt::format("{} + {} + {} are {} layers, but the model has {}", before,
                                    span, after, total, depth),
                        fmt::format("for example {}", loop_text(centred, depth)));
  }
  return {before + 1, span, visits};
}

Loop place(Scanner& scanner, std::int64_t depth) {
  if (scanner.word("middle")) return middle(scanner, depth);
  if (scanner.word("all")) return {1, depth, scanner.times()};
  if (!scanner.at_digit()) throw scanner.expected("a loop");
  const std::int64_t number = scanner.number("a number of layers", max_layers);
  if (scanner.word("-")) return range(scanner, number, depth);
  if (scanner.word("+")) return sum(scanner, number, depth);
  throw scanner.expected("- (a range of layers) or + (prelude+span)");
}

Loop layer_by_layer(Scanner& scanner, std::int64_t depth) {
  Scanner ahead = scanner;
  Loop loop =
      ahead.times_sign() || ahead.done() ? Loop{1, depth, scanner.times()} : place(scanner, depth);
  loop.order = Order::layer;
  return loop;
}

}  // namespace

Loop parse_loop(std::string_view text, std::int64_t depth, std::string_view where) {
  if (depth < 1) throw internal_error("a loop needs a model with layers");
  Scanner scanner(text, where);
  Loop loop;
  if (!scanner.word("none")) {
    loop = scanner.word("each") ? layer_by_layer(scanner, depth) : place(scanner, depth);
  }
  scanner.end();
  return loop;
}

std::string loop_text(const Loop& loop, std::int64_t depth) {
  if (loop.span == 0) return "none";
  const bool each = loop.order == Order::layer;
  if (loop.first == 1 && loop.span == depth) {
    return fmt::format("{} x{}", each ? "each" : "all", loop.visits);
  }
  return fmt::format("{}{}+{}x{}+{}", each ? "each " : "", loop.first - 1, loop.span, loop.visits,
                     depth - loop.first - loop.span + 1);
}

std::int64_t centred_first(std::int64_t depth, std::int64_t span) { return (depth - span) / 2 + 1; }

}  // namespace isoloop::arch
