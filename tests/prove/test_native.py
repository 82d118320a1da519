# The native classes of transformers, built from data/models at full size without storage, have the
# parameters `isoloop count` says; and the package computes what three of them compute.
#
# Native classes are the independent witness: their authors know nothing of isoloop.
import json
import re

import pytest
import torch
from architectures import dense, gqa, mla, moe, plain
from support import ROOT, assert_groups_equal, count, exact, isoloop, stir, tokens
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

MODELS = sorted((ROOT / "data" / "models").glob("*.json"))
TEXT_CLASS = {"gemma3": "gemma3_text"}  # the text model of a class that also sees images

# Not in this version of transformers (their authors ship code with the weights): named, not hidden.
NO_CLASS = {"deepseek", "grok-1", "kimi_k2", "bailing_moe", "ouro", "huginn_raven", "nanbeige"}


def entries(model):
    """Parameters, and selection biases that some classes keep as buffers, by coarse group."""
    tensors = [*model.named_parameters(), *((n, b) for n, b in model.named_buffers() if "correction_bias" in n)]
    groups = {}
    for name, tensor in tensors:
        groups[group_of(name)] = groups.get(group_of(name), 0) + tensor.numel()
    return groups


def group_of(name):
    if re.search(r"lm_head|embed_out", name):
        return "head"
    if re.search(r"embed_tokens|wte\b|embed_in", name):
        return "embedding"
    # Routed experts; shared ones are dense, a selection bias is the router's, and JetMoE's attention has its own.
    if re.search(r"\bexperts\.|mlp\.(in|out)put_linear", name) and not re.search("correction_bias|attention", name):
        return "experts"
    return "rest"


def counted_entries(counted):
    groups = {}
    for row in counted["rows"]:
        if row.get("multi_token_prediction"):
            continue
        part = row["part"]
        group = {"head": "head", "embedding": "embedding", "experts": "experts", "expert_bias": "experts"}.get(part, "rest")
        groups[group] = groups.get(group, 0) + exact(row["stored_params"])
    return groups


def native(config):
    config = dict(config)
    model_type = config.pop("model_type")
    config.pop("quantization_config", None)  # how weights are stored, not how many
    if model_type in TEXT_CLASS:
        model_type, config = TEXT_CLASS[model_type], dict(config["text_config"])
        config.pop("model_type", None)
    built = AutoConfig.for_model(model_type, **config)
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(built)


@pytest.mark.parametrize("file", MODELS, ids=lambda f: f.stem)
def test_same_parameters(file, proved):
    config = json.loads(file.read_text())["config"]
    if config["model_type"] not in CONFIG_MAPPING:
        assert config["model_type"] in NO_CLASS
        pytest.skip(f"{file.stem}: transformers has no class for {config['model_type']}")
    model = native(config)
    counted = json.loads(isoloop("count", file.stem, "--format", "json", "--quiet"))["models"][0]
    total = sum(entries(model).values())
    assert_groups_equal(f"{file.stem} ({type(model).__name__})", entries(model), counted_entries(counted))
    assert total == exact(counted["params"]["total"])
    proved(f"native {type(model).__name__}, {file.stem}", f"{total:,} exact")


# ---- The same numbers out ------------------------------------------------------------------------

RENAMED = [
    (r"segments\.0\.layers\.(\d+)\.attention\.", r"layers.\1.self_attn."),
    (r"segments\.0\.layers\.(\d+)\.norms\.0\.attention_in\.", r"layers.\1.input_layernorm."),
    (r"segments\.0\.layers\.(\d+)\.norms\.0\.ffn_in\.", r"layers.\1.post_attention_layernorm."),
    (r"segments\.0\.layers\.(\d+)\.ffn\.router\.weight", r"layers.\1.mlp.gate.weight"),
    (r"segments\.0\.layers\.(\d+)\.ffn\.", r"layers.\1.mlp."),
    (r"model\.final_norm\.", "model.norm."),
]


def native_weights(model):
    """The package's weights under the names of transformers' classes; gate and up of experts are one tensor there."""
    weights = {}
    for name, value in model.state_dict().items():
        for pattern, new in RENAMED:
            name = re.sub(pattern, new, name)
        weights[name] = value
    for name in [n for n in weights if n.endswith("mlp.experts.gate_proj")]:
        up = weights.pop(name.replace("gate_proj", "up_proj"))
        weights[name.replace("gate_proj", "gate_up_proj")] = torch.cat([weights.pop(name), up], dim=1)
    return weights


COMMON = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
              vocab_size=160, rms_norm_eps=1e-6, tie_word_embeddings=False, rope_theta=10000.0)
TWINS = {
    "llama": (plain("twin", gqa(), dense(48)), dict(intermediate_size=48)),
    "qwen3": (plain("twin", gqa(qk_norm="per_head"), dense(48)), dict(intermediate_size=48)),
    "mixtral": (plain("twin", gqa(), moe(8, 2, 24)), dict(intermediate_size=24, num_local_experts=8, num_experts_per_tok=2)),
    "qwen3_moe": (plain("twin", gqa(qk_norm="per_head"), moe(8, 2, 24)),
                  dict(moe_intermediate_size=24, num_experts=8, num_experts_per_tok=2, norm_topk_prob=True)),
}


@pytest.mark.parametrize("kind", TWINS)
def test_same_logits(kind, build, proved):
    document, more = TWINS[kind]
    ours = stir(build(document)).eval()
    theirs = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **COMMON, **more), attn_implementation="eager")
    missing = theirs.load_state_dict(native_weights(ours), strict=False)
    assert not missing.missing_keys and not missing.unexpected_keys, missing
    ids = tokens(document)
    with torch.no_grad():
        difference = (ours(ids).logits - theirs.eval()(ids).logits).abs().max().item()
    assert difference < 1e-5
    proved(f"logits of the package and {type(theirs).__name__}", f"largest difference {difference:.1e}")
