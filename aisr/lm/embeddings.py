"""Embeddings for retrievers, by LiteLLM: kept in DSPy's cache and entered into the ledger. Texts go to no other server
than the options name."""

import os
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import dspy
import numpy as np
from dspy.utils.exceptions import LMBillingError, LMConfigurationError, LMError, LMProviderError
from numpy.typing import NDArray

from aisr.base import redact
from aisr.base.errors import NotEmbedded, UserError
from aisr.base.files import digest_texts
from aisr.base.private import error_boundary, litellm_errors
from aisr.lm.budget import Ledger, Spend
from aisr.lm.config import (
    SECONDS,
    LMConfig,
    Price,
    address_in_environment,
    listed_input_price,
    quiet_litellm,
)
from aisr.lm.endpoint import key_of_servers
from aisr.lm.retries import FATAL_ERRORS, Contact

Embed = Callable[[Sequence[str]], Any]  # texts, none of them empty, to an array with a row for each
BATCH = 200  # texts in a request
REASON_LENGTH = 300  # characters of an error that a server sends
LOCKS = 64  # claims of one paper are often judged at once: one thread embeds the same texts for all


class Embedder:
    """Embeds texts by a model of a provider, or of an OpenAI-compatible server; the same texts once.

    Raises `NotEmbedded` where the model does not answer, and the errors that every record would meet: a refused key, an
    unknown model, a spent budget.
    """

    def __init__(self, model: str, source: "Embeddings") -> None:
        self.model = model
        self.source = source
        self.price = source.price_of(model)
        self.contact = Contact()
        address = source.config.embedding_address
        self.server = address or address_in_environment(model)
        self.options: dict[str, Any] = {"timeout": source.config.timeout or SECONDS, "encoding_format": "float"}
        if address:  # most servers ask for no key
            self.options |= {"api_base": address, "api_key": os.environ.get(key_of_servers() or "") or "none"}
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Embedder":
        return self

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings, a row a text."""
        once = list(dict.fromkeys(texts))
        batches = [once[start : start + BATCH] for start in range(0, len(once), BATCH)]
        with self._locks[hash(tuple(once)) % LOCKS]:
            parts = [self._batch(batch) for batch in batches]
        if len({part.shape[1] for part in parts}) != 1:
            raise NotEmbedded(f"{self.model} gave embeddings of several lengths")
        rows = dict(zip(once, np.concatenate(parts), strict=True))
        return np.array([rows[text] for text in texts])

    def _batch(self, texts: list[str]) -> NDArray[np.float32]:
        key = {"embeddings": self.model, "server": self.server, "texts": digest_texts(texts)}
        kept = dspy.cache.get(key)
        if kept is not None:
            self.source.ledger.from_cache()
            return np.frombuffer(kept, dtype=np.float32).reshape(len(texts), -1)
        if not self.source.sends:
            raise NotEmbedded(f"the response cache no longer holds the embeddings by {self.model}")
        try:
            rows = self.contact.run(lambda: self._send(texts))
        except FATAL_ERRORS:
            raise
        except LMError as error:
            reason = redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:REASON_LENGTH]
            raise NotEmbedded(f"not embedded by {self.model}: {reason}") from error
        dspy.cache.put(key, rows.tobytes())
        return rows

    def _send(self, texts: list[str]) -> NDArray[np.float32]:
        """One request, charged whatever the result. Raises `LMError`."""
        ledger = self.source.ledger
        if reason := ledger.spent_out():
            raise LMBillingError(ledger.refuse(reason))
        litellm = self._litellm
        usage: dict[str, Any] = {}
        try:
            with error_boundary(self.model), litellm_errors(model=self.model):
                answer = litellm.embedding(model=self.model, input=texts, **self.options).model_dump()
            usage = answer.get("usage") or {}
            return _rows(answer.get("data"), len(texts))
        finally:
            ledger.add(Spend.of(usage, self.price))

    @cached_property
    def _litellm(self) -> Any:
        """LiteLLM, once it knows the provider and its key. Raises `LMConfigurationError`."""
        litellm = quiet_litellm()
        try:
            litellm.get_llm_provider(self.model)
        except litellm.exceptions.BadRequestError as error:
            raise LMConfigurationError(f"no provider of embeddings is known by the name of {self.model}") from error
        environment = litellm.validate_environment(model=self.model)
        missing = environment.get("missing_keys")
        if missing and not environment.get("keys_in_environment") and "api_base" not in self.options:
            raise LMConfigurationError(
                f"the retriever embeds with {self.model}, which needs {' or '.join(missing)}; set it in the "
                f"environment (export {missing[0]}=…), or give -L "
                "embedding_api_base=ADDRESS for a server of your own"
            )
        return litellm


def _rows(data: Any, count: int) -> NDArray[np.float32]:
    """Return the embeddings of an answer in the order of the texts, which their `index` states. Raises
    `LMProviderError` where any is missing or is none: its neighbours would stand for other texts."""
    try:
        placed = {one["index"]: one["embedding"] for one in data}
        rows = np.array([placed[number] for number in range(count)], dtype=np.float32)
    except (KeyError, TypeError, ValueError) as error:
        raise LMProviderError(f"an answer that does not hold {count} embeddings of one length") from error
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise LMProviderError(f"embeddings of shape {rows.shape} for {count} texts, or not all of them numbers")
    return rows


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
