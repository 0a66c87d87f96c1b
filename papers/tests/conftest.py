"""What several tests need: a plain environment, a loopback LM that answers about papers, the command, a browser."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from support.pages import browser as browser

if TYPE_CHECKING:
    from paper_support.commands import CheckPaper
    from support.commands import Aisr
    from support.loopback import Loopback

# Before the first import of DSPy, which opens its response cache where this says.
CACHE = tempfile.mkdtemp(prefix="aisr-papers-tests-")
os.environ["DSPY_CACHEDIR"] = CACHE
os.environ["TQDM_DISABLE"] = "1"
# Before the first import of LiteLLM, which asks the web for its price list else.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before the first import of NumPy
# No test depends on the settings of whoever runs it.
for _name in (
    "AISR_LM",
    "AISR_API_BASE",
    "AISR_ARTIFACTS",
    "MLFLOW_TRACKING_URI",
    "MLFLOW_REGISTRY_URI",
    "OPENAI_API_KEY",
):
    os.environ.pop(_name, None)


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


@pytest.fixture
def loopback() -> Iterator["Loopback"]:
    """A running OpenAI-compatible server; its address is new in each test, and so is its part of the response cache."""
    from paper_support.reasons import judged_paper
    from support.loopback import serve

    with serve() as server:
        server.reply = judged_paper
        yield server


@pytest.fixture(scope="session")
def check_paper() -> "CheckPaper":
    """Runs `check-paper` in this process."""
    from paper_support.commands import run

    return run


@pytest.fixture(scope="session")
def aisr() -> "Aisr":
    """Runs an `aisr` command in this process."""
    from support.commands import run

    return run
