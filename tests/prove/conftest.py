# Fixtures of the proof, and the closing table of what agreed.
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# Remote code is copied into the cache of modules; a private one cannot serve a stale copy.
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="isoloop-prove-")

import pytest  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(min(2, os.cpu_count() or 1))

PROVED = []


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    from support import Builder
    return Builder(tmp_path_factory.mktemp("package"))


@pytest.fixture
def proved():
    """proved(what, figure): one line of the closing table."""
    return lambda what, figure: PROVED.append((what, figure))


def pytest_terminal_summary(terminalreporter):
    if PROVED:
        terminalreporter.section("proved")
        for what, figure in PROVED:
            terminalreporter.write_line(f"{what}: {figure}")


def pytest_sessionfinish():
    import shutil
    shutil.rmtree(os.environ["HF_HOME"], ignore_errors=True)
