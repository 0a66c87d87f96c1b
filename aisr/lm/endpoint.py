"""An OpenAI-compatible server as a DSPy engine, opened once, whose answers are bounded.

Left to itself DSPy chooses an engine for each call anew: routes, capabilities, a trial rendering of the request, a
price. The server does not change here, and a call costs this process a third less.
"""

import asyncio
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies
from weakref import WeakKeyDictionary

from dspy.lm15 import (
    AccessPolicy,
    AsyncLMRouter,
    DataPart,
    LMRouter,
    Message,
    OpenAIChatCompat,
    ProviderDefinition,
    ProviderError,
    RefusalPart,
    Request,
    Response,
    RouterConfig,
    TextPart,
    TimeoutError,
    TokenLogprob,
)

from aisr.base import redact
from aisr.base.private import StdlibAsyncTransport, StdlibTransport
from aisr.lm.budget import current_call, token_count
from aisr.lm.config import SECONDS, LMConfig

MOST_CHARACTERS = 1_000_000  # of an answer; a model that reasons writes some 100,000
MOST_BYTES = 32 * 2**20  # of an answer, unpacked; a chat has far less
MOST_WORDS = 300  # bytes of an error whose form is not known
PLAIN_PATH = "/v1"  # any other may hold a token
OWN_KEY, OPENAI_KEY = "AISR_API_KEY", "OPENAI_API_KEY"
ANSWERS = (TextPart, RefusalPart, DataPart)  # no reasoning, and no calls of tools that nobody offered


def key_of_servers() -> str | None:
    """The variable whose key servers of the user's own are sent: `OWN_KEY`, which may be empty, where it is set, else
    OpenAI's; None for none, as such servers often ask for no key."""
    name = OWN_KEY if OWN_KEY in os.environ else OPENAI_KEY
    return name if os.environ.get(name) else None


class Endpoint:
    """An engine for `dspy.LM(engine=...)`. name: the provider in model strings and errors."""

    supports_function_calling = False
    supports_reasoning = False

    def __init__(self, name: str, config: LMConfig) -> None:
        assert config.api_base
        key, address, schema = key_of_servers(), config.api_base, config.schema
        definition = ProviderDefinition.chat(
            AccessPolicy(provider=name, env_keys=(key,) if key else (), base_url=address),
            compat=OpenAIChatCompat(),
            placeholder_key=None if key else "none",
        )
        self.supports_response_schema = schema
        self.supported_params = frozenset(
            {"temperature", "max_tokens", "logprobs", "top_logprobs"} | ({"response_format"} if schema else set())
        )
        self.name = name
        self.providers = (definition,)
        # Left to itself, lm15 looks for proxies in the environment at each call.
        self.wire: dict[str, Any] = {
            "receive": receive_chat,
            "seconds": config.timeout or SECONDS,
            "max_connections": max(config.most_threads, 8),
            "trust_env": bool(getproxies()),
        }
        self.secrets = redact.secret_values()
        path = urlsplit(address).path.rstrip("/")
        if path not in ("", PLAIN_PATH):
            self.secrets += [("address", form) for form in redact.forms(path)]
        self._transport = BoundedTransport(**self.wire)
        self._router = LMRouter(self.over(self._transport))

    def over(self, transport: object) -> RouterConfig:
        """What reaches this server, over these connections."""
        return RouterConfig(providers=self.providers, transport=transport)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Endpoint":
        return self

    def complete(self, request: Request) -> Response:
        """One answer. Raises lm15's errors."""
        return without_secrets(self._router.complete(self.routed(request)), request.model, self.secrets)

    def routed(self, request: Request) -> Request:
        """The request with its model as lm15 names one of this server."""
        return replace(request, model=f"{self.name}:{request.model.partition('/')[2]}")

    def close(self) -> None:
        """Close the connections for good."""
        self._router.close()


class AsyncEndpoint:
    """The same server for coroutines. Connections belong to an event loop, so each loop has its own."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    def __deepcopy__(self, memo: dict[int, Any]) -> "AsyncEndpoint":
        return self

    async def complete(self, request: Request) -> Response:
        """One answer. Raises lm15's errors."""
        loop = asyncio.get_running_loop()
        if loop not in self._opened:
            transport = BoundedAsyncTransport(**self._endpoint.wire)
            self._opened[loop] = AsyncLMRouter(self._endpoint.over(transport)), transport
        router, _ = self._opened[loop]
        answer = await router.complete(self._endpoint.routed(request))
        return without_secrets(answer, request.model, self._endpoint.secrets)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        for opened in self._opened.pop(asyncio.get_running_loop(), ())[1:]:
            await opened.aclose()


def without_secrets(response: Response, model: str, secrets: Sequence[tuple[str, str]]) -> Response:
    """What a program needs of an answer, and in that no key, and not the path of the server: a server can repeat them
    in any field, and from the response cache they would go into files.

    model: as the request has it; secrets: what must not stand in it, each with its name.
    """
    parts = [part for part in response.message.parts if isinstance(part, ANSWERS)]
    check_length([part.value if isinstance(part, DataPart) else part.text for part in parts])
    parts = [_clean(part, secrets) for part in parts]
    return Response(
        id=None,
        model=model,
        message=Message.assistant(parts or [TextPart("")]),
        finish_reason=response.finish_reason,
        usage=response.usage,  # numbers
        logprobs=_clean_tokens(response.logprobs, secrets),
    )


def receive_chat(status: int, body: bytes) -> bytes:
    """The body of an answer in a form that lm15 reads, after its usage is noted in the `current_call`. Raises
    `ProviderError` where it has no choice."""
    if status >= 400:
        return readable_error(body)
    odd: list[str] = []
    try:
        answer = json.loads(body, parse_constant=odd.append)  # NaN and the infinities: None in their place
    except (ValueError, RecursionError):
        answer = None
    call = current_call.get()
    if not isinstance(answer, dict):
        if call:
            call.receive(None)
        return body
    choices = answer.get("choices")
    if answer.get("error") and not choices:
        return readable_error(body, "an error under status 200: ")
    if call:
        call.receive(answer.get("usage"), _content_length(answer))
    if not isinstance(choices, list) or not choices:
        raise ProviderError(f"the answer holds no choice: {_first_words(body)}")
    clean = readable(answer)
    return body if clean == answer and not odd else json.dumps(clean).encode()


def readable_error(body: bytes, before: str = "") -> bytes:
    """The body of an error with a message where lm15 looks for it, which passes over all but OpenAI's form: that of
    the server, else the first words of the body. before: words to put before it."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, list) and content:
        content = content[0]
    error = content.get("error", content) if isinstance(content, dict) else None
    error = dict(error) if isinstance(error, dict) else {"message": error}
    message = error.get("message") if isinstance(error.get("message"), str) else None
    return json.dumps({"error": {**error, "message": before + (message or _first_words(body))}}).encode()


def _first_words(body: bytes) -> str:
    return " ".join(body[:MOST_WORDS].decode(errors="replace").split()) or "no more was said"


def _content_length(answer: dict[str, Any]) -> int:
    """How many characters the first choice of a chat completion writes."""
    try:
        return len(answer["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError):
        return 0


def readable(answer: dict[str, Any]) -> dict[str, Any]:
    """A chat completion without numbers that are none, for which lm15 refuses all of it: servers that constrain what
    is written give -Infinity to tokens that they do not allow. Alternatives without a log-probability go, and where a
    written token has none, all of them; a usage that is none goes as well."""
    usage, choices = answer.get("usage"), answer.get("choices")
    if usage is not None and not _is_usage(usage):
        answer = {**answer, "usage": None}
    if isinstance(choices, list):
        answer = {**answer, "choices": [with_readable_logprobs(choice) for choice in choices]}
    return answer


def _is_usage(usage: Any) -> bool:
    """Whether all counts of a usage are numbers of tokens, those of its details as well."""
    if not isinstance(usage, dict):
        return False
    details = [value for name, value in usage.items() if name.endswith("_details") and value is not None]
    if not all(isinstance(one, dict) for one in details):
        return False
    counts = [value for part in (usage, *details) for name, value in part.items() if name.endswith("_tokens")]
    return all(value is None or (isinstance(value, int) and token_count(value) is not None) for value in counts)


def with_readable_logprobs(choice: Any) -> Any:
    """A choice of a chat completion, or what else has its `logprobs`."""
    logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
    if logprobs is None:
        return choice
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not all(_has_logprob(token) for token in content):
        return {**choice, "logprobs": None}
    tokens = []
    for token in content:
        top = token.get("top_logprobs")
        kept = [one for one in top if _has_logprob(one)] if isinstance(top, list) else []
        tokens.append(token if kept == top else {**token, "top_logprobs": kept})
    return {**choice, "logprobs": {**logprobs, "content": tokens}}


def _has_logprob(token: Any) -> bool:
    value = token.get("logprob") if isinstance(token, dict) else None
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a number of hundreds of digits
        return False


def check_length(answer: Any) -> None:
    """Raises `ProviderError`, which is not sent again, for an answer longer than any that is needed: reading one of
    24 MB takes 2 GB. answer: texts, or JSON values."""
    count, level = 0, [answer]
    while level and count <= MOST_CHARACTERS:
        one = level.pop()
        count += len(one) if isinstance(one, (str, list, tuple, dict)) else 1
        if isinstance(one, dict):
            level += [*one, *one.values()]
        elif isinstance(one, (list, tuple)):
            level += one
    if count > MOST_CHARACTERS:
        raise ProviderError(f"an answer of more than {MOST_CHARACTERS:,} characters, which none is allowed to have")


def _clean(part: Any, secrets: Sequence[tuple[str, str]]) -> Any:
    if isinstance(part, DataPart):
        return DataPart(redact.throughout(part.value, secrets))
    return type(part)(redact.values(part.text, secrets))


def _clean_tokens(
    tokens: Sequence[TokenLogprob] | None, secrets: Sequence[tuple[str, str]]
) -> Sequence[TokenLogprob] | None:
    """None where a token is secret, or several together spell it: nothing can be read from such an answer."""
    spelled = "".join(token.token for token in tokens or ())
    listed = "\n".join(one.token for token in tokens or () for one in token.top)
    return tokens if redact.values(spelled, secrets) == spelled and redact.values(listed, secrets) == listed else None


# --- Connections. DSPy's own wait for each next byte and for as many bytes as a server likes: one that sends a byte a
# second holds a call for ever, and one that does not end fills the memory.

Receive = Callable[[int, bytes], bytes]  # of the HTTP status and the body


def as_sent(status: int, body: bytes) -> bytes:
    """The body as it is."""
    return body


class BoundedTransport:
    """A transport of lm15. seconds: for a whole answer, from the moment that the request is sent; receive: what each
    body passes through before it is read; options: of DSPy's own transport."""

    def __init__(self, seconds: float, receive: Receive = as_sent, **options: Any) -> None:
        self._bounds = seconds, receive
        self._inner = StdlibTransport(read_timeout=seconds, **options)

    def stream(self, request: Any) -> "_Response":
        return _Response(self._inner.stream(request), *self._bounds)

    def close(self) -> None:
        self._inner.close()


class BoundedAsyncTransport:
    """The same for coroutines."""

    def __init__(self, seconds: float, receive: Receive = as_sent, **options: Any) -> None:
        self._bounds = seconds, receive
        self._inner = StdlibAsyncTransport(read_timeout=seconds, **options)

    def stream(self, request: Any) -> "_AsyncResponse":
        return _AsyncResponse(self._inner.stream(request), *self._bounds)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounds:
    """A response with what is left of its time and size. Methods raise lm15's errors: `ProviderError` is not sent
    again."""

    def __init__(self, inner: Any, seconds: float, receive: Receive) -> None:
        self._inner = inner
        self._seconds, self._end, self._size = seconds, time.monotonic() + seconds, 0
        self._receive = receive

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _begin(self) -> None:
        """One layer of gzip makes a thousand bytes of one at most, and 64 KiB are read at a time; two make a
        million."""
        if "," in ",".join(self._inner.headers_all("content-encoding")):
            raise ProviderError("an answer that is compressed more than once")

    def _take(self, chunk: bytes) -> bytes:
        self._size += len(chunk)
        if self._size > MOST_BYTES:
            raise ProviderError(f"an answer of more than {MOST_BYTES / 2**20:g} MiB, which none is allowed to have")
        if time.monotonic() > self._end:
            raise TimeoutError(f"read timed out: the answer was not complete after {self._seconds:g} s")
        return chunk

    def _body(self, chunks: Iterable[bytes]) -> bytes:
        body = b"".join(chunks)
        return self._receive(self._inner.status, body)


class _Response(_Bounds):
    """A response that is read within bounds."""

    def read(self) -> bytes:
        self._begin()
        return self._body(map(self._take, self._inner))

    def __enter__(self) -> "_Response":
        self._inner.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._inner.__exit__(*raised)


class _AsyncResponse(_Bounds):
    """The same for coroutines; entering gives the response itself."""

    async def read(self) -> bytes:
        self._begin()
        return self._body([self._take(chunk) async for chunk in self._inner])

    async def __aenter__(self) -> "_AsyncResponse":
        self._inner = await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._inner.__aexit__(*raised)
