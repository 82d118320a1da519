# @name@: a model of torchtitan, built from its common parts.
#
# Copy this file to torchtitan/models/qwen3/@file@.py and add
#   from .@file@ import register; register(qwen3_configs)
# below qwen3_configs in torchtitan/models/qwen3/__init__.py. The flavour is "@name@".
# Written against torchtitan 0.3.0.
@dataclass@from functools import partial

import torch.nn as nn

from torchtitan.models.common import CosSinRoPE, Embedding, Linear
from torchtitan.models.common.config_utils import (
    get_attention_config, make_ffn_config, make_gqa_config, make_moe_config, make_routed_experts_config,
    make_router_config)
from torchtitan.models.common.nn_modules import RMSNorm
from torchtitan.models.common.param_init import skip_param_init

from .model import Qwen3Model, Qwen3TransformerBlock

HIDDEN, VOCAB, CONTEXT, TIED = @hidden@, @vocab@, @context@, @tied@
RUNS = [  # runs of equal layers, in order
@runs@]
@order@
NORMAL = partial(nn.init.normal_, std=0.02)
LINEAR = {"weight": NORMAL, "bias": nn.init.zeros_}
EXPERTS = {"w1_EFD": NORMAL, "w2_EDF": NORMAL, "w3_EFD": NORMAL}


def norm(size):
    return RMSNorm.Config(normalized_shape=size, eps=1e-6, param_init={"weight": nn.init.ones_})


def ffn(size):
    return make_ffn_config(dim=HIDDEN, hidden_dim=size, w1_param_init=LINEAR, w2w3_param_init=LINEAR)


def moe(run, comm_backend):
    return make_moe_config(
        num_experts=run["experts"],
        # Without a selection bias there is no buffer for one.
        load_balance_coeff=1e-3 if run["selection_bias"] else None,
        router=make_router_config(
            dim=HIDDEN, num_experts=run["experts"], gate_param_init=LINEAR, top_k=run["top_k"],
            score_func="sigmoid" if run["selection_bias"] else "softmax", route_norm=True, bias=run["router_bias"]),
        routed_experts=make_routed_experts_config(
            dim=HIDDEN, hidden_dim=run["expert_size"], num_experts=run["experts"], top_k=run["top_k"],
            param_init=EXPERTS, comm_backend=comm_backend),
        shared_experts=ffn(run["shared_size"]) if run["shared_size"] else None)

@classes@
def block(run, attn_backend, comm_backend):
    attention = make_gqa_config(
        dim=HIDDEN, n_heads=run["heads"], n_kv_heads=run["kv_heads"], head_dim=run["head_size"],
        wqkv_param_init=LINEAR, wo_param_init=LINEAR, fuse_qkv=True, inner_attention=get_attention_config(attn_backend),
        rope=CosSinRoPE.Config(dim=run["head_size"], max_seq_len=CONTEXT, theta=500000.0),
        qk_norm=norm(run["head_size"]) if run["qk_norm"] else None)
    ffn_part = dict(moe=moe(run, comm_backend)) if "experts" in run else dict(feed_forward=ffn(run["ffn"]))
    return @block@(attention_norm=norm(HIDDEN), ffn_norm=norm(HIDDEN), attention=attention, **ffn_part@scale@)


def model_config(attn_backend="flex", moe_comm_backend="standard"):
    return @model@(
        vocab_size=VOCAB, dim=HIDDEN, norm=norm(HIDDEN), enable_weight_tying=TIED,
        tok_embeddings=Embedding.Config(num_embeddings=VOCAB, embedding_dim=HIDDEN,
                                        param_init={"weight": skip_param_init if TIED else NORMAL}),
        lm_head=Linear.Config(in_features=HIDDEN, out_features=VOCAB, param_init=LINEAR),
        layers=[block(run, attn_backend, moe_comm_backend) for run in RUNS for _ in range(run["layers"])]@order_argument@)


def register(configs):
    configs["@name@"] = model_config
