# The directories `isoloop emit` writes train as they say they do: one run by its run.sh, a pair as a Slurm
# array with `srun` replaced by what it runs, and two ranks by torchrun.
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from support import isoloop
from test_training import BASELINE, corpus

STEPS = 30


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A baseline and its match, emitted together, with this repository's documents as tokens."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "baseline.json").write_text(json.dumps(BASELINE))
    isoloop("match", folder / "baseline.json", "--convention", "torch", "--min-head", 4, "--tol",
            "flops=2%,params=2%,kv=2%", "--align", "hidden=4,expert=4,head=2,experts=1", "-o", folder / "pair", "--quiet")
    isoloop("emit", folder / "pair", "--to", "hf", "-o", folder / "out", "--quiet")
    np.asarray(corpus(), dtype=np.uint16).tofile(folder / "tokens.bin")
    (folder / "bin").mkdir()
    (folder / "bin" / "srun").write_text('#!/bin/sh\nexec "$@"\n')
    (folder / "bin" / "srun").chmod(0o755)
    return folder


def train(runs, *command, ranks=1, **more):
    """The logged steps of a training command."""
    path = os.pathsep.join([str(runs / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "TOKENS": str(runs / "tokens.bin"), "GPUS_PER_NODE": str(ranks),
                   "OMP_NUM_THREADS": "1", **more}
    done = subprocess.run(["bash", *map(str, command)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


ARGUMENTS = ["--steps", STEPS, "--warmup", 3, "--decay", 5, "--batch", 8, "--lr", 3e-3]


@pytest.mark.parametrize("number", [0, 1])
def test_a_run_of_the_matrix_trains(runs, number, proved):
    matrix = [json.loads(line) for line in (runs / "out" / "runs.jsonl").read_text().splitlines()]
    assert [run["role"] for run in matrix] == ["baseline", "match"]
    log = train(runs, runs / "out" / "run.sh", number, *ARGUMENTS)
    assert log[0]["step"] == 0 and log[-1]["step"] == STEPS - 1
    assert log[-1]["loss"] < log[0]["loss"] - 0.5
    checkpoint = runs / "out" / matrix[number]["directory"] / "checkpoint"
    assert (checkpoint / "config.json").exists() and list(checkpoint.glob("*.safetensors"))
    proved(f"emitted run {matrix[number]['name']}", f"loss {log[0]['loss']:.2f} to {log[-1]['loss']:.2f} by run.sh")


def test_the_slurm_array_runs_a_task(runs, tmp_path):
    """A task finds its run from the directory it was submitted in."""
    arguments = "--out", tmp_path / "checkpoint", *ARGUMENTS
    script = (runs / "out" / "submit.sbatch").read_text()
    assert "#SBATCH --array=0-1\n" in script
    (tmp_path / "task.sh").write_text(script.rstrip("\n") + " " + " ".join(map(str, arguments)) + "\n")
    log = train(runs, tmp_path / "task.sh", SLURM_SUBMIT_DIR=str(runs / "out"), SLURM_ARRAY_TASK_ID="1")
    assert log[-1]["step"] == STEPS - 1


def test_two_ranks_train(runs, tmp_path):
    """Experts that no token of a rank chose have no gradient there."""
    log = train(runs, runs / "out" / "run.sh", 1, "--out", tmp_path / "checkpoint", *ARGUMENTS, ranks=2)
    assert log[-1]["loss"] < log[0]["loss"]
