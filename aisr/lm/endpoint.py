"""An OpenAI-compatible server as a DSPy engine, opened once, which keeps what DSPy drops of errors.

Left to itself DSPy chooses an engine for each call anew: routes, capabilities, a trial rendering of the request, a
price. The server does not change here, and a call costs this process a third less.
"""

import json
import os
from dataclasses import replace
from typing import Any
from urllib.request import getproxies

import dspy
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
        key = key_of_servers()
        definition = ProviderDefinition.chat(
            AccessPolicy(provider=name, env_keys=(key,) if key else (), base_url=config.api_base),
            compat=OpenAIChatCompat(),
            placeholder_key=None if key else "none",
        )
        self.name = name
        self.supports_response_schema = config.schema
        self.supported_params = frozenset(
            {"temperature", "max_tokens", "logprobs", "top_logprobs"}
            | ({"response_format"} if config.schema else set())
        )
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


# --- Bodies of answers


def receive_chat(status: int, body: bytes) -> bytes:
    """Return the body of an answer, where it is an error in a form that lm15 reads.

    Raises `ProviderError` for one without a choice, which lm15 takes for an empty text; its usage counts.
    """
    if status >= 400:
        return readable_error(body)
    answer = _json(body)
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or (isinstance(choices, list) and choices):
        return body
    if answer.get("error") and not choices:
        return readable_error(body, "an error under status 200: ")
    if isinstance(usage := answer.get("usage"), dict) and dspy.settings.usage_tracker:
        dspy.settings.usage_tracker.add_usage("", usage)
    raise ProviderError(f"the answer holds no choice: {_first_words(body)}")


def readable_error(body: bytes, before: str = "") -> bytes:
    """Return the body of an error with a message where lm15 looks for it, which passes over all but OpenAI's form: that
    of the server, else the first words of the body. before: words to put before it."""
    content = _json(body)
    if isinstance(content, list) and content:
        content = content[0]
    error = content.get("error", content) if isinstance(content, dict) else None
    error = dict(error) if isinstance(error, dict) else {"message": error}
    message = error.get("message") if isinstance(error.get("message"), str) else None
    return json.dumps({"error": {**error, "message": before + (message or _first_words(body))}}).encode()


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _first_words(body: bytes) -> str:
    return " ".join(body[:MOST_WORDS].decode(errors="replace").split()) or "no more was said"


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
