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

# The models are small: more threads would only wait for each other.
torch.set_num_threads(1)


def pytest_collection_modifyitems(items):
    # The longest first, so that workers finish together.
    long = ("test_training", "test_every_built_in_model", "test_full_size")
    items.sort(key=lambda item: not any(name in item.nodeid for name in long))


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    from support import Builder
    return Builder(tmp_path_factory.mktemp("package"))


@pytest.fixture
def proved(request):
    """proved(what, figure): one line of the closing table."""
    return lambda what, figure: request.node.user_properties.append(("proved", (what, figure)))


def pytest_terminal_summary(terminalreporter):
    # Properties travel with the reports, so this works with several worker processes.
    lines = [value for report in terminalreporter.stats.get("passed", []) for key, value in report.user_properties
             if key == "proved"]
    if lines:
        terminalreporter.section("proved")
        for what, figure in lines:
            terminalreporter.write_line(f"{what}: {figure}")


def pytest_sessionfinish():
    import shutil
    shutil.rmtree(os.environ["HF_HOME"], ignore_errors=True)
