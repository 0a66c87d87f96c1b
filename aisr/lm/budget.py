"""What calls of language models and embedding models cost, and the most that a command may spend.

One rule charges every call, before anybody reads its answer (`Call.cost`):

* an answer came: the tokens that the server reports, where they can be true; else our count of the prompt and the
  longest answer that was allowed;
* no answer came (a time-out, a lost connection, a failed server): our count of the prompt;
* the server refused to run the model (a wrong key, no credit, no such model, too many calls) or was not reached:
  nothing.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dspy.utils.exceptions import (
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMInvalidRequestError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
    LMUnsupportedFeatureError,
    LMUnsupportedModelError,
)

from aisr.base.errors import UserError
from aisr.base.files import CannotWrite, write_whole
from aisr.lm.config import LMConfig, LMUnavailable, Price
from aisr.lm.rate_limit import is_overload
from aisr.programs.images import SHOWN_PIXELS
from aisr.programs.text import tokens

# English has four or five characters a token, and no server that cuts prompts off holds less than 4,096 tokens.
MOST_PER_TOKEN = 7
LEAST_CUT = 16_000
LONGEST_TOKEN = 32  # characters a token, over a whole text: fewer tokens than that are no count of it
CONTEXT = 2**20  # tokens that a call has at most, where the context of its model is not known
LONGEST_ANSWER = 16_000  # tokens, where no bound was sent and LiteLLM's list has none
PICTURE_TOKENS = SHOWN_PIXELS // 750  # by the rule that providers publish, of the largest picture that is shown
SPEND_FILE_BYTES = 1_000
MOST_USD = 1e12  # an integer of hundreds of digits is no float

# Errors of calls that were not run: not sent, or refused by a server that says so.
NOT_RUN = (
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMUnsupportedFeatureError,
    LMUnsupportedModelError,
)
NOT_FOUND = 404  # no such model, or no API at that address: most servers do not say which
NO_ANSWER = (LMInvalidRequestError, LMTimeoutError, LMTransportError)
# Errors of connections by the names that httpx and DSPy's own transport share.
NOT_CONNECTED = {"ConnectError", "ConnectTimeout"}
LOST = {
    "PoolTimeout", "ProtocolError", "ReadError", "ReadTimeout", "RemoteProtocolError", "TimeoutError", "WriteError",
    "WriteTimeout",
}  # fmt: skip


@dataclass(frozen=True)
class Spend:
    """Calls that were sent, calls answered from the cache, tokens of the calls sent as they are charged, and their
    price.

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

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.calls + other.calls,
            self.cached_calls + other.cached_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
            self.prefix_tokens + other.prefix_tokens,
            self.cut_prompts + other.cut_prompts,
        )

    @property
    def requested(self) -> int:
        """Calls sent and calls answered from the cache: the same however often a command is run."""
        return self.calls + self.cached_calls

    def as_dict(self) -> dict[str, int | float | None]:
        return asdict(self)


class Call:
    """One call while it lasts: its prompt, and what the server reports of each answer.

    messages: as DSPy's adapters make them; longest: tokens of the longest answer that is allowed; context: tokens of
    the model's context, None where that is not known. Engines note what they send and receive in the `current_call`;
    `requests` counts what one sends in several.
    """

    def __init__(self, messages: Sequence[Mapping[str, Any]], longest: int, context: int | None = None) -> None:
        self.messages = messages
        self.longest = longest
        self.context = context
        self.requests = 0
        self._reports: list[tuple[Any, int]] = []

    def receive(self, usage: Any, characters: int = 0) -> None:
        """Note an answer. usage: as the server reports it, whatever that is; characters: of its text."""
        self._reports.append((usage, characters))

    @property
    def has_answer(self) -> bool:
        return bool(self._reports)

    @property
    def characters(self) -> int:
        """Those of the text of the prompt."""
        return sum(len(part) for part in self._parts() if part is not None)

    @property
    def prompt_tokens(self) -> int:
        """Our own count of the prompt."""
        return sum(PICTURE_TOKENS if part is None else tokens(part) for part in self._parts())

    def cost(self, price: Price | None, error: BaseException | None = None) -> Spend:
        """What the call is charged. error: what it ended in, if not in an answer that was used."""
        prompt = completion = prefix = 0
        cut = False
        for usage, characters in self._reports:
            reported = self._tokens_of(usage, characters)
            # An answer that is longer than was allowed counts as long as it is, by four characters a token.
            read, written = reported or (self.prompt_tokens, max(self.longest, characters // 4))
            prompt, completion = prompt + read, completion + written
            if isinstance(usage, Mapping):
                details = usage.get("prompt_tokens_details")
                known = token_count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
                prefix += min(known or 0, read)
                counted = token_count(usage.get("prompt_tokens"))
                cut = cut or (bool(counted) and self.characters > max(LEAST_CUT, MOST_PER_TOKEN * (counted or 0)))
        unanswered = max(self.requests, 1) - len(self._reports)
        if error is not None and unanswered > 0 and was_run(error):
            prompt += unanswered * self.prompt_tokens
            completion += unanswered * self.longest if has_unreadable_answer(error) else 0
        usd = price.usd(prompt, completion) if price else None if prompt or completion else 0.0
        return Spend(1, 0, prompt, completion, usd, prefix, int(cut))

    def _parts(self) -> Iterator[str | None]:
        """The texts of the prompt; None for a picture."""
        for message in self.messages:
            content = message.get("content") or ""
            for part in [content] if isinstance(content, str) else content:
                yield part if isinstance(part, str) else part.get("text") if part.get("type") == "text" else None

    def _tokens_of(self, usage: Any, characters: int) -> tuple[int, int] | None:
        """The prompt and completion tokens of a report; None where it is not whole or cannot be true."""
        if not isinstance(usage, Mapping):
            return None
        read = token_count(usage.get("prompt_tokens"))
        written = token_count(usage.get("completion_tokens", None if self.longest else 0))
        if read is None or written is None:
            return None
        most = max(self.context or CONTEXT, self.longest)
        possible = self.characters // LONGEST_TOKEN <= read <= most and characters // LONGEST_TOKEN <= written <= most
        return (read, written) if possible else None


# The call that this thread or task is sending, for engines.
current_call: ContextVar[Call | None] = ContextVar("current call", default=None)


def token_count(value: Any) -> int | None:
    """A reported number of tokens; None for what is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def was_run(error: BaseException) -> bool:
    """Whether a call that ended in an error may have reached the model."""
    return not (
        isinstance(error, NOT_RUN)
        or (isinstance(error, LMError) and error.status == NOT_FOUND)
        or is_overload(error)
        or any(type(one).__name__ in NOT_CONNECTED for one in _chain(error))
    )


def has_unreadable_answer(error: BaseException) -> bool:
    """Whether an answer came that could not be read. LiteLLM gives such an answer status 500, without an error of
    HTTP behind it."""
    if not isinstance(error, LMError) or isinstance(error, NO_ANSWER):
        return False
    names = {type(one).__name__ for one in _chain(error)}
    if names & LOST:
        return False
    by_litellm = any(type(one).__module__.startswith("litellm.") for one in _chain(error))
    if by_litellm:
        return "HTTPStatusError" not in names
    return not isinstance(error, LMServerError) and (error.status or 0) < 400


def _chain(error: BaseException) -> list[BaseException]:
    """An error and those that it came from."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain:
        chain.append(one)
        one = one.__cause__ or one.__context__
    return chain


@dataclass(frozen=True)
class Limits:
    """Upper bounds, looked at before each call: passed by the calls in flight at most. None is no bound. usd: US
    dollars; minutes: wall time since the ledger was opened."""

    usd: float | None = None
    calls: int | None = None
    minutes: float | None = None


class Ledger:
    """Adds up the calls of any number of threads. Copies of an LM share the ledger of the original.

    earlier: US dollars that earlier runs spent, which the limit counts as well; file: where to keep what all spent.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        earlier: float = 0.0,
        file: Path | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.earlier = earlier
        self.stopped: str | None = None  # the limit that kept a call from being sent
        self._clock = clock
        self._opened = clock()
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
            return f"{sent} sent and limits.max_calls is {limits.calls}"
        total = self.earlier + (spend.usd or 0)
        if limits.usd is not None and (spend.usd is None or total >= limits.usd):
            before = f" ({self.earlier:.4f} of them by earlier runs, says {self._file_name})" if self.earlier else ""
            return f"{total:.4f} USD are spent{before} and --max-usd is {limits.usd}"
        minutes = (self._clock() - self._opened) / 60
        if limits.minutes is not None and minutes >= limits.minutes:
            return f"{minutes:.1f} minutes have passed and limits.max_minutes is {limits.minutes:g}"
        return self._unwritten

    def refuse(self, reason: str) -> str:
        """Note that a call was not sent for a limit that is reached; what to say of it."""
        self.stopped = self.stopped or reason
        return f"the budget is spent: {reason}"

    def charge(self, call: Call, price: Price | None, error: BaseException | None = None) -> None:
        """Enter a call that was sent, see `Call.cost`."""
        self.add(call.cost(price, error))

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


def check_price(config: LMConfig, price: Price | None, ledger: Ledger) -> None:
    """Raises `LMUnavailable` where a limit in US dollars could not be kept."""
    if ledger.limits.usd is not None and price is None:
        raise LMUnavailable(
            f"--max-usd: the price of {config.model} is unknown; give it by {config.option('price')}=PROMPT,COMPLETION "
            "in USD a million tokens"
        )


def _read_spend(file: Path) -> float:
    """What earlier runs spent, in US dollars; 0 where there is no file. Raises UserError for any other content."""
    if not file.exists():
        return 0.0
    try:
        if not file.is_file():  # a pipe would be waited for
            raise ValueError
        with file.open("rb") as opened:
            content = json.loads(opened.read(SPEND_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        content = None
    usd = content.get("usd") if isinstance(content, dict) else None
    if isinstance(usd, bool) or not isinstance(usd, int | float) or not (0 <= usd < MOST_USD):
        raise UserError(
            f'{file}: expected {{"usd": NUMBER}}, what earlier runs with --max-usd spent; mend it, or remove it to '
            "begin at 0"
        )
    return float(usd)
