"""The connections of DSPy's own engine, with bounds on an answer.

As they come, they wait for each next byte and for as many bytes as a server likes: one that sends a byte a second holds
a call for ever, and one that does not end fills the memory. The vendored transports know no bound of a whole answer,
nor a hook, so their private steps are extended here.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any

from dspy._vendor.lm15 import transports
from dspy._vendor.lm15.transports._http11 import content_codings
from dspy.lm15 import ProviderError

MOST_BYTES = 32 * 2**20  # of an answer, unpacked: 200 embeddings of 4,096 numbers are 16 MiB, a chat far less


class _Deadline:
    """When an answer has to be complete."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._ends = 0.0

    def begin(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds, more than 0. Raises what `missed` gives."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise self.missed()
        return left

    def missed(self) -> Any:
        """lm15's error, for which a call is sent again."""
        return transports.ReadTimeout(f"read timed out: the answer was not complete after {self.seconds:g} s")


class _Socket:
    """A socket that is read from until the deadline; it may be kept for the next request, which sets another."""

    def __init__(self, socket: Any) -> None:
        self.deadline = _Deadline()
        self._socket = socket

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def recv(self, size: int) -> bytes:
        self._socket.settimeout(self.deadline.left())
        try:
            return bytes(self._socket.recv(size))
        except TimeoutError as error:
            raise self.deadline.missed() from error


class _Reader:
    """The same of an asyncio stream."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.deadline = _Deadline()
        self._reader = reader

    async def read(self, size: int) -> bytes:
        try:
            async with asyncio.timeout(self.deadline.left()):
                return await self._reader.read(size)
        except TimeoutError as error:
            raise self.deadline.missed() from error


class BoundedTransport(transports.StdlibTransport):
    """Its `read_timeout` is for a whole answer, from the moment that the request is sent; the answer has at most
    `MOST_BYTES`. Raises lm15's errors."""

    def _open(self, *args: Any, **kwargs: Any) -> Any:
        connection = super()._open(*args, **kwargs)
        connection.sock = _Socket(connection.sock)
        return connection

    def _send_request(self, connection: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        connection.sock.deadline.begin(request.read_timeout or self._read_timeout)
        super()._send_request(connection, request, *args, **kwargs)

    def stream(self, request: Any) -> Any:
        response = super().stream(request)
        response._chunks = _bounded(response._chunks, response)
        return response


class BoundedAsyncTransport(transports.StdlibAsyncTransport):
    """The same for coroutines."""

    async def _open(self, *args: Any, **kwargs: Any) -> Any:
        connection = await super()._open(*args, **kwargs)
        connection.reader = _Reader(connection.reader)
        return connection

    async def _send_request(self, connection: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        connection.reader.deadline.begin(request.read_timeout or self._read_timeout)
        await super()._send_request(connection, request, *args, **kwargs)

    async def _do_stream(self, request: Any) -> Any:
        response = await super()._do_stream(request)
        response._chunks = _abounded(response._chunks, response)
        return response


def bound_all() -> None:
    """Have DSPy open no other connections: it asks the module for the classes when a provider is first called."""
    transports.StdlibTransport = BoundedTransport
    transports.StdlibAsyncTransport = BoundedAsyncTransport


def posted(engine: Any, provider: str, path: str, body: dict[str, Any]) -> Any:
    """The answer, as JSON, to a request that DSPy's engine has no method for: with the key, over the connections and
    with the errors of its chat requests. path: after the provider's address. Raises lm15's errors."""
    client = engine.router.lm(f"{provider}:any")
    address = client.base_url.rstrip("/") + path
    return client._send_ok(client._emit(method="POST", url=address, headers=client._headers(), payload=body)).json()


def _bounded(chunks: Any, response: Any) -> Iterator[bytes]:
    size = 0
    with closing(chunks):
        _check_packing(response)
        for chunk in chunks:
            size = _grown(size, chunk)
            yield chunk


async def _abounded(chunks: Any, response: Any) -> AsyncIterator[bytes]:
    size = 0
    async with aclosing(chunks):
        _check_packing(response)
        async for chunk in chunks:
            size = _grown(size, chunk)
            yield chunk


def _check_packing(response: Any) -> None:
    """One layer of gzip makes a thousand bytes of one at most, and 64 KiB are read at a time; two make a million."""
    if len(content_codings(response.headers_all("content-encoding"))) > 1:
        raise ProviderError("an answer that is compressed more than once")


def _grown(size: int, chunk: bytes) -> int:
    """Raises `ProviderError`, which is not sent again, once there is too much."""
    size += len(chunk)
    if size > MOST_BYTES:
        raise ProviderError(f"an answer of more than {MOST_BYTES / 2**20:g} MiB, which none is allowed to have")
    return size
