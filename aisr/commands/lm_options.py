"""The options of LMs that commands share, as values: how one is reached, and what may be spent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aisr.commands.options import (
    ApiBase,
    EmbeddingPrice,
    Logprobs,
    MaxCalls,
    MaxMinutes,
    MaxUsd,
    PriceOption,
    Schema,
    Threads,
)

if TYPE_CHECKING:
    from aisr.lm.budget import Ledger


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Where the LM of --lm is, and how it is asked. One beside it is asked in the same way."""

    api_base: ApiBase = None
    schema: Schema = True
    logprobs: Logprobs = True
    threads: Threads = None


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What may be spent, and what is paid for models that LiteLLM's list lacks."""

    max_usd: MaxUsd = None
    max_calls: MaxCalls = None
    max_minutes: MaxMinutes = None
    price: PriceOption = None
    embedding_price: EmbeddingPrice = None

    def ledger(self) -> "Ledger":
        """A new account with these limits."""
        from aisr.lm.budget import Ledger, Limits

        return Ledger(Limits(self.max_usd, self.max_calls, self.max_minutes))

    def prices(self) -> dict[str, Any]:
        """What an LM is opened with."""
        return {"price": self.price, "embedding_price": self.embedding_price}
