// Totals: which rows a budget sums, with which weight.
//
// Every weight is an exact ratio and every budget is linear in the rows, so the same code adds
// counts and polynomials. Held by tests/cost/identity_test.cpp (rows sum to totals) and
// tests/cost/convention_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "cost/ledger.h"

namespace isoloop::cost {
namespace {

constexpr std::array<BudgetName, budget_count> budget_table = {{
    {"flops", "FLOP/token", "training FLOPs per token under the convention"},
    {"prefill_flops", "FLOP/token", "forward FLOPs per token under the convention"},
    {"params", "", "parameters without embedding and head"},
    {"params_total", "", "parameters with embedding and head"},
    {"active", "", "parameters one token touches, without embedding and head"},
    {"kv", "B/token", "KV cache bytes per token"},
    {"kv_context", "B", "KV cache bytes of one sequence of the full context"},
    {"weights_bytes", "B", "bytes of all parameters"},
    {"decode_bytes", "B/token", "bytes read to decode one token after a full context, batch 1"},
    {"activation_bytes", "B/token", "bytes kept for the backward pass per token"},
}};

bool outside_layers(Part part) { return part == Part::embedding || part == Part::head; }

template <class N>
N scale(const Ratio& weight, const N& value) {
  return N(weight) * value;
}

/// Work of one execution of one layer, in MACs, under the convention.
template <class N>
N work(const Row<N>& row, const Options& options) {
  const convention::Convention& c = options.convention;
  if (row.mtp && !c.mtp) return N(0);
  if (row.part == Part::embedding) {
    const bool counted = c.embedding == convention::EmbeddingWork::always ||
                         (c.embedding == convention::EmbeddingWork::untied && !row.shared_with_head);
    return counted ? row.params : N(0);
  }
  const auto part = static_cast<std::size_t>(row.part);
  N result(0);
  if (c.mac_weight[part] != Ratio(0)) result += scale(c.mac_weight[part], row.macs);
  // A parameter counted as work is one of a row that has no matrix product of its own.
  if (c.param_weight[part] != Ratio(0) && row.macs == N(0))
    result += scale(c.param_weight[part], row.active);
  return result;
}

template <class N>
N flops_of(const Row<N>& row, const Options& options, bool train) {
  const Ratio backward = row.part == Part::attention_core ? options.convention.core_backward : 2;
  const Ratio visits = train ? row.visits + backward * row.backward_visits : row.visits;
  return scale(Ratio(2) * row.layers * visits, work(row, options));
}

template <class N>
N cache_of(const Row<N>& row, const Options& options) {
  return scale(row.cache_slots * Ratio(bytes_per_element(options.kv_dtype)), row.cache);
}

template <class N>
N decode_bytes_of(const Row<N>& row, const Options& options) {
  N result = scale(row.cache_kept * Ratio(options.context), cache_of(row, options));
  if (row.part == Part::embedding && !row.shared_with_head) return result;  // one line is read
  const Ratio element(bytes_per_element(options.dtype));
  return result + scale(element * row.layers * row.visits, row.active);
}

}  // namespace

BudgetName name(Budget budget) { return budget_table[static_cast<std::size_t>(budget)]; }

std::vector<std::string> budget_names() {
  std::vector<std::string> result;
  for (const BudgetName& entry : budget_table) result.emplace_back(entry.name);
  return result;
}

Budget parse_budget(std::string_view text, std::string_view where) {
  for (std::size_t i = 0; i < budget_count; ++i)
    if (budget_table[i].name == text) return static_cast<Budget>(i);
  throw unknown_name(ErrorKind::usage, "budget", text, budget_names(), where);
}

template <class N>
N contribution(const Row<N>& row, Budget budget, const Options& options) {
  if (row.mtp && budget != Budget::flops && budget != Budget::prefill_flops) return N(0);
  switch (budget) {
    case Budget::flops: return flops_of(row, options, true);
    case Budget::prefill_flops: return flops_of(row, options, false);
    case Budget::params:
      return outside_layers(row.part) ? N(0) : scale(row.copies(), row.params);
    case Budget::params_total: return scale(row.copies(), row.params);
    case Budget::active:
      return outside_layers(row.part) ? N(0) : scale(row.copies(), row.active);
    case Budget::kv: return cache_of(row, options);
    case Budget::kv_context:
      return scale(row.cache_kept * Ratio(options.context), cache_of(row, options));
    case Budget::weights_bytes:
      return scale(row.copies() * Ratio(bytes_per_element(options.dtype)), row.params);
    case Budget::decode_bytes: return decode_bytes_of(row, options);
    case Budget::activation_bytes:
      return scale(row.layers * row.backward_visits * Ratio(bytes_per_element(options.dtype)),
                   row.saved);
  }
  throw internal_error("unknown budget");
}

template <class N>
N total(const std::vector<Row<N>>& rows, Budget budget, const Options& options) {
  N sum(0);
  for (const Row<N>& row : rows) sum += contribution(row, budget, options);
  return sum;
}

template Ratio contribution(const Row<Ratio>&, Budget, const Options&);
template Poly contribution(const Row<Poly>&, Budget, const Options&);
template Ratio total(const std::vector<Row<Ratio>>&, Budget, const Options&);
template Poly total(const std::vector<Row<Poly>>&, Budget, const Options&);

}  // namespace isoloop::cost
