"""Servers that a test starts as processes: `aisr ui` and an MLflow tracking server."""

import os
import secrets
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from aisr.cli.report import OFFLINE
from support import processes
from support.paths import ROOT

READY_SECONDS = 120
BELOW_EPHEMERAL = range(20_000, 30_000)


class Ui(NamedTuple):
    """`aisr ui` that answers, and the process of the command."""

    port: int
    process: subprocess.Popen[bytes]


class Store(NamedTuple):
    """A tracking server that answers; `stop` ends it at once."""

    port: int
    stop: Callable[[], None]
    folder: Path  # its database, and below `files` what was handed to it

    def files(self) -> set[str]:
        return {file.name for file in (self.folder / "files").rglob("*") if file.is_file()}


@contextmanager
def ui(artifacts: Path) -> Iterator[Ui]:
    """`aisr ui`. Whatever of it asks the web is refused."""
    port = free_port()
    nowhere = {f"{name}_proxy": "http://127.0.0.1:9" for name in ("http", "https", "all")}
    command = processes.aisr("ui", "--port", port, "--artifacts", artifacts)
    env = {**os.environ, **nowhere, "no_proxy": "127.0.0.1"}
    with answering(command, port, "/health", env, ROOT, artifacts / "ui.log") as process:
        yield Ui(port, process)


@contextmanager
def tracking_server(folder: Path) -> Iterator[Store]:
    """`mlflow server` with SQLite, that keeps artifacts itself and hands them out over HTTP."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"),
        *("--serve-artifacts", "--artifacts-destination", str(folder / "files")),
    ]
    with answering(command, port, "/health", {**os.environ, **OFFLINE}, folder, folder / "log") as process:
        yield Store(port, lambda: processes.end(process), folder)


@contextmanager
def answering(
    command: list[str], port: int, path: str, env: Mapping[str, str], cwd: Path, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that serves on a port, from its first good answer on."""
    with processes.session(command, env, cwd, log) as process:
        assert processes.happens(lambda: fine(port, path), process, READY_SECONDS), log.read_text(errors="replace")
        yield process


def free_port() -> int:
    """A port that nobody has: none that the system may give to another test while the server is starting."""
    while listens(port := secrets.choice(BELOW_EPHEMERAL)):
        pass
    return port


def get(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return bytes(answer.read())


def fine(port: int, path: str) -> bool:
    try:
        get(port, path)
    except OSError:
        return False
    return True


def listens(port: int, address: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((address, port)) == 0
