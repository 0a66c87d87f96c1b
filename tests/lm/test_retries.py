"""When a call is sent again, and when that ends the run."""

from collections.abc import Callable, Iterator

import pytest
from dspy.utils.exceptions import LMAuthError, LMError, LMRateLimitError, LMServerError, LMTimeoutError

from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.lm.retries import PATIENCE, RETRIES, Contact, Unreachable, WaitTooLong
from aisr.predict.judge import judge_all
from aisr.programs.track1 import TRACK1
from support import runs
from support.faults import hang_up, refused
from support.loopback import Loopback, judged, serve
from support.scripted import claim


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited for, which nobody does."""
    waited: list[float] = []
    monkeypatch.setattr("aisr.lm.retries.time.sleep", waited.append)
    return waited


def answered(*errors: LMError) -> Callable[[], str]:
    """A call that fails by these errors, one after the other, and then succeeds."""
    left: Iterator[LMError] = iter(errors)

    def send() -> str:
        if (error := next(left, None)) is not None:
            raise error
        return "fine"

    return send


@pytest.mark.parametrize(
    ("error", "retries"),
    [
        (LMRateLimitError("slow down"), PATIENCE),
        (LMServerError("full", status=529), PATIENCE),
        (LMServerError("oops", status=500), RETRIES),
        (LMTimeoutError("late"), RETRIES),
        (LMAuthError("no"), 0),
    ],
    ids=str,
)
def test_patience_ends(error: LMError, retries: int, waits: list[float]) -> None:
    assert Contact().run(answered(*[error] * retries)) == "fine"
    assert len(waits) == retries
    assert waits == sorted(waits) or waits[-1] >= 30
    with pytest.raises(type(error)):
        Contact().run(answered(*[error] * (retries + 1)))


def test_what_the_server_named_is_waited_for(waits: list[float]) -> None:
    late = LMRateLimitError("slow down", retry_after=7.0)
    assert Contact().run(answered(late, late, LMServerError("full", status=503))) == "fine"
    assert waits[:2] == [7.0, 7.0]


def test_a_wait_of_minutes_ends_the_run(loopback: Loopback) -> None:
    loopback.reply = refused(429, "come back tomorrow", Retry_After="121")
    program = TRACK1.build({})
    examples = [program.prepare(claim("Supported", number=k)) for k in range(3)]
    with pytest.raises(WaitTooLong, match="asks to wait for 121 s; run the same command again after that"):
        judge_all(TRACK1, program, examples, open_lm(LMConfig("openai/local", api_base=loopback.url, threads=1)))
    assert len(loopback.requests) == 1


def test_a_wrong_port_ends_the_run_at_once(waits: list[float]) -> None:
    with serve() as gone:
        pass
    program = TRACK1.build({})
    with pytest.raises(Unreachable, match=f"^openai/local at {gone.url}: .*refused"):
        judge_all(TRACK1, program, [claim("Supported")], open_lm(LMConfig("openai/local", api_base=gone.url)))
    assert sum(waits) <= 1


def test_a_server_that_was_reached_may_be_gone_for_a_while(loopback: Loopback) -> None:
    lm = runs.opened(loopback.url)
    lm.lm("Hello?")
    replies = [hang_up, hang_up, hang_up, judged]
    loopback.reply = lambda request: replies[len(loopback.requests) - 2](request)
    assert lm.lm("Which label?")
