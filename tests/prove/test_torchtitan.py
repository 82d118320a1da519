# torchtitan's own Qwen3 model, built on the CPU from the module `isoloop emit` writes, has the parameters
# `isoloop count` says, and computes what isoloop's package computes, loops included, forward and backward.
import importlib
import importlib.util
import sys
import warnings

import pytest
import torch
from architectures import dense, gqa, model as architecture, moe, plain, segment
from support import assert_groups_equal, built_in, count, counted_parameters, exact, tokens
from trainers import LOOPED, assert_close, emitted, physical_layers, reference, weighting

# Names of torchtitan's parameters -> part of isoloop's ledger; the first that matches.
PARTS = [("tok_embeddings.", "embedding"), ("lm_head.", "head"), ("q_norm", "qk_norm"), ("k_norm", "qk_norm"),
         ("attention_norm", "norm"), ("ffn_norm", "norm"), ("attention.", "attention"), ("router.gate.weight", "router"),
         ("router.", "router_bias"), ("routed_experts.", "experts"), ("shared_experts.", "shared_expert"),
         ("feed_forward.", "dense_ffn"), ("norm.", "final_norm")]


@pytest.fixture(scope="module")
def titan():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("torchtitan", reason="torchtitan is not installed")
        return importlib.import_module("torchtitan.models.qwen3")


def model_config(document, folder):
    """What the emitted module registers; it is loaded as if copied beside torchtitan's Qwen3."""
    file = next(emitted(document, "torchtitan", folder).glob("isoloop_*.py"))
    spec = importlib.util.spec_from_file_location(f"torchtitan.models.qwen3.{file.stem}", file)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    configs = {}
    module.register(configs)
    assert list(configs) == [document["name"]]
    return configs[document["name"]]()


def assert_counted(document, model):
    groups = {}
    for name, p in model.named_parameters():
        part = next(part for text, part in PARTS if text in name)
        groups[part] = groups.get(part, 0) + p.numel()
    # The selection bias is a buffer there; isoloop counts it among the router's biases.
    bias = sum(b.numel() for name, b in model.named_buffers() if "expert_bias" in name)
    if bias:
        groups["router_bias"] = groups.get("router_bias", 0) + bias
    counted = count(document)
    assert_groups_equal(document["name"], groups, counted_parameters(counted))
    assert sum(groups.values()) == exact(counted["params"]["total"])
    return f"{sum(groups.values()):,} by part exact"


MODELS = [
    plain("titan-dense", gqa(4, 4, 16), dense(48)),
    plain("titan-explicit-head-size", gqa(4, 2, 24), dense(48), tie_embeddings=True),
    plain("titan-moe", gqa(4, 2, 16), moe(8, 2, 40), layers=3),
    plain("titan-moe-shared", gqa(4, 2, 16), moe(8, 2, 40, shared_size=80, router_bias=True)),
    plain("titan-moe-selection-bias", gqa(4, 2, 16, qk_norm="per_head"), moe(8, 2, 40, selection_bias=True)),
    architecture("titan-first-dense", [segment("dense", 1, gqa(4, 2, 16), dense(96)),
                                       segment("moe", 2, gqa(4, 2, 16), moe(8, 2, 40))]),
]


@pytest.mark.parametrize("document", MODELS, ids=lambda d: d["name"])
def test_torchtitan_has_the_same_parameters(document, titan, tmp_path, proved):
    proved(f"torchtitan, {document['name']}", assert_counted(document, model_config(document, tmp_path).build()))


@pytest.mark.parametrize("name", ["qwen3-0.6b", "qwen3-30b-a3b", "smelt-200m-e192"])
def test_torchtitan_full_size(name, titan, tmp_path, proved):
    document = {**built_in(name), "name": name}
    with torch.device("meta"):
        model = model_config(document, tmp_path).build()
    proved(f"torchtitan, {name}", assert_counted(document, model))


def titan_values(layers, rest, kv_heads):
    """The package's values under torchtitan's names."""
    values = {"tok_embeddings.weight": rest["embed_tokens.weight"], "norm.weight": rest["final_norm.weight"]}
    if "lm_head.weight" in rest:
        values["lm_head.weight"] = rest["lm_head.weight"]
    for i, layer in enumerate(layers):
        parts = [layer[f"attention.{p}_proj.weight"].unflatten(0, (kv_heads, -1)) for p in "qkv"]
        own = {"attention.qkv_linear.wqkv.weight": torch.cat(parts, dim=1).flatten(0, 1),
               "attention.wo.weight": layer["attention.o_proj.weight"],
               "attention_norm.weight": layer["norms.0.attention_in.weight"],
               "ffn_norm.weight": layer["norms.0.ffn_in.weight"],
               "moe.router.gate.weight": layer["ffn.router.weight"]}
        for letter in "qk":
            if f"attention.{letter}_norm.weight" in layer:
                own[f"attention.{letter}_norm.weight"] = layer[f"attention.{letter}_norm.weight"]
        for theirs, ours in [("w1_EFD", "gate"), ("w2_EDF", "down"), ("w3_EFD", "up")]:
            own[f"moe.routed_experts.inner_experts.{theirs}"] = layer[f"ffn.experts.{ours}_proj"]
        for theirs, ours in [("w1", "gate"), ("w2", "down"), ("w3", "up")]:
            if f"ffn.shared_expert.{ours}_proj.weight" in layer:
                own[f"moe.shared_experts.{theirs}.weight"] = layer[f"ffn.shared_expert.{ours}_proj.weight"]
        values.update({f"layers.{i}.{name}": value for name, value in own.items()})
    return values


@pytest.fixture
def full_precision(monkeypatch):
    """torchtitan rounds what its experts multiply to bf16; the comparison is to be closer than that."""
    experts = importlib.import_module("torchtitan.models.common.moe").GroupedExperts

    def grouped_mm(self, *, A, B_t, offs):
        return torch.cat([rows @ w for rows, w in zip(A.tensor_split(offs[:-1].long()), B_t)])

    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda self: self)
    monkeypatch.setattr(experts, "_grouped_mm", grouped_mm)


@pytest.mark.parametrize("document", LOOPED, ids=lambda d: d["name"])
def test_torchtitan_runs_the_loop(document, build, titan, full_precision, tmp_path, proved):
    """Parameters by part; logits and gradients of the package with the same weights."""
    config = model_config(document, tmp_path)
    plain_attention = importlib.import_module("torchtitan.models.common.attention").ScaledDotProductAttention.Config
    for layer in config.layers:
        layer.attention.rope.theta = 10000.0  # the package's
        layer.attention.inner_attention = plain_attention()  # the others cannot go backward on a CPU
    model = config.build()
    parts = assert_counted(document, model)
    package, ids, logits, gradients = reference(build, document)
    kv_heads = document["segments"][0]["attention"]["kv_heads"]
    weights = titan_values(*physical_layers(package, dict(package.named_parameters())), kv_heads)
    own = dict(model.named_parameters())
    if document.get("tie_embeddings"):
        weights = {name: w for name, w in weights.items() if name in own}
    assert set(own) == set(weights)
    with torch.no_grad():
        model.init_states()
        for name, p in own.items():
            p.copy_(weights[name])
    positions = torch.arange(ids.shape[1]).expand_as(ids)
    real = model(ids, positions=positions)
    real.backward(weighting(logits))
    assert_close("logits", real.detach(), logits)
    for name, wanted in titan_values(*physical_layers(package, gradients), kv_heads).items():
        if name in own:
            assert_close(f"gradient of {name}", own[name].grad, wanted)
    proved(f"torchtitan, {document['name']}", f"{parts}; logits and gradients of the package")
