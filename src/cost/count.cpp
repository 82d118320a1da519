// Counts: the ledger with every dimension known, and the totals `isoloop count` prints.
//
// Memory per parameter after ZeRO (arXiv 1910.02054): gradients in the training type, and for Adam
// an fp32 master copy and two fp32 moments. Held by tests/formats/published_counts_test.cpp.
#include "cost/ledger.h"

namespace isoloop::cost {
namespace {

constexpr int adam_bytes_per_parameter = 4 + 4 + 4;  // master copy, first and second moment

Params params(const Ratio& value) {
  if (!value.is_integer()) throw internal_error("a parameter count is not a whole number");
  return Params(value.num());
}

/// The options with the context filled in, as budgets need it.
Options with_context(const arch::Architecture& model, Options options) {
  options.context = context_of(model, options);
  return options;
}

void add_parameters(Count& c, const Options& o) {
  c.params_total = params(total(c.rows, Budget::params_total, o));
  c.params_non_embedding = params(total(c.rows, Budget::params, o));
  c.params_embedding = c.params_total - c.params_non_embedding;
  c.active_non_embedding = params(total(c.rows, Budget::active, o));
  Ratio embedding = 0, head = 0, mtp = 0;
  for (const Row<Ratio>& row : c.rows) {
    if (row.mtp) mtp += row.layers * row.params;
    if (row.mtp) continue;
    if (row.part == Part::embedding) (row.shared_with_head ? head : embedding) += row.params;
    if (row.part == Part::head) head += row.params;
  }
  c.active_without_input_embedding = c.active_non_embedding + params(head);
  c.active = c.active_without_input_embedding + params(embedding);
  c.mtp = params(mtp);
}

void add_cache(Count& c, const Options& o) {
  const Ratio element(bytes_per_element(o.kv_dtype));
  c.kv_bytes_per_token = Bytes(total(c.rows, Budget::kv, o));
  c.kv_elements_per_token = Elements(c.kv_bytes_per_token.value() / element);
  Ratio growing = 0;
  for (const Row<Ratio>& row : c.rows) {
    c.kv_slots += row.cache_slots;
    if (row.cache_grows) growing += contribution(row, Budget::kv, o);
  }
  c.kv_bytes_per_token_long = Bytes(growing);
}

void add_memory(Count& c, const Options& o) {
  c.memory.weights = Bytes(total(c.rows, Budget::weights_bytes, o));
  c.memory.gradients = bytes(c.params_total, o.dtype);
  c.memory.optimizer = Bytes(Ratio(c.params_total.value() * adam_bytes_per_parameter));
  c.memory.activations_per_token = Bytes(total(c.rows, Budget::activation_bytes, o));
  c.memory.kv_per_sequence = Bytes(total(c.rows, Budget::kv_context, o));
}

}  // namespace

std::vector<Row<Ratio>> ledger(const arch::Architecture& model, const Options& options) {
  return build_ledger<Ratio>(model, options, [](Letter, const Ratio& value) { return value; });
}

std::vector<Row<Poly>> ledger(const arch::Architecture& model, const Options& options,
                              const Unknowns& unknowns) {
  return build_ledger<Poly>(model, options, [&](Letter letter, const Ratio& value) {
    const std::optional<std::size_t> unknown = unknowns[static_cast<std::size_t>(letter)];
    return unknown && value != Ratio(0) ? Poly::unknown(*unknown) : Poly(value);
  });
}

Count count(const arch::Architecture& model, const Options& options) {
  const Options o = with_context(model, options);
  Count c;
  c.name = model.name;
  c.rows = ledger(model, o);
  add_parameters(c, o);
  c.forward = Flops(total(c.rows, Budget::prefill_flops, o));
  c.train = Flops(total(c.rows, Budget::flops, o));
  c.forward_macs = Macs(c.forward.value() / Ratio(2));
  add_cache(c, o);
  add_memory(c, o);
  c.depth = arch::depth(model);
  c.effective_depth = arch::effective_depth(model);
  return c;
}

std::vector<StoredExtra> possible_stored_extras(const arch::Architecture& model) {
  std::vector<StoredExtra> extras;
  const Ratio table = Ratio(model.hidden) * Ratio(model.vocab);
  if (model.tied && model.vocab > 0)
    extras.push_back({"lm_head_copy_of_tied_embedding", params(table),
                      "some checkpoints store the tied head a second time"});
  if (model.mtp_layers > 0) {
    Ratio layer = 0, projection = 0;
    for (const Row<Ratio>& row : ledger(model, Options{})) {
      if (!row.mtp) continue;
      const bool extra = row.part == Part::mtp_projection || row.part == Part::mtp_norm;
      (extra ? projection : layer) += row.layers * row.params;
    }
    extras.push_back({"mtp_layer", params(layer), "multi-token-prediction layers"});
    extras.push_back({"mtp_eh_proj_and_3_norms", params(projection),
                      "their projection and norms"});
    extras.push_back({"mtp_embed_and_head_copies",
                      params(Ratio(2) * Ratio(model.mtp_layers) * table),
                      "some checkpoints store embedding and head again with each MTP layer"});
  }
  std::int64_t buffers = 0;
  for (const arch::Segment& segment : model.segments)
    buffers += segment.layers * (model.hidden / segment.attention.heads / 2);
  extras.push_back({"rotary_inv_freq_buffers", Params(buffers),
                    "older checkpoints store h/H/2 rotary frequencies per layer"});
  return extras;
}

}  // namespace isoloop::cost
