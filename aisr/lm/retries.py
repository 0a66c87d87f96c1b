"""When a call that failed is sent again, and when it ends the run.

DSPy has the same waits, but would wait for as long as a server asks, be it a day, and for minutes on a wrong port.
"""

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from dspy.utils.exceptions import (
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMRateLimitError,
    LMTransportError,
    LMUnsupportedModelError,
    is_retryable_lm_error,
)

ResultT = TypeVar("ResultT")
OVERLOADED = (503, 529)  # 529 is Anthropic's
RETRIES = 3  # of a call that failed in passing: a timeout, a lost connection, HTTP 500
PATIENCE = 8  # retries of a call that was refused for overload: it is no fault of the call's
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds; doubled with each retry
LONGEST_RETRY_AFTER = 120.0  # seconds; a server that asks for more has no room today


class WaitTooLong(LMRateLimitError):
    """The server names a time too far off to wait for, for every other record as well."""


class Unreachable(LMTransportError):
    """No call has reached the server: its address is wrong, or it does not run."""


class BudgetSpent(LMBillingError):
    """A limit of the user's own kept a call from being sent."""


# Errors that every record would meet.
FATAL_ERRORS = (
    LMAuthError,
    BudgetSpent,
    LMBillingError,
    LMConfigurationError,
    LMUnsupportedModelError,
    WaitTooLong,
    Unreachable,
)


class Contact:
    """The calls to one server, by any number of threads: they are sent again as long as that may help. Copies of an LM
    share the contact of the original."""

    def __init__(self) -> None:
        self.first_wait = FIRST_WAIT
        self.error: LMError | None = None  # of the first call, where every call failed
        self._is_answered = False

    def __deepcopy__(self, memo: dict[int, Any]) -> "Contact":
        return self

    def succeed(self) -> None:
        """Note an answer, be it of the cache."""
        self._is_answered, self.error = True, None

    def run(self, send: Callable[[], ResultT]) -> ResultT:
        """Return the result of `send`, after as many retries as it takes.

        Raises the last error of a call that goes on failing, `WaitTooLong`, and `Unreachable` where not even a second
        attempt reached a server that none has reached before, so that a wrong port is told in seconds.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                result = send()
            except LMError as error:
                time.sleep(self._wait(error, attempt))
            else:
                self.succeed()
                return result

    def _wait(self, error: LMError, attempt: int) -> float:
        """Return the seconds to wait before a call is sent again. Raises the error where it is final."""
        if not self._is_answered and not isinstance(error, BudgetSpent):
            self.error = self.error or error
        is_overload = isinstance(error, LMRateLimitError) or error.status in OVERLOADED
        if isinstance(error, LMTransportError) and self.error is not None and attempt > 1:
            raise Unreachable(error.message) from error
        seconds: float | None = error.retry_after if is_overload else None
        if seconds is not None and seconds > LONGEST_RETRY_AFTER:
            raise WaitTooLong(
                f"the LM asks to wait for {seconds:.0f} s; run the same command again after that"
            ) from error
        if not is_retryable_lm_error(error) or attempt > (PATIENCE if is_overload else RETRIES):
            raise error
        if seconds is not None:
            return seconds
        # Calls that were refused together shall not come back together.
        return random.uniform(0.5, 1.0) * min(self.first_wait * 2.0 ** (attempt - 1), LONGEST_WAIT)
