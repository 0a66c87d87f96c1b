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
OWN_KEY, OPENAI_KEY = "AISR_API_KEY", "OPENAI_API_KEY"  # the former may be empty: for a server that is sent none
ANSWERS = (TextPart, RefusalPart, DataPart)  # no reasoning, and no calls of tools that nobody offered


class Endpoint:
    """An engine for `dspy.LM(engine=...)`. name: the provider in model strings."""

    supports_function_calling = False
    supports_reasoning = False

    def __init__(self, name: str, config: LMConfig) -> None:
        variable = OWN_KEY if OWN_KEY in os.environ else OPENAI_KEY
        has_key = bool(os.environ.get(variable))
        definition = ProviderDefinition.chat(
            AccessPolicy(provider=name, env_keys=(variable,) if has_key else (), base_url=config.api_base),
            compat=OpenAIChatCompat(),
            placeholder_key=None if has_key else "none",
        )
        transport = Transport(
            read_timeout=config.timeout,
            max_connections=max(config.threads, 8),
            trust_env=bool(getproxies()),  # left to itself, lm15 looks for proxies in the environment at each call
        )
        self._name, self._router = name, LMRouter(RouterConfig(providers=(definition,), transport=transport))
        self.supports_response_schema = config.schema
        taken = {"temperature", "max_tokens", "logprobs", "top_logprobs"}
        self.supported_params = frozenset(taken | {"response_format"} if config.schema else taken)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Endpoint":
        return self

    def complete(self, request: Request) -> Response:
        """Return one answer, without what no program reads. Raises lm15's errors."""
        response = self._router.complete(replace(request, model=f"{self._name}:{request.model.partition('/')[2]}"))
        parts = [part for part in response.message.parts if isinstance(part, ANSWERS)]
        return replace(response, message=Message.assistant(parts or [TextPart("")]), provider_data=None)


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
