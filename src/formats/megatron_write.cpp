// The Megatron-LM writer: arguments as YAML, and a shell script that trains with them.
//
// Source: see megatron.h. Held by tests/formats/megatron_test.cpp, which reads both files back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "formats/megatron.h"
#include "formats/templates.h"

namespace isoloop::formats {
namespace {

using Layers = std::vector<arch::Segment>;

std::string text(std::int64_t value) { return std::to_string(value); }

/// Megatron has one switch for biases on every linear map, and one for q, k and v alone.
bool all_biases(const arch::Architecture& model, const Target& target) {
  const arch::Attention& a = model.segments.front().attention;
  const arch::Ffn* dense = first_ffn(model, false);
  const arch::Ffn* moe = first_ffn(model, true);
  const bool any = a.output_bias || (dense != nullptr && dense->bias) ||
                   (moe != nullptr && (moe->bias || moe->router_bias));
  const bool all = a.qkv_bias && a.output_bias && (dense == nullptr || dense->bias) &&
                   (moe == nullptr || (moe->bias && moe->router_bias && moe->shared_size == 0));
  if (any && !all)
    throw cannot(target, model.segments.front().name, "biases on some linear maps only",
                 "it has biases on all linear maps (router and experts included, and then no "
                 "shared experts), on q, k and v, or none");
  return any;
}

void add_attention(Arguments& args, const arch::Architecture& model, const Target& target) {
  const arch::Attention& a = model.segments.front().attention;
  args.emplace_back("num-attention-heads", text(a.heads));
  if (a.kind == arch::AttentionKind::mla) {
    if (a.rope_size == 0 || a.qkv_bias || a.output_bias || a.sinks || a.output_gate)
      throw cannot(target, model.segments.front().name,
                   "MLA without a rotary part, or with biases, sinks or a gate");
    args.emplace_back("multi-latent-attention", "");
    if (a.q_rank > 0) args.emplace_back("q-lora-rank", text(a.q_rank));
    args.emplace_back("kv-lora-rank", text(a.kv_rank));
    args.emplace_back("qk-head-dim", text(a.nope_size));
    args.emplace_back("qk-pos-emb-head-dim", text(a.rope_size));
    args.emplace_back("v-head-dim", text(a.value_size));
    args.emplace_back("rope-type", "rope");
    args.emplace_back("qk-layernorm", "");  // the norms of the low ranks
    return;
  }
  args.emplace_back("group-query-attention", "");
  args.emplace_back("num-query-groups", text(a.kv_heads));
  args.emplace_back("kv-channels", text(a.head_size));
  if (a.qk_norm == arch::QkNorm::per_head) args.emplace_back("qk-layernorm", "");
  if (a.qk_norm == arch::QkNorm::unweighted) args.emplace_back("qk-l2-norm", "");
  if (a.sinks) args.emplace_back("softmax-type", "learnable");
  if (a.output_gate) args.emplace_back("attention-output-gate", "");
}

void add_windows(Arguments& args, const Layers& layers, const Target& target,
                 const arch::Architecture& model) {
  std::int64_t size = 0;
  std::vector<std::int64_t> windowed;
  for (const arch::Segment& layer : layers) {
    const std::int64_t window =
        layer.attention.windows.empty() ? 0 : layer.attention.windows.front();
    if (window > 0 && size > 0 && window != size)
      throw cannot(target, model.segments.front().name, "windows of different sizes");
    size = std::max(size, window);
    windowed.push_back(window > 0 ? 1 : 0);
  }
  if (size == 0) return;
  // The pair counts tokens before and after the query, which itself is always seen.
  args.emplace_back("window-size", fmt::format("{},0", size - 1));
  if (std::find(windowed.begin(), windowed.end(), 0) != windowed.end())
    args.emplace_back("window-attn-skip-freq", pattern_text(windowed));
}

void add_ffn(Arguments& args, const arch::Architecture& model, const Layers& layers,
             const Target& target) {
  const arch::Ffn* dense = first_ffn(model, false);
  const arch::Ffn* moe = first_ffn(model, true);
  if (dense != nullptr && moe != nullptr && dense->gated != moe->gated)
    throw cannot(target, "", "gated and ungated feed-forward blocks in one model");
  // Without dense layers the size is not used, but a missing one is filled in.
  args.emplace_back("ffn-hidden-size", text(dense != nullptr ? dense->size : moe->expert_size));
  if ((dense != nullptr ? dense : moe)->gated) args.emplace_back("swiglu", "");
  if (moe == nullptr) return;
  args.emplace_back("num-experts", text(moe->experts));
  args.emplace_back("moe-router-topk", text(moe->top_k));
  args.emplace_back("moe-ffn-hidden-size", text(moe->expert_size));
  std::vector<std::int64_t> pattern;
  for (const arch::Segment& layer : layers) pattern.push_back(layer.ffn.moe ? 1 : 0);
  if (dense != nullptr) args.emplace_back("moe-layer-freq", pattern_text(pattern));
  if (moe->shared_size > 0)
    args.emplace_back("moe-shared-expert-intermediate-size", text(moe->shared_size));
  if (moe->shared_gate) args.emplace_back("moe-shared-expert-gate", "");
  if (moe->selection_bias) {
    args.emplace_back("moe-router-score-function", "sigmoid");
    args.emplace_back("moe-router-enable-expert-bias", "");
  }
}

Arguments model_arguments(const arch::Architecture& model, const Target& target) {
  const Layers layers = layers_of(model);
  const bool biased = all_biases(model, target);
  const arch::Attention& attention = model.segments.front().attention;
  const bool layer_norm = model.norm == arch::NormKind::layer;
  if (layer_norm &&
      (attention.qk_norm == arch::QkNorm::per_head || attention.kind == arch::AttentionKind::mla))
    throw cannot(target, "", "RMS norms of q and k beside LayerNorm",
                 "--normalization holds for every norm");
  Arguments args{{"num-layers", text(static_cast<std::int64_t>(layers.size()))},
                 {"hidden-size", text(model.hidden)}};
  add_attention(args, model, target);
  add_windows(args, layers, target, model);
  add_ffn(args, model, layers, target);
  if (!biased) args.emplace_back("disable-bias-linear", "");
  if (!biased && attention.qkv_bias) args.emplace_back("add-qkv-bias", "");
  args.emplace_back("normalization", layer_norm ? "LayerNorm" : "RMSNorm");
  args.emplace_back("position-embedding-type", "rope");
  args.emplace_back("vocab-size", text(model.vocab));
  args.emplace_back("make-vocab-size-divisible-by", text(target.vocab_multiple));
  if (!model.tied) args.emplace_back("untie-embeddings-and-output-weights", "");
  if (model.mtp_layers > 0) args.emplace_back("mtp-num-layers", text(model.mtp_layers));
  args.emplace_back("seq-length", text(model.context));
  args.emplace_back("max-position-embeddings", text(model.context));
  return args;
}

/// "(4, 6, 2), ": first layer from 1, layers, visits of every block that runs again.
std::string loops_text(const arch::Architecture& model, const Target& target) {
  if (!model.schedule.empty()) {
    const std::optional<arch::Loop> loop = arch::loop_of(model);
    if (!loop)
      throw cannot(target, "", "a schedule that is not one block run again",
                   "its layer file repeats blocks of neighbouring layers");
    return fmt::format("({}, {}, {})", loop->first, loop->span, loop->visits);
  }
  std::vector<std::string> loops;
  std::int64_t first = 1;
  for (const arch::Segment& s : model.segments) {
    const std::int64_t visits = s.visits.forward.num().to_int64();
    const bool by_layer = s.order == arch::Order::layer;
    for (std::int64_t i = 0; visits > 1 && i < (by_layer ? s.layers : 1); ++i)
      loops.push_back(fmt::format("({}, {}, {})", first + i, by_layer ? 1 : s.layers, visits));
    first += s.layers;
  }
  return fmt::format("{}", fmt::join(loops, ", "));
}

/// "(4, 9, 1/2), ": first and last layer from 1, scale of their residual writes.
std::string scales_text(const arch::Architecture& model) {
  std::vector<std::string> scales;
  std::int64_t first = 1;
  for (const arch::Segment& s : model.segments) {
    const Ratio scale = s.residual_scale.value_or(Ratio(1));
    if (scale != Ratio(1))
      scales.push_back(fmt::format("({}, {}, {})", first, first + s.layers - 1, scale.str()));
    first += s.layers;
  }
  return fmt::format("{}", fmt::join(scales, ", "));
}

void add_layer_file(Emitted& result, const arch::Architecture& model, const Target& target) {
  if (model.mtp_layers > 0)
    throw cannot(target, "", "MTP layers beside a loop", "its MTP layers copy the last layer");
  refuse_sampled_visits(model, target);
  result.files["looped_layers.py"] = filled("megatron/looped_layers.py",
                                            {{"name", slug(model.name)},
                                             {"loops", loops_text(model, target)},
                                             {"scales", scales_text(model)}});
  result.notes.push_back(
      "Megatron-LM has no argument for a loop: looped_layers.py, given with --spec, runs layers "
      "again. It trains with tensor, expert and data parallel ranks, recomputes core_attn and "
      "moe_act only, and refuses to decode.");
  result.notes.push_back(
      "Its loop is not in the arguments: isoloop reads the folder back by its architecture.json.");
}

Arguments parallel_arguments(const arch::Architecture& model, const Sharding& sharding) {
  Arguments args{{"tensor-model-parallel-size", text(sharding.tp)},
                 {"pipeline-model-parallel-size", text(sharding.pp)}};
  if (first_ffn(model, true) != nullptr) {
    args.emplace_back("expert-model-parallel-size", text(sharding.ep));
    args.emplace_back("moe-grouped-gemm", "");
    args.emplace_back("moe-token-dispatcher-type", "alltoall");
    args.emplace_back("moe-router-load-balancing-type", "aux_loss");
    args.emplace_back("moe-aux-loss-coeff", "0.01");
  }
  if (sharding.tp > 1) args.emplace_back("sequence-parallel", "");
  args.emplace_back("use-distributed-optimizer", "");
  args.emplace_back("bf16", "");
  args.emplace_back("use-mcore-models", "");
  args.emplace_back("transformer-impl", "transformer_engine");
  return args;
}

std::string yaml(const arch::Architecture& model, const Arguments& args) {
  std::string out =
      fmt::format("# {}: the model arguments of Megatron-LM.\nMODEL_ARGS:\n", slug(model.name));
  for (const auto& [flag, value] : args) {
    const bool plain = value.find_first_of("[(,") == std::string::npos;
    out += fmt::format("  --{}: {}\n", flag,
                       value.empty() ? "true"
                       : plain       ? value
                                     : fmt::format("\"{}\"", value));
  }
  return out;
}

std::string shell_array(std::string_view name, const Arguments& args) {
  std::string out = fmt::format("{}=(\n", name);
  for (const auto& [flag, value] : args) {
    const bool plain = value.find_first_of("[(*") == std::string::npos;
    const std::string quoted = plain ? value : fmt::format("\"{}\"", value);
    out += value.empty() ? fmt::format("  --{}\n", flag) : fmt::format("  --{} {}\n", flag, quoted);
  }
  return out + ")\n";
}

constexpr std::string_view script_head = R"(#!/usr/bin/env bash
# Trains {0} with Megatron-LM. Set MEGATRON (a checkout), DATA (prefix of a preprocessed
# dataset) and TOKENIZER (a Hugging Face tokenizer); CHECKPOINTS (a folder, default checkpoints) and
# TRAIN_ITERS may be set. More arguments may follow on the command line.
set -euo pipefail
: "${{MEGATRON:?path of a Megatron-LM checkout}}" "${{DATA:?}}" "${{TOKENIZER:?}}"
)";
constexpr std::string_view script_tail = R"sh(TRAIN_ARGS=(
  --micro-batch-size 1 --global-batch-size 256 --train-iters "${TRAIN_ITERS:-10000}"
  --lr 3.0e-4 --min-lr 3.0e-5 --lr-decay-style WSD --lr-warmup-iters 500
  --lr-wsd-decay-style cosine --lr-wsd-decay-iters 1000
  --weight-decay 0.1 --adam-beta1 0.9 --adam-beta2 0.95 --clip-grad 1.0
  --tokenizer-type HuggingFaceTokenizer --tokenizer-model "$TOKENIZER" --data-path "$DATA"
  --save "${CHECKPOINTS:-checkpoints}" --load "${CHECKPOINTS:-checkpoints}" --save-interval 1000
  --eval-iters 0 --log-interval 10
)
export PYTHONPATH="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)${PYTHONPATH:+:$PYTHONPATH}"
exec torchrun --nproc-per-node "${GPUS_PER_NODE:-8}" --nnodes "${NNODES:-1}" \
  --node-rank "${NODE_RANK:-0}" --master-addr "${MASTER_ADDR:-localhost}" \
  --master-port "${MASTER_PORT:-29500}" "$MEGATRON/pretrain_gpt.py" \
  "${MODEL_ARGS[@]}" "${PARALLEL_ARGS[@]}" "${TRAIN_ARGS[@]}" "$@"
)sh";

}  // namespace

Emitted emit_megatron(const arch::Architecture& model, const Target& target,
                      const Sharding& sharding) {
  Arguments args = model_arguments(model, target);
  Emitted result;
  if (needs_looped_layers(model)) {
    add_layer_file(result, model, target);
    args.emplace_back("spec", "looped_layers looped_block_spec");
  }
  result.files["model.yaml"] = yaml(model, args);
  result.files["train.sh"] =
      fmt::format(script_head, slug(model.name)) + shell_array("MODEL_ARGS", args) +
      shell_array("PARALLEL_ARGS", parallel_arguments(model, sharding)) + std::string(script_tail);
  result.train = "bash train.sh";
  result.notes.push_back(
      "train.sh wants MEGATRON (a checkout), DATA (prefix of a preprocessed dataset) and TOKENIZER "
      "in the environment; GPUS_PER_NODE, NNODES, NODE_RANK, MASTER_ADDR and TRAIN_ITERS may "
      "follow.");
  result.notes.push_back(fmt::format(
      "The tokenizer must have {} entries: the trainer sizes the embedding by it.", model.vocab));
  return result;
}

}  // namespace isoloop::formats
