# A looped transformer: executes an isoloop/arch/v1 document with plain PyTorch.
#
# Segments run in the order the configuration lists (prelude, recur, recur, coda; or any schedule). A
# looped layer is stored once and executed `visits` times; both of its residual writes are scaled by
# residual_scale (1/r, arXiv 2609.01343), and the feed-forward part reads the already scaled attention
# write. Parameters, FLOPs and cache bytes are what `isoloop count` says; tests/prove holds this.
#
# Train it as any Hugging Face causal language model:
#   model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(DIR, trust_remote_code=True),
#                                            trust_remote_code=True)
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel
from transformers.generation import GenerationMixin
from transformers.modeling_outputs import MoeCausalLMOutputWithPast, MoeModelOutputWithPast

from .attention_isoloop import attention, rotary_size
from .cache_isoloop import LoopCache, layer_window, slot_of
from .configuration_isoloop import IsoloopConfig
from .ffn_isoloop import Experts, feed_forward
from .parts_isoloop import Masks, RMSNorm, Router, norm, rotary


class Layer(nn.Module):
    """One physical layer; `visit` selects the norms and adapters that are stored per visit."""

    def __init__(self, arch, segment, index, config):
        super().__init__()
        h = arch.hidden_size
        self.scale = segment.residual_scale
        self.attention = attention(h, segment.attention, layer_window(segment, index), config)
        self.ffn = feed_forward(h, segment.ffn, config)
        places = [f"{part}_{side}" for part in ("attention", "ffn")
                  for side, layouts in (("in", ("pre", "sandwich")), ("out", ("post", "sandwich")))
                  if arch.norm_layout in layouts]
        self.norms = nn.ModuleList(
            nn.ModuleDict({place: norm(arch.norm, h, config.norm_eps) for place in places})
            for _ in range(segment.visits if segment.norms_per_visit else 1))
        self.adapters = nn.ModuleList(
            Adapter(h, segment.adapter_rank) for _ in range(segment.visits if segment.adapter_rank else 0))

    def forward(self, x, visit, angles, masks, memory, shared):
        """Returns the stream, keys and values, and balancing losses; shapes as attention's."""
        norms = self.norms[visit if len(self.norms) > 1 else 0]
        at = lambda place, value: norms[place](value) if place in norms else value
        y, kv, attention_loss = self.attention(at("attention_in", x), angles, masks, memory, shared)
        x = x + self.scale * at("attention_out", y)
        read = at("ffn_in", x)
        y, ffn_loss = self.ffn(read)
        if len(self.adapters):
            y = y + self.adapters[visit](read)
        x = x + self.scale * at("ffn_out", y)
        return x, kv, [loss for loss in (attention_loss, ffn_loss) if loss is not None]


class Adapter(nn.Module):
    """A low-rank map of its own for each visit; starts as zero, so that all visits start equal."""

    def __init__(self, hidden, rank):
        super().__init__()
        self.down = nn.Linear(hidden, rank, bias=False)
        self.up = nn.Linear(rank, hidden, bias=False)

    def forward(self, x):
        return self.up(self.down(x))


class Injection(nn.Module):
    """How the loop's input enters the state at each visit: s + e, s + w * e, or W [s; e]."""

    def __init__(self, kind, hidden):
        super().__init__()
        self.kind = kind
        shape = {"diagonal": (hidden,), "linear": (hidden, 2 * hidden)}.get(kind)
        self.weight = nn.Parameter(torch.empty(shape)) if shape else None

    def forward(self, state, entering):
        if self.kind == "linear":
            return F.linear(torch.cat([state, entering], dim=-1), self.weight)
        return state + (entering if self.weight is None else self.weight * entering)


class Segment(nn.Module):
    def __init__(self, arch, segment, config):
        super().__init__()
        self.layers = nn.ModuleList(Layer(arch, segment, i, config) for i in range(segment.layers))
        injected = segment.injection != "none"
        self.injection = Injection(segment.injection, arch.hidden_size) if injected else None
        self.exit_gate = nn.Linear(arch.hidden_size, 1) if segment.exit_gate else None


class Stream:
    """The states of one forward pass as they go from segment to segment.

    A segment with injection keeps a state of its own, which starts at its learned vector, or else at zero
    (at the model's input, if other segments of a schedule ran before it). At each visit enters what another
    segment has put out last: the prelude's output in a plain loop, the other stack's state in nested cycles.
    """

    def __init__(self, x):
        self.x = self.input = x  # newest output
        self.source, self.other = None, x  # who made it; the newest output of anyone else
        self.states, self.exits = {}, {}

    def entering(self, index):
        return self.other if self.source == index else self.x

    def state(self, index, vector):
        if index in self.states:
            return self.states[index]
        if vector is not None:
            return vector.expand_as(self.x)
        return torch.zeros_like(self.x) if self.entering(index) is self.input or self.source is None else self.input

    def put(self, index, x):
        if self.source != index:
            self.other, self.source = self.x, index
        self.x = self.states[index] = x


@dataclass
class LoopModelOutput(MoeModelOutputWithPast):
    aux_loss: torch.Tensor | None = None


# transformers renames past_key_values to cache; both are accepted, outputs use the name of the version.
CACHE_FIELD = "cache" if "cache" in MoeModelOutputWithPast.__dataclass_fields__ else "past_key_values"


class IsoloopPreTrainedModel(PreTrainedModel):
    config_class = IsoloopConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _no_split_modules = ["Layer"]
    _skip_keys_device_placement = ["past_key_values"]
    _supports_sdpa = True

    def _init_weights(self, module):
        std = self.config.initializer_range
        if isinstance(module, Adapter):
            nn.init.zeros_(module.up.weight)
            module.up._is_hf_initialized = True
        elif isinstance(module, (nn.Linear, Router)):
            nn.init.normal_(module.weight, std=std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
            if getattr(module, "selection_bias", None) is not None:
                nn.init.zeros_(module.selection_bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=std)
        elif isinstance(module, (RMSNorm, nn.LayerNorm)):
            if module.weight is not None:
                nn.init.ones_(module.weight)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, Injection) and module.kind == "linear":
            identity = torch.eye(module.weight.shape[0], device=module.weight.device)
            nn.init.zeros_(module.weight)
            with torch.no_grad():
                module.weight += torch.cat([identity, identity], dim=1).to(module.weight.dtype)
        elif isinstance(module, Injection) and module.weight is not None:
            nn.init.ones_(module.weight)
        else:  # matrices and vectors held directly
            for name, p in module.named_parameters(recurse=False):
                nn.init.normal_(p, std=std) if p.dim() > 1 and "bias" not in name else nn.init.zeros_(p)


class IsoloopModel(IsoloopPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.arch = arch = config.resolve()
        self.embed_tokens = nn.Embedding(arch.vocab_size, arch.hidden_size)
        self.segments = nn.ModuleList(Segment(arch, s, config) for s in arch.segments)
        self.injected = [i for i, s in enumerate(arch.segments) if s.injection != "none"]
        self.state_vectors = (nn.Parameter(torch.empty(arch.state_vectors, arch.hidden_size))
                              if arch.state_vectors else None)
        self.final_norm = norm(arch.norm, arch.hidden_size, config.norm_eps) if arch.final_norm else None
        self.gradient_checkpointing = False
        self.post_init()

    def new_cache(self):
        """An empty cache with one slot per layer and visit, as kv_policy says."""
        return LoopCache(self.arch)

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None,
                inputs_embeds=None, use_cache=None, cache=None, **kwargs):
        x = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        x = self._with_spare_vectors(x)
        use_cache = self.config.use_cache if use_cache is None else use_cache
        cache = self._cache(past_key_values if cache is None else cache, use_cache)
        past = 0 if cache is None else cache.get_seq_length()
        positions = self._positions(position_ids, attention_mask, past, x)
        padding = attention_mask
        if padding is not None and padding.device.type != "meta" and not torch.compiler.is_compiling() and padding.all():
            padding = None
        context = {
            "masks": Masks(past, x.shape[1], x.device, padding),
            "cache": cache, "losses": [], "shared": {},
            "angles": {size: rotary(positions, size, self.config.rope_theta, x.dtype)
                       for size in {rotary_size(s.attention) for s in self.arch.segments}},
        }
        stream = Stream(x)
        for index, layers, visit in self.arch.runs:
            self._run(stream, index, layers, visit, context)
        x = stream.x if self.final_norm is None else self.final_norm(stream.x)
        losses = context["losses"]
        return LoopModelOutput(last_hidden_state=x, aux_loss=torch.stack(losses).mean() if losses else None,
                               **{CACHE_FIELD: cache})

    def _cache(self, given, use_cache):
        if isinstance(given, LoopCache):
            return given
        if given is not None:
            raise ValueError("a looped model needs its own cache: model.new_cache(), or leave past_key_values out")
        # Recomputing a layer for its gradient would write its keys a second time.
        return self.new_cache() if use_cache and not (self.gradient_checkpointing and self.training) else None

    def _positions(self, position_ids, attention_mask, past, x):
        if attention_mask is not None and attention_mask.dim() != 2:
            raise ValueError("attention_mask: expected [batch, tokens] of 0 and 1")
        if position_ids is not None:
            return position_ids
        if attention_mask is not None:
            return (attention_mask.long().cumsum(-1) - 1).clamp(min=0)[:, past : past + x.shape[1]]
        return torch.arange(past, past + x.shape[1], device=x.device)[None]

    def _run(self, stream, index, layers, visit, context):
        """One visit of some layers of one segment. Visits before the last `backward` ones are not
        back-propagated through."""
        s, modules = self.arch.segments[index], self.segments[index]
        cut = visit < s.visits - s.backward_visits and torch.is_grad_enabled()
        first, last = layers[0] == 0, layers[-1] == s.layers - 1
        x, inject = stream.x, modules.injection is not None and first
        state = stream.state(index, self._vector(index)) if inject else None
        with torch.no_grad() if cut else nullcontext():
            if inject:
                x = modules.injection(state, stream.entering(index))
            for j in layers:
                x = self._layer(modules.layers[j], x, index, j, visit, context)
            gate = torch.sigmoid(modules.exit_gate(x)) if modules.exit_gate is not None and last else None
        if cut and modules.injection is None:
            # Without injection the stream is the only way back to earlier layers, so it stays open: the
            # gradient passes a cut visit as if it were the identity.
            x = stream.x + (x - stream.x).detach()
        stream.put(index, x)
        if gate is not None:
            self._exit(stream, index, x, gate, visit == s.visits - 1)

    def _vector(self, index):
        """Learned initial states belong to the segments with injection, in order."""
        rank = self.injected.index(index)
        return self.state_vectors[rank] if rank < self.arch.state_vectors else None

    def _with_spare_vectors(self, x):
        """Vectors that start no segment's state join the model's input."""
        if self.arch.state_vectors <= len(self.injected):
            return x
        return x + self.state_vectors[len(self.injected):].sum(0)

    def _layer(self, layer, x, index, j, visit, context):
        s = self.arch.segments[index]
        slot, written = slot_of(s, j, visit)
        memory = None if context["cache"] is None else (context["cache"].layers[slot], written)
        shared = context["shared"].get((index, j))
        args = (x, visit, context["angles"][rotary_size(s.attention)], context["masks"], memory, shared)
        if self.gradient_checkpointing and self.training and torch.is_grad_enabled():
            x, kv, losses = self._gradient_checkpointing_func(layer.__call__, *args)
        else:
            x, kv, losses = layer(*args)
        if s.kv_policy == "first" and visit == 0:
            context["shared"][(index, j)] = kv
        context["losses"] += losses
        return x

    def _exit(self, stream, index, x, gate, done):
        """The state handed on is the mean over visits, weighted by the probability of leaving there
        (as in adaptive computation time, arXiv 1603.08983), given that the loop is left at all."""
        exits = stream.exits.setdefault(index, [])
        exits.append((x, gate))
        if not done:
            return
        staying, weights = torch.ones_like(gate), []
        for _, leave in exits:
            weights.append(staying * leave)
            staying = staying * (1 - leave)
        total = sum(weights) + 1e-20
        stream.put(index, sum(w / total * state for w, (state, _) in zip(weights, exits)))

    def balance_experts(self, rate=1e-3):
        """Call once per training step where there are selection biases (arXiv 2408.15664)."""
        for module in self.modules():
            if isinstance(module, Router):
                module.balance(rate)


class IsoloopForCausalLM(IsoloopPreTrainedModel, GenerationMixin):
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.model = IsoloopModel(config)
        self.vocab_size = self.model.arch.vocab_size
        self.lm_head = nn.Linear(self.model.arch.hidden_size, self.vocab_size, bias=False)
        self.post_init()

    def new_cache(self):
        return self.model.new_cache()

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None,
                inputs_embeds=None, labels=None, use_cache=None, logits_to_keep=0, cache=None, **kwargs):
        """labels [batch, tokens] are shifted inside; loss = cross entropy + router_aux_loss_coef * balancing."""
        output = self.model(input_ids, attention_mask, position_ids, past_key_values, inputs_embeds, use_cache, cache)
        x = output.last_hidden_state
        keep = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) and logits_to_keep else slice(None)
        logits = self.lm_head(x[:, keep if isinstance(logits_to_keep, int) else logits_to_keep])
        loss = None
        if labels is not None:
            items = {k: v for k, v in kwargs.items() if k in ("num_items_in_batch", "ignore_index", "shift_labels")}
            loss = self.loss_function(logits=logits, labels=labels, vocab_size=self.vocab_size, **items)
            if output.aux_loss is not None:
                loss = loss + self.config.router_aux_loss_coef * output.aux_loss.to(loss.device)
        return MoeCausalLMOutputWithPast(loss=loss, logits=logits, aux_loss=output.aux_loss,
                                         **{CACHE_FIELD: output[CACHE_FIELD] if CACHE_FIELD in output else None})

    def _prepare_cache_for_generation(self, generation_config, model_kwargs, *args, **kwargs):
        """generate() makes a cache of one slot per physical layer; a loop has its own."""
        super()._prepare_cache_for_generation(generation_config, model_kwargs, *args, **kwargs)
        for name in ("cache", "past_key_values"):
            if model_kwargs.get(name) is not None and not isinstance(model_kwargs[name], LoopCache):
                model_kwargs[name] = self.new_cache()
