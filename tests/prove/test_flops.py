# FLOPs that torch's FlopCounterMode sees = `isoloop count --convention torch`, exactly, forward and
# backward; with fused attention = convention torch-flash.
from collections import Counter

import pytest
import torch
from architectures import CPU, named
from support import assert_groups_equal, built_in, count, exact, tokens
from torch.utils import flop_counter
from torch.utils.flop_counter import FlopCounterMode

BATCH, LENGTH = 2, 24

# Module of the package -> parts of the ledger it computes.
MODULES = {"router": {"router"}, "experts": {"experts"}, "shared_expert": {"shared_expert"},
           "shared_gate": {"shared_gate"}, "injection": {"injection"}, "exit_gate": {"exit_gate"},
           "adapters": {"adapter"}, "lm_head": {"head"},
           "attention": {"attention", "attention_core", "attention_gate"}, "ffn": {"dense_ffn"}}


def group_of(path):
    """The innermost named module of a path such as IsoloopForCausalLM.model.segments.0.layers.1.ffn.router."""
    return next((part for part in reversed(path.split(".")) if part in MODULES), None)


def module_flops(counter):
    """Forward FLOPs by group. FlopCounterMode books a module's work under all its ancestors too, so a
    module's own work is what its children do not explain."""
    totals = {path: sum(ops.values()) for path, ops in counter.get_flop_counts().items() if path != "Global"}
    groups = Counter()
    for path, flops in totals.items():
        children = sum(f for p, f in totals.items() if p.startswith(path + ".") and "." not in p[len(path) + 1:])
        if group_of(path) and flops != children:
            groups[group_of(path)] += flops - children
    return groups


def counted_flops(counted, scale):
    groups = Counter()
    parts = {part: module for module, names in MODULES.items() for part in names}
    for row in counted["rows"]:
        macs = exact(row["macs_per_token_forward"])
        if macs and row["part"] != "softmax" and not row.get("multi_token_prediction"):
            groups[parts[row["part"]]] += 2 * macs * scale
    return groups


def step_flops(model, ids, backward, counter):
    with counter:
        loss = model(ids, labels=ids, use_cache=False).loss
        if backward:
            loss.backward()
    return counter.get_total_flops()


def check(document, build, device="cpu", attention="eager", convention="torch", length=LENGTH, batch=BATCH, **mode):
    counted = count(document, "--convention", convention, "--context", length)
    model = build(document, device=device, attention=attention).train()
    ids = tokens(document, batch, length, device)
    scale = ids.numel()
    counter = FlopCounterMode(display=False, **mode)
    forward = step_flops(model, ids, False, counter)
    if attention == "eager":
        assert_groups_equal(document["name"], module_flops(counter), counted_flops(counted, scale), "forward FLOPs")
    expected = exact(counted["flops_per_token"]["forward"]) * scale
    assert forward == expected, f"{document['name']}: forward {forward:,}, isoloop {expected}, {forward - expected:+}"
    step = step_flops(model, ids, True, FlopCounterMode(display=False, **mode))
    expected = exact(counted["flops_per_token"]["train"]) * scale
    assert step == expected, f"{document['name']}: forward+backward {step:,}, isoloop {expected}, {step - expected:+}"
    return step


@pytest.mark.parametrize("document", CPU, ids=lambda d: d["name"])
def test_small(document, build):
    check(document, build)


FULL_SIZE = [("smelt-200m-e192", None), ("smelt-200m-e192", "middle"), ("qwen3-30b-a3b", None),
             ("qwen3-30b-a3b", "middle"), ("deepseek-v3", None), ("jetmoe-8b", None), ("ouro-1.4b", None),
             ("hrm-text-1b", None), ("mixtral-8x7b", "all x2")]


@pytest.mark.parametrize("name, loop", FULL_SIZE, ids=lambda v: str(v))
def test_full_size_without_storage(name, loop, build, proved):
    document = built_in(name, *(["--loop", loop] if loop else []))
    step = check(document, build, device="meta", length=4096, batch=1)
    proved(f"FLOPs of one step of 4096 tokens, {name}{' looped ' + loop if loop else ''}", f"{step:,} exact")


def fused_attention():
    """The CPU's fused operator, priced by torch's own formulas for the fused family."""
    aten = torch.ops.aten

    def forward(q, k, v, *args, out_shape=None, **kwargs):
        return flop_counter.sdpa_flop_count(q, k, v)

    def backward(grad, q, k, v, *args, out_shape=None, **kwargs):
        return flop_counter.sdpa_backward_flop_count(grad, q, k, v)

    known = flop_counter.flop_registry
    added = {aten._scaled_dot_product_flash_attention_for_cpu: forward,
             aten._scaled_dot_product_flash_attention_for_cpu_backward: backward}
    return {op: formula for op, formula in added.items() if op not in known}


@pytest.mark.parametrize("name", ["dense-mha", "moe", "moe-every-bias", "looped", "looped-tied-four-visits",
                                  "looped-layer-by-layer", "looped-truncated", "huginn-like", "ouro-like",
                                  "smelt-200m-shrunk-baseline", "smelt-200m-shrunk-looped"])
def test_fused(name, build):
    check(named(name), build, attention="sdpa", convention="torch-flash", custom_mapping=fused_attention())
