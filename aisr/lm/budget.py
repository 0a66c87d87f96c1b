"""What the language model calls of a command came to, and the most that they may come to."""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from dspy.lm15 import BillingError, Request, Response

# English has four or five characters a token, and no server that cuts prompts off holds less than 4,096 tokens.
MOST_PER_TOKEN = 7
LEAST_CUT = 16_000


@dataclass(frozen=True)
class Spend:
    """Calls that were sent, calls answered from the cache, tokens of the calls sent, and their price.

    usd is None where the price of a call that was sent is unknown; prefix_tokens: those of the prompt tokens that the
    provider had in its own cache, as the beginning of an earlier prompt; cut_prompts: calls of which the server counted
    so few prompt tokens that it probably cut the prompt off.
    """

    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    prefix_tokens: int = 0
    cut_prompts: int = 0

    @property
    def asked(self) -> int:
        """Calls sent and calls answered from the cache: the same however often a command is run."""
        return self.calls + self.cached_calls

    def as_dict(self) -> dict[str, int | float | None]:
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """Upper bounds, looked at before each call: passed by the calls in flight at most, and by DSPy's retries of a call
    that failed. None is no bound. usd: US dollars; minutes: wall time since the ledger was opened."""

    usd: float | None = None
    calls: int | None = None
    minutes: float | None = None


class Ledger:
    """Adds up the calls of any number of threads. Copies of an LM share the ledger of the original."""

    def __init__(self, limits: Limits | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits or Limits()
        self._clock = clock
        self._opened = clock()
        self._lock = threading.Lock()
        self._spend = Spend()
        self.stopped: str | None = None  # the limit that kept a call from being sent

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ledger":
        return self

    @property
    def spend(self) -> Spend:
        with self._lock:
            return self._spend

    def spent_out(self) -> str | None:
        """Which limit is reached, in words; None while there is room for a call."""
        spend, limits = self.spend, self.limits
        if limits.calls is not None and spend.calls >= limits.calls:
            sent = "1 LM call was" if spend.calls == 1 else f"{spend.calls} LM calls were"
            return f"{sent} sent and --max-calls is {limits.calls}"
        if limits.usd is not None and (spend.usd is None or spend.usd >= limits.usd):
            return f"{spend.usd or 0:.4f} USD are spent and --max-usd is {limits.usd}"
        minutes = (self._clock() - self._opened) / 60
        if limits.minutes is not None and minutes >= limits.minutes:
            return f"{minutes:.1f} minutes have passed and --max-minutes is {limits.minutes:g}"
        return None

    def refuse(self, reason: str) -> str:
        """Note that a call was not sent for a limit that is reached; what to say of it."""
        self.stopped = self.stopped or reason
        return f"the budget is spent: {reason}"

    def sent(self, usage: dict[str, Any], usd: float | None, characters: int = 0) -> None:
        """One call that reached the LM. characters: of its prompt."""
        read = int(usage.get("prompt_tokens") or 0)
        cut = bool(read) and characters > max(LEAST_CUT, MOST_PER_TOKEN * read)
        details = usage.get("prompt_tokens_details") or {}
        with self._lock:
            old = self._spend
            self._spend = replace(
                old,
                calls=old.calls + 1,
                prompt_tokens=old.prompt_tokens + read,
                completion_tokens=old.completion_tokens + int(usage.get("completion_tokens") or 0),
                usd=None if usd is None or old.usd is None else old.usd + usd,
                prefix_tokens=old.prefix_tokens + int(details.get("cached_tokens") or 0),
                cut_prompts=old.cut_prompts + cut,
            )

    def from_cache(self) -> None:
        """One call that the cache answered."""
        with self._lock:
            self._spend = replace(self._spend, cached_calls=self._spend.cached_calls + 1)

    def take_over(self, spend: Spend) -> None:
        """Show what a ledger kept elsewhere adds up to."""
        with self._lock:
            self._spend = spend


def paid_for(error: BaseException | None) -> dict[str, Any] | None:
    """The tokens of an answer that came and could not be used, as an engine noted them on its error; {} where the
    server did not say how many, None where nothing came: providers do not charge for that."""
    while error is not None:
        paid = getattr(error, "paid", None)
        if isinstance(paid, dict):
            return paid
        error = error.__cause__
    return None


class Contact:
    """Whether an LM was ever reached. Copies of an LM share the contact of the original; what a limit kept from being
    sent counts for nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answered = False
        self._error: Exception | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "Contact":
        return self

    def answered(self) -> None:
        """A call was answered, be it by the cache."""
        self._answered = True

    def failed(self, error: Exception) -> None:
        """A call was not."""
        with self._lock:
            self._error = self._error or error

    @property
    def never(self) -> Exception | None:
        """The error of the first call, where every call failed; None where one was answered or there was none."""
        return None if self._answered else self._error


class Usage:
    """Stands in for DSPy's usage tracker while one call lasts: that hears of each answer that is not from the cache."""

    def __init__(self, outer: Any) -> None:
        self.said: dict[str, Any] | None = None
        self._outer = outer

    def add_usage(self, model: str, usage: dict[str, Any]) -> None:
        self.said = usage
        if self._outer is not None:
            self._outer.add_usage(model, usage)


class Refusal:
    """An engine that sends nothing. An LM whose limit is reached is given it: what the cache holds is still answered,
    and any other call ends here."""

    def __init__(self, ledger: Ledger, reason: str) -> None:
        self.ledger = ledger
        self.reason = reason

    def complete(self, request: Request) -> Response:
        raise BillingError(self.ledger.refuse(self.reason))

    def close(self) -> None:
        """Nothing to close."""
