"""Embeddings for retrievers, by LiteLLM: kept in DSPy's cache and entered into the ledger. Texts go to no other server
than the options name."""

import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
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
    LMConfig,
    LMUnavailable,
    Price,
    address_in_environment,
    check_provider,
    listed_input_price,
    quiet_litellm,
)
from aisr.lm.endpoint import key_of_servers
from aisr.lm.retries import FATAL_ERRORS, Contact

Embed = Callable[[Sequence[str]], Any]  # texts, none of them empty, to an array with a row for each
BATCH = 200  # texts in a request
REASON_LENGTH = 300  # characters of an error that a server sends
LOCKS = 64  # claims of one paper are often judged at once: one thread embeds the same texts for all


class Embeddings:
    """The embedding models of retrievers, by a provider or an OpenAI-compatible server. sends: whether what the
    response cache lacks is asked for; else it is `NotEmbedded`."""

    def __init__(self, config: LMConfig | None = None, ledger: Ledger | None = None, sends: bool = True) -> None:
        self.config = config or LMConfig()
        self.ledger = ledger or Ledger()
        self.sends = sends
        self.contact = Contact()
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Embeddings":
        return self

    def kept(self) -> "Embeddings":
        """The same, with nothing but what the response cache holds."""
        return Embeddings(self.config, sends=False)

    def price_of(self, model: str) -> Price | None:
        """The price of a model's tokens; None where it is not known."""
        price = self.config.embedding_price
        return listed_input_price(model) if price is None else Price(price, 0.0)

    def of(self, model: str) -> Embed:
        """What embeds with a model. Raises UserError where the server cannot serve it or its price has to be known."""
        if self.config.embedding_address and not model.startswith("openai/"):
            raise UserError(
                f"the retriever embeds with {model}, and the server at --api-base speaks OpenAI's protocol: name "
                "it openai/MODEL; or give -L embedding_api_base=ADDRESS, or =provider"
            )
        if self.ledger.limits.usd is not None and self.price_of(model) is None:
            raise UserError(
                f"--max-usd: the price of {model} is unknown; give it by -L embedding_price=USD, a million tokens"
            )
        return partial(self._embed, model)

    def _embed(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings, a row a text; the same texts are sent once.

        Raises `NotEmbedded` where the model does not answer, and the errors that every record would meet: a refused
        key, an unknown model, a spent budget.
        """
        once = list(dict.fromkeys(texts))
        with self._locks[hash(tuple(once)) % LOCKS]:
            parts = [self._batch(model, once[start : start + BATCH]) for start in range(0, len(once), BATCH)]
        rows = dict(zip(once, np.concatenate(parts), strict=True))
        return np.array([rows[text] for text in texts])

    def _batch(self, model: str, texts: list[str]) -> NDArray[np.float32]:
        server = self.config.embedding_address or address_in_environment(model)
        key = {"embeddings": model, "server": server, "texts": digest_texts(texts)}
        kept = dspy.cache.get(key)
        if kept is not None:
            self.ledger.from_cache()
            return np.frombuffer(kept, dtype=np.float32).reshape(len(texts), -1)
        if not self.sends:
            raise NotEmbedded(f"the response cache no longer holds the embeddings by {model}")
        try:
            rows = self.contact.run(lambda: self._send(model, texts))
        except FATAL_ERRORS:
            raise
        except LMError as error:
            reason = redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:REASON_LENGTH]
            raise NotEmbedded(f"not embedded by {model}: {reason}") from error
        dspy.cache.put(key, rows.tobytes())
        return rows

    def _send(self, model: str, texts: list[str]) -> NDArray[np.float32]:
        """One request, charged whatever the result. Raises `LMError`."""
        if reason := self.ledger.spent_out():
            raise LMBillingError(self.ledger.refuse(reason))
        options = self._options(model)
        usage: dict[str, Any] = {}
        try:
            with error_boundary(model), litellm_errors(model=model):
                answer = quiet_litellm().embedding(model=model, input=texts, **options).model_dump()
            usage = answer.get("usage") or {}
            return _rows(answer.get("data"), len(texts))
        finally:
            self.ledger.add(Spend.of(usage, self.price_of(model)))

    def _options(self, model: str) -> dict[str, Any]:
        """Return the options of a request. Raises `LMConfigurationError` where the provider's key is missing."""
        options = {"timeout": self.config.timeout, "encoding_format": "float"}
        if address := self.config.embedding_address:  # most servers ask for no key
            return options | {"api_base": address, "api_key": os.environ.get(key_of_servers() or "") or "none"}
        try:
            check_provider(model, "the retriever's", "give -L embedding_api_base=ADDRESS for a server of your own")
        except LMUnavailable as error:  # every record would meet it
            raise LMConfigurationError(str(error)) from error
        return options


def _rows(data: Any, count: int) -> NDArray[np.float32]:
    """Return the embeddings of an answer in the order of the texts, which their `index` states. Raises
    `LMProviderError` where any is missing or is none: its neighbours would stand for other texts."""
    try:
        placed = {one["index"]: one["embedding"] for one in data}
        rows = np.array([placed[number] for number in range(count)], dtype=np.float32)
    except (KeyError, TypeError, ValueError) as error:
        raise LMProviderError(f"an answer that does not hold {count} embeddings of one length") from error
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise LMProviderError(f"embeddings of shape {rows.shape} for {count} texts, or not all of them numbers")
    return rows
