"""What several tests need: a plain environment, a response cache of their own, a loopback LM, an MLflow store, a
compile of both tracks; and the count of what the built-in model read."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from support.pages import browser as browser

if TYPE_CHECKING:
    from support.commands import Aisr
    from support.compiled import Compiled
    from support.loopback import Loopback

# Before the first import of DSPy, which opens its response cache where this says.
CACHE = tempfile.mkdtemp(prefix="aisr-tests-")
os.environ["DSPY_CACHEDIR"] = CACHE
os.environ["TQDM_DISABLE"] = "1"
# Before the first import of LiteLLM, which asks the web for its price list else.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
# Before the first import of NumPy. The matrices of the tests are small: threads of OpenBLAS that wait for one another
# made a compile of a few records take 19 s of CPU where one thread takes 8.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
# LiteLLM asks for the event loop of the main thread, which would open one there that nobody closes.
asyncio.set_event_loop(None)
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

os.environ["AISR_LM"] = "embedded"  # of commands that name no LM

THIRD_PARTY = (
    "ignore:The ``noload`` loader strategy is deprecated:DeprecationWarning",  # MLflow 3.17 on SQLAlchemy 2.1
    "ignore:.*Any type hint is inferred as AnyType:UserWarning",  # MLflow on types of its own, at its import
)


def pytest_configure(config: pytest.Config) -> None:
    for line in THIRD_PARTY:
        config.addinivalue_line("filterwarnings", line)


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


@pytest.fixture
def loopback() -> Iterator["Loopback"]:
    """A running OpenAI-compatible server; its address is new in each test, and so is its part of the response cache."""
    from support.loopback import serve

    with serve() as server:
        yield server


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that one worker makes, and all workers read."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with FileLock(base / f"{name}.lock"):
        if not (base / f"{name}.made").exists():
            shutil.rmtree(base / name, ignore_errors=True)
            (base / name).mkdir()
            with _store_as_before():
                make(base / name)
            (base / f"{name}.made").touch()
    return base / name


@pytest.fixture(scope="session")
def fresh_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Makes an artifacts folder with an MLflow store that nothing was logged to. Creating a database takes seconds,
    so it is done once and copied."""
    from aisr.tracking.store import open_store

    template = once(tmp_path_factory, "store", open_store)

    def make(root: Path) -> Path:
        shutil.copytree(template / ".mlflow", root / ".mlflow")
        return root

    return make


@pytest.fixture
def artifacts(fresh_store: Callable[[Path], Path], tmp_path: Path) -> Path:
    """An artifacts folder of the test's own, see `fresh_store`."""
    return fresh_store(tmp_path / "artifacts")


@pytest.fixture(scope="session")
def aisr() -> "Aisr":
    """Runs an `aisr` command in this process."""
    from support.commands import run

    return run


@pytest.fixture(scope="session")
def compiled(
    tmp_path_factory: pytest.TempPathFactory, fresh_store: Callable[[Path], Path], aisr: "Aisr"
) -> Iterator["Compiled"]:
    """Both tracks compiled, logged and registered; for reading only. A test that writes takes `compiled.copied(…)`."""
    from support.compiled import KEY, Compiled, compile_words
    from support.loopback import serve

    with serve() as server:

        def make(place: Path) -> None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("OPENAI_API_KEY", KEY)
                patch.chdir(place)
                made = Compiled(fresh_store(place / "artifacts"), server)
                for track in ("track1", "track2"):
                    finished = aisr(*compile_words(track, "first", "labeled", made.lm))
                    assert finished.code == 0, finished.err

        root = once(tmp_path_factory, "compiled", make) / "artifacts"
        yield Compiled(root, server)


@pytest.fixture(autouse=True)
def _store_of_its_own() -> Iterator[None]:
    with _store_as_before():
        yield


@contextmanager
def _store_as_before() -> Iterator[None]:
    """MLflow writes the store that it was pointed at into the environment, where later tests would take it for the
    user's choice."""
    names = ("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI")
    before = {name: os.environ[name] for name in names if name in os.environ}
    yield
    for name in names:
        os.environ.pop(name, None)
    os.environ.update(before)
