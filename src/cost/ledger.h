// ledger: folds the formulas over an architecture into rows, for any number type.
//
// `bind(letter, value)` decides what a letter is: its value, a polynomial's unknown, or text.
// Held by tests/cost/identity_test.cpp.
#pragma once

#include "cost/resolve.h"

namespace isoloop::cost {

template <class N, class Bind>
Letters<N> bind_letters(const Letters<Ratio>& v, Bind bind) {
  Letters<N> x;
  x.h = bind(Letter::hidden, v.h);
  x.V = bind(Letter::vocab, v.V);
  x.Vp = bind(Letter::padded_vocab, v.Vp);
  x.H = bind(Letter::heads, v.H);
  x.K = bind(Letter::kv_heads, v.K);
  x.d = bind(Letter::head_size, v.d);
  x.Ea = bind(Letter::attention_experts, v.Ea);
  x.ka = bind(Letter::attention_top_k, v.ka);
  x.Ha = bind(Letter::heads_per_expert, v.Ha);
  x.qr = bind(Letter::q_rank, v.qr);
  x.kr = bind(Letter::kv_rank, v.kr);
  x.n = bind(Letter::nope_size, v.n);
  x.r = bind(Letter::rope_size, v.r);
  x.v = bind(Letter::value_size, v.v);
  x.E = bind(Letter::experts, v.E);
  x.k = bind(Letter::top_k, v.k);
  x.f = bind(Letter::expert_size, v.f);
  x.s = bind(Letter::shared_size, v.s);
  x.g = bind(Letter::ffn_size, v.g);
  x.a = bind(Letter::adapter_rank, v.a);
  x.T = bind(Letter::attended, v.T);
  return x;
}

template <class N>
Row<N> row_of(const Term<N>& term, std::string segment) {
  Row<N> row;
  row.part = term.part;
  row.name = term.name;
  row.segment = std::move(segment);
  row.params = term.params;
  row.active = term.active;
  row.macs = term.macs;
  row.saved = term.saved;
  row.cache = term.cache;
  return row;
}

/// Keys and values that serve all visits are made by the first (recursive KV sharing, arXiv
/// 2507.10524), and trained only if it is back-propagated through.
template <class N>
void made_once(Row<N>& row, const arch::Visits& visits) {
  row.visits = 1;
  row.backward_visits = visits.backward == visits.forward ? 1 : 0;
}

template <class N, class Bind>
void layer_group_rows(const LayerGroup& group, const arch::Architecture& model, Bind bind,
                      std::vector<Row<N>>& rows) {
  const arch::Segment& segment = *group.segment;
  const Letters<N> x = bind_letters<N>(group.value, bind);
  const auto emit = [&](const Term<N>& term) {
    Row<N> row = row_of(term, segment.name);
    row.layers = group.layers;
    row.visits = segment.visits.forward;
    row.backward_visits = segment.visits.backward;
    if (term.makes_cache && segment.kv_policy == arch::KvPolicy::first)
      made_once(row, segment.visits);
    row.stored_per_visit = term.part == Part::adapter ||
                           (term.part == Part::norm && segment.norms_per_visit);
    if (term.part == Part::attention_core) row.cache_slots = group.layers * group.slots_per_layer;
    row.cache_kept = group.cache_kept;
    row.cache_grows = group.cache_grows;
    rows.push_back(std::move(row));
  };
  layer(segment, model, x, emit);
  if (segment.adapter_rank > 0) adapter(x, emit);
}

template <class N, class Bind>
void loop_rows(const arch::Segment& segment, const Letters<Ratio>& value, Bind bind,
               std::vector<Row<N>>& rows) {
  const Letters<N> x = bind_letters<N>(value, bind);
  loop_extras(segment, x, [&](const Term<N>& term) {
    Row<N> row = row_of(term, segment.name);
    row.visits = segment.visits.forward;
    row.backward_visits = segment.visits.backward;
    rows.push_back(std::move(row));
  });
}

/// Multi-token prediction: one more layer of the last kind, a projection, norms and the head.
template <class N, class Bind>
void mtp_layer_rows(const LayerGroup& last, const arch::Architecture& model, Bind bind,
                    std::vector<Row<N>>& rows) {
  const Letters<N> x = bind_letters<N>(last.value, bind);
  const auto emit = [&](const Term<N>& term) {
    Row<N> row = row_of(term, "mtp");
    row.mtp = true;
    row.layers = model.mtp_layers;
    rows.push_back(std::move(row));
  };
  layer(*last.segment, model, x, emit);
  mtp_rows(model, x, emit);
}

template <class N, class Bind>
std::vector<Row<N>> build_ledger(const arch::Architecture& model, const Options& options,
                                 Bind bind) {
  const Resolved resolved = resolve(model, options);
  std::vector<Row<N>> rows;
  const arch::Segment* previous = nullptr;
  for (const LayerGroup& group : resolved.groups) {
    layer_group_rows(group, model, bind, rows);
    if (group.segment != previous) loop_rows(*group.segment, group.value, bind, rows);
    previous = group.segment;
  }
  const Letters<N> x = bind_letters<N>(resolved.model, bind);
  model_rows(model, x, [&](const Term<N>& term) {
    rows.push_back(row_of(term, ""));
    rows.back().shared_with_head = term.part == Part::embedding && model.tied;
  });
  if (model.mtp_layers > 0) mtp_layer_rows(resolved.groups.back(), model, bind, rows);
  return rows;
}

}  // namespace isoloop::cost
