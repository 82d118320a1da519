# Megatron-Core and torchtitan: their own classes, where their packages can be had for a CPU.
#
# Neither is needed for anything else here, so neither is installed by default: with
# PROVE_TRAINERS=1 scripts/prove tries, and what cannot be had is skipped by name.
import importlib

import pytest


@pytest.mark.parametrize("package, module", [("megatron-core", "megatron.core"), ("torchtitan", "torchtitan")])
def test_package_builds_on_a_cpu(package, module):
    try:
        importlib.import_module(module)
    except Exception as error:  # missing, or a build that needs a GPU: both are a skip by name
        pytest.skip(f"{package}: {type(error).__name__}: {error}")
