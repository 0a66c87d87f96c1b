"""The connections of an OpenAI-compatible server, with bounds on an answer.

As they come, they wait for each next byte and for as many bytes as a server likes: one that sends a byte a second holds
a call for ever, and one that does not end fills the memory.
"""

import json
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from dspy.lm15 import ProviderError, TimeoutError

from aisr.base.private import StdlibAsyncTransport, StdlibTransport, TransportRequest

Receive = Callable[[bytes], bytes]
MOST_BYTES = 32 * 2**20  # of an answer, unpacked; a chat has far less


class BoundedTransport:
    """What lm15 asks of a transport. `seconds` are for a whole answer, from the moment that the request is sent; the
    answer has at most `MOST_BYTES`. receive: what each body that is no error passes through before it is read; options:
    of DSPy's own transport."""

    def __init__(self, seconds: float, receive: Receive = bytes, **options: Any) -> None:
        self.seconds = seconds
        self.receive = receive
        self._inner = StdlibTransport(read_timeout=seconds, **options)

    def stream(self, request: Any) -> "_Answer":
        return _Answer(self._inner.stream(request), _Bounds(self.seconds, self.receive))

    def close(self) -> None:
        self._inner.close()


class BoundedAsyncTransport:
    """The same for coroutines."""

    def __init__(self, seconds: float, receive: Receive = bytes, **options: Any) -> None:
        self.seconds = seconds
        self.receive = receive
        self._inner = StdlibAsyncTransport(read_timeout=seconds, **options)

    def stream(self, request: Any) -> "_AsyncAnswer":
        return _AsyncAnswer(self._inner.stream(request), _Bounds(self.seconds, self.receive))

    async def aclose(self) -> None:
        await self._inner.aclose()


def posted(transport: BoundedTransport, url: str, key: str, body: dict[str, Any]) -> tuple[int, float | None, bytes]:
    """The status of an answer to JSON, the seconds to wait that it names, and what it holds."""
    headers = [("content-type", "application/json"), ("authorization", f"Bearer {key}")]
    with transport.stream(TransportRequest("POST", url, headers, json.dumps(body).encode())) as answer:
        content = answer.read()
    wait = answer.header("retry-after") or ""
    return answer.status, float(wait) if wait.replace(".", "", 1).isdecimal() else None, content


class _Bounds:
    """What is left of an answer's time and size."""

    def __init__(self, seconds: float, receive: Receive) -> None:
        self.seconds, self.ends, self.size = seconds, time.monotonic() + seconds, 0
        self.receive = receive

    def begin(self, response: Any) -> None:
        """One layer of gzip makes a thousand bytes of one at most, and 64 KiB are read at a time; two make a
        million."""
        if "," in ",".join(response.headers_all("content-encoding")):
            raise ProviderError("an answer that is compressed more than once")

    def take(self, chunk: bytes) -> bytes:
        """Raises lm15's errors: `ProviderError`, which is not sent again, once there is too much."""
        self.size += len(chunk)
        if self.size > MOST_BYTES:
            raise ProviderError(f"an answer of more than {MOST_BYTES / 2**20:g} MiB, which none is allowed to have")
        if time.monotonic() > self.ends:
            raise TimeoutError(f"read timed out: the answer was not complete after {self.seconds:g} s")
        return chunk

    def end(self, response: Any, chunks: Iterable[bytes]) -> bytes:
        """The whole body."""
        body = b"".join(chunks)
        return body if response.status >= 400 else self.receive(body)


class _Answer:
    """A response that is read within bounds."""

    def __init__(self, inner: Any, bounds: _Bounds) -> None:
        self._inner, self._bounds = inner, bounds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def read(self) -> bytes:
        self._bounds.begin(self._inner)
        return self._bounds.end(self._inner, map(self._bounds.take, self._inner))

    def __enter__(self) -> "_Answer":
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, traceback)


class _AsyncAnswer:
    """The same for coroutines. sent: what gives the response once it is entered."""

    def __init__(self, sent: Any, bounds: _Bounds) -> None:
        self._sent, self._bounds = sent, bounds
        self._inner: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def read(self) -> bytes:
        self._bounds.begin(self._inner)
        return self._bounds.end(self._inner, [self._bounds.take(chunk) async for chunk in self._inner])

    async def __aenter__(self) -> "_AsyncAnswer":
        self._inner = await self._sent.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._sent.__aexit__(*raised)
