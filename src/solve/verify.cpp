// An independent verifier: recounts an answer by unrolling its loop.
//
// It uses nothing of the search: no polynomials, no cases, no bands. Budgets are recounted on the
// model written out layer by layer (recount.cpp), the baseline, which may loop itself, likewise.
// Dimensions, loop and rules are then checked from the two architectures and the request alone,
// and beside dimensions and loop the two must not differ.
// Held by tests/solve/verify_test.cpp: accepts every answer, rejects changed ones.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "solve/recount.h"

namespace isoloop::solve {
namespace {

/// The field of a segment that an unknown stands for, null if it has none.
std::int64_t* field(arch::Segment& s, Unknown unknown) {
  arch::Attention& a = s.attention;
  const bool gqa = a.kind == arch::AttentionKind::gqa;
  switch (unknown) {
    case Unknown::heads:
      return &a.heads;
    case Unknown::kv_heads:
      return gqa ? &a.kv_heads : nullptr;
    case Unknown::head_size:
      return gqa ? &a.head_size : nullptr;
    case Unknown::kv_rank:
      return gqa ? nullptr : &a.kv_rank;
    case Unknown::expert_size:
      return s.ffn.moe ? &s.ffn.expert_size : nullptr;
    case Unknown::experts:
      return s.ffn.moe ? &s.ffn.experts : nullptr;
    case Unknown::top_k:
      return s.ffn.moe ? &s.ffn.top_k : nullptr;
    case Unknown::shared_size:
      return s.ffn.shared_size > 0 ? &s.ffn.shared_size : nullptr;
    case Unknown::ffn_size:
      return s.ffn.moe ? nullptr : &s.ffn.size;
    default:
      return nullptr;
  }
}

std::set<std::int64_t> values(arch::Architecture model, Unknown unknown) {
  if (unknown == Unknown::hidden) return {model.hidden};
  std::set<std::int64_t> result;
  for (arch::Segment& segment : model.segments)
    if (const std::int64_t* value = field(segment, unknown)) result.insert(*value);
  return result;
}

constexpr std::array dimensions = {Unknown::hidden,    Unknown::heads,       Unknown::kv_heads,
                                   Unknown::head_size, Unknown::kv_rank,     Unknown::expert_size,
                                   Unknown::experts,   Unknown::shared_size, Unknown::top_k,
                                   Unknown::ffn_size};

class Checker {
 public:
  Checker(const MatchRequest& request, const MatchAnswer& answer)
      : request_(request), answer_(answer) {}

  std::vector<std::string> run() {
    check_budgets();
    for (const Unknown unknown : dimensions) check_dimension(unknown);
    check_attention();
    check_widths();
    check_loop();
    check_rest();
    return std::move(wrong_);
  }

 private:
  void complain(std::string text) { wrong_.push_back(std::move(text)); }

  /// The one value of a dimension in the answer or the baseline; none if there is none.
  std::optional<std::int64_t> own(Unknown unknown) const {
    return one(values(answer_.architecture, unknown));
  }
  std::optional<std::int64_t> base(Unknown unknown) const {
    return one(values(request_.baseline, unknown));
  }
  static std::optional<std::int64_t> one(const std::set<std::int64_t>& all) {
    return all.empty() ? std::nullopt : std::optional(*all.begin());
  }

  void check_budgets() {
    bool within = true;
    Ratio largest = 0;
    const std::vector<BudgetTolerance> budgets =
        request_.budgets.empty() ? default_budgets() : request_.budgets;
    if (answer_.mismatch.size() != budgets.size()) {
      complain("not every budget is reported");
      return;
    }
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      const cost::Budget budget = budgets[i].budget;
      const Ratio target =
          budgets[i].of_baseline * detail::recount(request_.baseline, budget, request_.options);
      const Ratio value = detail::recount(answer_.architecture, budget, request_.options);
      const Ratio mismatch = (value - target) / target;
      if (mismatch != answer_.mismatch[i])
        complain(fmt::format("{}: reported {}, unrolled {}", cost::name(budget).name,
                             answer_.mismatch[i].str(), mismatch.str()));
      largest = std::max(largest, abs(mismatch));
      within = within && abs(mismatch) <= budgets[i].tolerance;
    }
    if (largest != answer_.largest) complain("the largest mismatch is reported wrongly");
    if (within != answer_.within) complain("'within tolerance' is reported wrongly");
  }

  bool free_by_default(Unknown unknown) const {
    if (unknown == Unknown::ffn_size) return !base(Unknown::expert_size);
    return unknown != Unknown::top_k && unknown != Unknown::shared_size;
  }

  std::int64_t step(Unknown unknown) const {
    const Alignment& a = request_.alignment;
    switch (unknown) {
      case Unknown::hidden:
        return a.hidden;
      case Unknown::head_size:
      case Unknown::kv_rank:
        return a.head;
      case Unknown::experts:
        return a.experts;
      case Unknown::expert_size:
      case Unknown::shared_size:
      case Unknown::ffn_size:
        return a.expert;
      default:
        return 1;
    }
  }

  bool shards(Unknown unknown, std::int64_t value) const {
    const std::int64_t tp = request_.tensor_parallel;
    switch (unknown) {
      case Unknown::hidden:
      case Unknown::heads:
      case Unknown::shared_size:
      case Unknown::ffn_size:
        return value % tp == 0;
      case Unknown::kv_heads:
        return value % tp == 0 || tp % value == 0;
      case Unknown::experts:
        return value % request_.expert_parallel == 0;
      default:
        return true;
    }
  }

  void check_dimension(Unknown unknown) {
    const std::set<std::int64_t> all = values(answer_.architecture, unknown);
    if (all.size() > 1) complain(fmt::format("segments differ in {}", name(unknown)));
    if (all.empty()) return;
    const std::int64_t value = *all.begin();
    const auto freed = request_.freed.find(unknown);
    const bool asked = freed != request_.freed.end();
    if (request_.fixed.contains(unknown) || (asked && freed->second)) {
      check_asked(unknown, value);
    } else if (!asked && !free_by_default(unknown)) {
      if (value != base(unknown))
        complain(fmt::format("{} is not free and changed from {} to {}", name(unknown),
                             base(unknown).value_or(0), value));
    } else if (value % step(unknown) != 0) {
      complain(fmt::format("{} {} is not a multiple of {}", name(unknown), value, step(unknown)));
    } else if (unknown == Unknown::head_size && value < request_.min_head_size) {
      complain("the head size is too small");
    }
    if (!shards(unknown, value))
      complain(fmt::format("{} {} does not shard", name(unknown), value));
  }

  /// Fixed to a value, or freed over an explicit range.
  void check_asked(Unknown unknown, std::int64_t value) {
    if (const auto fixed = request_.fixed.find(unknown); fixed != request_.fixed.end()) {
      if (value != fixed->second)
        complain(fmt::format("{} is {}, not {}", name(unknown), value, fixed->second));
      return;
    }
    const auto freed = request_.freed.find(unknown);
    if (freed == request_.freed.end() || !freed->second) return;
    const Range& range = *freed->second;
    if (value < range.low || value > range.high || (value - range.low) % range.step != 0)
      complain(fmt::format("{} {} is outside its range", name(unknown), value));
  }

  void check_attention() {
    const auto H = own(Unknown::heads), K = own(Unknown::kv_heads), d = own(Unknown::head_size);
    const auto H0 = base(Unknown::heads), K0 = base(Unknown::kv_heads);
    if (!H || !K || !d || !H0 || !K0) return;
    if (*H % *K != 0) complain("kv heads do not divide heads");
    const Ratio gqa = Ratio(Int(*H), Int(*K)) / Ratio(Int(*H0), Int(*K0));
    if (gqa < request_.gqa_low || gqa > request_.gqa_high)
      complain("the GQA ratio is out of range");
    const bool latent = base(Unknown::kv_rank).has_value();
    const bool was_square =
        !latent && Int(*H0) * Int(*base(Unknown::head_size)) == Int(request_.baseline.hidden);
    const bool square = request_.square.value_or(was_square);
    const Ratio width = Ratio(Int(*H) * Int(*d)) / Ratio(*own(Unknown::hidden));
    if (square && width != Ratio(1)) complain("heads x head size is not the hidden size");
    if (square) return;
    const Ratio proportion = width / (Ratio(Int(*H0) * Int(*base(Unknown::head_size))) /
                                      Ratio(request_.baseline.hidden));
    if (proportion > request_.attention_ratio || proportion * request_.attention_ratio < Ratio(1))
      complain("heads x head size / hidden is out of range");
  }

  void check_widths() {
    if (own(Unknown::top_k).value_or(0) > own(Unknown::experts).value_or(0))
      complain("top-k is above the number of experts");
    const Unknown width = base(Unknown::expert_size) ? Unknown::expert_size : Unknown::ffn_size;
    if (request_.fixed.contains(width) || !own(width)) return;
    const Ratio proportion = Ratio(Int(*own(width)), Int(answer_.architecture.hidden)) /
                             Ratio(Int(*base(width)), Int(request_.baseline.hidden));
    const Ratio factor = request_.expert_ratio;
    if (proportion > factor || proportion * factor < Ratio(1))
      complain(fmt::format("{} / hidden is out of range", name(width)));
  }

  bool given(Unknown unknown) const {
    return request_.fixed.contains(unknown) || request_.freed.contains(unknown);
  }
  void check_loop_unknown(Unknown unknown, std::int64_t value, std::int64_t usual) {
    if (given(unknown))
      check_asked(unknown, value);
    else if (value != usual)
      complain(fmt::format("{} is {}, not {}", name(unknown), value, usual));
  }

  /// Every value that visits may take is 2 or more, and was given by hand.
  bool visits_ask_for_loop() const {
    const auto fixed = request_.fixed.find(Unknown::loop_visits);
    if (fixed != request_.fixed.end()) return fixed->second > 1;
    const auto freed = request_.freed.find(Unknown::loop_visits);
    return freed != request_.freed.end() && freed->second && freed->second->low > 1;
  }
  /// A span of 0 is the only one asked for.
  bool may_be_without_loop(const arch::Loop& usual) const {
    const auto fixed = request_.fixed.find(Unknown::loop_span);
    if (fixed != request_.fixed.end()) return fixed->second == 0;
    const auto freed = request_.freed.find(Unknown::loop_span);
    if (freed != request_.freed.end()) return freed->second && freed->second->high == 0;
    return usual.span == 0;
  }

  void check_loop() {
    const arch::Architecture& model = answer_.architecture;
    const arch::Loop& loop = answer_.loop;
    const std::int64_t depth = arch::depth(model);
    if (arch::loop_of(model).value_or(arch::Loop{}) != loop ||
        (loop.span == 0 && arch::effective_depth(model) != Ratio(depth)))
      complain("the architecture's loop is not the one reported");
    if (depth != answer_.depth) complain("the depth is reported wrongly");
    if (depth % request_.pipeline_parallel != 0) complain("depth does not split over the pipeline");
    check_loop_unknown(Unknown::depth, depth, arch::depth(request_.baseline));
    const arch::Loop usual = arch::parse_loop(request_.loop, depth, "--loop");
    if (loop.span == 0) {
      if (usual.span > 0 && usual.visits > 1 && !given(Unknown::loop_span) &&
          !given(Unknown::loop_visits))
        complain("a loop was asked for");
      if (visits_ask_for_loop() && !may_be_without_loop(usual)) complain("visits ask for a loop");
      return;
    }
    check_loop_unknown(Unknown::loop_span, loop.span, usual.span);
    check_loop_unknown(Unknown::loop_visits, loop.visits, std::max<std::int64_t>(usual.visits, 1));
    check_loop_unknown(
        Unknown::loop_start, loop.first,
        given(Unknown::loop_span) ? arch::centred_first(depth, loop.span) : usual.first);
  }

  /// Beside dimensions, depth and loop the answer is the baseline.
  void check_rest() {
    const arch::Architecture plain = arch::without_loop(request_.baseline);
    const std::int64_t depth = arch::depth(answer_.architecture);
    arch::Architecture before =
        depth == arch::depth(plain) ? plain : arch::with_depth(plain, depth);
    arch::Architecture after = arch::without_loop(answer_.architecture);
    before.name = after.name = "";
    for (arch::Architecture* model : {&before, &after}) {
      model->hidden = 0;
      for (arch::Segment& segment : model->segments) {
        segment.name = "";
        for (const Unknown unknown : dimensions)
          if (std::int64_t* value = field(segment, unknown)) *value = 1;
      }
    }
    if (before != after) complain("more than dimensions and loop differs from the baseline");
  }

  const MatchRequest& request_;
  const MatchAnswer& answer_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> verify(const MatchRequest& request, const MatchAnswer& answer) {
  return Checker(request, answer).run();
}

}  // namespace isoloop::solve
