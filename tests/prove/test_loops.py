# What a loop computes: one visit is the unlooped model; r visits are r copies written out; and one
# looped layer is the paper's equation, written here a second time.
import copy

import pytest
import torch
from architectures import CPU, named
from support import stir, tokens


def logits(model, ids):
    with torch.no_grad():
        return model.eval()(ids, use_cache=False).logits


def one_visit(document):
    document = copy.deepcopy(document)
    for s in document["segments"]:
        for field in ("visits", "residual_scale", "order"):
            s.pop(field, None)
    return document


def joined(document):
    """Segments of one visit as a single segment, where they differ in nothing else."""
    document = one_visit(document)
    first = document["segments"][0]
    first["layers"] = sum(s["layers"] for s in document["segments"])
    document["segments"] = [first]
    return document


def layer_weights(model):
    """Weights of every physical layer, in order, and of everything else."""
    layers, rest = [], {}
    for name, value in model.state_dict().items():
        if ".layers." not in name:
            rest[name] = value
    for segment in model.model.segments:
        layers += [layer.state_dict() for layer in segment.layers]
    return layers, rest


def copy_weights(source, target, order=None):
    """Physical layers `order` of source become the layers of target."""
    layers, rest = layer_weights(source)
    own = {k: v for k, v in target.state_dict().items() if ".layers." not in k}
    target.load_state_dict({k: rest[k] for k in own}, strict=False)
    into = [layer for segment in target.model.segments for layer in segment.layers]
    order = list(range(len(layers))) if order is None else order
    assert len(order) == len(into)
    for layer, source_index in zip(into, order):
        layer.load_state_dict(layers[source_index])


@pytest.mark.parametrize("name", ["looped", "looped-tied-four-visits", "looped-shared-mla", "looped-jetmoe",
                                  "smelt-100m-shrunk-looped"])
def test_one_visit_is_the_unlooped_model(name, build):
    document = named(name)
    looped = stir(build(one_visit(document)))
    unlooped = build(joined(document), seed=5)
    copy_weights(looped, unlooped)
    ids = tokens(document)
    assert torch.equal(logits(looped, ids), logits(unlooped, ids))


def unrolled(document, runs):
    """One layer per execution, each with the residual scale of its segment."""
    flat = copy.deepcopy(document)
    flat["segments"] = []
    for segment, layers, _ in runs:
        for _ in layers:
            s = copy.deepcopy(document["segments"][segment])
            s.update(name=f"layer-{len(flat['segments'])}", layers=1)
            for field in ("visits", "order", "kv_policy", "kv_slots"):
                s.pop(field, None)
            flat["segments"].append(s)
    return flat


@pytest.mark.parametrize("name", ["looped", "looped-tied-four-visits", "looped-whole-stack", "looped-layer-by-layer",
                                  "looped-shared-mla", "looped-truncated", "looped-jetmoe", "looped-last-slot",
                                  "smelt-100m-shrunk-looped", "smelt-200m-shrunk-looped"])
def test_visits_are_copies_written_out(name, build, proved):
    document = named(name)
    looped = stir(build(document))
    runs = looped.model.arch.runs
    first = [sum(s["layers"] for s in document["segments"][:i]) for i in range(len(document["segments"]))]
    order = [first[segment] + j for segment, layers, _ in runs for j in layers]
    flat = build(unrolled(document, runs), seed=7)
    copy_weights(looped, flat, order)
    ids = tokens(document)
    difference = (logits(looped, ids) - logits(flat, ids)).abs().max().item()
    assert difference <= 1e-5
    proved(f"looped = unrolled, {name}, {len(order)} executions of {len(set(order))} layers",
           f"largest difference {difference:.1e}")


def test_gradients_add_up_over_visits(build):
    """The gradient of a looped layer is the sum over its copies; of a truncated loop, over the last ones."""
    for name, trained in [("looped", [0, 1]), ("looped-truncated", [2, 3])]:
        document = named(name)
        looped = stir(build(document, router_aux_loss_coef=0.0)).train()
        runs = looped.model.arch.runs
        flat = build(unrolled(document, runs), seed=7, router_aux_loss_coef=0.0).train()
        first = [sum(s["layers"] for s in document["segments"][:i]) for i in range(len(document["segments"]))]
        copy_weights(looped, flat, [first[segment] + j for segment, layers, _ in runs for j in layers])
        ids = tokens(document)
        for model in (looped, flat):
            model(ids, labels=ids, use_cache=False).loss.backward()
        copies = [segment.layers[0] for segment in flat.model.segments]
        at = {}  # (layer of the loop, visit) -> copy
        for copy_, (segment, j, visit) in zip(copies, [(s, j, v) for s, layers, v in runs for j in layers]):
            if document["segments"][segment]["name"] == "recur":
                at[j, visit] = copy_
        for j, layer in enumerate(looped.model.segments[1].layers):
            got = layer.ffn.experts.down_proj.grad
            want = sum(at[j, visit].ffn.experts.down_proj.grad for visit in trained)
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-6)


def test_looped_layer_is_the_papers_equation(build):
    """a = x + 1/r Attention(norm x);  y = a + 1/r MoE(norm a): the MoE reads the scaled attention write."""
    document = named("looped-tied-four-visits")
    model = stir(build(document)).eval()
    ids = tokens(document)
    m = model.model
    with torch.no_grad():
        context_args = lambda x: dict(zip(("angles", "masks", "memory", "shared"), arguments(m, x)))
        x = m.embed_tokens(ids)
        for visits, r, segment in zip([1, 4, 1], [1, 4, 1], m.segments):
            for _ in range(visits):
                for layer in segment.layers:
                    n = layer.norms[0]
                    a = x + layer.attention(n["attention_in"](x), **context_args(x))[0] / r
                    x = a + layer.ffn(n["ffn_in"](a))[0] / r
        expected = model.lm_head(m.final_norm(x))
    torch.testing.assert_close(logits(model, ids), expected, rtol=1e-5, atol=1e-5)


def arguments(m, x):
    import sys
    parts = sys.modules[type(m).__module__.rsplit(".", 1)[0] + ".parts_isoloop"]
    length = x.shape[1]
    angles = parts.rotary(torch.arange(length)[None], 8, m.config.rope_theta, x.dtype)
    return angles, parts.Masks(0, length, x.device, None), None, None


@pytest.mark.parametrize("document", [d for d in CPU if not any(s.get("kv_policy") for s in d["segments"])],
                         ids=lambda d: d["name"])
def test_fused_attention_agrees_with_eager(document, build):
    ids = tokens(document)
    eager, fused = (logits(stir(build(document, attention=kind)), ids) for kind in ("eager", "sdpa"))
    torch.testing.assert_close(eager, fused, rtol=1e-4, atol=1e-4)


def test_a_token_sees_no_later_one(build):
    for document in CPU:
        model = stir(build(document))
        ids = tokens(document, 1, 12)
        changed = ids.clone()
        changed[0, 8:] = (changed[0, 8:] + 1) % document["vocab_size"]
        torch.testing.assert_close(logits(model, ids)[:, :8], logits(model, changed)[:, :8], rtol=1e-5, atol=1e-5)
