// Short texts about architectures and counts.
//
// Held by tests/cli/count_test.cpp.
#include "cli/views.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoloop::cli {
namespace {

using convention::Part;

std::string_view group_name(Part part) {
  switch (part) {
    case Part::embedding: return "embedding";
    case Part::head: return "head";
    case Part::attention:
    case Part::attention_bias:
    case Part::attention_gate:
    case Part::qk_norm:
    case Part::mla_norm:
    case Part::sinks: return "attention projections";
    case Part::attention_core: return "attention scores and values";
    case Part::softmax: return "softmax";
    case Part::router:
    case Part::router_bias: return "router";
    case Part::experts:
    case Part::expert_bias: return "routed experts";
    case Part::shared_expert:
    case Part::shared_gate: return "shared experts";
    case Part::dense_ffn:
    case Part::ffn_bias: return "dense FFN";
    case Part::norm:
    case Part::final_norm: return "norms";
    case Part::injection:
    case Part::adapter:
    case Part::exit_gate:
    case Part::state: return "loop extras";
    case Part::mtp_projection:
    case Part::mtp_norm: return "multi-token prediction";
  }
  return "";
}

std::string attention_text(const arch::Attention& a) {
  std::string text;
  if (a.kind == arch::AttentionKind::mla)
    text = fmt::format("{} heads, MLA (latent {}+{})", a.heads, a.kv_rank, a.rope_size);
  else
    text = fmt::format("{} heads × {} ({} kv)", a.heads, a.head_size, a.kv_heads);
  std::vector<std::int64_t> windows;
  for (const std::int64_t w : a.windows)
    if (w > 0 && std::find(windows.begin(), windows.end(), w) == windows.end()) windows.push_back(w);
  for (const std::int64_t w : windows)
    text += fmt::format(", {} {}", a.chunked ? "chunks of" : "window", w);
  return text;
}

std::string ffn_text(const arch::Ffn& ffn) {
  if (!ffn.moe) return fmt::format("FFN {}", ffn.size);
  std::string text = fmt::format("{} experts of {}, top-{}", ffn.experts, ffn.expert_size, ffn.top_k);
  if (ffn.shared_size > 0) text += fmt::format(", shared {}", ffn.shared_size);
  return text;
}

}  // namespace

std::string shape_text(const arch::Architecture& model) {
  std::string text = fmt::format("{} layers, hidden {}", arch::depth(model), model.hidden);
  std::vector<std::string> seen;
  for (const arch::Segment& segment : model.segments)
    for (const std::string& part : {attention_text(segment.attention), ffn_text(segment.ffn)})
      if (std::find(seen.begin(), seen.end(), part) == seen.end()) {
        seen.push_back(part);
        text += ", " + part;
      }
  const Ratio executed = arch::effective_depth(model);
  if (const auto loop = arch::loop_of(model); loop && loop->span > 0)
    text += fmt::format(", loop {} ({} executed)", arch::loop_text(*loop, arch::depth(model)),
                        executed.str());
  else if (executed != Ratio(arch::depth(model)))
    text += fmt::format(", {} executed", executed.str());
  return text;
}

std::string kv_text(const cost::Count& c, const cost::Options& o) {
  std::string text = fmt::format("{} B per token ({}, {} slots)", grouped(c.kv_bytes_per_token.value()),
                                 name(o.kv_dtype), grouped(c.kv_slots));
  if (c.kv_bytes_per_token_long != c.kv_bytes_per_token)
    text += fmt::format(", {} B once windows are full", grouped(c.kv_bytes_per_token_long.value()));
  return text + fmt::format(" · {} at {} tokens", byte_text(c.memory.kv_per_sequence.value()),
                            grouped(Ratio(o.context)));
}

std::string memory_text(const cost::Count& c, const cost::Options& o) {
  const Ratio each(bytes_per_element(o.dtype));
  return fmt::format("weights {} ({} × {} B) + gradients {} ({} × {} B) + Adam {} (12 B: fp32 copy, "
                     "two moments)",
                     byte_text(c.memory.weights.value()), name(o.dtype), each.str(),
                     byte_text(c.memory.gradients.value()), name(o.dtype), each.str(),
                     byte_text(c.memory.optimizer.value()));
}

std::string activation_text(const cost::Count& c) {
  return fmt::format("{} per token kept for backward (inputs of matmuls, norms and attention; "
                     "without dropout masks, workspaces, recomputation)",
                     byte_text(c.memory.activations_per_token.value()));
}

std::vector<PartSum> sum_by_part(const std::vector<cost::Row<Ratio>>& rows,
                                 const cost::Options& options) {
  std::vector<PartSum> sums;
  for (const cost::Row<Ratio>& row : rows) {
    const std::string_view name = row.mtp ? "multi-token prediction" : group_name(row.part);
    auto at = std::find_if(sums.begin(), sums.end(), [&](const PartSum& p) { return p.name == name; });
    if (at == sums.end()) at = sums.insert(sums.end(), PartSum{std::string(name), 0, 0, 0});
    at->train += cost::contribution(row, cost::Budget::flops, options);
    at->params += cost::contribution(row, cost::Budget::params_total, options);
    if (!row.mtp) at->active += row.copies() * row.active;
  }
  std::erase_if(sums, [](const PartSum& p) {
    return p.params == Ratio(0) && p.active == Ratio(0) && p.train == Ratio(0);
  });
  return sums;
}

arch::Architecture looped(const arch::Architecture& model, const std::string& loop) {
  if (loop.empty()) return model;
  return arch::with_loop(model, arch::parse_loop(loop, arch::depth(model), "--loop"));
}

}  // namespace isoloop::cli
