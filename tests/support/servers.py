"""Servers that a test starts as processes."""

import http.client
import os
import secrets
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

LOOKS, LOOK_AGAIN = 600, 0.2  # at a process that is starting, and the seconds between two of them
BELOW_EPHEMERAL = range(20_000, 30_000)


@contextmanager
def answering(
    command: list[str], port: int, env: Mapping[str, str], cwd: Path, log: Path, health: str = "/health"
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own that serves on a port, from its first good answer on; `log` gets what it
    prints. All processes of the session are gone after the block."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdout=out, stderr=out, start_new_session=True)
        try:
            for _ in range(LOOKS):
                with suppress(OSError):
                    get(port, health)
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


@dataclass
class Proxy:
    """A proxy before a server. host: the name that it is reached by; requests: method and path of each so far; most:
    the longest body that it takes."""

    host: str
    port: int = 0
    requests: list[str] = field(default_factory=list)
    most: int = 10**9


@contextmanager
def proxy(to: int, host: str) -> Iterator[Proxy]:
    """A proxy on a free port, before a server on the port `to`, for as long as the block lasts."""
    state = Proxy(host)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(f"{self.command} {self.path}")
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if len(body) > state.most:
                self.answer(413, b"Request Entity Too Large", {})
                return
            server = http.client.HTTPConnection("127.0.0.1", to, timeout=60)
            server.request(self.command, self.path, body, {**self.headers, "Host": state.host})
            with closing(server), server.getresponse() as answer:
                kind = answer.headers["Content-Type"] or "text/plain"
                self.answer(answer.status, answer.read(), {"Content-Type": kind})

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

        def answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
