"""An engine with a file where the network would be: what DSPy's own OpenAI engine would send, and is sent.

The bodies are built and the answers are read by that engine, so that a request of a batch is the request of a live run,
byte for byte, and its answer goes the same way.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from dspy.lm15 import LMRouter, Request, Response, RouterConfig

from aisr.base import redact
from aisr.lm.client import LedgerLM, OpenLM
from aisr.lm.endpoint import Endpoint, without_secrets

Body = dict[str, Any]
# From the body of a request and an answer of the right form to the body of the response.
Exchange = Callable[[Body, str], Body]


def offline(opened: OpenLM, exchange: Exchange) -> OpenLM:
    """The LM with `exchange` where its server would be. Nothing is sent or cached, and one thread does."""
    lm = opened.lm.copy(engine=OfflineEngine(opened.lm, exchange), cache=False)
    lm.price = None  # what a provider asks for a batch is not on LiteLLM's list
    return replace(opened, lm=lm, threads=1)


class OfflineEngine:
    """What `dspy.LM(engine=...)` asks of an engine."""

    asks_once = True  # aisr.programs.asking.ask: there is nobody to ask for a repair
    supports_function_calling = False
    supports_reasoning = False

    def __init__(self, lm: LedgerLM, exchange: Exchange) -> None:
        self.supports_response_schema = lm.supports_response_schema
        self.supported_params = lm.supported_params
        declared = lm.engine.providers if isinstance(lm.engine, Endpoint) else ()
        known = LMRouter(RouterConfig(providers=declared)).resolve_openai_chat(lm.model)
        self._model = f"{known.provider}:{known.model}"
        self._wire = _Wire(exchange)
        config = RouterConfig(providers=declared, api_keys={known.provider: "none"}, transport=self._wire)
        self._router = LMRouter(config)

    def __deepcopy__(self, memo: dict[int, Any]) -> "OfflineEngine":
        return self

    def complete(self, request: Request) -> Response:
        extensions = dict(request.config.extensions or {})
        asked = extensions.pop("metadata", {})  # ours, and not for a server
        self._wire.of_thread.stand_in = asked.get("stand_in", "")
        sent = replace(request, model=self._model, config=replace(request.config, extensions=extensions or None))
        return without_secrets(self._router.complete(sent), request.model, redact.environment())

    def close(self) -> None:
        self._router.close()


class _Wire:
    """What the engine takes for its transport."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.of_thread = threading.local()  # a request and its transport share a thread

    def stream(self, request: Any) -> "_Reply":
        body = json.loads(request.body)
        answer = self._exchange(body, self.of_thread.stand_in)
        return _Reply(json.dumps(answer).encode())

    def close(self) -> None:
        """Nothing to close."""


@dataclass
class _Reply:
    """A response with status 200, as far as the engine looks at it."""

    body: bytes
    status = 200
    reason = "OK"
    http_version = "HTTP/1.1"
    headers = (("content-type", "application/json"),)

    def read(self) -> bytes:
        return self.body

    def __enter__(self) -> "_Reply":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Nothing to give back."""
