# Megatron-Core's own GPT model, built on the CPU from the arguments `isoloop emit` writes, has the
# parameters `isoloop count` says.
#
# The vocabulary is the unpadded one; Megatron's training script pads it, as emit says. torchtitan builds
# its models inside its whole trainer (datasets, loggers, checkpointing), so it is tried only where it is
# installed, and skipped by name elsewhere.
import importlib
import json
import warnings

import pytest
import torch
import torch.nn.functional as F
import yaml
from architectures import dense, gqa, moe, plain
from support import assert_groups_equal, count, counted_parameters, exact, isoloop

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


def emitted_arguments(document, folder):
    """--names and values that `isoloop emit --to megatron` writes."""
    source = folder / "arch.json"
    source.write_text(json.dumps(document))
    isoloop("emit", source, "--to", "megatron", "-o", folder / "run", "--quiet")
    return yaml.safe_load((folder / "run" / "model.yaml").read_text())["MODEL_ARGS"]


# Arguments whose field of TransformerConfig has another name, and those that set something else.
RENAMED = {"num_experts": "num_moe_experts"}
ELSEWHERE = {"group_query_attention", "swiglu", "disable_bias_linear", "vocab_size", "position_embedding_type",
             "make_vocab_size_divisible_by", "untie_embeddings_and_output_weights", "seq_length",
             "max_position_embeddings"}


def build(written):
    """The model that Megatron's own training script would build from these arguments. One that its configuration
    does not know stops the build."""
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.transformer.transformer_config import TransformerConfig
    args = {name.removeprefix("--").replace("-", "_"): value for name, value in written.items()}
    gated = args.get("swiglu", False)
    settings = {RENAMED.get(name, name): value for name, value in args.items() if name not in ELSEWHERE}
    settings.update(add_bias_linear=not args.get("disable_bias_linear", False), use_cpu_initialization=True,
                    gated_linear_unit=gated, activation_func=F.silu if gated else F.gelu)
    spec = get_gpt_layer_local_spec(num_experts=args.get("num_experts"), moe_grouped_gemm=False,
                                    qk_layernorm=args.get("qk_layernorm", False), normalization=args["normalization"])
    return GPTModel(TransformerConfig(**settings), spec, vocab_size=args["vocab_size"], max_sequence_length=64,
                    share_embeddings_and_output_weights=not args.get("untie_embeddings_and_output_weights", False),
                    position_embedding_type=args["position_embedding_type"])


MODELS = [
    plain("megatron-dense", gqa(4, 4, 16), dense(48)),
    plain("megatron-dense-ungated", gqa(4, 2, 16), dense(48, gated=False)),
    plain("megatron-explicit-head-size", gqa(4, 2, 24), dense(48)),
    plain("megatron-moe", gqa(4, 2, 16), moe(8, 2, 40), layers=3),
    plain("megatron-moe-tied", gqa(4, 2, 16), moe(8, 2, 40), tie_embeddings=True),
    plain("megatron-moe-shared", gqa(4, 2, 16), moe(8, 2, 40, shared_size=80)),
    plain("megatron-moe-qk-norm", gqa(4, 2, 16, qk_norm="per_head"), moe(8, 2, 40)),
]


@pytest.mark.parametrize("document", MODELS, ids=lambda d: d["name"])
def test_megatron_core_has_the_same_parameters(document, megatron, tmp_path, proved):
    counted = count(document)
    model, groups = build(emitted_arguments(document, tmp_path)), {}
    for name, p in model.named_parameters():
        part = next(part for text, part in PARTS if text in name)
        groups[part] = groups.get(part, 0) + p.numel()
    assert_groups_equal(document["name"], groups, counted_parameters(counted))
    assert sum(groups.values()) == exact(counted["params"]["total"])
    proved(f"Megatron-Core {megatron.__version__}, {document['name']}", f"{sum(groups.values()):,} by part exact")


def test_torchtitan():
    try:
        importlib.import_module("torchtitan.models.qwen3")
    except Exception as error:
        pytest.skip(f"torchtitan: {type(error).__name__}: {error}")
