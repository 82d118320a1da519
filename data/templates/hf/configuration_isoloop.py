# The configuration of a looped model: wraps one isoloop/arch/v1 document.
#
# The document under "architecture" decides every shape and the order of execution; the other keys
# are what it leaves open (rotary base, epsilon, activation, loss weights). A document this package
# cannot execute is refused here, by the path of its field, before any weight is allocated.
# Right by data/schemas/arch.schema.json; held by tests/prove.
from fractions import Fraction

from transformers import PretrainedConfig

SCHEMA = "isoloop/arch/v1"

# Defaults of the document, as its schema states them.
ARCHITECTURE_DEFAULTS = {
    "name": "", "vocab_size": 0, "tie_embeddings": False, "context": 4096, "norm": "rms",
    "norm_layout": "pre", "final_norm": True, "mtp_layers": 0, "state_vectors": 0, "schedule": [],
}
SEGMENT_DEFAULTS = {
    "visits": 1, "order": "block", "residual_scale": 1, "injection": "none", "kv_policy": "per_visit",
    "kv_slots": 0, "norms_per_visit": False, "adapter_rank": 0, "exit_gate": False,
}
ATTENTION_DEFAULTS = {
    "kv_heads": 0, "head_size": 0, "q_rank": 0, "kv_rank": 0, "nope_size": 0, "rope_size": 0,
    "value_size": 0, "qk_norm": "none", "qkv_bias": False, "output_bias": False, "sinks": False,
    "output_gate": False, "experts": 0, "top_k": 0, "windows": [], "chunked": False,
}
FFN_DEFAULTS = {
    "size": 0, "experts": 0, "top_k": 0, "expert_size": 0, "gated": True, "bias": False,
    "shared_size": 0, "shared_gate": False, "router_bias": False, "selection_bias": False,
    "output_bias": False,
}


class Fields:
    """The fields of one JSON object as attributes, defaults filled in."""

    def __init__(self, values, defaults):
        self.__dict__.update(defaults)
        self.__dict__.update(values)


def whole(value, where):
    """A count that may be written as a number or as exact text such as "4" or "8/2"."""
    ratio = Fraction(str(value))
    if ratio.denominator != 1:
        raise ValueError(f"architecture.{where}: {value} is a mean over sampled depths; a model that runs "
                         "needs a whole number of visits")
    return ratio.numerator


def segment_of(values, index):
    where = f"segments[{index}]"
    s = Fields(values, SEGMENT_DEFAULTS)
    visits = s.visits if isinstance(s.visits, dict) else {"forward": s.visits}
    s.visits = whole(visits["forward"], where + ".visits")
    s.backward_visits = whole(visits.get("backward", s.visits), where + ".visits.backward")
    s.residual_scale = float(Fraction(str(s.residual_scale)))
    s.attention = Fields(s.attention, ATTENTION_DEFAULTS)
    s.ffn = Fields(s.ffn, FFN_DEFAULTS)
    slots = {"per_visit": s.visits, "modulo": min(s.kv_slots, s.visits)}
    s.slots_per_layer = slots.get(s.kv_policy, 1)
    if s.kv_policy == "first" and s.backward_visits < s.visits:
        raise ValueError(f"architecture.{where}.kv_policy: 'first' takes keys and values from the first visit, "
                         "which truncated back-propagation does not train; back-propagate every visit or "
                         "use another policy")
    return s


def architecture_of(document):
    """The document with defaults, whole visits and one list of runs in order of execution."""
    if document.get("schema") != SCHEMA:
        raise ValueError(f"architecture.schema: is {document.get('schema')!r}, expected {SCHEMA!r}")
    if "loop" in document:
        raise ValueError("architecture.loop: the short form is for people; write it out with `isoloop emit`")
    a = Fields(document, ARCHITECTURE_DEFAULTS)
    if a.vocab_size == 0:
        raise ValueError("architecture.vocab_size: not stated; a model that runs needs an embedding")
    a.segments = [segment_of(values, i) for i, values in enumerate(a.segments)]
    slot = 0
    for s in a.segments:
        s.first_slot = slot
        slot += s.layers * s.slots_per_layer
    a.cache_slots = slot
    a.runs = runs_of(a)
    return a


def runs_of(a):
    """(segment, layers, visit) of every run, in order: a run is one visit of some layers of one segment."""
    runs = []
    if a.schedule:
        index = {s.name: i for i, s in enumerate(a.segments)}
        seen = [0] * len(a.segments)
        for name in a.schedule:
            i = index[name]
            runs.append((i, range(a.segments[i].layers), seen[i]))
            seen[i] += 1
        return runs
    for i, s in enumerate(a.segments):
        if s.order == "layer":  # 11 22 33
            runs += [(i, range(j, j + 1), v) for j in range(s.layers) for v in range(s.visits)]
        else:  # 123 123
            runs += [(i, range(s.layers), v) for v in range(s.visits)]
    return runs


class IsoloopConfig(PretrainedConfig):
    model_type = "isoloop"
    keys_to_ignore_at_inference = ["past_key_values", "cache"]

    def __init__(
        self,
        architecture=None,
        rope_theta=10000.0,
        norm_eps=1e-6,
        initializer_range=0.02,
        hidden_act=None,  # None: silu where the FFN is gated, gelu where it is not
        router_score=None,  # None: sigmoid where there is a selection bias, softmax elsewhere
        norm_topk_prob=True,
        router_aux_loss_coef=0.01,
        moe_implementation="loop",  # or "grouped": torch.nn.functional.grouped_mm
        use_cache=True,
        **kwargs,
    ):
        self.architecture = architecture
        self.rope_theta = rope_theta
        self.norm_eps = norm_eps
        self.initializer_range = initializer_range
        self.hidden_act = hidden_act
        self.router_score = router_score
        self.norm_topk_prob = norm_topk_prob
        self.router_aux_loss_coef = router_aux_loss_coef
        self.moe_implementation = moe_implementation
        self.use_cache = use_cache
        if architecture is not None:
            resolved = architecture_of(architecture)
            # What other tools look for, always as the document says it.
            kwargs["tie_word_embeddings"] = resolved.tie_embeddings
            self.vocab_size = resolved.vocab_size
            self.hidden_size = resolved.hidden_size
            self.num_hidden_layers = sum(s.layers for s in resolved.segments)
            self.max_position_embeddings = resolved.context
            self.num_attention_heads = resolved.segments[0].attention.heads
            for key in ("vocab_size", "hidden_size", "num_hidden_layers", "max_position_embeddings",
                        "num_attention_heads"):
                kwargs.pop(key, None)
        super().__init__(**kwargs)

    def resolve(self):
        """The architecture with defaults filled in and the runs listed."""
        if self.architecture is None:
            raise ValueError('config.json has no "architecture"; write it with `isoloop emit`')
        return architecture_of(self.architecture)
