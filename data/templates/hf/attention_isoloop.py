# Attention: grouped-query (multi-head and multi-query included), with experts, and latent.
#
# GQA arXiv 2305.13245, MLA arXiv 2405.04434 section 2.1, attention experts arXiv 2404.07413. Only
# what kv_policy says is cached: kv heads for GQA, the latent and the rotary key for MLA. Scores go by
# query heads. Held by tests/prove.
import torch
from torch import nn
from torch.nn import functional as F

from .parts_isoloop import Dispatch, RMSNorm, Router, rotate


class Attention(nn.Module):
    """Softmax attention over keys and values that a subclass projects, caches and expands."""

    def __init__(self, hidden, a, window, config):
        super().__init__()
        self.config, self.heads, self.window, self.chunked = config, a.heads, window, a.chunked
        self.sinks = nn.Parameter(torch.zeros(a.heads)) if a.sinks else None
        self.output_bias = nn.Parameter(torch.zeros(hidden)) if a.output_bias else None

    def make_gate(self, hidden, a, value_size):
        self.gate_proj = nn.Linear(hidden, a.heads * value_size, bias=False) if a.output_gate else None

    def core(self, q, k, v, masks, scale):
        """q [batch, heads, tokens, size]; k and v may have fewer heads. -> [batch, tokens, heads * size]"""
        repeat = self.heads // k.shape[1]
        if repeat > 1:
            k, v = (t[:, :, None].expand(-1, -1, repeat, -1, -1).flatten(1, 2) for t in (k, v))
        keys = k.shape[-2]
        if self.config._attn_implementation == "sdpa" and self.sinks is None:
            plain = masks.plain(self.window, keys)
            mask = None if plain else masks.get(self.window, self.chunked, keys)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=plain, scale=scale)
        else:
            y = self.eager(q, k, v, masks.get(self.window, self.chunked, keys), scale)
        return y.transpose(1, 2).flatten(2)

    def eager(self, q, k, v, mask, scale):
        scores = (q @ k.transpose(-2, -1)).float() * scale
        scores = scores.masked_fill(~mask, torch.finfo(torch.float32).min)
        if self.sinks is not None:  # one more logit per head that takes weight and gives nothing
            sinks = self.sinks.float().view(1, -1, 1, 1).expand(*scores.shape[:-1], 1)
            weights = torch.cat([scores, sinks], dim=-1).softmax(-1)[..., :-1]
        else:
            weights = scores.softmax(-1)
        return weights.to(v.dtype) @ v

    def finish(self, y, x):
        """The output gate, from the layer's own input."""
        return y if self.gate_proj is None else y * F.sigmoid(self.gate_proj(x))


def remember(memory, keys, values):
    """Writes the present tokens into the visit's slot; returns all that can be attended to."""
    if memory is None:
        return keys, values
    slot, written = memory
    return slot.replace(keys, values) if written else slot.update(keys, values)


class GroupedQueryAttention(Attention):
    def __init__(self, hidden, a, window, config):
        super().__init__(hidden, a, window, config)
        self.size, self.kv_heads, self.scale = a.head_size, a.kv_heads, a.head_size**-0.5
        self.make_projections(hidden, a)
        self.k_proj = nn.Linear(hidden, a.kv_heads * a.head_size, bias=a.qkv_bias)
        self.v_proj = nn.Linear(hidden, a.kv_heads * a.head_size, bias=a.qkv_bias)
        self.make_gate(hidden, a, a.head_size)
        self.all_heads = a.qk_norm == "all_heads"
        widths = [a.heads * a.head_size, a.kv_heads * a.head_size] if self.all_heads else [a.head_size] * 2
        weighted = a.qk_norm != "unweighted"
        norms = [None, None] if a.qk_norm == "none" else [RMSNorm(w, config.norm_eps, weighted) for w in widths]
        self.q_norm, self.k_norm = norms

    def make_projections(self, hidden, a):
        self.q_proj = nn.Linear(hidden, a.heads * a.head_size, bias=a.qkv_bias)
        self.o_proj = nn.Linear(a.heads * a.head_size, hidden, bias=False)

    def split(self, x, heads, norm):
        """[batch, tokens, heads * size] -> [batch, heads, tokens, size], normalised as qk_norm says."""
        x = norm(x) if norm is not None and self.all_heads else x
        x = x.unflatten(-1, (heads, self.size)).transpose(1, 2)
        return norm(x) if norm is not None and not self.all_heads else x

    def keys_values(self, x, angles, memory):
        k = rotate(self.split(self.k_proj(x), self.kv_heads, self.k_norm), angles)
        v = self.split(self.v_proj(x), self.kv_heads, None)
        return remember(memory, k, v)

    def attend(self, q, x, angles, masks, memory, shared):
        q = rotate(self.split(q, self.heads, self.q_norm), angles)
        kv = self.keys_values(x, angles, memory) if shared is None else shared
        return self.finish(self.core(q, *kv, masks, self.scale), x), kv

    def forward(self, x, angles, masks, memory, shared):
        """x [batch, tokens, hidden] -> output, keys and values for later visits, balancing loss."""
        y, kv = self.attend(self.q_proj(x), x, angles, masks, memory, shared)
        y = self.o_proj(y)
        return y if self.output_bias is None else y + self.output_bias, kv, None


class ExpertAttention(GroupedQueryAttention):
    """Query and output projections are experts, each with heads / top_k heads; keys and values are shared by all.

    Head i of an expert reads kv head i * kv heads / heads of the expert where that divides, so that an expert
    means the same whatever its rank; elsewhere heads are grouped over the chosen experts in order of rank.
    """

    def make_projections(self, hidden, a):
        self.top_k, self.implementation = a.top_k, self.config.moe_implementation
        width = a.heads // a.top_k * a.head_size  # of one expert
        self.router = Router(hidden, a.experts, a.top_k, self.config)
        self.q_experts = nn.Parameter(torch.empty(a.experts, width, hidden))
        self.o_experts = nn.Parameter(torch.empty(a.experts, hidden, width))
        self.q_bias = nn.Parameter(torch.zeros(a.heads * a.head_size)) if a.qkv_bias else None

    def core(self, q, k, v, masks, scale):
        own = self.heads // self.top_k  # heads of one expert
        if own % k.shape[1] == 0:
            # [kv heads] -> the heads of one expert -> every expert.
            k, v = (t[:, None, :, None].expand(-1, self.top_k, -1, own // t.shape[1], -1, -1).flatten(1, 3)
                    for t in (k, v))
        return super().core(q, k, v, masks, scale)

    def forward(self, x, angles, masks, memory, shared):
        tokens = x.flatten(0, -2)
        weights, chosen, load, loss = self.router(tokens)
        dispatch = Dispatch(chosen, load, self.implementation)
        q = dispatch.slots(dispatch.linear(dispatch.rows(tokens), self.q_experts)).flatten(1)
        q = q.view(*x.shape[:-1], -1)
        q = q if self.q_bias is None else q + self.q_bias
        y, kv = self.attend(q, x, angles, masks, memory, shared)
        y = y.flatten(0, -2).unflatten(-1, (self.top_k, -1)).flatten(0, 1)[dispatch.order]
        y = dispatch.slots(dispatch.linear(y, self.o_experts))
        y = (y * weights.unsqueeze(-1)).sum(1).view_as(x)
        return y if self.output_bias is None else y + self.output_bias, kv, loss


class LatentAttention(Attention):
    """MLA: keys and values are rebuilt from a cached latent; one rotary key serves all heads."""

    def __init__(self, hidden, a, window, config):
        super().__init__(hidden, a, window, config)
        self.nope, self.rope, self.value, self.rank = a.nope_size, a.rope_size, a.value_size, a.kv_rank
        self.scale = (a.nope_size + a.rope_size) ** -0.5
        q_width = a.heads * (a.nope_size + a.rope_size)
        self.q_down = nn.Linear(hidden, a.q_rank, bias=a.qkv_bias) if a.q_rank else None
        self.q_norm = RMSNorm(a.q_rank, config.norm_eps) if a.q_rank else None
        self.q_up = nn.Linear(a.q_rank or hidden, q_width, bias=False)
        self.kv_down = nn.Linear(hidden, a.kv_rank + a.rope_size, bias=a.qkv_bias)
        self.kv_norm = RMSNorm(a.kv_rank, config.norm_eps)
        self.kv_up = nn.Linear(a.kv_rank, a.heads * (a.nope_size + a.value_size), bias=False)
        self.o_proj = nn.Linear(a.heads * a.value_size, hidden, bias=False)
        self.make_gate(hidden, a, a.value_size)

    def queries(self, x, angles):
        x = x if self.q_down is None else self.q_norm(self.q_down(x))
        q = self.q_up(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        nope, rope = q.split([self.nope, self.rope], dim=-1)
        return torch.cat([nope, rotate(rope, angles)], dim=-1)

    def keys_values(self, x, angles, memory):
        latent, rope = self.kv_down(x).split([self.rank, self.rope], dim=-1)
        rope = rotate(rope[:, None], angles)
        latent, rope = remember(memory, self.kv_norm(latent)[:, None], rope)
        kv = self.kv_up(latent[:, 0]).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = kv.split([self.nope, self.value], dim=-1)
        return torch.cat([k, rope.expand(-1, self.heads, -1, -1)], dim=-1), v

    def forward(self, x, angles, masks, memory, shared):
        kv = self.keys_values(x, angles, memory) if shared is None else shared
        y = self.finish(self.core(self.queries(x, angles), *kv, masks, self.scale), x)
        y = self.o_proj(y)
        return y if self.output_bias is None else y + self.output_bias, kv, None


def attention(hidden, a, window, config):
    if a.kind == "mla":
        return LatentAttention(hidden, a, window, config)
    return (ExpertAttention if a.experts else GroupedQueryAttention)(hidden, a, window, config)


def rotary_size(a):
    """Entries of a head that carry a position."""
    return a.rope_size if a.kind == "mla" else a.head_size
