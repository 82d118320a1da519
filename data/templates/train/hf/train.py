"""Trains the model of this directory on a file of token ids, from scratch.

Plain PyTorch and transformers: data parallel under torchrun, bf16 autocast, AdamW, a WSD schedule
(warm-up, constant, cosine decay at the end). "loss" in its log is the cross entropy in nats per token. Tokens are one long array of little-endian unsigned
integers, 16 bits wide for vocabularies below 65,536 and 32 bits wide above.

    torchrun --standalone --nproc-per-node 8 train.py --tokens tokens.bin
"""
import argparse
import json
import math
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoConfig, AutoModelForCausalLM

HERE = Path(__file__).resolve().parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tokens", required=True, help="file of token ids")
    p.add_argument("--out", default=str(HERE / "checkpoint"))
    p.add_argument("--context", type=int, default=0, help="sequence length (default: the model's)")
    p.add_argument("--batch", type=int, default=1, help="sequences per rank and step")
    p.add_argument("--accumulate", type=int, default=1, help="batches per optimizer step")
    p.add_argument("--steps", type=int, default=10_000)
    p.add_argument("--warmup", type=int, default=500)
    p.add_argument("--decay", type=int, default=1_000, help="steps of decay at the end")
    p.add_argument("--lr", type=float, default=3e-4)
    p.add_argument("--weight-decay", type=float, default=0.1)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--gradient-checkpointing", action="store_true")
    p.add_argument("--compile", action="store_true")
    return p.parse_args()


def learning_rate(step, a):
    warm = min(1.0, (step + 1) / max(1, a.warmup))
    left = (a.steps - step) / max(1, a.decay)
    return a.lr * warm * (0.5 - 0.5 * math.cos(math.pi * min(1.0, left)))


def batches(tokens, context, a, rank, device):
    generator = np.random.default_rng([a.seed, rank])
    while True:
        starts = generator.integers(0, len(tokens) - context, size=a.batch)
        rows = np.stack([tokens[s : s + context].astype(np.int64) for s in starts])
        yield torch.from_numpy(rows).to(device)


def main():
    a = arguments()
    rank, local = int(os.environ.get("RANK", 0)), int(os.environ.get("LOCAL_RANK", 0))
    world = int(os.environ.get("WORLD_SIZE", 1))
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    if world > 1:
        dist.init_process_group("nccl" if cuda else "gloo")
    torch.manual_seed(a.seed)

    config = AutoConfig.from_pretrained(HERE, trust_remote_code=True)
    model = AutoModelForCausalLM.from_config(config, trust_remote_code=True, torch_dtype=torch.float32)
    model.config.use_cache = False
    model.to(device).train()
    if a.gradient_checkpointing:
        model.gradient_checkpointing_enable()
    step_model = torch.compile(model) if a.compile else model
    if world > 1:
        # Experts that no token chose have no gradient.
        step_model = DistributedDataParallel(step_model, device_ids=[local] if cuda else None,
                                             find_unused_parameters=True)
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": a.weight_decay},
                                   {"params": vectors, "weight_decay": 0.0}], lr=a.lr, betas=(0.9, 0.95))

    context = a.context or config.max_position_embeddings
    wide = np.uint16 if config.vocab_size < 1 << 16 else np.uint32
    data = batches(np.memmap(a.tokens, dtype=wide, mode="r"), context, a, rank, device)
    started = time.time()
    for step in range(a.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, a)
        entropy = balancing = 0.0
        for _ in range(a.accumulate):
            rows = next(data)
            with torch.autocast(device.type, dtype=torch.bfloat16):
                output = step_model(input_ids=rows, labels=rows)
            (output.loss / a.accumulate).backward()
            # What models are compared by is the cross entropy alone.
            aux = getattr(output, "aux_loss", None)
            extra = 0.0 if aux is None else config.router_aux_loss_coef * aux.item()
            entropy += (output.loss.item() - extra) / a.accumulate
            balancing += extra / a.accumulate
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if rank == 0 and (step % 10 == 0 or step + 1 == a.steps):
            print(json.dumps({"step": step, "loss": round(entropy, 4), "balancing_loss": round(balancing, 6),
                              "seconds": round(time.time() - started, 1)}), flush=True)
    if rank == 0:
        model.save_pretrained(a.out)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
