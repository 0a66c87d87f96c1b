"""The command of this machine: `ui` opens the MLflow UI on the loopback address."""

import os
import signal
import socket
import subprocess
import sys
from typing import Annotated

import typer

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.cli import options as opt

# Without these three the server never becomes ready offline: it asks the web for prices, and starts a job queue.
OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback address.")] = 5000,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Open the MLflow UI, on this machine only."""
    from aisr.cli.display import note
    from aisr.tracking.runs import ui_path
    from aisr.tracking.store import tracking_uri

    uri = tracking_uri(artifacts)
    if uri.startswith("http"):
        raise UserError(f"MLFLOW_TRACKING_URI is a server already ({redact.secrets(uri)}): open that address")
    _check_free(port)
    path = ui_path(artifacts)  # creates the database; says what is wrong with one that cannot be used
    note(f"MLflow UI on http://127.0.0.1:{port}{path} in about 20 seconds; Ctrl-C ends it")
    words = ["server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    # In the environment: a command line is for everyone on the machine to read, and an address may hold a password.
    raise typer.Exit(run("mlflow", words, {"MLFLOW_BACKEND_STORE_URI": uri}))


def _check_free(port: int) -> None:
    """Raises UserError for a port that another program listens on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: not of a connection's end
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise UserError(f"port {port}: {error.strerror}; choose another one by --port") from error


def run(module: str, words: list[str], variables: dict[str, str]) -> int:
    """Run a module that serves until it ends; its exit code. `-P`: it imports nothing from the current folder."""
    environment = os.environ | OFFLINE | variables | {"PYTHONSAFEPATH": "1"}
    with subprocess.Popen([sys.executable, "-P", "-m", module, *words], env=environment) as server:
        for ends in (signal.SIGTERM, signal.SIGINT):  # or the server would outlive this command
            signal.signal(ends, lambda *_: server.terminate())
        return server.wait()
