# Megatron-Core's own GPT model, built on the CPU from the arguments `isoloop emit` writes, has the
# parameters `isoloop count` says; with the emitted layer file it computes the loop that isoloop's package
# computes, forward and backward.
#
# The vocabulary is the unpadded one; Megatron's training script pads it, as emit says.
import contextlib
import importlib
import importlib.util
import warnings

import pytest
import torch
import torch.nn.functional as F
import yaml
from architectures import dense, gqa, moe, plain
from support import assert_groups_equal, count, counted_parameters, exact
from trainers import LOOPED, assert_close, emitted, physical_layers, reference, weighting

# Names of Megatron's parameters -> part of isoloop's ledger; the first that matches.
PARTS = [("embedding.", "embedding"), ("output_layer.", "head"), ("final_layernorm", "final_norm"),
         ("q_layernorm", "qk_norm"), ("k_layernorm", "qk_norm"), ("layernorm", "norm"),
         ("self_attention.", "attention"), ("mlp.router", "router"), ("mlp.experts", "experts"),
         ("mlp.shared_experts", "shared_expert"), ("mlp.", "dense_ffn")]


@pytest.fixture(scope="module")
def megatron(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about fused kernels that a CPU does not have
        core = pytest.importorskip("megatron.core", reason="megatron-core is not installed")
        state = importlib.import_module("megatron.core.parallel_state")
    store = tmp_path_factory.mktemp("store") / "group"
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
    state.initialize_model_parallel(1, 1)
    yield core
    state.destroy_model_parallel()
    torch.distributed.destroy_process_group()


def emitted_arguments(folder):
    """--names and values that `isoloop emit --to megatron` writes."""
    return yaml.safe_load((folder / "model.yaml").read_text())["MODEL_ARGS"]


# Arguments whose field of TransformerConfig has another name, and those that set something else.
RENAMED = {"num_experts": "num_moe_experts"}
ELSEWHERE = {"group_query_attention", "swiglu", "disable_bias_linear", "vocab_size", "position_embedding_type",
             "make_vocab_size_divisible_by", "untie_embeddings_and_output_weights", "seq_length",
             "max_position_embeddings", "spec"}


def configuration(written):
    """The TransformerConfig that Megatron's own training script would build from these arguments. One that it does
    not know stops the build. Numbers that the arguments leave open are the package's."""
    from megatron.core.transformer.transformer_config import TransformerConfig
    args = {name.removeprefix("--").replace("-", "_"): value for name, value in written.items()}
    gated = args.get("swiglu", False)
    settings = {RENAMED.get(name, name): value for name, value in args.items() if name not in ELSEWHERE}
    settings.update(add_bias_linear=not args.get("disable_bias_linear", False), use_cpu_initialization=True,
                    gated_linear_unit=gated, activation_func=F.silu if gated else F.gelu, layernorm_epsilon=1e-6,
                    hidden_dropout=0.0, attention_dropout=0.0, bias_dropout_fusion=False, masked_softmax_fusion=False,
                    moe_router_load_balancing_type="none")
    return TransformerConfig(**settings), args


def build_model(written, layer_file=None):
    """The model with Megatron's own layers, or with those of the emitted layer file."""
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_decoder_block_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    config, args = configuration(written)
    block_spec = load(layer_file).block_spec if layer_file else get_gpt_decoder_block_spec
    spec = block_spec(config, False, normalization=args["normalization"])
    return GPTModel(config, spec, vocab_size=args["vocab_size"], max_sequence_length=64,
                    share_embeddings_and_output_weights=not args.get("untie_embeddings_and_output_weights", False),
                    position_embedding_type=args["position_embedding_type"])


def load(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODELS = [
    plain("megatron-dense", gqa(4, 4, 16), dense(48)),
    plain("megatron-dense-ungated", gqa(4, 2, 16), dense(48, gated=False)),
    plain("megatron-explicit-head-size", gqa(4, 2, 24), dense(48)),
    plain("megatron-moe", gqa(4, 2, 16), moe(8, 2, 40), layers=3),
    plain("megatron-moe-tied", gqa(4, 2, 16), moe(8, 2, 40), tie_embeddings=True),
    plain("megatron-moe-shared", gqa(4, 2, 16), moe(8, 2, 40, shared_size=80)),
    plain("megatron-moe-qk-norm", gqa(4, 2, 16, qk_norm="per_head"), moe(8, 2, 40)),
]


def parameters_by_part(model):
    groups = {}
    for name, p in model.named_parameters():
        part = next(part for text, part in PARTS if text in name)
        groups[part] = groups.get(part, 0) + p.numel()
    return groups


def assert_counted(document, model):
    counted, groups = count(document), parameters_by_part(model)
    assert_groups_equal(document["name"], groups, counted_parameters(counted))
    assert sum(groups.values()) == exact(counted["params"]["total"])
    return f"{sum(groups.values()):,} by part exact"


@pytest.mark.parametrize("document", MODELS, ids=lambda d: d["name"])
def test_megatron_core_has_the_same_parameters(document, megatron, tmp_path, proved):
    model = build_model(emitted_arguments(emitted(document, "megatron", tmp_path)))
    proved(f"Megatron-Core {megatron.__version__}, {document['name']}", assert_counted(document, model))


# ---- Loops --------------------------------------------------------------------------------------------


@pytest.fixture
def on_cpu(monkeypatch):
    """Megatron-Core asks for the current GPU and its random state even where it computes on a CPU."""
    from megatron.core import tensor_parallel
    from megatron.core.transformer.moe import moe_utils
    monkeypatch.setattr(torch.cuda, "current_device", lambda: "cpu")
    monkeypatch.setattr(tensor_parallel.get_cuda_rng_tracker(), "fork", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(moe_utils, "te_general_gemm", None, raising=False)


def qkv(layer, kv_heads):
    """Megatron keeps the queries of a group beside its key and value."""
    parts = [layer[f"attention.{p}_proj.weight"] for p in "qkv"]
    return torch.cat([p.unflatten(0, (kv_heads, -1)) for p in parts], dim=1).flatten(0, 1)


def gate_up(gate, up):
    return torch.cat([gate, up], dim=-2)


def megatron_values(layers, rest, kv_heads):
    """The package's values under Megatron's names."""
    values = {"embedding.word_embeddings.weight": rest["embed_tokens.weight"],
              "decoder.final_layernorm.weight": rest["final_norm.weight"]}
    if "lm_head.weight" in rest:
        values["output_layer.weight"] = rest["lm_head.weight"]
    for i, layer in enumerate(layers):
        own = {"self_attention.linear_qkv.weight": qkv(layer, kv_heads),
               "self_attention.linear_proj.weight": layer["attention.o_proj.weight"],
               "input_layernorm.weight": layer["norms.0.attention_in.weight"],
               "pre_mlp_layernorm.weight": layer["norms.0.ffn_in.weight"],
               "mlp.router.weight": layer["ffn.router.weight"]}
        for letter in "qk":
            if f"attention.{letter}_norm.weight" in layer:
                own[f"self_attention.{letter}_layernorm.weight"] = layer[f"attention.{letter}_norm.weight"]
        for e, down in enumerate(layer["ffn.experts.down_proj"]):
            expert = f"mlp.experts.local_experts.{e}"
            own[f"{expert}.linear_fc1.weight"] = gate_up(layer["ffn.experts.gate_proj"][e], layer["ffn.experts.up_proj"][e])
            own[f"{expert}.linear_fc2.weight"] = down
        if "ffn.shared_expert.down_proj.weight" in layer:
            own["mlp.shared_experts.linear_fc1.weight"] = gate_up(layer["ffn.shared_expert.gate_proj.weight"],
                                                                  layer["ffn.shared_expert.up_proj.weight"])
            own["mlp.shared_experts.linear_fc2.weight"] = layer["ffn.shared_expert.down_proj.weight"]
        values.update({f"decoder.layers.{i}.{name}": value for name, value in own.items()})
    return values


@pytest.mark.parametrize("document", LOOPED, ids=lambda d: d["name"])
def test_the_layer_file_runs_the_loop(document, build, megatron, on_cpu, tmp_path, proved):
    """Parameters by part; logits and gradients of the package with the same weights."""
    package, ids, logits, gradients = reference(build, document)
    folder = emitted(document, "megatron", tmp_path)
    model = build_model(emitted_arguments(folder), folder / "looped_layers.py")
    parts = assert_counted(document, model)
    kv_heads = document["segments"][0]["attention"]["kv_heads"]
    weights = megatron_values(*physical_layers(package, dict(package.named_parameters())), kv_heads)
    own = dict(model.named_parameters())
    assert set(own) == set(weights)
    with torch.no_grad():
        for name, p in own.items():
            p.copy_(weights[name])
    length = ids.shape[1]
    mask = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)[None, None]
    real = model(ids, torch.arange(length).expand_as(ids), mask)
    real.backward(weighting(logits))
    assert_close("logits", real.detach(), logits)
    for name, wanted in megatron_values(*physical_layers(package, gradients), kv_heads).items():
        assert_close(f"gradient of {name}", own[name].grad, wanted)
    proved(f"Megatron-Core {megatron.__version__} with the emitted layer file, {document['name']}",
           f"{parts}; logits and gradients of the package")


def test_the_layer_file_refuses_what_it_cannot_run(megatron, on_cpu, tmp_path):
    folder = emitted(LOOPED[0], "megatron", tmp_path)
    written, layers = emitted_arguments(folder), load(folder / "looped_layers.py")
    for more, message in [({"recompute-granularity": "full", "recompute-method": "uniform", "recompute-num-layers": 1}, "core_attn and moe_act only"),
                          ({"recompute-granularity": "selective", "recompute-modules": ["mlp"]}, "core_attn and moe_act")]:
        config, _ = configuration({**written, **{f"--{k}": v for k, v in more.items()}})
        with pytest.raises(ValueError, match=message):
            layers.block_spec(config, False, normalization="RMSNorm")
