# Megatron-Core's own GPT model, built on the CPU, has the parameters `isoloop count` says.
#
# The arguments are written out by hand from the architecture, by Megatron's names; what `isoloop emit`
# writes can be compared with them. torchtitan builds its models inside its whole trainer (datasets,
# loggers, checkpointing), so it is tried only where it is installed, and skipped by name elsewhere.
import importlib
import warnings

import pytest
import torch
import torch.nn.functional as F
from architectures import dense, gqa, moe, plain
from support import assert_groups_equal, count, counted_parameters, exact

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


def arguments(segment, hidden):
    """A segment by Megatron's names."""
    a, f = segment["attention"], segment["ffn"]
    result = dict(
        num_layers=segment["layers"], hidden_size=hidden, num_attention_heads=a["heads"],
        num_query_groups=a["kv_heads"], kv_channels=a["head_size"], qk_layernorm=a.get("qk_norm") == "per_head",
        ffn_hidden_size=f.get("size", 4 * hidden), gated_linear_unit=f.get("gated", True), activation_func=F.silu,
        add_bias_linear=False, normalization="RMSNorm", use_cpu_initialization=True)
    if f["kind"] == "moe":
        result.update(num_moe_experts=f["experts"], moe_router_topk=f["top_k"], moe_ffn_hidden_size=f["expert_size"],
                      moe_shared_expert_intermediate_size=f.get("shared_size") or None, moe_grouped_gemm=False)
    return result


def build(document):
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.transformer.transformer_config import TransformerConfig
    settings = arguments(document["segments"][0], document["hidden_size"])
    spec = get_gpt_layer_local_spec(num_experts=settings.get("num_moe_experts"), moe_grouped_gemm=False,
                                    qk_layernorm=settings["qk_layernorm"], normalization="RMSNorm")
    return GPTModel(TransformerConfig(**settings), spec, vocab_size=document["vocab_size"], max_sequence_length=64,
                    share_embeddings_and_output_weights=document.get("tie_embeddings", False),
                    position_embedding_type="rope")


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
def test_megatron_core_has_the_same_parameters(document, megatron, proved):
    counted = count(document)
    model, groups = build(document), {}
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
