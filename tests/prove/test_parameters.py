# Parameters of the real module = `isoloop count`, exactly, part by part: small models with storage,
# every built-in model and every cell of the published grid, looped and not, at full size without.
import json

import pytest
from architectures import CPU
from support import (assert_groups_equal, built_in, count, counted_parameters, exact, isoloop, module_parameters)


def check(document, build, device):
    counted = count(document)
    model = build(document, device=device)
    assert_groups_equal(document.get("name"), module_parameters(model), counted_parameters(counted))
    total = sum(p.numel() for p in model.parameters())
    assert total == exact(counted["params"]["total"])
    return total


@pytest.mark.parametrize("document", CPU, ids=lambda d: d["name"])
def test_small(document, build):
    check(document, build, "cpu")


def built_in_names():
    listed = json.loads(isoloop("list", "models", "--format", "json"))
    return [m["name"] for m in listed[next(k for k in listed if k != "schema")]]


def runnable(document):
    """A sampled depth such as 5/2 visits has no module."""
    visits = [s.get("visits", 1) for s in document["segments"]]
    return all(exact(v["forward"] if isinstance(v, dict) else v).denominator == 1 for v in visits)


def test_every_built_in_model(build, proved):
    largest, models = 0, 0
    for name in built_in_names():
        document = built_in(name)
        if runnable(document):
            largest, models = max(largest, check(document, build, "meta")), models + 1
    assert models >= 60
    proved("parameters by part, built-in models at full size", f"{models} exact, largest {largest:,}")


def test_looped_built_in_models(build, proved):
    models = 0
    for name, loop in [("smelt-200m-e192", "middle"), ("qwen3-30b-a3b", "middle"), ("deepseek-v3", "middle x4"),
                       ("gpt-oss-20b", "each x2"), ("mixtral-8x7b", "all x3"), ("qwen1.5-moe-a2.7b", "6+12x2+6"),
                       ("jetmoe-8b", "middle"), ("gemma-3-4b", "middle:1/3x3")]:
        check(built_in(name, "--loop", loop), build, "meta")
        models += 1
    proved("parameters by part, looped at full size", f"{models} exact")
