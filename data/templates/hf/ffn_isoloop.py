# Feed-forward layers: dense, or routed experts with shared ones beside them.
#
# Every token goes through exactly its top-k experts: none is dropped, none padded, so the work is
# what `isoloop count` says. Gated form after arXiv 2002.05202. Held by tests/prove.
import torch
from torch import nn
from torch.nn import functional as F
from transformers.activations import ACT2FN

from .parts_isoloop import Dispatch, Router


def activation(config, gated):
    return ACT2FN[config.hidden_act or ("silu" if gated else "gelu")]


class FeedForward(nn.Module):
    """down(act(gate x) * up x), or down(act(up x))."""

    def __init__(self, hidden, size, gated, bias, config):
        super().__init__()
        self.gate_proj = nn.Linear(hidden, size, bias=bias) if gated else None
        self.up_proj = nn.Linear(hidden, size, bias=bias)
        self.down_proj = nn.Linear(size, hidden, bias=bias)
        self.act = activation(config, gated)

    def forward(self, x):
        if self.gate_proj is None:
            return self.down_proj(self.act(self.up_proj(x)))
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))


class DenseFFN(FeedForward):
    def __init__(self, hidden, ffn, config):
        super().__init__(hidden, ffn.size, ffn.gated, ffn.bias, config)

    def forward(self, x):
        return super().forward(x), None


class Experts(nn.Module):
    """The same for many experts at once: weights [experts, out, in]."""

    def __init__(self, hidden, ffn, config):
        super().__init__()
        e, f = ffn.experts, ffn.expert_size
        self.gate_proj = nn.Parameter(torch.empty(e, f, hidden)) if ffn.gated else None
        self.up_proj = nn.Parameter(torch.empty(e, f, hidden))
        self.down_proj = nn.Parameter(torch.empty(e, hidden, f))
        self.gate_bias = nn.Parameter(torch.zeros(e, f)) if ffn.bias and ffn.gated else None
        self.up_bias = nn.Parameter(torch.zeros(e, f)) if ffn.bias else None
        self.down_bias = nn.Parameter(torch.zeros(e, hidden)) if ffn.bias else None
        self.act = activation(config, ffn.gated)

    def forward(self, rows, dispatch):
        up = dispatch.linear(rows, self.up_proj, self.up_bias)
        if self.gate_proj is None:
            return dispatch.linear(self.act(up), self.down_proj, self.down_bias)
        gate = dispatch.linear(rows, self.gate_proj, self.gate_bias)
        return dispatch.linear(self.act(gate) * up, self.down_proj, self.down_bias)


class MoeFFN(nn.Module):
    def __init__(self, hidden, ffn, config):
        super().__init__()
        self.implementation = config.moe_implementation
        self.router = Router(hidden, ffn.experts, ffn.top_k, config, ffn.router_bias, ffn.selection_bias)
        self.experts = Experts(hidden, ffn, config)
        self.output_bias = nn.Parameter(torch.zeros(hidden)) if ffn.output_bias else None
        self.shared_expert = (FeedForward(hidden, ffn.shared_size, ffn.gated, False, config)
                              if ffn.shared_size else None)
        self.shared_gate = nn.Linear(hidden, 1, bias=False) if ffn.shared_gate else None

    def forward(self, x):
        """x [batch, tokens, hidden] -> the same, and the balancing loss."""
        tokens = x.flatten(0, -2)
        weights, chosen, load, loss = self.router(tokens)
        dispatch = Dispatch(chosen, load, self.implementation)
        slots = dispatch.slots(self.experts(dispatch.rows(tokens), dispatch))
        y = (slots * weights.unsqueeze(-1)).sum(1)
        if self.output_bias is not None:
            y = y + self.output_bias
        if self.shared_expert is not None:
            shared = self.shared_expert(tokens)
            if self.shared_gate is not None:
                shared = shared * F.sigmoid(self.shared_gate(tokens))
            y = y + shared
        return y.view_as(x), loss


def feed_forward(hidden, ffn, config):
    return (MoeFFN if ffn.kind == "moe" else DenseFFN)(hidden, ffn, config)
