"""What the language model calls of a command came to."""

import threading
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Spend:
    """Calls that were sent, calls answered from the cache, tokens of the calls sent, and their price.

    usd is None where the price of a call that was sent is unknown.
    """

    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0

    def as_dict(self) -> dict[str, int | float | None]:
        return asdict(self)

    def __sub__(self, other: "Spend") -> "Spend":
        usd = None if self.usd is None or other.usd is None else self.usd - other.usd
        return Spend(
            self.calls - other.calls,
            self.cached_calls - other.cached_calls,
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
            usd,
        )


class Ledger:
    """Adds up the calls of any number of threads. Copies of an LM share the ledger of the original."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spend = Spend()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ledger":
        return self

    @property
    def spend(self) -> Spend:
        with self._lock:
            return self._spend

    def sent(self, usage: dict[str, Any], usd: float | None) -> None:
        """One call that reached the LM."""
        with self._lock:
            old = self._spend
            self._spend = Spend(
                old.calls + 1,
                old.cached_calls,
                old.prompt_tokens + int(usage.get("prompt_tokens") or 0),
                old.completion_tokens + int(usage.get("completion_tokens") or 0),
                None if usd is None or old.usd is None else old.usd + usd,
            )

    def from_cache(self) -> None:
        """One call that the cache answered."""
        with self._lock:
            old = self._spend
            self._spend = Spend(old.calls, old.cached_calls + 1, old.prompt_tokens, old.completion_tokens, old.usd)
