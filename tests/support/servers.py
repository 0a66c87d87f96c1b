"""Servers that a test starts as processes."""

import os
import secrets
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

LOOKS, LOOK_AGAIN = 600, 0.2  # at a process that is starting, and the seconds between two of them
BELOW_EPHEMERAL = range(20_000, 30_000)


@contextmanager
def answering(
    command: list[str], port: int, env: Mapping[str, str], cwd: Path, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own that serves on a port, from its first good answer on; `log` gets what it
    prints. All processes of the session are gone after the block."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdout=out, stderr=out, start_new_session=True)
        try:
            for _ in range(LOOKS):
                with suppress(OSError):
                    get(port, "/health")
                    break
                with suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_AGAIN)
                    pytest.fail(log.read_text(errors="replace"))
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def free_port() -> int:
    """A port that nobody has: none that the system may give to another test while the server is starting."""
    while listens(port := secrets.choice(BELOW_EPHEMERAL)):
        pass
    return port


def get(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return bytes(answer.read())


def listens(port: int, address: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((address, port)) == 0
