// Prices: step time, predicted loss; and two exact figures of an architecture, sparsity and distance.
//
// Held by tests/space/price_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "isoloop/space.h"

namespace isoloop::space {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

Ratio total(const arch::Architecture& model, cost::Budget budget, const cost::Options& options) {
  return cost::total(cost::ledger(model, options), budget, options);
}

/// The same model with every expert active.
arch::Architecture all_active(arch::Architecture model) {
  for (arch::Segment& s : model.segments)
    if (s.ffn.moe) s.ffn.experts = s.ffn.top_k;
  return model;
}

/// A proportion of the segment that is widest in it; none where no segment has it.
template <class F>
std::optional<Ratio> largest(const arch::Architecture& model, F proportion) {
  std::optional<Ratio> result;
  for (const arch::Segment& s : model.segments)
    if (const std::optional<Ratio> value = proportion(s); value && (!result || *value > *result))
      result = value;
  return result;
}

std::vector<std::optional<Ratio>> proportions(const arch::Architecture& model) {
  using Value = std::optional<Ratio>;
  const Ratio hidden = model.hidden;
  const auto gqa = [](const arch::Segment& s) {
    return s.attention.kind == arch::AttentionKind::gqa && s.attention.kv_heads > 0;
  };
  return {
      arch::effective_depth(model) / hidden,
      largest(model, [&](const auto& s) {
        return gqa(s) ? Value(Ratio(s.attention.heads, s.attention.kv_heads)) : Value();
      }),
      largest(model, [&](const auto& s) {
        return Value(gqa(s) ? s.attention.head_size : s.attention.kv_rank);
      }),
      largest(model, [&](const auto& s) {
        return gqa(s) ? Value(Ratio(s.attention.heads) * Ratio(s.attention.head_size) / hidden)
                      : Value(Ratio(s.attention.heads) / hidden);
      }),
      largest(model, [&](const auto& s) {
        return Value(Ratio(s.ffn.moe ? s.ffn.expert_size : s.ffn.size) / hidden);
      }),
      largest(model, [&](const auto& s) {
        return s.ffn.moe ? Value(Ratio(s.ffn.experts, s.ffn.top_k)) : Value();
      }),
  };
}

}  // namespace

Price step_time(std::string key, const gpu::Device& device, const gpu::PlanOptions& options,
                const arch::Architecture& baseline) {
  const gpu::Plan base = gpu::plan(baseline, device, options);
  Price price;
  price.key = std::move(key);
  price.unit = "x baseline";
  price.meaning = fmt::format("{} step time on {} over the baseline's, {} tokens per GPU",
                              gpu::name(options.phase), device.id, options.tokens);
  const gpu::StepTime ours = gpu::step_time(base);
  price.make = [device, options, ours] {
    const auto planner = std::make_shared<const gpu::Planner>(device, options);
    const auto timer = std::make_shared<gpu::StepTimer>(*planner);
    return [planner, timer, ours](const arch::Architecture& model) -> Predicted {
      try {
        const gpu::StepRatio ratio = gpu::step_ratio(timer->time(model), ours);
        return {ratio.low, ratio.mid, ratio.high};
      } catch (const Error& error) {
        if (error.kind == ErrorKind::internal) throw;
        return {none, none, none};
      }
    };
  };
  price.identity = fmt::format("{} ms, tp {}, ep {}, pp {}, dp {}, microbatches {}, recompute {}",
                               base.step_ms.mid, options.tp, options.ep, options.pp, options.dp,
                               options.microbatches, gpu::name(options.recompute));
  price.baseline = {1, 1, 1};
  return price;
}

Ratio sparsity(const arch::Architecture& model, const cost::Options& options) {
  const bool moe = std::any_of(model.segments.begin(), model.segments.end(),
                               [](const arch::Segment& s) { return s.ffn.moe; });
  if (!moe) return 0;
  const arch::Architecture control = all_active(model);
  using cost::Budget;
  return Ratio(1) - total(model, Budget::flops, options) / total(control, Budget::flops, options) *
                        (total(control, Budget::params, options) / total(model, Budget::params, options));
}

Price predicted_loss(std::string key, const law::Law& law, const cost::Options& options,
                     const Training& training, const arch::Architecture& baseline) {
  const bool chinchilla = law.form.family == law::Family::chinchilla;
  Price price;
  price.key = std::move(key);
  price.unit = "nats";
  price.meaning = fmt::format(
      "loss under the law '{}' at {}; the law knows only {}", law.name,
      training.tokens ? fmt::format("{:g} tokens", *training.tokens)
                      : fmt::format("{:g} training FLOPs", *training.compute),
      chinchilla ? "N and D: no shape, no loop" : "F, S and D: no shape, no loop");
  const auto of = [law, options, training, chinchilla](const arch::Architecture& model) -> Predicted {
    const double flops = total(model, cost::Budget::flops, options).to_double();
    const double params = total(model, cost::Budget::params, options).to_double();
    const double per_token = chinchilla ? 6 * params : flops;
    const double tokens = training.tokens ? *training.tokens : *training.compute / per_token;
    const double s = chinchilla ? 0 : sparsity(model, options).to_double();
    const double loss = law::loss(law, chinchilla ? params : flops, s, tokens);
    return {loss, loss, loss};
  };
  price.make = [of] { return Pricer(of); };
  price.baseline = of(baseline);
  for (const law::Coefficient c : law::coefficients_of(law.form))
    price.identity += fmt::format("{}{}={}", price.identity.empty() ? "" : ",",
                                  law::name(law.form.family, c), law.coefficients[c]);
  return price;
}

Ratio distance(const arch::Architecture& model, const arch::Architecture& baseline) {
  const auto ours = proportions(model), theirs = proportions(baseline);
  Ratio result = 1;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (!ours[i] || !theirs[i] || *ours[i] == Ratio(0) || *theirs[i] == Ratio(0)) continue;
    result = std::max({result, *ours[i] / *theirs[i], *theirs[i] / *ours[i]});
  }
  return result;
}

Requirement parse_requirement(std::string_view text, std::string_view where) {
  const std::string hint = "write e.g. --require 'step-time<=1.02'";
  const std::size_t at = text.find("<=");
  if (at == std::string_view::npos || at == 0)
    throw usage_error(fmt::format("'{}' is not a requirement", text), std::string(where), hint);
  const Ratio most = parse_ratio(text.substr(at + 2), where);
  if (most <= Ratio(0))
    throw usage_error(fmt::format("'{}' can never hold", text), std::string(where), hint);
  return {std::string(text.substr(0, at)), most.to_double()};
}

}  // namespace isoloop::space
