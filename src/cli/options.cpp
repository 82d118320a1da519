// Parsing of shared options. Every complaint names the option and shows a right value.
//
// Held by tests/cli/options_test.cpp.
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoloop::cli {
namespace {

std::int64_t whole(const std::string& text, const std::string& where, const std::string& hint) {
  const Ratio value = parse_ratio(text, where);
  if (!value.is_integer()) throw usage_error(fmt::format("'{}' is not a whole number", text), where, hint);
  if (abs(value) > Ratio(arch::max_dimension))
    throw usage_error(fmt::format("'{}' is out of range, at most {}", text, arch::max_dimension), where,
                      hint);
  return value.num().to_int64();
}

/// A ratio above 0 whose parts are small enough for exact arithmetic later.
Ratio positive_ratio(const std::string& text, const std::string& where, const std::string& hint) {
  const Ratio value = parse_ratio(text, where);
  if (value <= Ratio(0)) throw usage_error(fmt::format("'{}' is not a positive number", text), where, hint);
  constexpr std::int64_t finest = 1'000'000;
  if (value > Ratio(arch::max_dimension) || value.den() > Int(finest))
    throw usage_error(fmt::format("'{}' is too large or too fine", text), where,
                      hint + fmt::format(", at most {}, with at most 6 decimals", arch::max_dimension));
  return value;
}

/// "key=value" into its halves.
std::pair<std::string, std::string> key_and_value(const std::string& item, const std::string& where,
                                                  const std::string& hint) {
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos || equals + 1 == item.size())
    throw usage_error(fmt::format("'{}' has no value", item), where, hint);
  return {item.substr(0, equals), item.substr(equals + 1)};
}

/// "lo:hi" or "lo:hi:step".
solve::Range parse_range(const std::string& text, const std::string& where) {
  const std::string hint = "write low:high or low:high:step, e.g. depth=8:16:2";
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3)
    throw usage_error(fmt::format("'{}' is not a range", text), where, hint);
  solve::Range range{whole(parts[0], where, hint), whole(parts[1], where, hint),
                     parts.size() == 3 ? whole(parts[2], where, hint) : 1};
  if (range.step < 1 || range.low > range.high || range.low < 0 ||
      (range.high - range.low) / range.step >= solve::max_values)
    throw usage_error(fmt::format("'{}' is not a range", text), where,
                      hint + fmt::format(", with low <= high, step >= 1 and at most {} values",
                                         solve::max_values));
  return range;
}

std::pair<Ratio, Ratio> ratio_range(const std::string& text, const std::string& where,
                                    const std::string& hint) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 2) throw usage_error(fmt::format("'{}' is not a range", text), where, hint);
  const std::pair<Ratio, Ratio> range{positive_ratio(parts[0], where, hint),
                                      positive_ratio(parts[1], where, hint)};
  if (range.first > range.second)
    throw usage_error(fmt::format("'{}' is not a range: {} is above {}", text, parts[0], parts[1]), where,
                      hint);
  return range;
}

/// A factor a proportion may move by, in either direction.
Ratio factor(const std::string& text, const std::string& option) {
  const std::string hint = fmt::format("write e.g. {} 2", option);
  const Ratio value = positive_ratio(text, option, hint);
  if (value < Ratio(1)) throw usage_error(fmt::format("'{}' is below 1", text), option, hint);
  return value;
}

void parse_fixed(const std::string& text, solve::MatchRequest& request) {
  const std::string hint = "write e.g. --fix experts=288";
  for (const std::string& item : split(text, ',')) {
    const solve::Unknown unknown = solve::parse_unknown(item.substr(0, item.find('=')), "--fix");
    const auto [key, value] = key_and_value(item, "--fix", hint);
    if (!request.fixed.emplace(unknown, whole(value, "--fix", hint)).second)
      throw usage_error(fmt::format("{} is fixed twice", key), "--fix", "keep one of the two");
  }
}

void parse_freed(const std::string& text, solve::MatchRequest& request) {
  for (const std::string& item : split(text, ',')) {
    const std::size_t equals = item.find('=');
    const solve::Unknown unknown = solve::parse_unknown(item.substr(0, equals), "--free");
    std::optional<solve::Range> range;
    if (equals != std::string::npos) range = parse_range(item.substr(equals + 1), "--free");
    if (!request.freed.emplace(unknown, range).second)
      throw usage_error(fmt::format("{} is freed twice", solve::name(unknown)), "--free",
                        "keep one of the two");
  }
}

}  // namespace

std::int64_t positive(const std::string& text, const std::string& where, const std::string& hint) {
  const std::int64_t value = whole(text, where, hint);
  if (value < 1) throw usage_error(fmt::format("'{}' is not a positive number", text), where, hint);
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    result.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

void CountFlags::declare(CLI::App& app, const std::string& default_convention) {
  app.add_option("--convention", convention,
                 "What counts as FLOPs: isoloop list conventions (default " + default_convention + ")")
      ->type_name("NAME");
  app.add_option("--context", context, "Sequence length S in tokens (default: the model file's)")
      ->type_name("N");
  app.add_option("--attended", attended, "Mean attended tokens T per query, instead of S")
      ->type_name("N");
  app.add_option("--documents", documents,
                 "Lengths of the documents packed into one sequence, e.g. 1024,3072")
      ->type_name("N,N,...");
  app.add_option("--dtype", dtype, "Type of weights: fp32, bf16, fp16, fp8 (default bf16)")
      ->type_name("NAME");
  app.add_option("--kv-dtype", kv_dtype, "Type of the KV cache (default: as --dtype)")
      ->type_name("NAME");
  app.add_option("--vocab-multiple", vocab_multiple,
                 "Pad the vocabulary to a multiple of N, where the convention counts it")
      ->type_name("N");
}

cost::Options CountFlags::over(cost::Options o) const {
  if (convention == "all")
    throw usage_error("'all' is not one convention", "--convention",
                      "name one; isoloop count --convention all shows them side by side");
  if (!convention.empty() || !context.empty() || !documents.empty()) o.attended.reset();
  if (!convention.empty())
    o.convention = convention::find(convention, "--convention");
  if (!context.empty()) o.context = positive(context, "--context", "write e.g. --context 4096");
  if (!attended.empty()) o.attended = positive_ratio(attended, "--attended", "write e.g. --attended 392");
  if (!documents.empty()) read_documents(o);
  if (!dtype.empty()) o.dtype = o.kv_dtype = parse_dtype(dtype, "--dtype");
  if (!kv_dtype.empty()) o.kv_dtype = parse_dtype(kv_dtype, "--kv-dtype");
  if (!vocab_multiple.empty())
    o.vocab_multiple = positive(vocab_multiple, "--vocab-multiple", "write e.g. --vocab-multiple 128");
  return o;
}

/// The documents fill the sequence: its length is their sum unless it is stated.
void CountFlags::read_documents(cost::Options& o) const {
  o.documents.clear();
  std::int64_t tokens = 0;
  for (const std::string& length : split(documents, ',')) {
    o.documents.push_back(positive(length, "--documents", "write e.g. --documents 1024,3072"));
    tokens = std::min(tokens + o.documents.back(), 2 * arch::max_dimension);
  }
  if (context.empty()) {
    if (tokens > arch::max_dimension)
      throw usage_error(fmt::format("the documents have more than {} tokens", arch::max_dimension),
                        "--documents", "write e.g. --documents 1024,3072");
    o.context = tokens;
  } else if (tokens > o.context) {
    throw usage_error(fmt::format("the documents have {} tokens, more than the context of {}", tokens,
                                  o.context),
                      "--documents", "leave --context out, or make it as long");
  }
}

cost::Options CountFlags::options(bool& all) const {
  all = convention == "all";
  CountFlags one = *this;
  if (all) one.convention.clear();
  return one.over({});
}

cost::Options CountFlags::options() const { return over({}); }

void MatchFlags::declare(CLI::App& app, const std::string& defaults_note) {
  app.add_option("--loop", loop,
                 "none, middle, middle:1/3x4, \"all x4\", 4-9x2, 3+6x2+3, \"each x2\" (default middle)")
      ->type_name("LOOP");
  app.add_option("--tol", tolerance, "Tolerances, e.g. flops=0.5%,kv=off" + defaults_note)
      ->type_name("LIST");
  app.add_option("--align", alignment, "Multiples: isoloop list alignments, or hidden=64,expert=32,...")
      ->type_name("NAME|LIST");
  app.add_option("--fix", fixed, "Fix a dimension, e.g. experts=288; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=N");
  app.add_option("--free", freed, "Free a dimension, e.g. depth=8:16:2 or span; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY[=RANGE]");
  app.add_option("--rank", rank, "Order of answers: mismatch, sum, a budget, hidden, experts, ...")
      ->allow_extra_args(false)
      ->type_name("KEY,...");
  app.add_option("--top", top, "Number of different answers (default 1)")->type_name("N");
  app.add_option("--square", square, "heads x head size = hidden: yes or no (default: as the baseline)")
      ->type_name("yes|no");
  app.add_option("--gqa", gqa, "GQA ratio relative to the baseline's (default 1:3)")->type_name("LO:HI");
  app.add_option("--min-head", min_head, "Smallest head size (default 32)")->type_name("N");
  app.add_option("--expert-ratio", expert_ratio,
                 "Expert size / hidden within this factor of the baseline's (default 2)")
      ->type_name("X");
  app.add_option("--attention-ratio", attention_ratio,
                 "heads x head size / hidden within this factor, where not equal (default 2)")
      ->type_name("X");
  app.add_option("--tp", tp, "Sizes must shard over N tensor-parallel ranks")->type_name("N");
  app.add_option("--ep", ep, "Experts must shard over N ranks")->type_name("N");
  app.add_option("--pp", pp, "Depth must split into N pipeline stages")->type_name("N");
}

void MatchFlags::apply(solve::MatchRequest& r) const {
  if (!loop.empty()) r.loop = loop;
  if (r.budgets.empty()) r.budgets = solve::default_budgets();
  if (!tolerance.empty()) apply_tolerance(tolerance, "--tol", r.budgets);
  if (!alignment.empty()) r.alignment = solve::parse_alignment(alignment, "--align");
  for (const std::string& item : fixed) parse_fixed(item, r);
  for (const std::string& item : freed) parse_freed(item, r);
  if (!rank.empty()) r.rank.clear();
  for (const std::string& list : rank)
    for (const std::string& key : split(list, ',')) r.rank.push_back(key);
  if (!top.empty()) r.top = static_cast<std::size_t>(positive(top, "--top", "write e.g. --top 3"));
  if (!square.empty()) {
    const std::vector<std::string> words = {"yes", "no"};
    if (square != "yes" && square != "no")
      throw unknown_name(ErrorKind::usage, "value", square, words, "--square");
    r.square = square == "yes";
  }
  if (!gqa.empty())
    std::tie(r.gqa_low, r.gqa_high) = ratio_range(gqa, "--gqa", "write e.g. --gqa 1:3");
  if (!min_head.empty()) r.min_head_size = positive(min_head, "--min-head", "write e.g. --min-head 64");
  if (!expert_ratio.empty()) r.expert_ratio = factor(expert_ratio, "--expert-ratio");
  if (!attention_ratio.empty()) r.attention_ratio = factor(attention_ratio, "--attention-ratio");
  if (!tp.empty()) r.tensor_parallel = positive(tp, "--tp", "write e.g. --tp 8");
  if (!ep.empty()) r.expert_parallel = positive(ep, "--ep", "write e.g. --ep 8");
  if (!pp.empty()) r.pipeline_parallel = positive(pp, "--pp", "write e.g. --pp 2");
}

void apply_tolerance(const std::string& text, const std::string& where,
                     std::vector<solve::BudgetTolerance>& budgets) {
  const std::string hint = "write e.g. flops=1%,params=0.5%,kv=2%, or kv=off to leave a budget out";
  std::vector<cost::Budget> seen;
  for (const std::string& item : split(text, ',')) {
    const cost::Budget budget = cost::parse_budget(item.substr(0, item.find('=')), where);
    const auto [key, value] = key_and_value(item, where, hint);
    if (std::find(seen.begin(), seen.end(), budget) != seen.end())
      throw usage_error(fmt::format("{} is given twice", key), where, hint);
    seen.push_back(budget);
    std::erase_if(budgets, [&](const solve::BudgetTolerance& t) { return t.budget == budget; });
    if (value == "off") continue;
    budgets.push_back({budget, solve::parse_tolerance(value, where)});
  }
  std::stable_sort(budgets.begin(), budgets.end(),
                   [](const auto& a, const auto& b) { return a.budget < b.budget; });
  if (budgets.empty()) throw usage_error("no budget is left", where, hint);
}

std::string tolerance_text(const std::vector<solve::BudgetTolerance>& tolerance) {
  std::string text;
  for (const solve::BudgetTolerance& t : tolerance)
    text += fmt::format("{}{}={}%", text.empty() ? "" : ",", cost::name(t.budget).name,
                        decimal(t.tolerance * Ratio(100), 2));
  return text;
}

}  // namespace isoloop::cli
