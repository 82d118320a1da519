# Norms, rotary positions, masks and routing: what attention and feed-forward layers share.
#
# Right by the papers named at each class; held by tests/prove.
import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    """arXiv 1910.07467, in fp32; without weights where weighted is False."""

    def __init__(self, size, eps, weighted=True):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(size)) if weighted else None

    def forward(self, x):
        wide = x.float()
        y = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)
        return y if self.weight is None else y * self.weight


def norm(kind, size, eps):
    """A norm of the architecture's kind: rms, layer, layer_without_bias or unweighted (RMS)."""
    if kind in ("layer", "layer_without_bias"):
        return nn.LayerNorm(size, eps=eps, bias=kind == "layer")
    return RMSNorm(size, eps, weighted=kind == "rms")


def rotary(positions, size, theta, dtype):
    """cos and sin, [batch, 1, tokens, size/2], of the rotated pairs of a head (arXiv 2104.09864)."""
    pairs = torch.arange(size // 2, device=positions.device, dtype=torch.float32)
    angles = positions[:, None, :, None].float() * theta ** (-2.0 * pairs / max(1, size))
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x, cos_sin):
    """Rotates entry i with entry i + half; an odd last entry stays."""
    cos, sin = cos_sin
    half = cos.shape[-1]
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)


class Masks:
    """Which keys each query sees: causal, within the window or chunk, not padding. Built once per shape.

    Keys always end at the newest token, so their number says where they begin.
    """

    def __init__(self, past, tokens, device, padding):
        self.past, self.tokens, self.device = past, tokens, device
        # A mask without padding is no mask; left alone, causal attention can use a fused kernel.
        self.padding = padding
        self.built = {}

    def plain(self, window, keys):
        """True if the mask is exactly "causal" between equally many queries and keys."""
        return self.padding is None and keys == self.tokens and not (0 < window < keys)

    def get(self, window, chunked, keys):
        key = (window, chunked, keys)
        if key not in self.built:
            self.built[key] = self._build(window, chunked, keys)
        return self.built[key]

    def _build(self, window, chunked, keys):
        end = self.past + self.tokens
        q = torch.arange(self.past, end, device=self.device)[:, None]
        k = torch.arange(end - keys, end, device=self.device)[None, :]
        seen = k <= q
        if window and chunked:
            seen = seen & (k // window == q // window)
        elif window:
            seen = seen & (k > q - window)
        if self.padding is None:
            return seen[None, None]
        # A padded query sees itself, so that no row of the softmax is empty.
        return ((seen & self.padding[:, None, end - keys : end].bool()) | (k == q))[:, None]


class Router(nn.Module):
    """Scores experts and picks the top-k: softmax (arXiv 2101.03961), or sigmoid with a selection bias that
    balances the load without a loss (arXiv 2408.15664)."""

    def __init__(self, hidden, experts, top_k, config, bias=False, selection_bias=False):
        super().__init__()
        self.experts, self.top_k = experts, top_k
        self.normalise = config.norm_topk_prob and top_k > 1  # one expert of weight 1 would not train its router
        self.sigmoid = (config.router_score or ("sigmoid" if selection_bias else "softmax")) == "sigmoid"
        self.weight = nn.Parameter(torch.empty(experts, hidden))
        self.bias = nn.Parameter(torch.zeros(experts)) if bias else None
        # Moved by the load, never by a gradient.
        self.selection_bias = nn.Parameter(torch.zeros(experts), requires_grad=False) if selection_bias else None
        self.load = None  # tokens per expert since the last balance()

    def forward(self, x):
        """x [tokens, hidden] -> weights and experts [tokens, k], tokens per expert, balancing loss."""
        logits = F.linear(x, self.weight, self.bias).float()
        scores = logits.sigmoid() if self.sigmoid else logits.softmax(-1)
        ranked = scores if self.selection_bias is None else scores + self.selection_bias.float()
        chosen = ranked.topk(self.top_k, dim=-1).indices
        weights = scores.gather(-1, chosen)
        if self.normalise:
            weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
        load = scores.new_zeros(self.experts).scatter_add_(0, chosen.flatten(), torch.ones_like(chosen.flatten(), dtype=scores.dtype))
        if self.training and self.selection_bias is not None:
            self.load = load.detach() if self.load is None else self.load + load.detach()
        # experts * sum(share of tokens * mean probability): 1 when balanced.
        mean = (scores / (scores.sum(-1, keepdim=True) + 1e-20)).mean(0) if self.sigmoid else scores.mean(0)
        loss = self.experts * (load / chosen.numel() * mean).sum()
        return weights.to(x.dtype), chosen, load, loss

    @torch.no_grad()
    def balance(self, rate):
        """Moves the selection bias towards experts with less than their share, once per training step."""
        if self.selection_bias is None or self.load is None:
            return
        self.selection_bias += rate * torch.sign(self.load.mean() - self.load).to(self.selection_bias.dtype)
        self.load = None


class Dispatch:
    """Rows sorted by expert: row i of the sorted list is slot order[i] of [tokens, k] flattened."""

    def __init__(self, chosen, load, implementation):
        self.top_k = chosen.shape[-1]
        self.order = chosen.flatten().argsort(stable=True)
        self.load = load
        self.grouped = implementation == "grouped"
        if not self.grouped:
            # Tensors without storage have no routing. How rows split does not change the work.
            self.sizes = ([len(self.order)] + [0] * (len(load) - 1) if load.device.type == "meta"
                          else load.long().tolist())

    def rows(self, x):
        """[tokens, width] -> the sorted rows, each token k times."""
        return x[self.order // self.top_k]

    def slots(self, y):
        """Sorted rows -> [tokens, k, width]."""
        return torch.empty_like(y).index_copy(0, self.order, y).unflatten(0, (-1, self.top_k))

    def linear(self, x, weight, bias=None):
        """x [rows, in] times the row's own expert of weight [experts, out, in]."""
        if self.grouped:
            y = F.grouped_mm(x, weight.transpose(-2, -1), offs=self.load.cumsum(0).to(torch.int32))
        else:
            pieces = zip(x.split(self.sizes), weight.unbind(0))
            y = torch.cat([F.linear(rows, w) for rows, w in pieces if rows.shape[0] > 0])
        if bias is None:
            return y
        counts = self.load.long() if self.grouped else torch.tensor(self.sizes, device=x.device)
        if x.device.type == "meta":
            return y + bias[:1]
        return y + bias.repeat_interleave(counts, dim=0, output_size=x.shape[0])
