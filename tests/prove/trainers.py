# What the proofs of trainers share: models small enough to run, the weights of isoloop's own package by
# physical layer, and the comparison of two models that should compute the same.
import json
import re

import torch
from architectures import gqa, looped, moe, plain
from support import isoloop, stir, tokens

# The paper's loop; several visits with shared experts; layer by layer; the whole stack; dense and tied.
LOOPED = [
    looped("loop-middle", gqa(4, 2, 16), moe(8, 2, 40), hidden=64, context=64),
    looped("loop-three-visits", gqa(4, 2, 16, qk_norm="per_head"), moe(8, 2, 40, shared_size=40), visits=3,
           layers=(1, 3, 2), hidden=64, context=64),
    looped("loop-layer-by-layer", gqa(4, 4, 16), moe(4, 2, 24), loop={"order": "layer"}, hidden=64, context=64),
    looped("loop-whole-stack-tied", gqa(4, 2, 16), layers=(0, 3, 0), hidden=64, context=64, tie_embeddings=True),
    plain("scaled-without-a-loop", gqa(4, 2, 16), moe(8, 2, 40), hidden=64, context=64),
]
LOOPED[-1]["segments"][0]["residual_scale"] = "2/3"


def emitted(document, target, folder):
    """The directory `isoloop emit` writes."""
    source = folder / "arch.json"
    source.write_text(json.dumps(document))
    isoloop("emit", source, "--to", target, "-o", folder / target, "--quiet")
    return folder / target


def physical_layers(model, values):
    """values: by parameter name of the package. -> (by name within the layer, of each physical layer in order;
    what is not in a layer)."""
    layers, rest, first = [], {}, []
    for segment in model.model.arch.segments:
        first.append(len(layers))
        layers += [{} for _ in range(segment.layers)]
    for name, value in values.items():
        match = re.fullmatch(r"model\.segments\.(\d+)\.layers\.(\d+)\.(.+)", name)
        if match:
            layers[first[int(match[1])] + int(match[2])][match[3]] = value
        else:
            rest[name.removeprefix("model.")] = value
    return layers, rest


def reference(build, document):
    """The package's model with random weights, its tokens, its logits and the gradients of a fixed weighting of
    them."""
    model = stir(build(document, router_aux_loss_coef=0.0))
    ids = tokens(document)
    logits = model(ids).logits
    logits.backward(weighting(logits))
    return model, ids, logits.detach(), {n: p.grad for n, p in model.named_parameters()}


def weighting(logits):
    """A gradient to send back; the same for every model."""
    return torch.randn(logits.shape, generator=torch.Generator().manual_seed(3))


def assert_close(what, real, wanted, tolerance=1e-4):
    worst = (real - wanted).abs().max() / wanted.abs().max().clamp_min(1e-12)
    assert worst < tolerance, f"{what}: differs by {worst:.1e} of the largest entry"
