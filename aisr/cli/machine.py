"""The commands of this machine: `ui` opens the MLflow UI on the loopback address, `doctor` checks the installation."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.plan import command_plan
from aisr.cli.session import open_lm, prepare

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM

# Without these three the server never becomes ready offline: it asks the web for prices, and starts a job queue.
OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
SQLITE = "sqlite:///"  # before the path of a database


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback address.")] = 5000,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Open the MLflow UI, on this machine only."""
    from aisr.cli.display import note
    from aisr.tracking.store import open_store, tracking_uri

    uri = tracking_uri(artifacts)
    if uri.startswith("http"):
        raise UserError(f"MLFLOW_TRACKING_URI is a server already ({redact.secrets(uri)}): open that address")
    open_store(artifacts)  # creates the database; says what is wrong with one that cannot be used
    note(f"MLflow UI on http://127.0.0.1:{port} in about 20 seconds; Ctrl-C ends it")
    if uri.startswith(SQLITE):
        uri = SQLITE + os.path.abspath(uri.removeprefix(SQLITE))
    words = ["server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    # In the environment: a command line is for everyone on the machine to read, and an address may hold a password.
    raise typer.Exit(run("mlflow", words, {"MLFLOW_BACKEND_STORE_URI": uri}))


def run(module: str, words: list[str], variables: dict[str, str]) -> int:
    """Run a module that serves until it ends; its exit code. Neither it nor what it starts imports from the current
    folder, which may hold files of anyone: `-P` keeps that out of Python's path, and as uvicorn puts it in again, they
    run in a folder of their own."""
    environment = os.environ | OFFLINE | variables | {"PYTHONSAFEPATH": "1"}
    with tempfile.TemporaryDirectory(prefix="aisr-ui-") as empty:
        command = [sys.executable, "-P", "-m", module, *words]
        with subprocess.Popen(command, env=environment, cwd=empty) as server:
            for ends in (signal.SIGTERM, signal.SIGINT):  # or the server would outlive this command
                signal.signal(ends, lambda *_: server.terminate())
            return server.wait()


NEEDED = ("aisr", "dspy", "litellm", "mlflow", "pydantic", "scikit-learn")
OPTIONAL = {"xllamacpp": "models in this process", "rapidocr": "--evidence ocr", "ray": "--ray"}


def doctor(lm: opt.LM = None, api_base: opt.ApiBase = None, artifacts: opt.Root = opt.ARTIFACTS) -> None:
    """Check what is installed, the LM, the MLflow store and free disk space.

    Nothing is sent to an LM. Exits with 1 where something will not work.
    """
    config = command_plan((), lm, api_base).lm
    prepare(artifacts)
    from aisr.base import redact
    from aisr.base.files import cache_folder
    from aisr.cli.display import note
    from aisr.lm.response_cache import check_cache
    from aisr.tracking.store import NoStore, check_exists, reading

    healthy = True
    note(f"python {sys.version.split()[0]}, " + ", ".join(f"{name} {_version(name)}" for name in NEEDED))
    note("optional: " + ", ".join(f"{name} {_version(name)} ({use})" for name, use in OPTIONAL.items()))
    try:
        opened = open_lm(config)
        note(f"LM: {opened.spec}, {'at --api-base, ' if config.api_base else ''}{_requested(opened)}")
    except UserError as error:
        healthy = False
        note(f"LM: {config.model} cannot be used: {error}")
    keys = sorted(name for name, value in os.environ.items() if name.endswith("_API_KEY") and value)
    note(f"keys in the environment: {', '.join(keys) or 'none'}")
    try:
        check_exists(artifacts)
    except NoStore:
        note(f"MLflow store: none in {artifacts} yet; the first compile makes it")
    else:
        try:
            with reading(artifacts) as store:
                runs = store.client.search_experiments()
                note(f"MLflow store: {redact.secrets(store.uri)} answers, {len(runs)} experiments")
        except NoStore as error:
            healthy = False
            note(f"MLflow store: {error}")
    cache = Path(os.environ.get("DSPY_CACHEDIR") or cache_folder(artifacts))
    standing = next(folder for folder in (cache, *cache.absolute().parents) if folder.exists())
    fault = check_cache(cache)
    healthy = healthy and not fault
    state = f"cannot be used: {fault}" if fault else "a write to it succeeded"
    note(f"response cache: {cache}, {state}, {shutil.disk_usage(standing).free / 1e9:.1f} GB free on its disk")
    if not healthy:
        raise SystemExit(opt.RECORDS_FAILED)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "is missing"


def _requested(opened: "OpenLM") -> str:
    return f"{'with' if opened.lm.gives_logprobs else 'without'} log-probabilities requested"
