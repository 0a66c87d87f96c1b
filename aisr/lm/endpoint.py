"""An OpenAI-compatible server as a DSPy engine, opened once, which keeps what DSPy drops of errors.

Left to itself DSPy chooses an engine for each call anew: routes, capabilities, a trial rendering of the request, a
price. The server does not change here, and a call costs this process a third less.
"""

import json
import math
import os
from dataclasses import replace
from typing import Any
from urllib.request import getproxies

from dspy.lm15 import (
    AccessPolicy,
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
)

from aisr.base.private import StdlibTransport
from aisr.lm.budget import current_call
from aisr.lm.config import SECONDS, LMConfig

MOST_WORDS = 300  # bytes of an error whose form is not known
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
        transport = Transport(
            read_timeout=config.timeout or SECONDS,
            max_connections=max(config.most_threads, 8),
            trust_env=bool(getproxies()),  # left to itself, lm15 looks for proxies in the environment at each call
        )
        self._router = LMRouter(RouterConfig(providers=(definition,), transport=transport))

    def __deepcopy__(self, memo: dict[int, Any]) -> "Endpoint":
        return self

    def complete(self, request: Request) -> Response:
        """One answer, without what no program reads. Raises lm15's errors."""
        routed = replace(request, model=f"{self.name}:{request.model.partition('/')[2]}")
        response = self._router.complete(routed)
        parts = [part for part in response.message.parts if isinstance(part, ANSWERS)]
        message = Message.assistant(parts or [TextPart("")])
        return replace(response, id=None, model=request.model, message=message, provider_data=None)

    def close(self) -> None:
        """Close the connections for good."""
        self._router.close()


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
        call.receive(answer.get("usage"))
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
    return all(value is None or (isinstance(value, int) and value >= 0) for value in counts)


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


# --- Connections


class Transport:
    """DSPy's connections, whose bodies pass through `receive_chat` before they are read."""

    def __init__(self, **options: Any) -> None:
        self._inner = StdlibTransport(**options)

    def stream(self, request: Any) -> "_Received":
        return _Received(self._inner.stream(request))

    def close(self) -> None:
        self._inner.close()


class _Received:
    """A response as it is received."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def read(self) -> bytes:
        return receive_chat(self._inner.status, self._inner.read())

    def __enter__(self) -> "_Received":
        self._inner.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._inner.__exit__(*raised)
