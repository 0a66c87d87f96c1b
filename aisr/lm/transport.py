"""HTTP for all calls that do not go through LiteLLM, by httpx.

A call ends after so many seconds in all, however slowly a server sends: its connection is shut from outside. A
connection carries a single call: whatever a server sends beside the answer, such as a body where none may be, an answer
twice, or more than it announced, is gone with it, and no answer reaches another call.
"""

import functools
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from dspy import lm15
from dspy.utils.exceptions import LMError

from aisr.lm.replies import Reply, checked

CONNECT_SECONDS = 10.0
MOST_BYTES = 16 << 20  # of a body; the longest answer with 20 alternatives a token takes a fifth
_url = functools.lru_cache(maxsize=16)(httpx.URL)  # to read an address takes a tenth of a call, the same each time
CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")  # name certificates, as for MLflow's client


class Transport:
    """A transport for providers of DSPy, which keeps no cookies. timeout: seconds that a call may take in all."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        try:
            self._client = httpx.Client(
                headers={"Connection": "close"},
                limits=httpx.Limits(max_keepalive_connections=0),
                verify=_certificates(*map(os.environ.get, CA_VARIABLES)),
            )
        except (ImportError, ValueError, OSError) as error:
            reason = f"a variable of the environment that names a proxy or certificates cannot be used: {error}"
            raise lm15.ConfigurationError(reason) from error

    def stream(self, request: Any) -> Reply:
        """Return the whole answer to a request of DSPy's. Raises lm15's errors where none comes or the server answers
        with an error, and `Stopped` where the process is about to end."""
        check_stopping()
        call = _Call(self.timeout)
        try:
            with call.under_way():
                reply = self._exchange(request, call)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            check_stopping()
            if call.is_over:
                raise lm15.TimeoutError(f"no whole answer within {self.timeout:g} s") from None
            raise lm15.TransportError(_root(error)) from error
        return checked(reply)

    def _exchange(self, request: Any, call: "_Call") -> Reply:
        all_headers = self._client.headers.copy()
        all_headers.update(request.headers)
        sent = httpx.Request(
            request.method,
            _url(request.url),
            headers=all_headers,
            content=request.body,
            extensions={"trace": call.trace, "timeout": {"connect": CONNECT_SECONDS}},
        )
        with closing(self._client.send(sent, stream=True)) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise lm15.ProviderError(
                        f"the answer is longer than {MOST_BYTES >> 20} MiB", status=response.status_code
                    )
            headers = response.headers.multi_items()
            return Reply(response.status_code, response.reason_phrase, headers, bytes(body))


def _root(error: BaseException) -> str:
    """Return the words of the operating system for what is behind an error of the connection, such as "Connection
    refused"; where it says nothing those of the error itself."""
    behind = error
    while (cause := behind.__cause__ or behind.__context__) is not None:
        behind = cause
    number = getattr(behind, "errno", None)
    if number and number > 0:
        return os.strerror(number)
    return str(error) or type(error).__name__


@functools.lru_cache(maxsize=4)
def _certificates(*bundles: str | None) -> ssl.SSLContext:
    """Return what servers are checked by: the first bundle that is named, else what httpx has, which reads
    SSL_CERT_FILE."""
    bundle = next(filter(None, bundles), None)
    if bundle is None:
        return httpx.create_ssl_context()
    is_folder = Path(bundle).is_dir()
    return ssl.create_default_context(cafile=None if is_folder else bundle, capath=bundle if is_folder else None)


# --- The end of a call, and of all calls

stopping = threading.Event()
LOOK_SECONDS = 0.05  # between two looks at the calls under way
_calls: set["_Call"] = set()  # under way
_begun = threading.Event()


class Stopped(LMError):
    """The process is about to end: nothing more is sent."""


class _Call:
    """The connection of a call, which another thread may end. seconds: after which it is ended, `LOOK_SECONDS` later at
    most."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self.is_over = False
        self._socket: socket.socket | None = None

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Have the call end at its deadline, or as soon as the process is about to end."""
        _watch(os.getpid())
        _calls.add(self)
        _begun.set()
        try:
            yield
        finally:
            _calls.discard(self)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note the connection, as httpx reports it."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.is_over or stopping.is_set():
                self.end()

    def end(self) -> None:
        """Have whoever waits for this connection go on at once, without an answer."""
        self.is_over = True
        if self._socket is not None:
            with suppress(OSError):  # it is closed already
                # Of the plain socket: that of TLS would drop its state while another thread reads from it.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


@functools.cache
def _watch(process: int) -> None:
    """Start the thread that ends calls at their deadline, once for each process id: a fork has none of the threads
    before it. A timer for each call would be a thread for each, a tenth of what a call costs this process."""
    threading.Thread(target=_end_late_calls, daemon=True).start()


def _end_late_calls() -> None:
    while _begun.wait():
        _begun.clear()
        while _calls:
            time.sleep(LOOK_SECONDS)
            for call in _calls.copy():
                if call.deadline < time.monotonic():
                    call.end()


def check_stopping(seconds: float = 0.0) -> None:
    """Wait so many seconds, 0 to look alone. Raises `Stopped` as soon as the process is about to end."""
    if stopping.wait(seconds):
        raise Stopped("stopped")


def stop_calls() -> None:
    """End all calls under way, and send nothing more in this process."""
    stopping.set()
    for call in _calls.copy():
        call.end()
