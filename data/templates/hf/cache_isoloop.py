# The KV cache of a looped model: one slot per layer and visit, as kv_policy says.
#
# A slot of a windowed layer keeps as many tokens as its window. Slots that later visits share
# ("last", "modulo") are overwritten for the current tokens only; older tokens keep what was written
# last, so decoding with these two policies approximates the uncached model, as it does where they
# come from. "per_visit" and "first" are exact. Held by tests/prove/test_cache.py.
import torch
from transformers.cache_utils import Cache, DynamicLayer


class Slot(DynamicLayer):
    """Keys and values of one slot: [batch, kv heads, tokens, head size], or MLA's latent and rotary key."""

    def __init__(self, window=0):
        super().__init__()
        self.window = window  # tokens kept, 0: all
        self.seen = 0  # tokens ever appended

    def update(self, key_states, value_states, *args, **kwargs):
        """Appends; returns everything the new tokens may attend to."""
        self.seen += key_states.shape[-2]
        return self._keep(self.keys, self.values, key_states, value_states)

    def replace(self, key_states, value_states):
        """Overwrites the newest tokens, which an earlier visit has appended."""
        kept = max(0, self.keys.shape[-2] - key_states.shape[-2])
        return self._keep(self.keys[..., :kept, :], self.values[..., :kept, :], key_states, value_states)

    def _keep(self, keys, values, new_keys, new_values):
        if self.is_initialized:
            new_keys = torch.cat([keys, new_keys], dim=-2)
            new_values = torch.cat([values, new_values], dim=-2)
        self.dtype, self.device, self.is_initialized = new_keys.dtype, new_keys.device, True
        first = max(0, new_keys.shape[-2] - self.window) if self.window else 0
        self.keys, self.values = new_keys[..., first:, :], new_values[..., first:, :]
        return new_keys, new_values

    def get_seq_length(self, *args):
        return self.seen

    def crop(self, max_length):
        length = max_length if max_length >= 0 else self.seen + max_length
        if length >= self.seen:
            return
        if self.keys.shape[-2] < self.seen:
            raise ValueError("a window has dropped tokens that cropping would need")
        self.keys, self.values = self.keys[..., :length, :], self.values[..., :length, :]
        self.seen = length

    def reset(self):
        self.keys = self.values = None
        self.is_initialized, self.seen = False, 0


def layer_window(segment, layer):
    """The window of a layer of a segment, 0 for full attention; the pattern repeats over the layers."""
    windows = segment.attention.windows
    return windows[layer % len(windows)] if windows else 0


class LoopCache(Cache):
    """Slots in the order segment, slot, layer: a slot of a whole pass lies together."""

    def __init__(self, architecture):
        slots = []
        for s in architecture.segments:
            slots += [Slot(layer_window(s, j)) for _ in range(s.slots_per_layer) for j in range(s.layers)]
        super().__init__(layers=slots)

    def nbytes(self):
        """Bytes held: what `isoloop count` calls the KV cache, times tokens and batch."""
        return sum(t.numel() * t.element_size() for s in self.layers if s.is_initialized
                   for t in (s.keys, s.values))


def slot_of(segment, layer, visit):
    """(index, whether an earlier visit of the same tokens has written it) of the slot a visit writes."""
    turn = {"per_visit": visit, "modulo": visit % segment.slots_per_layer}.get(segment.kv_policy, 0)
    return segment.first_slot + turn * segment.layers + layer, visit != turn
