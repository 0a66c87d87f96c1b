"""Embeddings for retrievers: by DSPy's `Embedder`, kept in its response cache and entered into the ledger. Texts go to
no other server than the options name."""

import json
import os
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import dspy
import numpy as np
from dspy.lm15 import LM15Error
from dspy.utils import exceptions
from dspy.utils.exceptions import (
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMInvalidRequestError,
    LMProviderError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMUnsupportedModelError,
)
from numpy.typing import NDArray

from aisr.base import redact
from aisr.base.errors import NotEmbedded, UserError
from aisr.base.private import StdlibTransport, TransportRequest, litellm_errors
from aisr.base.redact import trim_keys
from aisr.lm.budget import Call, Ledger
from aisr.lm.config import SECONDS, LMConfig, Price, listed_input_price, quiet_litellm
from aisr.lm.endpoint import key_of_servers
from aisr.lm.rate_limit import FATAL_ERRORS, RETRIES, RateLimiter
from aisr.lm.response_cache import address_digest, address_in_environment, configure_cache

Embed = Callable[[Sequence[str]], Any]  # texts, none of them empty, to an array with a row for each
BATCH = 200  # texts in a request
REASON_LENGTH = 300  # characters of an error that a server sends
ERRORS = {  # by HTTP status
    401: LMAuthError,
    402: LMBillingError,
    403: LMAuthError,
    404: LMUnsupportedModelError,
    408: LMTimeoutError,
    429: LMRateLimitError,
}
LOCKS = 64  # claims of one paper are often judged at once: one thread embeds the same texts for all


class Embedder:
    """Embeds texts by a model of a provider, or of an OpenAI-compatible server; the same texts once.

    Raises `NotEmbedded` where the model does not answer, and the errors that every record would meet: a refused key, an
    unknown model, a spent budget.
    """

    def __init__(self, model: str, source: "Embeddings") -> None:
        config = source.config
        self.model = model
        self.sends = source.sends
        self.ledger = source.ledger
        self.price = source.price_of(model)
        self.timeout = config.timeout or SECONDS
        self.address = config.embedding_address
        self.limiter = RateLimiter(config.most_threads, RETRIES)
        trim_keys()
        configure_cache()
        connections = max(config.most_threads, 8)
        self._server = StdlibTransport(read_timeout=self.timeout, max_connections=connections) if self.address else None
        # Two servers give other numbers for one model name.
        server = self.address or address_in_environment(model)
        self.name = f"{model} at {address_digest(server)}" if server else model
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Embedder":
        return self

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The embeddings, a row a text."""
        once = list(dict.fromkeys(texts))
        request = _Request(self._request, self.name)
        with self._locks[hash(tuple(once)) % LOCKS]:
            try:
                vectors = np.asarray(dspy.Embedder(request, batch_size=BATCH)(once), dtype=np.float32)
            except ValueError as error:
                raise NotEmbedded(f"{self.model} gave embeddings of several lengths") from error
        if not request.is_sent:
            self.ledger.from_cache()
        rows = dict(zip(once, vectors, strict=True))
        return np.array([rows[text] for text in texts])

    def _request(self, texts: list[str]) -> list[list[float]]:
        """The embeddings of texts that the response cache does not hold."""
        if not self.sends:
            raise NotEmbedded(f"the response cache no longer holds the embeddings by {self.model}")
        try:
            return self.limiter.run(lambda: self._send(texts))
        except FATAL_ERRORS:
            raise
        except LMError as error:
            reason = redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:REASON_LENGTH]
            raise NotEmbedded(f"not embedded by {self.model}: {reason}") from error

    def _send(self, texts: list[str]) -> list[list[float]]:
        """One request, charged whatever the result. Raises `LMError`."""
        if reason := self.ledger.spent_out():
            raise LMBillingError(self.ledger.refuse(reason))
        call = Call([{"content": text} for text in texts])
        try:
            answer = self._from_server(texts) if self._server else self._from_provider(texts)
        except BaseException as error:
            known = _dspy_error(error) if isinstance(error, Exception) else error
            self.ledger.charge(call, self.price)
            raise known from error
        call.receive(answer.get("usage"))
        self.ledger.charge(call, self.price)
        return _rows(answer.get("data"), len(texts))

    def _from_server(self, texts: list[str]) -> dict[str, Any]:
        assert self._server
        assert self.address
        key = os.environ.get(key_of_servers() or "") or "none"  # most servers ask for none
        headers = [("content-type", "application/json"), ("authorization", f"Bearer {key}")]
        content = {"model": self.model.partition("/")[2], "input": texts, "encoding_format": "float"}
        url = f"{self.address.rstrip('/')}/embeddings"
        request = TransportRequest("POST", url, headers, json.dumps(content).encode())
        with self._server.stream(request) as response:
            body = response.read()
        if response.status >= 400:
            kind = ERRORS.get(response.status) or (LMServerError if response.status >= 500 else LMInvalidRequestError)
            wait = response.header("retry-after") or ""
            raise kind(
                body.decode(errors="replace")[:REASON_LENGTH],
                status=response.status,
                retry_after=float(wait) if wait.replace(".", "", 1).isdecimal() else None,
            )
        answer = json.loads(body)
        return answer if isinstance(answer, dict) else {}

    def _from_provider(self, texts: list[str]) -> dict[str, Any]:
        litellm = self._litellm
        options = {"encoding_format": "float", "timeout": self.timeout}
        with litellm_errors(model=self.model):
            return dict(litellm.embedding(model=self.model, input=texts, **options).model_dump())

    @cached_property
    def _litellm(self) -> Any:
        """LiteLLM, once it knows the provider and its key. Raises `LMConfigurationError`."""
        litellm = quiet_litellm()
        try:
            litellm.get_llm_provider(self.model)
        except litellm.exceptions.BadRequestError as error:
            raise LMConfigurationError(f"no provider of embeddings is known by the name of {self.model}") from error
        environment = litellm.validate_environment(model=self.model)
        if not environment.get("keys_in_environment") and (missing := environment.get("missing_keys")):
            raise LMConfigurationError(
                f"the retriever embeds with {self.model}, which needs {' or '.join(missing)}; set it in the "
                f"environment (export {missing[0]}=…), or give -L "
                "embedding_api_base=ADDRESS for a server of your own"
            )
        return litellm


def _rows(data: Any, count: int) -> list[list[float]]:
    """The embeddings of an answer in the order of the texts, which their `index` states. Raises `LMProviderError` where
    any is missing, stands twice or is none: its neighbours would stand for other texts."""
    try:
        placed = {one["index"]: one["embedding"] for one in data}
        order = sorted(placed) == list(range(count)) and len(data) == count
        rows = np.array([placed[number] for number in range(count)] if order else [], dtype=np.float32)
    except (KeyError, TypeError, ValueError) as error:
        raise LMProviderError(f"an answer that holds no embeddings ({type(error).__name__})") from error
    if not order:
        raise LMProviderError(f"embeddings that are not numbered from 0 to {count - 1}, each once, for {count} texts")
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise LMProviderError(f"embeddings of shape {rows.shape} for {count} texts, or not all of them numbers")
    return [list(map(float, row)) for row in rows]


def _dspy_error(error: Exception) -> LMError:
    """The error of DSPy that says whether a request may be sent again: lm15's `RateLimitError` is its
    `LMRateLimitError`."""
    if isinstance(error, LMError):
        return error
    kind = getattr(exceptions, f"LM{type(error).__name__}", None) if isinstance(error, LM15Error) else None
    known: LMError = (kind or LMProviderError)(str(error), retry_after=getattr(error, "retry_after", None))
    return known


class _Request:
    """The function that DSPy's embedder calls for texts that its cache does not hold, which knows it by its name."""

    def __init__(self, function: Callable[[list[str]], list[list[float]]], name: str) -> None:
        self.function = function
        self.is_sent = False
        self.__name__ = name

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Request":
        return self

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.is_sent = True
        return self.function(texts)


class Embeddings:
    """The embedding models of retrievers, by their names. sends: whether what the response cache lacks is asked for;
    else it is `NotEmbedded`."""

    def __init__(self, config: LMConfig | None = None, ledger: Ledger | None = None, sends: bool = True) -> None:
        self.config = config or LMConfig()
        self.ledger = ledger or Ledger()
        self.sends = sends
        self._opened: dict[str, Embedder] = {}

    def kept(self) -> "Embeddings":
        """The same, with nothing but what the response cache holds."""
        return Embeddings(self.config, sends=False)

    def price_of(self, model: str) -> Price | None:
        """The price of a model's tokens; None where it is not known."""
        price = self.config.embedding_price
        return listed_input_price(model) if price is None else Price(price, 0.0)

    def of(self, model: str) -> Embed:
        """What embeds with a model. Raises UserError where the server cannot serve it or its price has to be known."""
        if model not in self._opened:
            if self.config.embedding_address and not model.startswith("openai/"):
                raise UserError(
                    f"the retriever embeds with {model}, and the server at --api-base speaks OpenAI's protocol: name "
                    "it openai/MODEL; or give -L embedding_api_base=ADDRESS, or =provider"
                )
            if self.ledger.limits.usd is not None and self.price_of(model) is None:
                raise UserError(
                    f"--max-usd: the price of {model} is unknown; give it by -L embedding_price=USD, a million tokens"
                )
            self._opened[model] = Embedder(model, self)
        return self._opened[model]
