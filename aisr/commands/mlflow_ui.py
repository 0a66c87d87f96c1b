"""The MLflow UI on the loopback address, against the store that the compiles were logged to."""

import os
import signal
import subprocess
import sys
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


def run(words: list[str], environment: dict[str, str]) -> int:
    """Run an `mlflow` command that serves until it ends, with these variables; its exit code."""
    command = [sys.executable, "-m", "mlflow", *words]
    with subprocess.Popen(command, env=os.environ | environment) as server:
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())  # or the server would outlive this command
        return server.wait()
