// A matching request stated as an integer search problem.
//
// Held by tests/solve/match_test.cpp: brute force over small requests.
#include "solve/statement.h"

#include <fmt/format.h>

#include <algorithm>

#include "solve/usual_rank.h"

namespace isoloop::solve::detail {
namespace {

/// Search order, outermost first: what fixes the cache, then what fixes the attention, then the
/// experts by exact inversion.
constexpr std::array layer_unknowns = {
    Unknown::kv_heads, Unknown::head_size,   Unknown::kv_rank,  Unknown::heads,       Unknown::hidden,
    Unknown::top_k,    Unknown::shared_size, Unknown::ffn_size, Unknown::expert_size, Unknown::experts};

cost::Letter letter_of(Unknown unknown) {
  switch (unknown) {
    case Unknown::hidden: return cost::Letter::hidden;
    case Unknown::heads: return cost::Letter::heads;
    case Unknown::kv_heads: return cost::Letter::kv_heads;
    case Unknown::head_size: return cost::Letter::head_size;
    case Unknown::kv_rank: return cost::Letter::kv_rank;
    case Unknown::expert_size: return cost::Letter::expert_size;
    case Unknown::experts: return cost::Letter::experts;
    case Unknown::shared_size: return cost::Letter::shared_size;
    case Unknown::top_k: return cost::Letter::top_k;
    case Unknown::ffn_size: return cost::Letter::ffn_size;
    default: throw internal_error("not a layer dimension");
  }
}

class Builder {
 public:
  Builder(const MatchRequest& request, const std::vector<Ratio>& targets)
      : request_(request), targets_(targets) {}

  Statement build() {
    add_variables();
    add_rules();
    add_measures();
    add_cases();
    add_criteria();
    return std::move(statement_);
  }

 private:
  void add_variables() {
    Problem& p = statement_.problem;
    for (const Unknown unknown : layer_unknowns) {
      const auto base = baseline_value(request_.baseline, unknown);
      if (!base) {
        check_not_asked(unknown);
        continue;
      }
      index_[static_cast<std::size_t>(unknown)] = p.variables.size();
      statement_.unknowns.push_back(unknown);
      p.variables.push_back({std::string(name(unknown)), domain_of(request_, unknown, *base)});
    }
    check_attention_experts();
    // Fixed unknowns first: put in once per case.
    for (const bool fixed : {true, false})
      for (std::size_t v = 0; v < p.variables.size(); ++v)
        if ((p.variables[v].domain.size() == 1) == fixed) p.order.push_back(v);
  }

  void check_not_asked(Unknown unknown) const {
    if (!request_.fixed.contains(unknown) && !request_.freed.contains(unknown)) return;
    throw usage_error(fmt::format("'{}' has no {}", request_.baseline.name, name(unknown)),
                      request_.fixed.contains(unknown) ? "--fix" : "--free",
                      "only dimensions that the baseline has can be fixed or freed");
  }

  void check_attention_experts() const {
    for (const arch::Segment& segment : request_.baseline.segments)
      if (segment.attention.experts > 0)
        throw input_error("matching a model whose attention has experts is not supported",
                          fmt::format("segment '{}'", segment.name),
                          "count and explain work; matching needs ordinary attention");
  }

  std::optional<std::size_t> variable(Unknown unknown) const {
    return index_[static_cast<std::size_t>(unknown)];
  }

  void assume(std::string text) { statement_.assumptions.push_back(std::move(text)); }

  void add_rules() {
    add_attention_rules();
    add_expert_rules();
    if (std::max({request_.tensor_parallel, request_.expert_parallel, request_.pipeline_parallel}) > 1)
      assume(fmt::format("sizes shard over tp {}, ep {}, pp {}", request_.tensor_parallel,
                         request_.expert_parallel, request_.pipeline_parallel));
  }

  void add_attention_rules() {
    const auto K = variable(Unknown::kv_heads), H = variable(Unknown::heads);
    const auto d = variable(Unknown::head_size), h = variable(Unknown::hidden);
    if (!K || !H || !d) return;
    auto& rules = statement_.problem.rules;
    if (square(request_)) {
      rules.push_back({Rule::Kind::product, *H, *d, *h, 0, 0, "heads x head size = hidden"});
      assume("heads x head size = hidden");
    } else {
      const Ratio base(Int(*baseline_value(request_.baseline, Unknown::heads)) *
                           Int(*baseline_value(request_.baseline, Unknown::head_size)),
                       Int(request_.baseline.hidden));
      const Ratio low = base / request_.attention_ratio, high = base * request_.attention_ratio;
      rules.push_back({Rule::Kind::product_ratio, *H, *d, *h, low, high,
                       "heads x head size / hidden"});
      assume(fmt::format("heads x head size / hidden from {} to {} (baseline {})", decimal(low, 2),
                         decimal(high, 2), decimal(base, 2)));
    }
    rules.push_back({Rule::Kind::divides, *K, *H, 0, 0, 0, "kv heads divide heads"});
    const Ratio base(Int(*baseline_value(request_.baseline, Unknown::heads)),
                     Int(*baseline_value(request_.baseline, Unknown::kv_heads)));
    rules.push_back({Rule::Kind::ratio, *H, *K, 0, base * request_.gqa_low,
                     base * request_.gqa_high, "GQA ratio"});
    assume(fmt::format("kv heads divide heads, GQA ratio {} to {}",
                       (base * request_.gqa_low).str(), (base * request_.gqa_high).str()));
    const auto freed = request_.freed.find(Unknown::head_size);
    const bool by_hand = request_.fixed.contains(Unknown::head_size) ||
                         (freed != request_.freed.end() && freed->second.has_value());
    if (!by_hand)
      assume(fmt::format("head size at least {}", request_.min_head_size));
  }

  void add_expert_rules() {
    const auto E = variable(Unknown::experts), k = variable(Unknown::top_k);
    const auto h = variable(Unknown::hidden);
    auto& rules = statement_.problem.rules;
    if (E && k) rules.push_back({Rule::Kind::at_most, *k, *E, 0, 0, 0, "top-k at most experts"});
    const Unknown width = variable(Unknown::expert_size) ? Unknown::expert_size : Unknown::ffn_size;
    const auto f = variable(width);
    if (!f || request_.fixed.contains(width)) return;
    const Ratio base(Int(*baseline_value(request_.baseline, width)),
                     Int(request_.baseline.hidden));
    rules.push_back({Rule::Kind::ratio, *f, *h, 0, base / request_.expert_ratio,
                     base * request_.expert_ratio, fmt::format("{} / hidden", name(width))});
    assume(fmt::format("{} / hidden from {} to {} (baseline {})", name(width),
                       decimal(base / request_.expert_ratio, 3),
                       decimal(base * request_.expert_ratio, 3), decimal(base, 3)));
  }

  void add_measures() {
    for (std::size_t i = 0; i < request_.budgets.size(); ++i)
      statement_.problem.measures.push_back({std::string(cost::name(request_.budgets[i].budget).name),
                                             targets_[i], request_.budgets[i].tolerance, Ratio(1)});
  }

  void add_cases() {
    cost::Options options = request_.options;
    if (options.context == 0) options.context = request_.baseline.context;
    statement_.shapes = shape_classes(request_);
    for (const ShapeClass& shape : statement_.shapes) {
      const auto rows = open_ledger(shape, options, statement_.unknowns);
      Case c;
      for (const BudgetTolerance& budget : request_.budgets)
        c.values.push_back(cost::total(rows, budget.budget, options));
      c.multiplicity = Int(shape.shapes.size());
      statement_.problem.cases.push_back(std::move(c));
    }
  }

  void add_criteria() {
    Problem& p = statement_.problem;
    for (const std::string& key : request_.rank.empty() ? usual_rank : request_.rank)
      if (const auto criterion = parse_criterion(key)) p.criteria.push_back(*criterion);
    // A fixed order among equal costs: the baseline's own head geometry first.
    for (const Unknown unknown : {Unknown::kv_heads, Unknown::head_size})
      if (const auto v = variable(unknown))
        p.criteria.push_back({Criterion::Kind::nearest, *v,
                              *baseline_value(request_.baseline, unknown)});
    p.criteria.push_back({Criterion::Kind::case_order, 0, 0});
    if (const auto h = variable(Unknown::hidden)) p.signature.push_back({*h});
    if (const auto K = variable(Unknown::kv_heads))
      p.signature.push_back({*K, *variable(Unknown::head_size)});
    if (const auto c = variable(Unknown::kv_rank)) p.signature.push_back({*c});
    p.keep = request_.top;
  }

  std::optional<Criterion> parse_criterion(const std::string& key) const {
    return criterion_of(request_, statement_.unknowns, key);
  }

  const MatchRequest& request_;
  const std::vector<Ratio>& targets_;
  std::array<std::optional<std::size_t>, unknown_count> index_;
  Statement statement_;
};

using Wish = std::pair<Unknown, Criterion::Kind>;
constexpr std::array wishes = {Wish{Unknown::hidden, Criterion::Kind::larger},
                               Wish{Unknown::experts, Criterion::Kind::smaller},
                               Wish{Unknown::heads, Criterion::Kind::smaller},
                               Wish{Unknown::kv_heads, Criterion::Kind::smaller},
                               Wish{Unknown::head_size, Criterion::Kind::larger},
                               Wish{Unknown::expert_size, Criterion::Kind::larger}};

}  // namespace

std::vector<cost::Row<Poly>> open_ledger(const ShapeClass& shape, const cost::Options& options,
                                         const std::vector<Unknown>& unknowns) {
  cost::Unknowns letters;
  for (std::size_t v = 0; v < unknowns.size(); ++v)
    letters[static_cast<std::size_t>(letter_of(unknowns[v]))] = v;
  return cost::ledger(shape.architecture, options, letters);
}

std::vector<std::string> rank_keys(const MatchRequest& request) {
  std::vector<std::string> known = {"mismatch", "sum"};
  for (const BudgetTolerance& budget : request.budgets)
    known.emplace_back(cost::name(budget.budget).name);
  for (const auto& [unknown, kind] : wishes) known.emplace_back(name(unknown));
  return known;
}

std::optional<Criterion> criterion_of(const MatchRequest& request,
                                      const std::vector<Unknown>& unknowns,
                                      const std::string& key) {
  if (key == "mismatch") return Criterion{Criterion::Kind::largest_mismatch, 0, 0};
  if (key == "sum") return Criterion{Criterion::Kind::sum_of_mismatches, 0, 0};
  for (std::size_t i = 0; i < request.budgets.size(); ++i)
    if (cost::name(request.budgets[i].budget).name == key)
      return Criterion{Criterion::Kind::mismatch, i, 0};
  for (const auto& [unknown, kind] : wishes) {
    if (name(unknown) != key) continue;
    const auto at = std::find(unknowns.begin(), unknowns.end(), unknown);
    if (at == unknowns.end()) return std::nullopt;
    return Criterion{kind, static_cast<std::size_t>(at - unknowns.begin()), 0};
  }
  throw unknown_name(ErrorKind::usage, "ranking key", key, rank_keys(request), "--rank");
}

Statement state(const MatchRequest& request, const std::vector<Ratio>& targets) {
  return Builder(request, targets).build();
}

}  // namespace isoloop::solve::detail
