"""What several tests need: a plain environment, a response cache of their own, a loopback LM, an MLflow store."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from loopback import Loopback

# Before the first import of DSPy, which opens its response cache where this says.
CACHE = tempfile.mkdtemp(prefix="aisr-tests-")
os.environ["DSPY_CACHEDIR"] = CACHE
os.environ["TQDM_DISABLE"] = "1"
OURS = ("AISR_LM", "AISR_API_BASE", "AISR_ARTIFACTS", "MLFLOW_TRACKING_URI", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on the settings of whoever runs it."""
    for name in OURS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def loopback() -> Iterator["Loopback"]:
    """A running OpenAI-compatible server; its address is new in each test, and so is its part of the response cache."""
    from loopback import serve

    with serve() as server:
        yield server


@pytest.fixture(scope="session")
def _fresh_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database with no experiments of ours: creating one takes seconds, copying it does not."""
    from optimize.tracking import open_store

    root = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.chdir(root)
        open_store(root)
    return root / ".mlflow"


@pytest.fixture
def artifacts(_fresh_store: Path, tmp_path: Path) -> Path:
    """An artifacts folder with an MLflow store that nothing was logged to."""
    root = tmp_path / "artifacts"
    shutil.copytree(_fresh_store, root / ".mlflow")
    return root


class Finished(NamedTuple):
    """A command that ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def aisr(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finished]:
    """Run an `aisr` command in this process; starting one costs seconds of imports."""
    from optimize.cli import main

    def run(*words: object) -> Finished:
        monkeypatch.setattr(sys, "argv", ["aisr", *map(str, words)])
        capfd.readouterr()
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code
        said = capfd.readouterr()
        return Finished(code if isinstance(code, int) else 0 if code is None else 1, said.out, said.err)

    return run
