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

from dspy.lm15 import Usage
from dspy.utils.exceptions import LMBillingError
from filelock import FileLock, Timeout

from aisr.base.errors import UserError
from aisr.base.files import CannotWrite, write_whole, writing
from aisr.lm.config import Price


class BudgetSpent(LMBillingError):
    """A limit of the user's own kept a call from being sent."""


@dataclass(frozen=True)
class Spend:
    """What calls came to."""

    calls: int = 0  # that were sent
    cached_calls: int = 0  # answered from the cache
    prompt_tokens: int = 0  # of the calls sent, as they are charged
    completion_tokens: int = 0
    usd: float | None = 0.0  # None where the price of a call that was sent is unknown
    prefix_tokens: int = 0  # of the prompt tokens, those that the provider had in its own cache: an earlier beginning

    def __add__(self, other: "Spend") -> "Spend":
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        sums: list[Any] = [None if None in pair else sum(pair) for pair in pairs]
        return Spend(*sums)

    @classmethod
    def of(cls, usage: Usage | None, price: Price | None) -> "Spend":
        """Return the cost of a call that was sent. usage: as the server reports it; None where it reports none."""
        usage = usage or Usage()
        counts = usage.input_tokens, usage.output_tokens, usage.cache_read_tokens
        prompt, completion, prefix = (count or 0 for count in counts)
        usd = price.usd(prompt, completion) if price else None
        is_charged = prompt + completion > 0
        return cls(1, 0, prompt, completion, usd if is_charged else 0.0, prefix)

    def as_dict(self) -> dict[str, int | float | None]:
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """Upper bounds, looked at before each call. None is no bound. usd: US dollars, passed by the calls in flight at
    most; calls: those in flight count."""

    usd: float | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        if self.usd is not None and not 0 <= self.usd < math.inf:
            raise UserError(f"a limit of {self.usd} USD; expected a finite number of 0 or more")


class Ledger:
    """Adds up the calls of any number of threads. Copies of an LM share the ledger of the original."""

    def __init__(self, limits: Limits | None = None, file: Path | None = None) -> None:
        """file: holds what all runs spent, which the limit counts as well. Raises UserError where it holds anything
        else."""
        self.limits = limits or Limits()
        self.spend = Spend()  # of this run
        self.stopped: str | None = None  # the limit that kept a call from being sent
        self.final_error: Exception | None = None  # that every further call meets, whatever its LM
        self._under_way = 0  # calls that were started and have not ended
        self._lock = threading.RLock()
        self._file = file
        self._earlier = _read_spend(file)
        self._unwritten: str | None = None
        self._process_lock: FileLock | None = None  # taken before the first call that is sent
        self._has_lock = False

    @classmethod
    def for_output(cls, output: Path, limits: Limits) -> "Ledger":
        """Return the ledger of a command that writes `output`. A limit in US dollars is for all runs of it together:
        what they spent stands in `OUTPUT.spend.json`. Raises UserError where that file holds anything else.

        From its first call on to the end of the process no other one sends calls for the same output."""
        whole = output.absolute()
        ledger = cls(limits, None if limits.usd is None else whole.with_name(f"{whole.name}.spend.json"))
        ledger._process_lock = FileLock(
            whole.with_name(f".{whole.name}.lock"), blocking=False, thread_local=False, is_singleton=True
        )
        return ledger

    def check(self) -> None:
        """Raise `BudgetSpent` where a limit is reached, and note that it kept a call from being sent. Raises UserError
        where another process sends calls for the same output."""
        with self._lock:
            self._take_process_lock()
            reason = self._calls_reason() or self._usd_reason() or self._unwritten
            if reason:
                self.stopped = self.stopped or reason
                raise BudgetSpent(f"the budget is spent: {reason}")

    def start_call(self) -> None:
        """Check the limits, and count the call as sent until `end_call` enters it. Raises as `check`."""
        with self._lock:
            self.check()
            self._under_way += 1

    def end_call(self, spend: Spend) -> None:
        """Enter a call that was started."""
        with self._lock:
            self._under_way -= 1
            self.add(spend)

    def _take_process_lock(self) -> None:
        """Keep other processes from sending calls for the same output, if no earlier call did."""
        lock = self._process_lock
        if lock is None or self._has_lock:
            return
        file = Path(lock.lock_file)
        try:
            with writing(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
            lock.acquire()
        except Timeout as error:
            raise UserError(f"{file}: another process spends for this output; wait for it") from error
        self._earlier, self._has_lock = _read_spend(self._file), True

    def _calls_reason(self) -> str | None:
        calls, most = self.spend.calls + self._under_way, self.limits.calls
        if most is None or calls < most:
            return None
        sent = "1 LM call was" if calls == 1 else f"{calls} LM calls were"
        return f"{sent} sent and --max-calls is {most}"

    def _usd_reason(self) -> str | None:
        usd, most = self.spend.usd, self.limits.usd
        total = self._earlier + (usd or 0)
        if most is None or (usd is not None and total < most):
            return None
        before = ""
        if self._file and self._earlier:
            before = f" ({self._earlier:.4f} of them by earlier runs, says {self._file.name})"
        return f"{total:.4f} USD are spent{before} and --max-usd is {most}"

    def add(self, spend: Spend) -> None:
        """Enter calls."""
        with self._lock:
            before, self.spend = self.spend, self.spend + spend
            if self._file is None or self.spend.usd in (None, before.usd):
                return
            try:
                write_whole(self._file, json.dumps({"usd": self._earlier + (self.spend.usd or 0)}) + "\n")
                self._unwritten = None
            except CannotWrite as error:  # then the next run could not count what this one spends
                self._unwritten = str(error)


def _read_spend(file: Path | None) -> float:
    """Return what earlier runs spent, in US dollars; 0 where there is no file. Raises UserError for any other
    content."""
    if file is None:
        return 0.0
    try:
        usd = float(json.loads(file.read_bytes())["usd"])
        if not 0 <= usd < math.inf:
            raise ValueError
        return usd
    except FileNotFoundError:
        return 0.0
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(
            f'{file}: expected {{"usd": NUMBER}}, what earlier runs with --max-usd spent; mend it, or remove it to '
            "begin at 0"
        ) from error


def describe_estimate(spend: Mapping[str, Any], limits: Limits) -> list[str]:
    """Return what a dry run came to (see `Spend.as_dict`), and which limit would end the command early, in words."""
    usd, calls = spend["usd"], spend["calls"]
    price = "price unknown (-L price=PROMPT,COMPLETION gives it)" if usd is None else f"{usd:.2f} USD"
    read, written = spend["prompt_tokens"], spend["completion_tokens"]
    tokens = f"{read:,} prompt and {written:,} completion tokens"
    lines = [f"about {calls:,} LM calls, {tokens}, {price}. Nothing was sent"]
    if written:
        lines.append("  answers are taken to be as long as labelled ones; a model that reasons first writes more")
    if limits.calls is not None and calls > limits.calls:
        lines.append(f"warning: --max-calls {limits.calls} would end it early")
    if limits.usd is not None and usd is not None and usd > limits.usd:
        lines.append(f"warning: --max-usd {limits.usd:g} would end it early")
    return lines
