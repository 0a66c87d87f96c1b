"""What several tests need: a plain environment, a response cache of their own, a loopback LM, an MLflow store."""

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

import pytest

if TYPE_CHECKING:
    from loopback import Loopback
    from playwright.sync_api import Browser

# Before the first import of DSPy, which opens its response cache where this says.
CACHE = tempfile.mkdtemp(prefix="aisr-tests-")
os.environ["DSPY_CACHEDIR"] = CACHE
os.environ["TQDM_DISABLE"] = "1"
# No test depends on the settings of whoever runs it.
for _name in ("AISR_LM", "AISR_API_BASE", "AISR_ARTIFACTS", "MLFLOW_TRACKING_URI", "OPENAI_API_KEY"):
    os.environ.pop(_name, None)

THIRD_PARTY = (
    "ignore:The ``noload`` loader strategy is deprecated:DeprecationWarning",  # MLflow 3.17 on SQLAlchemy 2.1
    "ignore:.*Any type hint is inferred as AnyType:UserWarning",  # MLflow on the records that a served model takes
)


def pytest_configure(config: pytest.Config) -> None:
    for line in THIRD_PARTY:
        config.addinivalue_line("filterwarnings", line)


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


@pytest.fixture
def loopback() -> Iterator["Loopback"]:
    """A running OpenAI-compatible server; its address is new in each test, and so is its part of the response cache."""
    from loopback import serve

    with serve() as server:
        yield server


@pytest.fixture(scope="session")
def fresh_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Makes an artifacts folder with an MLflow store that nothing was logged to. Creating a database takes seconds,
    so it is done once and copied."""
    from optimize.store import open_store

    template = tmp_path_factory.mktemp("store")
    open_store(template)

    def make(root: Path) -> Path:
        shutil.copytree(template / ".mlflow", root / ".mlflow")
        return root

    return make


@pytest.fixture
def artifacts(fresh_store: Callable[[Path], Path], tmp_path: Path) -> Path:
    """An artifacts folder of the test's own, see `fresh_store`."""
    return fresh_store(tmp_path / "artifacts")


class Finished(NamedTuple):
    """A command that ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def aisr() -> Callable[..., Finished]:
    """Runs an `aisr` command in this process; starting one of its own costs seconds of imports."""
    from optimize.cli import main

    def run(*words: object) -> Finished:
        with (
            mock.patch.object(sys, "argv", ["aisr", *map(str, words)]),
            redirect_stdout(io.StringIO()) as out,
            redirect_stderr(io.StringIO()) as err,
        ):
            try:
                main()
                code: object = 0
            except SystemExit as end:
                code = end.code or 0
        return Finished(code if isinstance(code, int) else 1, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="module")  # it holds an event loop, which the coroutines of other tests would meet
def browser() -> "Iterator[Browser]":
    """A real one, without a window; where there is none, the test is skipped."""
    from docs.chromium import NoChromium, chromium

    try:
        with chromium() as launched:
            yield launched
    except NoChromium as none:
        pytest.skip(str(none))
