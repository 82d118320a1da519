# The architectures of the proof: small ones that run on a CPU, together covering every field of
# isoloop/arch/v1, and grid cells shrunk to that size. Published models and full-size cells come from
# `isoloop import` and run without storage (support.built_in).
import copy

VOCAB = 160


def gqa(heads=4, kv_heads=2, head_size=8, **more):
    return {"kind": "gqa", "heads": heads, "kv_heads": kv_heads, "head_size": head_size, **more}


def mla(**more):
    return {"kind": "mla", "heads": 4, "kv_rank": 16, "nope_size": 8, "rope_size": 4, "value_size": 12, **more}


def moe(experts=8, top_k=2, expert_size=24, **more):
    return {"kind": "moe", "experts": experts, "top_k": top_k, "expert_size": expert_size, **more}


def dense(size=48, **more):
    return {"kind": "dense", "size": size, **more}


def segment(name, layers, attention=None, ffn=None, **more):
    return {"name": name, "layers": layers, **more, "attention": attention or gqa(), "ffn": ffn or moe()}


def model(name, segments, hidden=32, **more):
    return {"schema": "isoloop/arch/v1", "name": name, "hidden_size": hidden, "vocab_size": VOCAB, **more,
            "segments": segments}


def plain(name, attention=None, ffn=None, layers=2, **more):
    return model(name, [segment("layers", layers, attention, ffn)], **more)


def looped(name, attention=None, ffn=None, visits=2, layers=(1, 2, 1), loop=None, **more):
    """Prelude, recur, coda with the paper's 1/r."""
    pre, span, post = layers
    forward = visits["forward"] if isinstance(visits, dict) else visits
    recur = {"visits": visits, "residual_scale": f"1/{forward}", **(loop or {})}
    pieces = [segment("prelude", pre, attention, ffn)] if pre else []
    pieces.append(segment("recur", span, attention, ffn, **recur))
    pieces += [segment("coda", post, attention, ffn)] if post else []
    return model(name, pieces, **more)


def hrm():
    # Two stacks in nested cycles; each visit adds the other stack's state (arXiv 2506.21734).
    stack = dict(attention=gqa(4, 4, 8, output_gate=True), ffn=dense())
    return model("hrm-like", [segment("low", 2, visits=6, injection="add", **stack),
                              segment("high", 2, visits=2, injection="add", **stack)],
                 norm="unweighted", final_norm=False, state_vectors=1,
                 schedule=["low", "low", "low", "high"] * 2)


def smelt_shrunk(scale, hidden, layers, heads, kv_heads, head_size, expert_size, experts, loop):
    """A cell of the grid with its depth, head geometry and sparsity, an eighth of its width and experts."""
    attention, ffn = gqa(heads, kv_heads, head_size), moe(experts, 4, expert_size)
    name = f"smelt-{scale}-shrunk-{'looped' if loop else 'baseline'}"
    if not loop:
        return plain(name, attention, ffn, layers, hidden=hidden)
    span = layers // 2
    before = (layers - span) // 2
    return looped(name, attention, ffn, layers=(before, span, layers - span - before), hidden=hidden)


CPU = [
    plain("dense-mha", gqa(4, 4, 8), dense()),
    plain("dense-mqa-tied", gqa(4, 1, 8), dense(), tie_embeddings=True),
    plain("dense-two-matrices-layernorm", gqa(qkv_bias=True, output_bias=True), dense(gated=False, bias=True),
          norm="layer"),
    plain("moe"),
    plain("moe-tied", tie_embeddings=True),
    plain("moe-every-bias", gqa(qkv_bias=True, output_bias=True),
          moe(bias=True, router_bias=True, selection_bias=True, output_bias=True)),
    plain("moe-shared", ffn=moe(shared_size=40)),
    plain("moe-shared-gate", ffn=moe(shared_size=40, shared_gate=True)),
    plain("moe-ungated", ffn=moe(gated=False)),
    plain("moe-top-1", ffn=moe(top_k=1)),
    plain("moe-all-active", ffn=moe(experts=4, top_k=4)),
    plain("explicit-head-size", gqa(3, 3, 20)),
    plain("odd-head-size", gqa(4, 2, 9)),
    plain("qk-norm-per-head", gqa(qk_norm="per_head")),
    plain("qk-norm-all-heads", gqa(qk_norm="all_heads"), norm_layout="post"),
    plain("qk-norm-unweighted", gqa(qk_norm="unweighted"), norm="layer_without_bias"),
    plain("windows-sinks", gqa(sinks=True, windows=[0, 5], qkv_bias=True, output_bias=True),
          moe(bias=True, router_bias=True), layers=4),
    plain("chunked", gqa(windows=[6, 6, 0], chunked=True), layers=3),
    plain("output-gate-sandwich", gqa(output_gate=True), norm_layout="sandwich"),
    plain("mla", mla(q_rank=20)),
    plain("mla-full-q", mla(qkv_bias=True, output_gate=True)),
    model("first-dense-mla", [segment("dense", 1, mla(q_rank=20, qkv_bias=True), dense()),
                              segment("moe", 2, mla(q_rank=20, qkv_bias=True), moe(shared_size=24, selection_bias=True))]),
    plain("jetmoe-like", gqa(4, 2, 8, experts=6, top_k=2, output_bias=True), moe(output_bias=True), tie_embeddings=True),
    plain("attention-experts-many-kv-heads", gqa(4, 4, 8, experts=6, top_k=2, qkv_bias=True)),
    looped("looped"),
    looped("looped-tied-four-visits", visits=4, tie_embeddings=True),
    looped("looped-whole-stack", layers=(0, 3, 0)),
    looped("looped-layer-by-layer", loop={"order": "layer"}),
    looped("looped-shared-mla", mla(q_rank=20), moe(shared_size=24)),
    looped("looped-windowed", gqa(windows=[5, 0])),
    looped("looped-first-slot", visits=3, loop={"kv_policy": "first"}),
    looped("looped-first-slot-mla", mla(), visits=3, loop={"kv_policy": "first"}),
    looped("looped-last-slot", visits=3, loop={"kv_policy": "last"}),
    looped("looped-modulo-slots", visits=5, loop={"kv_policy": "modulo", "kv_slots": 2}),
    looped("looped-norms-adapters-per-visit", visits=3, loop={"norms_per_visit": True, "adapter_rank": 4}),
    looped("looped-injection-add", loop={"injection": "add"}, visits=3),
    looped("looped-injection-diagonal", loop={"injection": "diagonal"}, visits=3),
    looped("looped-truncated", visits={"forward": 4, "backward": 2}),
    looped("looped-jetmoe", gqa(4, 2, 8, experts=6, top_k=2)),
    # Huginn: sandwich norms, 2h -> h at every visit, few visits back-propagated, a learned start.
    looped("huginn-like", gqa(4, 4, 8), dense(), visits={"forward": 5, "backward": 2}, norm_layout="sandwich",
           loop={"injection": "linear"}, tie_embeddings=True, state_vectors=1),
    # Ouro: the whole stack, an exit gate after each pass.
    looped("ouro-like", gqa(4, 4, 8), dense(), visits=4, layers=(0, 3, 0), norm_layout="sandwich",
           loop={"exit_gate": True}),
    hrm(),
] + [
    smelt_shrunk(*cell, loop=loop)
    for cell, loop in [
        (("100m", 84, 10, 12, 4, 7, 68, 24), False), (("100m", 72, 10, 16, 4, 5, 53, 24), True),
        (("200m", 160, 12, 20, 4, 8, 54, 24), False), (("200m", 132, 12, 24, 4, 6, 44, 32), True),
    ]
]


def named(name):
    return copy.deepcopy(next(a for a in CPU if a["name"] == name))
