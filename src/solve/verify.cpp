// An independent verifier: recounts an answer by unrolling its loop.
//
// It uses nothing of the search: no polynomials, no cases, no bands. The looped model is written
// out as one plain layer per execution; its work and its cache are those of that plain model, its
// parameters those of the physical layers. The baseline is treated the same way. Budgets and rules
// are then checked from the two architectures alone.
// Held by tests/solve/verify_test.cpp: accepts every answer, rejects changed ones.
#include <fmt/format.h>

#include <algorithm>

#include "isoloop/solve.h"

namespace isoloop::solve {
namespace {

/// One plain single-layer segment per executed layer.
arch::Architecture unrolled(const arch::Architecture& model) {
  arch::Architecture result = model;
  result.segments.clear();
  result.schedule.clear();
  for (const arch::Step& step : arch::execution(model)) {
    arch::Segment layer = model.segments[step.segment];
    const std::int64_t window = arch::window_of(layer, step.layer);
    layer.name = fmt::format("executed{}", result.segments.size());
    layer.layers = 1;
    layer.visits = {};
    layer.attention.windows.clear();
    if (window > 0) layer.attention.windows = {window};
    layer.residual_scale.reset();
    result.segments.push_back(std::move(layer));
  }
  return result;
}

bool from_physical_layers(cost::Budget budget) {
  return budget == cost::Budget::params || budget == cost::Budget::params_total ||
         budget == cost::Budget::active || budget == cost::Budget::weights_bytes;
}

Ratio recount(const arch::Architecture& model, cost::Budget budget, cost::Options options) {
  if (options.context == 0) options.context = model.context;
  const arch::Architecture plain =
      from_physical_layers(budget) ? arch::without_loop(model) : unrolled(model);
  return cost::total(cost::ledger(plain, options), budget, options);
}

class Checker {
 public:
  Checker(const MatchRequest& request, const MatchAnswer& answer)
      : request_(request), answer_(answer) {}

  std::vector<std::string> run() {
    check_budgets();
    for (const arch::Segment& segment : answer_.architecture.segments) check_segment(segment);
    if (answer_.architecture.hidden % request_.tensor_parallel != 0) complain("hidden does not shard");
    if (arch::depth(answer_.architecture) % request_.pipeline_parallel != 0)
      complain("depth does not split over the pipeline");
    if (answer_.loop.span > 0 && arch::loop_of(answer_.architecture) != answer_.loop)
      complain("the architecture's loop is not the one reported");
    return std::move(wrong_);
  }

 private:
  void complain(std::string text) { wrong_.push_back(std::move(text)); }

  void check_budgets() {
    bool within = true;
    Ratio largest = 0;
    const std::vector<BudgetTolerance> budgets =
        request_.budgets.empty() ? default_budgets() : request_.budgets;
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      const Ratio target = recount(request_.baseline, budgets[i].budget, request_.options);
      const Ratio value = recount(answer_.architecture, budgets[i].budget, request_.options);
      const Ratio mismatch = (value - target) / target;
      if (mismatch != answer_.mismatch.at(i))
        complain(fmt::format("{}: reported {}, unrolled {}", cost::name(budgets[i].budget).name,
                             answer_.mismatch.at(i).str(), mismatch.str()));
      largest = std::max(largest, abs(mismatch));
      within = within && abs(mismatch) <= budgets[i].tolerance;
    }
    if (largest != answer_.largest) complain("the largest mismatch is reported wrongly");
    if (within != answer_.within) complain("'within tolerance' is reported wrongly");
  }

  /// Multiples are asked of sizes that were free, not of those taken over or given.
  bool aligned(Unknown unknown) const {
    return !request_.fixed.contains(unknown) && !request_.freed.contains(unknown);
  }
  void check_multiple(Unknown unknown, std::int64_t value, std::int64_t step) {
    if (aligned(unknown) && value % step != 0)
      complain(fmt::format("{} {} is not a multiple of {}", name(unknown), value, step));
  }

  void check_segment(const arch::Segment& segment) {
    check_multiple(Unknown::hidden, answer_.architecture.hidden, request_.alignment.hidden);
    if (segment.attention.kind == arch::AttentionKind::gqa) check_attention(segment.attention);
    if (segment.ffn.moe) check_experts(segment.ffn);
  }

  void check_attention(const arch::Attention& a) {
    const arch::Attention& base = request_.baseline.segments.front().attention;
    check_multiple(Unknown::head_size, a.head_size, request_.alignment.head);
    if (a.heads % a.kv_heads != 0) complain("kv heads do not divide heads");
    const Ratio gqa = Ratio(Int(a.heads), Int(a.kv_heads)) / Ratio(Int(base.heads), Int(base.kv_heads));
    if (gqa < request_.gqa_low || gqa > request_.gqa_high) complain("the GQA ratio is out of range");
    if (aligned(Unknown::head_size) && a.head_size < request_.min_head_size)
      complain("the head size is too small");
    const bool was_square = base.heads * base.head_size == request_.baseline.hidden;
    const Ratio width = Ratio(Int(a.heads) * Int(a.head_size)) / Ratio(answer_.architecture.hidden);
    const Ratio proportion =
        width / (Ratio(Int(base.heads) * Int(base.head_size)) / Ratio(request_.baseline.hidden));
    const bool square = request_.square.value_or(was_square);
    if (!square && (proportion > request_.attention_ratio ||
                    Ratio(1) / proportion > request_.attention_ratio))
      complain("heads x head size / hidden is out of range");
    if (square && width != Ratio(1))
      complain("heads x head size is not the hidden size");
    if (a.heads % request_.tensor_parallel != 0) complain("heads do not shard");
  }

  void check_experts(const arch::Ffn& ffn) {
    const auto has_moe = [](const arch::Segment& s) { return s.ffn.moe; };
    const arch::Ffn& base = std::find_if(request_.baseline.segments.begin(),
                                         request_.baseline.segments.end(), has_moe)
                                ->ffn;
    check_multiple(Unknown::expert_size, ffn.expert_size, request_.alignment.expert);
    check_multiple(Unknown::experts, ffn.experts, request_.alignment.experts);
    if (ffn.top_k > ffn.experts) complain("top-k is above the number of experts");
    if (ffn.experts % request_.expert_parallel != 0) complain("experts do not shard");
    const Ratio proportion = Ratio(Int(ffn.expert_size), Int(answer_.architecture.hidden)) /
                             Ratio(Int(base.expert_size), Int(request_.baseline.hidden));
    const bool fixed = request_.fixed.contains(Unknown::expert_size);
    if (!fixed && (proportion > request_.expert_ratio || Ratio(1) / proportion > request_.expert_ratio))
      complain("expert size / hidden is out of range");
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
