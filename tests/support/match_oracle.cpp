// Right by the definitions in isoloop/solve.h; uses arch to build and cost to count, nothing of
// src/solve.
#include "support/match_oracle.h"

#include <algorithm>
#include <functional>

namespace isoloop::test {
namespace {

using solve::MatchRequest;
using solve::Unknown;
using Values = std::map<Unknown, std::int64_t>;

/// Every segment's field for a layer dimension.
std::vector<std::int64_t*> fields(arch::Architecture& model, Unknown unknown) {
  std::vector<std::int64_t*> result;
  if (unknown == Unknown::hidden) result.push_back(&model.hidden);
  for (arch::Segment& s : model.segments) {
    const bool gqa = s.attention.kind == arch::AttentionKind::gqa;
    if (unknown == Unknown::heads) result.push_back(&s.attention.heads);
    if (unknown == Unknown::kv_heads && gqa) result.push_back(&s.attention.kv_heads);
    if (unknown == Unknown::head_size && gqa) result.push_back(&s.attention.head_size);
    if (unknown == Unknown::kv_rank && !gqa) result.push_back(&s.attention.kv_rank);
    if (unknown == Unknown::expert_size && s.ffn.moe) result.push_back(&s.ffn.expert_size);
    if (unknown == Unknown::experts && s.ffn.moe) result.push_back(&s.ffn.experts);
    if (unknown == Unknown::top_k && s.ffn.moe) result.push_back(&s.ffn.top_k);
    if (unknown == Unknown::shared_size && s.ffn.shared_size > 0)
      result.push_back(&s.ffn.shared_size);
    if (unknown == Unknown::ffn_size && !s.ffn.moe) result.push_back(&s.ffn.size);
  }
  return result;
}

std::int64_t value_or(const Values& values, Unknown unknown, std::int64_t otherwise) {
  const auto found = values.find(unknown);
  return found == values.end() ? otherwise : found->second;
}

std::vector<std::int64_t> listed(const MatchRequest& r, Unknown unknown, std::int64_t usual) {
  if (const auto fixed = r.fixed.find(unknown); fixed != r.fixed.end()) return {fixed->second};
  const auto freed = r.freed.find(unknown);
  if (freed == r.freed.end()) return {usual};
  std::vector<std::int64_t> result;
  for (std::int64_t v = freed->second->low; v <= freed->second->high; v += freed->second->step)
    result.push_back(v);
  return result;
}

bool shards(const MatchRequest& r, const arch::Architecture& model) {
  const std::int64_t tp = r.tensor_parallel, ep = r.expert_parallel;
  if (model.hidden % tp != 0 || arch::depth(model) % r.pipeline_parallel != 0) return false;
  for (const arch::Segment& s : model.segments) {
    const std::int64_t K = s.attention.kv_heads;
    if (s.attention.heads % tp != 0) return false;
    if (K > 0 && K % tp != 0 && tp % K != 0) return false;
    if (s.ffn.moe && s.ffn.experts % ep != 0) return false;
    if (s.ffn.shared_size % tp != 0 || s.ffn.size % tp != 0) return false;
  }
  return true;
}

/// Whether b is between a / factor and a * factor.
bool near(const Ratio& a, const Ratio& b, const Ratio& factor) {
  return b * factor >= a && b <= a * factor;
}

bool keeps_rules(const MatchRequest& r, const arch::Architecture& model, bool square) {
  for (std::size_t i = 0; i < model.segments.size(); ++i) {
    const arch::Segment& s = model.segments[i];
    const arch::Attention& a = s.attention;
    if (a.kind == arch::AttentionKind::gqa) {
      const arch::Attention& base = r.baseline.segments.front().attention;
      if (square && a.heads * a.head_size != model.hidden) return false;
      const Ratio wide(Int(a.heads * a.head_size), Int(model.hidden));
      const Ratio was(Int(base.heads * base.head_size), Int(r.baseline.hidden));
      if (!square && !near(was, wide, r.attention_ratio)) return false;
      if (a.heads % a.kv_heads != 0) return false;
      const Ratio groups(a.heads / a.kv_heads), before(base.heads / base.kv_heads);
      if (groups < before * r.gqa_low || groups > before * r.gqa_high) return false;
    }
    if (s.ffn.moe && s.ffn.top_k > s.ffn.experts) return false;
  }
  return true;
}

/// Expert size (or, in a dense model, FFN size) over hidden within the factor of the request.
bool keeps_proportion(const MatchRequest& r, arch::Architecture model) {
  arch::Architecture base = r.baseline;
  const bool moe = !fields(base, Unknown::expert_size).empty();
  const Unknown width = moe ? Unknown::expert_size : Unknown::ffn_size;
  if (r.fixed.contains(width)) return true;
  return near(Ratio(Int(*fields(base, width).front()), Int(base.hidden)),
              Ratio(Int(*fields(model, width).front()), Int(model.hidden)), r.expert_ratio);
}

std::vector<Ratio> budgets_of(const MatchRequest& r, const arch::Architecture& model) {
  cost::Options options = r.options;
  if (options.context == 0) options.context = model.context;
  const auto rows = cost::ledger(model, options);
  std::vector<Ratio> result;
  for (const solve::BudgetTolerance& b : r.budgets)
    result.push_back(cost::total(rows, b.budget, options));
  return result;
}

/// Layers sorted by what they are, so that the place of a loop in a uniform stack does not matter.
std::string kind_of(const arch::Architecture& model, const Values& values) {
  std::vector<std::string> layers;
  for (const arch::Segment& s : model.segments)
    for (std::int64_t i = 0; i < s.layers; ++i)
      layers.push_back((s.ffn.moe ? "moe " : "dense ") + std::to_string(arch::window_of(s, i)) +
                       " x" + s.visits.forward.str());
  std::sort(layers.begin(), layers.end());
  std::string result;
  for (const std::string& layer : layers) result += layer + ", ";
  const std::int64_t kv =
      value_or(values, Unknown::kv_heads, 0) * value_or(values, Unknown::head_size, 0);
  return result + std::to_string(values.at(Unknown::hidden)) + "/" + std::to_string(kv) + "/" +
         std::to_string(value_or(values, Unknown::kv_rank, 0));
}

Candidate candidate(const MatchRequest& r, arch::Architecture model, const Values& values,
                    const std::vector<Ratio>& targets) {
  Candidate c;
  c.values = values;
  c.within = true;
  Ratio largest = 0, sum = 0;
  const std::vector<Ratio> own = budgets_of(r, model);
  for (std::size_t i = 0; i < own.size(); ++i) {
    c.mismatch.push_back((own[i] - targets[i]) / targets[i]);
    const Ratio units = abs(c.mismatch.back()) / r.budgets[i].tolerance;
    largest = std::max(largest, units);
    sum += units;
    c.within = c.within && units <= Ratio(1);
  }
  c.score = {largest, sum, -Ratio(model.hidden), value_or(values, Unknown::experts, 0)};
  c.kind = kind_of(model, values);
  c.architecture = std::move(model);
  return c;
}

/// Depth, then loop, then each layer dimension in turn.
class Enumerator {
 public:
  explicit Enumerator(const MatchRequest& r)
      : r_(r), plain_(arch::without_loop(r.baseline)), targets_(budgets_of(r, r.baseline)) {
    for (int u = 0; u <= static_cast<int>(Unknown::ffn_size); ++u) {
      const auto unknown = static_cast<Unknown>(u);
      if (!fields(plain_, unknown).empty()) dimensions_.push_back(unknown);
    }
    square_ = r.square.value_or(plain_.hidden == plain_.segments.front().attention.heads *
                                                     plain_.segments.front().attention.head_size);
  }

  std::vector<Candidate> run() {
    const std::int64_t base_depth = arch::depth(plain_);
    for (const std::int64_t depth : listed(r_, Unknown::depth, base_depth)) {
      const arch::Architecture deep = arch::with_depth(plain_, depth);
      const arch::Loop usual = arch::parse_loop(r_.loop, depth, "test");
      for (const std::int64_t span : listed(r_, Unknown::loop_span, usual.span))
        if (span <= depth && (span > 0 || !wants_loop(usual))) loops(deep, depth, span, usual);
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score < b.score; });
    return std::move(found_);
  }

 private:
  /// Only visits of 2 or more were given, and spans other than 0.
  bool wants_loop(const arch::Loop& usual) const {
    const auto visits = listed(r_, Unknown::loop_visits, 1);
    const auto spans = listed(r_, Unknown::loop_span, usual.span);
    return *std::min_element(visits.begin(), visits.end()) > 1 &&
           *std::max_element(spans.begin(), spans.end()) > 0;
  }

  void loops(const arch::Architecture& deep, std::int64_t depth, std::int64_t span,
             const arch::Loop& usual) {
    const bool moved =
        r_.fixed.contains(Unknown::loop_span) || r_.freed.contains(Unknown::loop_span);
    const std::int64_t first = moved ? arch::centred_first(depth, span) : usual.first;
    for (const std::int64_t visits : listed(r_, Unknown::loop_visits, usual.visits))
      for (const std::int64_t start : listed(r_, Unknown::loop_start, first)) {
        if (span > 0 && start + span - 1 > depth) continue;
        const arch::Loop loop{start, span, visits, usual.order};
        dimensions(span == 0 ? deep : arch::with_loop(deep, loop), 0, {{Unknown::depth, depth}});
      }
  }

  void dimensions(const arch::Architecture& model, std::size_t at, const Values& values) {
    if (at == dimensions_.size()) {
      if (shards(r_, model) && keeps_rules(r_, model, square_) && keeps_proportion(r_, model))
        found_.push_back(candidate(r_, model, values, targets_));
      return;
    }
    const Unknown unknown = dimensions_[at];
    for (const std::int64_t v : listed(r_, unknown, *fields(plain_, unknown).front())) {
      arch::Architecture next = model;
      for (std::int64_t* field : fields(next, unknown)) *field = v;
      Values with = values;
      with[unknown] = v;
      dimensions(next, at + 1, with);
    }
  }

  const MatchRequest& r_;
  arch::Architecture plain_;
  std::vector<Ratio> targets_;
  std::vector<Unknown> dimensions_;
  bool square_ = false;
  std::vector<Candidate> found_;
};

}  // namespace

std::vector<Candidate> all_candidates(const MatchRequest& request) {
  return Enumerator(request).run();
}

}  // namespace isoloop::test
