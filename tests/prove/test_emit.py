# What `isoloop emit --to hf` writes loads in transformers and has the parameters `isoloop count` says:
# native classes without any code of ours, looped models as a package beside their config.
import json

import pytest
import torch
from support import assert_groups_equal, built_in, count, counted_parameters, emit, exact, isoloop, module_parameters
from test_native import counted_entries, entries
from transformers import AutoConfig, AutoModelForCausalLM

# One or more per native class the writer knows.
NATIVE = ["llama-3.2-1b", "llama-3.1-70b", "qwen2.5-0.5b", "qwen3-0.6b", "qwen3-8b", "mistral-7b-v0.1", "mixtral-8x7b",
          "qwen3-30b-a3b", "qwen3-235b-a22b", "qwen1.5-moe-a2.7b", "olmoe-1b-7b", "gpt-oss-20b", "olmo-2-7b",
          "moonlight-16b-a3b", "smelt-200m-e192"]
LOOPED = [("smelt-200m-e192", "middle"), ("qwen3-30b-a3b", "middle x4"), ("gpt-oss-20b", "each x2"),
          ("moonlight-16b-a3b", "all x2"), ("ouro-1.4b", None), ("hrm-text-1b", None)]


def on_meta(folder, trust=False):
    config = AutoConfig.from_pretrained(folder, trust_remote_code=trust)
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config, trust_remote_code=trust)


@pytest.mark.parametrize("name", NATIVE)
def test_native_config(name, tmp_path, proved):
    document = built_in(name)
    folder = emit(document, tmp_path / "run")
    assert "auto_map" not in json.loads((folder / "config.json").read_text())
    model, counted = on_meta(folder), count(document)
    assert_groups_equal(name, entries(model), counted_entries(counted))
    total = sum(entries(model).values())
    assert total == exact(counted["params"]["total"])
    proved(f"emitted config, {name} as {type(model).__name__}", f"{total:,} exact")


@pytest.mark.parametrize("name, loop", LOOPED, ids=lambda v: str(v))
def test_package(name, loop, tmp_path, proved):
    document = built_in(name, *(["--loop", loop] if loop else []))
    model, counted = on_meta(emit(document, tmp_path / "run"), trust=True), count(document)
    assert_groups_equal(name, module_parameters(model), counted_parameters(counted))
    total = sum(p.numel() for p in model.parameters())
    proved(f"emitted package, {name} {loop or ''}", f"{total:,} by part exact")


def test_a_package_read_back_counts_the_same(tmp_path):
    document = built_in("smelt-200m-e192", "--loop", "middle")
    again = json.loads(isoloop("import", emit(document, tmp_path / "run") / "config.json", "--quiet"))
    assert count(again)["params"] == count(document)["params"]
    assert count(again)["flops_per_token"] == count(document)["flops_per_token"]
