"""An OpenAI-compatible server as a DSPy engine, opened once, which keeps what DSPy drops of errors.

Left to itself DSPy chooses an engine for each call anew: routes, capabilities, a trial rendering of the request, a
price. The server does not change here, and a call costs this process a third less.
"""

import json
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
    RefusalPart,
    Request,
    Response,
    RouterConfig,
    TextPart,
)

from aisr.base.private import StdlibTransport
from aisr.lm.config import LMConfig

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
            read_timeout=config.timeout,
            max_connections=max(config.threads, 8),
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


class Transport(StdlibTransport):
    """DSPy's connections, whose bodies pass through `readable` before they are read."""

    def stream(self, request: Any) -> Any:
        response = super().stream(request)
        read = response.read
        response.read = lambda: readable(response.status, read())
        return response


def readable(status: int, body: bytes) -> bytes:
    """Return the body of an answer; an error, and an answer without a choice, which lm15 takes for an empty text, in
    OpenAI's form, with the message of the server, else the first words of the body: lm15 passes over all others."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    before = ""
    if status < 400:
        if not isinstance(content, dict) or content.get("choices"):
            return body
        before = "an error under status 200: " if content.get("error") else "the answer holds no choice: "
    if isinstance(content, list) and content:
        content = content[0]
    error = content.get("error", content) if isinstance(content, dict) else None
    error = dict(error) if isinstance(error, dict) else {"message": error}
    if not isinstance(message := error.get("message"), str) or not message:
        message = " ".join(body[:MOST_WORDS].decode(errors="replace").split()) or "no more was said"
    return json.dumps({"error": {**error, "message": before + message}}).encode()
