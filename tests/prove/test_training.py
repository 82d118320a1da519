# A small baseline and the looped model that `isoloop match` finds for it train on this repository's
# documents, byte by byte: both losses fall, and a real optimizer step costs the planned FLOPs.
import csv
import json
import os
import pathlib

import torch
from support import ROOT, count, exact, isoloop, write_package, load_config, from_config
from torch.utils.flop_counter import FlopCounterMode

STEPS, BATCH, LENGTH, BYTES = 240, 8, 64, 256
OUT = pathlib.Path(os.environ.get("ISOLOOP_PROVE_OUT", ROOT / "build-prove"))

BASELINE = {
    "schema": "isoloop/arch/v1", "name": "tiny-baseline", "hidden_size": 96, "vocab_size": BYTES, "context": LENGTH,
    "segments": [{"name": "layers", "layers": 4,
                  "attention": {"kind": "gqa", "heads": 4, "kv_heads": 2, "head_size": 24},
                  "ffn": {"kind": "moe", "experts": 16, "top_k": 2, "expert_size": 64}}],
}


def matched():
    """The first answer of `isoloop match` for the middle half looped twice, equal within 2 %."""
    out = isoloop("match", "-", "--convention", "torch", "--loop", "middle", "--min-head", 4, "--tol",
                  "flops=2%,params=2%,kv=2%", "--align", "hidden=4,expert=4,head=2,experts=1", "--format", "json",
                  "--quiet", stdin=json.dumps(BASELINE))
    answers = json.loads(out)["answers"]
    assert answers, "isoloop match found no looped model for the tiny baseline"
    return answers[0]["arch"]


def corpus():
    """The repository's own documents as bytes."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    data = b"\n".join(f.read_bytes() for f in files)
    assert len(data) > 20_000
    return torch.tensor(list(data), dtype=torch.long)


def batch(data, generator):
    starts = torch.randint(len(data) - LENGTH, (BATCH,), generator=generator)
    return torch.stack([data[s : s + LENGTH] for s in starts])


def train(document, folder):
    """Loss of every step, and FLOPs of the first one."""
    torch.manual_seed(0)
    model = from_config(load_config(write_package(document, folder)), attn_implementation="eager").train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)
    data, generator, losses, flops = corpus(), torch.Generator().manual_seed(0), [], None
    for step in range(STEPS):
        ids = batch(data, generator)
        counter = FlopCounterMode(display=False) if step == 0 else None
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1, (step + 1) / 20)
        if counter:
            with counter:
                loss = model(ids, labels=ids, use_cache=False).loss
                loss.backward()
            flops = counter.get_total_flops()
        else:
            loss = model(ids, labels=ids, use_cache=False).loss
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses, flops


def test_baseline_and_match_train(tmp_path, proved):
    models = {"baseline": BASELINE, "match": matched()}
    logged, steps = {}, {}
    for name, document in models.items():
        logged[name], flops = train(document, tmp_path / name)
        planned = exact(count(document, "--convention", "torch", "--context", LENGTH)["flops_per_token"]["train"])
        assert flops == planned * BATCH * LENGTH, f"{name}: step {flops:,}, planned {planned * BATCH * LENGTH}"
        steps[name] = flops
        first, last = sum(logged[name][:10]) / 10, sum(logged[name][-20:]) / 20
        assert last < 0.6 * first, f"{name}: loss {first:.3f} -> {last:.3f}"
        proved(f"training, {name}: {STEPS} steps of {BATCH * LENGTH} bytes, {flops:,} FLOPs each",
               f"loss {first:.3f} -> {last:.3f}")
    assert abs(steps["match"] / steps["baseline"] - 1) <= 0.02
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "training.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["step", "tokens", "train_flops_baseline", "loss_baseline", "train_flops_match", "loss_match"])
        for i, (a, b) in enumerate(zip(logged["baseline"], logged["match"]), 1):
            rows.writerow([i, i * BATCH * LENGTH, i * steps["baseline"], f"{a:.5f}", i * steps["match"], f"{b:.5f}"])
