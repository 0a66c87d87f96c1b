"""What calls of language models cost, and the most that a command may spend.

A call is charged by the tokens that the server reports of its answer, before anybody reads that: the server that the
user chose is believed. A call without a report costs nothing.
"""

import json
import math
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aisr.base.errors import UserError
from aisr.base.files import CannotWrite, write_whole
from aisr.lm.config import Price


@dataclass(frozen=True)
class Spend:
    """Calls that were sent, calls answered from the cache, tokens of the calls sent as they are charged, and their
    price.

    usd is None where the price of a call that was sent is unknown; prefix_tokens: those of the prompt tokens that the
    provider had in its own cache, as the beginning of an earlier prompt.
    """

    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    prefix_tokens: int = 0

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.calls + other.calls,
            self.cached_calls + other.cached_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
            self.prefix_tokens + other.prefix_tokens,
        )

    @classmethod
    def of(cls, usage: Mapping[str, Any], price: Price | None) -> "Spend":
        """Return the cost of a call that was sent. usage: as the server reports it; empty where it reports none."""
        prompt, completion = (max(usage.get(name) or 0, 0) for name in ("prompt_tokens", "completion_tokens"))
        prefix = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        usd = price.usd(prompt, completion) if price else None if prompt or completion else 0.0
        return cls(1, 0, prompt, completion, usd, prefix)

    @property
    def requested(self) -> int:
        """Calls sent and calls answered from the cache: the same however often a command is run."""
        return self.calls + self.cached_calls

    def as_dict(self) -> dict[str, int | float | None]:
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """Upper bounds, looked at before each call: passed by the calls in flight at most. None is no bound. usd: US
    dollars."""

    usd: float | None = None
    calls: int | None = None


class Ledger:
    """Adds up the calls of any number of threads. Copies of an LM share the ledger of the original.

    earlier: US dollars that earlier runs spent, which the limit counts as well; file: where to keep what all spent.
    """

    def __init__(self, limits: Limits | None = None, earlier: float = 0.0, file: Path | None = None) -> None:
        self.limits = limits or Limits()
        self.earlier = earlier
        self.stopped: str | None = None  # the limit that kept a call from being sent
        self.final_error: Exception | None = None  # that every further call meets, whatever its LM
        self._lock = threading.Lock()
        self._spend = Spend()
        self._file = file
        self._file_name = file.name if file else "their ledger"
        self._unwritten: str | None = None

    @classmethod
    def for_output(cls, output: Path, limits: Limits) -> "Ledger":
        """The ledger of a command that writes `output`. A limit in US dollars is for all runs of it together: what they
        spent stands in `OUTPUT.spend.json`. Raises UserError where that file holds anything else."""
        if limits.usd is None:
            return cls(limits)
        whole = output.absolute()
        file = whole.with_name(f"{whole.name}.spend.json")
        return cls(limits, earlier=_read_spend(file), file=file)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ledger":
        return self

    @property
    def spend(self) -> Spend:
        """Of this run."""
        with self._lock:
            return self._spend

    def spent_out(self) -> str | None:
        """Which limit is reached, in words; None while there is room for a call."""
        spend, limits = self.spend, self.limits
        if limits.calls is not None and spend.calls >= limits.calls:
            sent = "1 LM call was" if spend.calls == 1 else f"{spend.calls} LM calls were"
            return f"{sent} sent and --max-calls is {limits.calls}"
        total = self.earlier + (spend.usd or 0)
        if limits.usd is not None and (spend.usd is None or total >= limits.usd):
            before = f" ({self.earlier:.4f} of them by earlier runs, says {self._file_name})" if self.earlier else ""
            return f"{total:.4f} USD are spent{before} and --max-usd is {limits.usd}"
        return self._unwritten

    def refuse(self, reason: str) -> str:
        """Note that a call was not sent for a limit that is reached; what to say of it."""
        self.stopped = self.stopped or reason
        return f"the budget is spent: {reason}"

    def add(self, spend: Spend) -> None:
        """Enter calls."""
        with self._lock:
            self._spend += spend
            if spend.usd:
                self._write()

    def from_cache(self) -> None:
        """Enter one call that the cache answered."""
        self.add(Spend(cached_calls=1))

    def take_over(self, spend: Spend) -> None:
        """Show what a ledger kept in another process adds up to."""
        with self._lock:
            self._spend = spend
            self._write()

    def _write(self) -> None:
        if self._file is None or not (spent := self.earlier + (self._spend.usd or 0)):
            return
        try:
            write_whole(self._file, json.dumps({"usd": spent}) + "\n")
            self._unwritten = None
        except CannotWrite as error:  # then the next run could not count what this one spends
            self._unwritten = str(error)


def _read_spend(file: Path) -> float:
    """Return what earlier runs spent, in US dollars; 0 where there is no file. Raises UserError for any other
    content."""
    try:
        usd = float(json.loads(file.read_bytes())["usd"])
        if not 0 <= usd < math.inf:
            raise ValueError
    except FileNotFoundError:
        return 0.0
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError(
            f'{file}: expected {{"usd": NUMBER}}, what earlier runs with --max-usd spent; mend it, or remove it to '
            "begin at 0"
        ) from error
    return usd
