"""The MLflow UI on the loopback address, against the store that the compiles were logged to."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from aisr.base import redact
from aisr.commands.display import note
from aisr.programs.errors import UserError
from aisr.tracking import ui_views
from aisr.tracking.store import open_store, tracking_uri

# Without these three the server never becomes ready offline: it asks the web for prices, and starts a job queue.
OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
SQLITE = "sqlite:///"  # before the path of a database
HOUSE = str(Path(__file__).parents[2])


def serve(root: Path, port: int) -> int:
    """Run the server until it ends; its exit code. Raises UserError where MLFLOW_TRACKING_URI is a server already."""
    uri = tracking_uri(root)
    if uri.startswith("http"):
        raise UserError(f"MLFLOW_TRACKING_URI is a server already ({redact.secrets(uri)}): open that address")
    page = f"http://127.0.0.1:{port}"
    note(f"MLflow UI on {page} in about 20 seconds; Ctrl-C ends it")
    for name, address in ui_views.addresses(open_store(root), page).items():
        note(f"  {name}: {address}")
    words = ["server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    # In the environment: a command line is for everyone on the machine to read, and an address may hold a password.
    return run(words, {**OFFLINE, "MLFLOW_BACKEND_STORE_URI": uri})


def run(words: list[str], environment: dict[str, str], module: str = "mlflow") -> int:
    """Run an `mlflow` command, or another module, that serves until it ends, with these variables; its exit code. Both
    it and what it starts import nothing from the current folder, which may hold files of anyone: `-P` keeps that out of
    Python's path, and as uvicorn puts it in again, they run in a folder of their own."""
    command = [sys.executable, "-P", "-m", module, *words]
    with tempfile.TemporaryDirectory(prefix="aisr-serves-") as empty:
        told = os.environ | environment | {"PYTHONSAFEPATH": "1"}
        with subprocess.Popen(command, env=_absolute(told), cwd=empty) as server:
            for ends in (signal.SIGTERM, signal.SIGINT):  # or the server would outlive this command
                signal.signal(ends, lambda *_: server.terminate())
            return server.wait()


def _absolute(told: dict[str, str]) -> dict[str, str]:
    """The variables with paths as they are from here."""
    found = dict(told)
    for name in ("DSPY_CACHEDIR", "AISR_ARTIFACTS", "AISR_IMAGE_ROOT"):
        if value := found.get(name):
            found[name] = os.path.abspath(value)
    for name in ("MLFLOW_BACKEND_STORE_URI", "MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI"):
        if (value := found.get(name, "")).startswith(SQLITE):
            found[name] = SQLITE + os.path.abspath(value.removeprefix(SQLITE))
    paths = [HOUSE, *filter(None, found.get("PYTHONPATH", "").split(os.pathsep))]
    return found | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths))}
