// What would make an infeasible request feasible, each proposal solved again.
//
// Held by tests/solve/remedies_test.cpp.
#include "solve/remedies.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoloop::solve::detail {
namespace {

/// Solves a changed request; absent if it is still infeasible or makes no sense.
std::optional<MatchAnswer> attempt(MatchRequest request) {
  request.top = 1;
  try {
    MatchResult result = match_within(request).result;
    if (result.answers.empty()) return std::nullopt;
    return std::move(result.answers.front());
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    return std::nullopt;  // e.g. no loop shape is left
  }
}

/// Halves one step until the request becomes feasible.
void finer_alignment(const MatchRequest& request, std::int64_t Alignment::*step,
                     std::vector<Remedy>& remedies) {
  MatchRequest changed = request;
  changed.alignment.name = "by hand";
  while (changed.alignment.*step % 2 == 0) {
    changed.alignment.*step /= 2;
    if (const auto answer = attempt(changed)) {
      remedies.push_back({"alignment", "--align " + alignment_text(changed.alignment), *answer});
      return;
    }
  }
}

/// The smallest tolerance of one budget, in tenths of a percent, with the others as they are.
void higher_tolerance(const MatchRequest& request, std::size_t budget,
                      std::vector<Remedy>& remedies) {
  MatchRequest changed = request;
  const Ratio unlimited = 10;  // 1000 %
  changed.budgets[budget].tolerance = unlimited;
  changed.rank = {std::string(cost::name(request.budgets[budget].budget).name), "mismatch"};
  const auto reach = attempt(changed);
  if (!reach) return;
  const Ratio needed(ceil(abs(reach->mismatch[budget]) * Ratio(1000)), 1000);
  changed.budgets[budget].tolerance = needed;
  changed.rank = request.rank;
  if (const auto answer = attempt(changed))
    remedies.push_back({"tolerance",
                        fmt::format("--tol {}={}%", cost::name(request.budgets[budget].budget).name,
                                    decimal(needed * Ratio(100), 1)),
                        *answer});
}

void freed_unknown(const MatchRequest& request, Unknown unknown, std::vector<Remedy>& remedies) {
  if (request.freed.contains(unknown)) return;
  MatchRequest changed = request;
  changed.fixed.erase(unknown);
  changed.freed[unknown] = std::nullopt;
  if (const auto answer = attempt(changed)) {
    const bool was_fixed = request.fixed.contains(unknown);
    remedies.push_back({"free",
                        fmt::format("--free {}{}", name(unknown),
                                    was_fixed ? fmt::format(" instead of --fix {}", name(unknown)) : ""),
                        *answer});
  }
}

}  // namespace

std::vector<Remedy> find_remedies(const MatchRequest& request) {
  std::vector<Remedy> remedies;
  for (const auto step :
       {&Alignment::head, &Alignment::experts, &Alignment::expert, &Alignment::hidden})
    finer_alignment(request, step, remedies);
  for (std::size_t i = 0; i < request.budgets.size(); ++i) higher_tolerance(request, i, remedies);
  for (const Unknown unknown :
       {Unknown::loop_span, Unknown::loop_visits, Unknown::depth, Unknown::top_k,
        Unknown::shared_size, Unknown::hidden, Unknown::heads, Unknown::kv_heads,
        Unknown::head_size, Unknown::kv_rank, Unknown::expert_size, Unknown::experts,
        Unknown::ffn_size})
    if (request.fixed.contains(unknown) || unknown == Unknown::loop_span ||
        unknown == Unknown::loop_visits || unknown == Unknown::depth || unknown == Unknown::top_k ||
        unknown == Unknown::shared_size)
      freed_unknown(request, unknown, remedies);
  if (request.square.value_or(true)) {
    MatchRequest changed = request;
    changed.square = false;
    if (const auto answer = attempt(changed)) remedies.push_back({"free", "--square no", *answer});
  }
  return remedies;
}

}  // namespace isoloop::solve::detail
