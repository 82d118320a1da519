// The torchtitan writer: a Python module with a model registry function.
//
// Source: torchtitan/models/common/config_utils.py, models/common/decoder.py and
// models/qwen3/__init__.py of pytorch/torchtitan: its Qwen3 block takes dense and MoE layers in any
// order, with the norm of q and k or without. The module lists runs of equal layers as data and
// builds one block config per layer. Held by tests/formats/trainers_write_test.cpp.
#include <fmt/format.h>

#include "formats/targets.h"

namespace isoloop::formats {
namespace {

std::string_view python(bool value) { return value ? "True" : "False"; }

/// One run of equal layers as a call.
std::string run_text(const arch::Segment& layer, std::size_t count) {
  const arch::Attention& a = layer.attention;
  const arch::Ffn& f = layer.ffn;
  std::string text =
      fmt::format("    dict(layers={}, heads={}, kv_heads={}, head_size={}, qk_norm={}", count,
                  a.heads, a.kv_heads, a.head_size, python(a.qk_norm == arch::QkNorm::per_head));
  if (!f.moe) return text + fmt::format(", ffn={}),\n", f.size);
  return text + fmt::format(
                    ",\n         experts={}, top_k={}, expert_size={}, shared_size={}, "
                    "router_bias={}, selection_bias={}),\n",
                    f.experts, f.top_k, f.expert_size, f.shared_size, python(f.router_bias),
                    python(f.selection_bias));
}

std::string runs_text(const std::vector<arch::Segment>& layers) {
  std::string text;
  for (std::size_t first = 0; first < layers.size();) {
    std::size_t end = first + 1;
    while (end < layers.size() && layers[end] == layers[first]) ++end;
    text += run_text(layers[first], end - first);
    first = end;
  }
  return text;
}

constexpr std::string_view module = R"(# {name}: a model of torchtitan, built from its common parts.
#
# Copy this file to torchtitan/models/qwen3/{file}.py and add
#   from .{file} import register; register(qwen3_configs)
# below qwen3_configs in torchtitan/models/qwen3/__init__.py. The flavour is "{name}".
from functools import partial

import torch.nn as nn

from torchtitan.models.common import CosSinRoPE, Embedding, Linear
from torchtitan.models.common.config_utils import (
    get_attention_config, make_ffn_config, make_gqa_config, make_moe_config,
    make_routed_experts_config, make_router_config)
from torchtitan.models.common.nn_modules import RMSNorm
from torchtitan.models.common.param_init import skip_param_init

from .model import Qwen3Model, Qwen3TransformerBlock

HIDDEN, VOCAB, CONTEXT, TIED = {hidden}, {vocab}, {context}, {tied}
RUNS = [  # runs of equal layers, in order
{runs}]

NORMAL = partial(nn.init.normal_, std=0.02)
LINEAR = {{"weight": NORMAL, "bias": nn.init.zeros_}}
EXPERTS = {{"w1_EFD": NORMAL, "w2_EDF": NORMAL, "w3_EFD": NORMAL}}


def norm(size):
    return RMSNorm.Config(normalized_shape=size, eps=1e-6, param_init={{"weight": nn.init.ones_}})


def ffn(size):
    return make_ffn_config(dim=HIDDEN, hidden_dim=size, w1_param_init=LINEAR, w2w3_param_init=LINEAR)


def moe(run, comm_backend):
    return make_moe_config(
        num_experts=run["experts"],
        # Without a selection bias there is no buffer for one.
        load_balance_coeff=1e-3 if run["selection_bias"] else None,
        router=make_router_config(
            dim=HIDDEN, num_experts=run["experts"], gate_param_init=LINEAR, top_k=run["top_k"],
            score_func="sigmoid" if run["selection_bias"] else "softmax", route_norm=True,
            bias=run["router_bias"]),
        routed_experts=make_routed_experts_config(
            dim=HIDDEN, hidden_dim=run["expert_size"], num_experts=run["experts"],
            top_k=run["top_k"], param_init=EXPERTS, comm_backend=comm_backend),
        shared_experts=ffn(run["shared_size"]) if run["shared_size"] else None)


def block(run, attn_backend, comm_backend):
    attention = make_gqa_config(
        dim=HIDDEN, n_heads=run["heads"], n_kv_heads=run["kv_heads"], head_dim=run["head_size"],
        wqkv_param_init=LINEAR, wo_param_init=LINEAR, fuse_qkv=True,
        inner_attention=get_attention_config(attn_backend),
        rope=CosSinRoPE.Config(dim=run["head_size"], max_context_length=CONTEXT, theta=500000.0),
        qk_norm=norm(run["head_size"]) if run["qk_norm"] else None)
    ffn_part = dict(moe=moe(run, comm_backend)) if "experts" in run else dict(feed_forward=ffn(run["ffn"]))
    return Qwen3TransformerBlock.Config(
        attention_norm=norm(HIDDEN), ffn_norm=norm(HIDDEN), attention=attention, **ffn_part)


def model_config(attn_backend="flex", moe_comm_backend="standard"):
    return Qwen3Model.Config(
        vocab_size=VOCAB, dim=HIDDEN, norm=norm(HIDDEN), enable_weight_tying=TIED,
        tok_embeddings=Embedding.Config(
            num_embeddings=VOCAB, embedding_dim=HIDDEN,
            param_init={{"weight": skip_param_init if TIED else NORMAL}}),
        lm_head=Linear.Config(in_features=HIDDEN, out_features=VOCAB, param_init=LINEAR),
        layers=[block(run, attn_backend, moe_comm_backend) for run in RUNS for _ in range(run["layers"])])


def register(configs):
    configs["{name}"] = model_config
)";

/// A Python identifier for the module's file.
std::string identifier(std::string_view name) {
  std::string result = slug(name);
  for (char& c : result)
    if (c == '-' || c == '.') c = '_';
  return "isoloop_" + result;
}

}  // namespace

Emitted emit_torchtitan(const arch::Architecture& model, const Target& target,
                        const Sharding& sharding) {
  for (const arch::Segment& s : model.segments)
    if (s.attention.head_size % 2 != 0)
      throw cannot(target, s.name, "an odd head size", "its rotary positions turn pairs");
  const std::string file = identifier(model.name);
  Emitted result;
  result.files[file + ".py"] =
      fmt::format(module, fmt::arg("name", slug(model.name)), fmt::arg("file", file),
                  fmt::arg("hidden", model.hidden), fmt::arg("vocab", model.vocab),
                  fmt::arg("context", model.context), fmt::arg("tied", python(model.tied)),
                  fmt::arg("runs", runs_text(layers_of(model))));
  result.train = fmt::format(
      "env MODULE=qwen3 CONFIG=your_config ./run_train.sh --parallelism.tensor_parallel_degree {} "
      "--parallelism.expert_parallel_degree {} --parallelism.pipeline_parallel_degree {}",
      sharding.tp, sharding.ep, sharding.pp);
  result.notes.push_back(
      fmt::format("Copy {}.py into torchtitan/models/qwen3/ and register it there; a "
                  "Trainer.Config of your own "
                  "in config_registry.py then names the flavour \"{}\".",
                  file, slug(model.name)));
  return result;
}

}  // namespace isoloop::formats
