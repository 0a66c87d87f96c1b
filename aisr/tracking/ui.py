"""MLflow's own UI of an artifacts folder, on this machine alone."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.tracking.runs import ui_path
from aisr.tracking.store import check_store, tracking_uri

HOST = "127.0.0.1"
# Without these three the server never becomes ready offline: it asks the web for prices, and starts a job queue.
OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
# What says the address once the server answers, and ends where the server does before.
ANNOUNCER = """
import os, sys, time
from http.client import HTTPConnection
server, host, port, path = sys.argv[1:]
while os.getppid() == int(server):
    try:
        connection = HTTPConnection(host, int(port), timeout=2)
        connection.request("GET", "/health")
        connection.getresponse()
    except OSError:
        time.sleep(0.2)
    else:
        print(f"MLflow UI on http://{host}:{port}{path}; Ctrl-C ends it", flush=True)
        break
"""


def serve_ui(artifacts: Path, port: int) -> NoReturn:
    """Become the server of MLflow's UI, and print its address once it answers. Raises `UserError` where there is no
    store, where a server has it already, and where the port is taken."""
    uri = tracking_uri(artifacts)
    if uri.startswith("http"):
        raise UserError(f"MLFLOW_TRACKING_URI is a server already ({redact.secrets(uri)}): open that address")
    check_store(artifacts)  # else a folder that is mistyped would become a new, empty store
    check_free(port)
    path = ui_path(artifacts)  # says what is wrong with a database that cannot be used
    words = ["mlflow", "server", "--host", HOST, "--port", str(port), "--workers", "1"]
    # In the environment: a command line is for everyone on the machine to read, and an address may hold a password.
    environment = os.environ | OFFLINE | {"MLFLOW_BACKEND_STORE_URI": uri, "PYTHONSAFEPATH": "1"}
    sys.stdout.flush()
    subprocess.Popen([sys.executable, "-I", "-c", ANNOUNCER, str(os.getpid()), HOST, str(port), path])
    # In the place of this process, so that signals reach it. -P: it imports nothing from the current folder.
    os.execve(sys.executable, [sys.executable, "-P", "-m", *words], environment)


def check_free(port: int) -> None:
    """Raise `UserError` for a port that another program listens on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: not of a connection's end
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise UserError(f"port {port}: {error.strerror}; choose another one by --port") from error
