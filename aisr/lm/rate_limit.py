"""How many LM calls are in flight at a time, and when one that failed is sent again.

In DSPy's stead, which gives an overloaded server (HTTP 429, 503, 529) as few retries as a lost connection.
"""

import asyncio
import threading
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
RETRIES = 3  # of a call that failed in passing: a timeout, a lost connection, HTTP 500
PATIENCE = 8  # retries of a call that was refused for overload: it is no fault of the call's
FIRST_WAIT = 1.0  # seconds; doubled with each retry, times a random number from 0 to 1
LONGEST_WAIT = 60.0
LONGEST_RETRY_AFTER = 600.0  # a server that asks for more has no room today
POLL = 0.02  # seconds between two looks of a coroutine


class WaitTooLong(LMRateLimitError):
    """The server names a time too far off to wait for, for every other record as well."""


# Errors that every record would meet.
FATAL_ERRORS = (LMAuthError, LMBillingError, LMConfigurationError, LMUnsupportedModelError, WaitTooLong)


class RateLimiter:
    """Shared by all threads that use an LM, and by its copies.

    threads: calls in flight. retries: how often a call is sent again that failed in passing; 0 also turns off the
    waiting for an overloaded server. first_wait: seconds before the first retry.
    """

    def __init__(self, threads: int = 1_000, retries: int = RETRIES, first_wait: float = FIRST_WAIT) -> None:
        self.retries = retries
        self._slots = threading.Semaphore(threads)
        self._backoff = wait_random_exponential(first_wait, LONGEST_WAIT)

    def __deepcopy__(self, memo: dict[int, Any]) -> "RateLimiter":
        return self

    def run(self, call: Callable[[], ResultT]) -> ResultT:
        """The result of `call`, after as many retries as it takes; while it waits, others are sent.

        Raises the last LM error of a call that goes on failing, and `WaitTooLong`.
        """

        def once() -> ResultT:
            with self._slots, self._bounded_wait():
                return call()

        return Retrying(**self._policy())(once)

    async def arun(self, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """`run` for a coroutine."""

        async def once() -> ResultT:
            while not self._slots.acquire(blocking=False):  # whose threads and event loops are several
                await asyncio.sleep(POLL)
            try:
                with self._bounded_wait():
                    return await call()
            finally:
                self._slots.release()

        return await AsyncRetrying(**self._policy())(once)

    def _policy(self) -> dict[str, Any]:
        return {
            "retry": retry_if_exception(is_passing),
            "stop": self._enough,
            "wait": self._before_retry,
            "reraise": True,
        }

    @contextmanager
    def _bounded_wait(self) -> Iterator[None]:
        """Raises `WaitTooLong` in the place of an error that asks for more than `LONGEST_RETRY_AFTER`."""
        try:
            yield
        except LMError as error:
            if self.retries and (seconds := retry_after(error) or 0.0) > LONGEST_RETRY_AFTER:
                raise WaitTooLong(
                    f"the LM asks to wait for {seconds:.0f} s; run the same command again after that"
                ) from error
            raise

    def _enough(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        return state.attempt_number > (PATIENCE if self.retries and is_overload(error) else self.retries)

    def _before_retry(self, state: RetryCallState) -> float:
        """Seconds: those that the server names, else more with each retry."""
        seconds = retry_after(state.outcome.exception() if state.outcome else None)
        return self._backoff(state) if seconds is None else seconds


def is_passing(error: BaseException) -> bool:
    """Whether the same call may well succeed later."""
    return isinstance(error, Exception) and is_retryable_lm_error(error) and not isinstance(error, WaitTooLong)


def is_overload(error: BaseException | None) -> bool:
    """Whether the server refused a call because it has too many."""
    return isinstance(error, LMRateLimitError) or (isinstance(error, LMServerError) and error.status in OVERLOADED)


def retry_after(error: BaseException | None) -> float | None:
    """The seconds of a Retry-After, if the server sent one with this overload."""
    return error.retry_after if isinstance(error, LMError) and is_overload(error) else None
