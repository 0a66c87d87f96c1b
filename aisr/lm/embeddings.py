"""The embeddings that retrievers ask models for: entered into the ledger, at the pace of the server, kept in the
response cache, and sent to no other server than was said."""

import base64
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import Any, Protocol

import dspy
import numpy as np
from dspy.utils.exceptions import LMBillingError, LMConfigurationError, LMError, LMProviderError
from numpy.typing import NDArray

from aisr.base import digests, redact
from aisr.base.environment import trim_keys
from aisr.compat.dspy import error_boundary, get_litellm, litellm_errors
from aisr.lm.budget import Ledger
from aisr.lm.endpoint import Endpoint
from aisr.lm.prices import Price, listed_input_price, usd
from aisr.lm.rate_limit import RAISED, RETRIES, Pace
from aisr.lm.response_cache import configure_cache
from aisr.programs.errors import NotEmbedded, UserError

Embed = Callable[[Sequence[str]], Any]  # texts, none of them empty, to an array with a row for each
BATCH = 200  # texts in a request
TIMEOUT = 600.0  # seconds


class Embedder:
    """Embeds texts by a model of a provider, or of an OpenAI-compatible server. Each text is asked for once.

    Raises `NotEmbedded` where the model does not answer, and what would meet every record alike: a refused key, an
    unknown model, a spent budget.
    """

    def __init__(
        self,
        model: str,
        address: str | None,
        ledger: Ledger,
        price: Price | None,
        threads: int,
        timeout: float,
        sends: bool = True,
    ) -> None:
        self.model = model
        self.address = address
        self.sends = sends
        # Two servers give other numbers for one model name.
        self.name = f"{model} at {digests.of_text(address.rstrip('/'))}" if address else model
        self.ledger = ledger
        self.price = price
        self.pace = Pace(threads, RETRIES)
        self.timeout = timeout
        self._lock = threading.Lock()
        self._coming: dict[str, Future[Any]] = {}  # texts that are being asked for
        trim_keys()
        configure_cache()
        self._server = Endpoint("embeddings", address, False, timeout, threads) if address else None

    def __deepcopy__(self, memo: dict[int, Any]) -> "Embedder":
        return self

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The embeddings, a row a text."""
        found = {text: self._kept(text) for text in texts}
        missing, coming = self._claimed([text for text, row in found.items() if row is None])
        try:
            if missing and not self.sends:
                raise NotEmbedded(f"the response cache no longer holds the embeddings by {self.model}")
            for begin in range(0, len(missing), BATCH):
                batch = missing[begin : begin + BATCH]
                for text, row in zip(batch, self._asked(batch), strict=True):
                    found[text] = row
                    dspy.cache.put(self._key(text), base64.b64encode(row.tobytes()).decode("ascii"))
        finally:
            self._done(missing, found)
        found |= {text: waited.result() for text, waited in coming.items() if waited.exception() is None}
        if lost := [text for text in coming if found[text] is None]:  # another text may have been to blame
            found |= dict(zip(lost, self(lost), strict=True))
        if not missing:
            self.ledger.from_cache()
        rows = [found[text] for text in texts]
        if len({len(row) for row in rows}) > 1:
            raise NotEmbedded(f"{self.model} gave embeddings of several lengths")
        return np.array(rows)

    def _claimed(self, texts: Sequence[str]) -> tuple[list[str], dict[str, Future[Any]]]:
        """Of texts that are not kept those that are to be asked for here, and those that another thread asks for just
        now: claims of one paper are often judged at once."""
        with self._lock:
            coming = {text: self._coming[text] for text in texts if text in self._coming}
            own = [text for text in texts if text not in coming]
            for text in own:
                self._coming[text] = Future()
                if (row := self._kept(text)) is not None:  # kept since it was looked for
                    coming[text] = self._coming.pop(text)
                    coming[text].set_result(row)
            return [text for text in own if text not in coming], coming

    def _done(self, texts: Sequence[str], found: Mapping[str, Any]) -> None:
        """Tell who waits for texts what became of them."""
        with self._lock:
            for text in texts:
                waited = self._coming.pop(text)
                if found[text] is None:
                    waited.set_exception(NotEmbedded(f"not embedded by {self.model}"))
                else:
                    waited.set_result(found[text])

    def _key(self, text: str) -> dict[str, Any]:
        return {"embedding": self.name, "text": text}

    def _kept(self, text: str) -> Any:
        kept = dspy.cache.get(self._key(text))
        return None if kept is None else np.frombuffer(base64.b64decode(kept), dtype=np.float32)

    def _asked(self, texts: list[str]) -> NDArray[np.float32]:
        try:
            return self.pace.run(lambda: self._sent(texts))
        except RAISED:
            raise
        except LMError as error:
            reason = redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:300]
            raise NotEmbedded(f"not embedded by {self.model}: {reason}") from error

    @cached_property
    def _litellm(self) -> Any:
        """LiteLLM, and the certainty that it knows whom to ask and with which key. Raises `LMConfigurationError`."""
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the list of the package, not of the web
        litellm = get_litellm(feature="an embedding model")
        litellm.DEFAULT_MAX_RETRIES = 0  # the pace sees to them; asked for none, LiteLLM sends a failed request thrice
        try:
            litellm.get_llm_provider(self.model)
        except litellm.exceptions.BadRequestError as error:
            raise LMConfigurationError(f"no provider of embeddings is known by the name of {self.model}") from error
        found = litellm.validate_environment(model=self.model)
        if not found.get("keys_in_environment") and (missing := found.get("missing_keys")):
            raise LMConfigurationError(
                f"the retriever embeds with {self.model}, which needs {' or '.join(missing)}; set it in the "
                f"environment (export {missing[0]}=…), or give --embedding-api-base for a server of your own"
            )
        return litellm

    def _sent(self, texts: list[str]) -> NDArray[np.float32]:
        """One request. Raises `LMError`."""
        if reason := self.ledger.spent_out():
            raise LMBillingError(self.ledger.refuse(reason))
        litellm = None if self._server else self._litellm
        try:
            with error_boundary(self.model, unexpected=True):
                answer = self._from_provider(litellm, texts) if litellm else self._from_server(texts)
        except LMError:
            self.ledger.sent({}, 0.0)
            raise
        said = answer.get("usage")
        tokens = said.get("prompt_tokens") if isinstance(said, dict) else None
        usage = {"prompt_tokens": tokens} if isinstance(tokens, int) else {}
        self.ledger.sent(usage, usd(self.price, usage) if usage else None)
        return self._rows(answer.get("data"), len(texts))

    def _from_server(self, texts: list[str]) -> dict[str, Any]:
        assert self._server
        asked = {"model": self.model.partition("/")[2], "input": texts, "encoding_format": "float"}
        answer = self._server.post("/embeddings", asked)
        return answer if isinstance(answer, dict) else {}

    def _from_provider(self, litellm: Any, texts: list[str]) -> dict[str, Any]:
        given = {"encoding_format": "float", "timeout": self.timeout}
        with litellm_errors(model=self.model):
            return dict(litellm.embedding(model=self.model, input=texts, **given).model_dump())

    def _rows(self, data: Any, count: int) -> NDArray[np.float32]:
        try:
            placed = sorted(data, key=lambda one: int(one["index"]))
            rows = np.array([one["embedding"] for one in placed], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise LMProviderError(f"an answer that holds no embeddings ({type(error).__name__})") from error
        if rows.ndim != 2 or len(rows) != count or not rows.size or not np.isfinite(rows).all():
            raise LMProviderError(f"embeddings of shape {rows.shape} for {count} texts, or not all of them numbers")
        return rows


class Embeds(Protocol):
    """What `attach_embeddings` takes."""

    def of(self, model: str) -> Embed:
        """What embeds with a model."""


class Embeddings:
    """Where texts are embedded, whatever the model is.

    address: of the OpenAI-compatible server that does; None: whom the model string names. price: USD a million tokens,
    where LiteLLM's list does not have it.
    """

    def __init__(
        self,
        ledger: Ledger | None = None,
        address: str | None = None,
        price: float | None = None,
        threads: int = 8,
        timeout: float | None = None,
    ) -> None:
        self.ledger = ledger or Ledger()
        self.address = address
        self.price = price
        self.threads = threads
        self.timeout = timeout or TIMEOUT
        self.sends = True
        self._opened: dict[str, Embedder] = {}

    def kept(self) -> "Embeddings":
        """The same, with nothing but what the response cache holds: what it does not is `NotEmbedded`."""
        silent = Embeddings(Ledger(), self.address, self.price, self.threads, self.timeout)
        silent.sends = False
        return silent

    def price_of(self, model: str) -> Price | None:
        """The price of a model's tokens; None where it is not known."""
        return listed_input_price(model) if self.price is None else Price(self.price, 0.0)

    def of(self, model: str) -> Embed:
        """What embeds with a model. Raises UserError where the server cannot serve it or its price has to be known."""
        if model not in self._opened:
            self._opened[model] = self._open(model)
        return self._opened[model]

    def _open(self, model: str) -> Embedder:
        if self.address and not model.startswith("openai/"):
            raise UserError(
                f"the retriever embeds with {model}, and the server at --api-base speaks OpenAI's protocol: name it "
                "openai/MODEL; or give --embedding-api-base, an address or `provider`"
            )
        price = self.price_of(model)
        if self.ledger.limits.usd is not None and price is None:
            raise UserError(
                f"--max-usd: the price of {model} is unknown; give it by --embedding-price in USD a million tokens"
            )
        return Embedder(model, self.address, self.ledger, price, self.threads, self.timeout, self.sends)


def requests(texts: int) -> int:
    """How many requests so many texts take."""
    return -(-texts // BATCH)
