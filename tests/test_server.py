"""`aisr ui`: ready without the web, on this machine only, gone when told."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from optimize.server import serve

ROOT = Path(__file__).parents[1]
READY_SECONDS = 120


@contextmanager
def ui(artifacts: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`aisr ui` in a session of its own, whose processes are all gone after the block."""
    nowhere = {f"{name}_proxy": "http://127.0.0.1:9" for name in ("http", "https", "all")}
    process = subprocess.Popen(
        [sys.executable, "-m", "optimize.cli", "ui", "--port", str(port), "--artifacts", str(artifacts)],
        cwd=ROOT,
        env={**os.environ, **nowhere, "no_proxy": "127.0.0.1"},  # whoever asks the web is refused
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return bytes(answer.read())


def answers(port: int, address: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((address, port)) == 0


def wait_until(happened: Callable[[], bool], seconds: float, process: subprocess.Popen[bytes]) -> bool:
    """Whether it happened in time; `process.wait` is the pause between two looks."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if happened():
            return True
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        return happened()
    return False


def ready(port: int) -> bool:
    try:
        return get(port, "/health") == b"OK"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["Ctrl-C", "SIGTERM"])
def test_the_ui_is_ready_offline_on_loopback_only_and_ends_when_told(stop: str, artifacts: Path) -> None:
    port = free_port()
    with ui(artifacts, port) as process:
        assert wait_until(lambda: ready(port), READY_SECONDS, process), "never became ready"
        assert b"MLflow" in get(port, "/")
        assert not answers(port, "127.0.0.2"), "listens on more than 127.0.0.1"
        if stop == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        else:
            process.terminate()
        process.wait(30)
        deadline = time.monotonic() + 15
        while answers(port) and time.monotonic() < deadline:
            threading.Event().wait(0.1)
        assert not answers(port), "the server outlived the command"


def test_a_remote_store_has_a_ui_of_its_own(artifacts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:sw0rdfish@mlflow.example/")
    with pytest.raises(ValueError, match=r"mlflow\.example.*open that address") as refused:
        serve(artifacts, 5000)
    assert "sw0rdfish" not in str(refused.value)
