# What the proofs share: asking isoloop for counts, building the real modules, and comparing the two
# group by group, so that a failing proof says which group differs and by how much.
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
from collections import Counter
from fractions import Fraction

import torch
from transformers import AutoConfig, AutoModelForCausalLM

ROOT = pathlib.Path(__file__).resolve().parents[2]
ISOLOOP = os.environ.get("ISOLOOP", str(ROOT / "build" / "isoloop"))
FULL_SIZE_VOCAB = 50304  # for cells whose paper states none


def isoloop(*arguments, stdin=None):
    """Standard output of the program; its message if it fails."""
    done = subprocess.run([ISOLOOP, *map(str, arguments)], input=stdin, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"isoloop {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def exact(value):
    """A figure of the JSON output: a number, or text where it may pass 2^53."""
    return Fraction(str(value))


def count(document, *options):
    """The model's object of `isoloop count --format json`."""
    out = isoloop("count", "-", "--format", "json", "--quiet", *options, stdin=json.dumps(document))
    return json.loads(out)["models"][0]


@functools.lru_cache(maxsize=None)
def built_in(name, *options):
    """A built-in model as an architecture document, with a vocabulary if it states none."""
    document = json.loads(isoloop("import", name, "--format", "json", "--quiet", *options))
    document.setdefault("vocab_size", FULL_SIZE_VOCAB)
    return document


# ---- The package ----------------------------------------------------------------------------------


def emit(document, folder, *options):
    """The directory `isoloop emit --to hf` writes for an architecture."""
    folder = pathlib.Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    source = folder.parent / (folder.name + ".arch.json")
    source.write_text(json.dumps(document))
    isoloop("emit", source, "--to", "hf", "-o", folder, "--quiet", *options)
    return folder


def write_package(document, folder):
    """The emitted package; where an unlooped architecture has a native class instead, a looped one's with this
    architecture in its config, so that the package is proven on unlooped models too."""
    folder = emit(document, folder)
    config = json.loads((folder / "config.json").read_text())
    if config["model_type"] != "isoloop":
        from architectures import named
        shutil.rmtree(folder)
        folder = emit(named("looped"), folder)
        config = json.loads((folder / "config.json").read_text())
        config.update(architecture=document, tie_word_embeddings=document.get("tie_embeddings", False),
                      vocab_size=document["vocab_size"], hidden_size=document["hidden_size"],
                      num_hidden_layers=sum(s["layers"] for s in document["segments"]))
    config["torch_dtype"] = "float32"  # to compare to the last digit
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    return folder


def load_config(folder, **options):
    return AutoConfig.from_pretrained(folder, trust_remote_code=True, **options)


def from_config(config, **options):
    return AutoModelForCausalLM.from_config(config, trust_remote_code=True, **options)


class Builder:
    """Builds models from documents through one loaded package."""

    def __init__(self, folder):
        from architectures import CPU
        self.folder = write_package(CPU[0], folder)
        self.config_class = type(load_config(self.folder))

    def __call__(self, document, device="cpu", attention="eager", seed=0, **options):
        config = self.config_class(architecture=document, dtype="float32", **options)
        config.auto_map = load_config(self.folder).auto_map
        config._name_or_path = str(self.folder)
        torch.manual_seed(seed)
        with torch.device(device):
            return from_config(config, attn_implementation=attention)


def stir(model, seed=1):
    """Random values for everything that starts at zero or one, so that no term hides behind its start."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn(p.shape, generator=generator) * 0.05)
    return model


def tokens(document, batch=2, length=24, device="cpu", seed=2):
    if device == "meta":
        return torch.empty(batch, length, dtype=torch.long, device="meta")
    return torch.randint(document["vocab_size"], (batch, length), generator=torch.Generator().manual_seed(seed))


# ---- Groups ---------------------------------------------------------------------------------------

# Name of a parameter -> part of isoloop's ledger; the first that matches.
PARTS = [
    (r"embed_tokens\.weight", "embedding"),
    (r"lm_head\.weight", "head"),
    (r"final_norm\.", "final_norm"),
    (r"state_vectors", "state"),
    (r"\.injection\.", "injection"),
    (r"\.exit_gate\.", "exit_gate"),
    (r"\.adapters\.", "adapter"),
    (r"\.norms\.", "norm"),
    (r"router\.weight", "router"),
    (r"router\.(bias|selection_bias)|ffn\.output_bias", "router_bias"),
    (r"ffn\.experts\.\w+_proj", "experts"),
    (r"ffn\.experts\.\w+_bias", "expert_bias"),
    (r"shared_expert\.", "shared_expert"),
    (r"shared_gate\.", "shared_gate"),
    (r"ffn\.\w+_proj\.weight", "dense_ffn"),
    (r"ffn\.\w+_proj\.bias", "ffn_bias"),
    (r"attention\.gate_proj", "attention_gate"),
    (r"attention\.sinks", "sinks"),
    (r"attention\.kv_norm", "mla_norm"),
    (r"attention\.[qk]_norm", "qk_norm"),
    (r"attention\.(\w+\.bias|q_bias|output_bias)", "attention_bias"),
    (r"attention\.", "attention"),
]


def part_of(name, is_mla):
    part = next((part for pattern, part in PARTS if re.search(pattern, name)), None)
    assert part is not None, f"no part for parameter {name}"
    return "mla_norm" if part == "qk_norm" and is_mla else part


def module_parameters(model):
    """Entries by part of the real module."""
    mla = [s.attention.kind == "mla" for s in model.model.arch.segments]
    groups = Counter()
    for name, p in model.named_parameters():  # a shared tensor appears once
        segment = re.search(r"segments\.(\d+)\.", name)
        groups[part_of(name, bool(segment) and mla[int(segment[1])])] += p.numel()
    return groups


def counted_parameters(counted):
    """Entries by part of `isoloop count`."""
    groups = Counter()
    for row in counted["rows"]:
        if not row.get("multi_token_prediction"):
            groups[row["part"]] += exact(row["stored_params"])
    return groups


def assert_groups_equal(what, real, counted, unit="parameters"):
    """Fails with one line per group that differs."""
    lines = []
    for group in sorted(set(real) | set(counted)):
        a, b = real.get(group, 0), counted.get(group, 0)
        if a != b:
            lines.append(f"  {group}: module {a:,}, isoloop {float(b):,.0f}, difference {float(a - b):+,.0f} {unit}")
    assert not lines, f"{what}: groups differ\n" + "\n".join(lines)
