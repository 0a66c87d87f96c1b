"""How many LM calls are in flight at a time, and when one that failed is sent again.

DSPy retries each call for itself, so that hundreds of threads go on knocking at a server that asked for quiet. Here all
calls of an LM share one pace: where the server says that it is overloaded (HTTP 429, 503, 529), fewer are let through
at a time, and none before the moment that it named (Retry-After); with every answer a little more is tried again. That
is additive increase and multiplicative decrease, as in TCP: clients that know nothing of each other, such as the shards
of a run, come to share what there is.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from dspy.utils.exceptions import (
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMRateLimitError,
    LMServerError,
    LMUnsupportedModelError,
    is_retryable_lm_error,
)
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, wait_random_exponential

ResultT = TypeVar("ResultT")
OVERLOADED = (503, 529)  # 529 is Anthropic's
LESS = 0.7  # of the calls in flight are left after a refusal
RETRIES = 3  # of a call that failed in passing: a timeout, a lost connection, HTTP 500
PATIENCE = 8  # retries of a call that was refused for overload: it is no fault of the call's
FIRST_WAIT = 1.0  # seconds; doubled with each retry, times a random number from 0 to 1
LONGEST_WAIT = 60.0
LONGEST_ASKED = 600.0  # a server that asks for more has no room today
POLL = 0.02  # seconds between two looks of a coroutine


class AskedToWait(LMRateLimitError):
    """The server named a time too far off to wait for; every other record would be told the same."""


# What would meet every record alike.
RAISED = (LMAuthError, LMBillingError, LMConfigurationError, LMUnsupportedModelError, AskedToWait)


class Pace:
    """Shared by all threads that use an LM, and by its copies.

    most: calls in flight at the best of times. retries: how often a call is sent again that failed in passing; 0 also
    turns off the waiting for an overloaded server. first_wait: seconds before the first retry.
    """

    def __init__(self, most: int = 1_000, retries: int = RETRIES, first_wait: float = FIRST_WAIT) -> None:
        self.most = most
        self.retries = retries
        self.limit = float(most)
        self._inside = 0
        self._quiet_until = self._slowed_at = 0.0
        self._changed = threading.Condition()
        self._wait = wait_random_exponential(first_wait, LONGEST_WAIT)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Pace":
        return self

    def run(self, call: Callable[[], ResultT]) -> ResultT:
        """The result of `call`, when it is its turn, and after as many retries as it takes.

        Raises the last LM error of a call that goes on failing, and `AskedToWait`.
        """

        def once() -> ResultT:
            with self._learning_from(self._enter()):
                return call()

        if not self.retries:
            return once()
        return Retrying(retry=retry_if_exception(is_passing), stop=self._enough, wait=self._before_retry, reraise=True)(
            once
        )

    async def arun(self, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """`run` for a coroutine."""

        async def once() -> ResultT:
            while (began := self._try_to_enter()) is None:
                await asyncio.sleep(POLL)
            with self._learning_from(began):
                return await call()

        if not self.retries:
            return await once()
        again = AsyncRetrying(
            retry=retry_if_exception(is_passing), stop=self._enough, wait=self._before_retry, reraise=True
        )
        return await again(once)

    @contextmanager
    def _learning_from(self, began: float) -> Iterator[None]:
        """A call that began then, which is told of, whether it is answered or fails."""
        try:
            yield
        except BaseException as error:
            self._failed(error, began)
            raise
        self._answered()

    def hush(self, seconds: float) -> None:
        """Let no call through for so long."""
        with self._changed:
            self._quiet_until = max(self._quiet_until, time.monotonic() + seconds)

    def _enter(self) -> float:
        """Wait for one's turn; the time."""
        with self._changed:
            while (began := self._try_to_enter()) is None:
                quiet = self._quiet_until - time.monotonic()
                self._changed.wait(quiet if quiet > 0 else None)
            return began

    def _try_to_enter(self) -> float | None:
        """The time, where a call may be sent now; it then counts as sent."""
        with self._changed:
            now = time.monotonic()
            if now < self._quiet_until or self._inside >= max(1, int(self.limit)):
                return None
            self._inside += 1
            return now

    def _leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify()

    def _answered(self) -> None:
        with self._changed:
            self._inside -= 1
            self.limit = min(float(self.most), self.limit + 1 / self.limit)
            self._changed.notify(2)

    def _failed(self, error: BaseException, began: float) -> None:
        """Take note of a call that failed. Raises `AskedToWait` in its stead."""
        self._leave()
        if not is_overload(error):
            return
        with self._changed:
            now = time.monotonic()
            if began >= self._slowed_at:  # a call sent before the last slowing down tells nothing new
                self.limit = max(1.0, self.limit * LESS)
                self._slowed_at = now
        asked = asked_to_wait(error) or 0.0
        if 0 < asked <= LONGEST_ASKED:
            self.hush(asked)
        if asked > LONGEST_ASKED and self.retries:
            raise AskedToWait(
                f"the LM asks to wait for {asked:.0f} s; run the same command again after that"
            ) from error

    def _enough(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        return state.attempt_number > (PATIENCE if is_overload(error) else self.retries)

    def _before_retry(self, state: RetryCallState) -> float:
        """Seconds; 0 where the server said when, since all calls wait for that anyway."""
        error = state.outcome.exception() if state.outcome else None
        return 0.0 if asked_to_wait(error) is not None else self._wait(state)


def is_passing(error: BaseException) -> bool:
    """Whether the same call may well succeed later."""
    return isinstance(error, Exception) and is_retryable_lm_error(error) and not isinstance(error, AskedToWait)


def is_overload(error: BaseException | None) -> bool:
    """Whether the server said that it is asked too much."""
    return isinstance(error, LMRateLimitError) or (isinstance(error, LMServerError) and error.status in OVERLOADED)


def asked_to_wait(error: BaseException | None) -> float | None:
    """The seconds of a Retry-After, if the server sent one with this overload."""
    return error.retry_after if isinstance(error, LMError) and is_overload(error) else None
