"""The pace of calls: fewer after a refusal, none before the server said, more again as it answers."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from dspy.utils.exceptions import LMAuthError, LMError, LMRateLimitError, LMServerError, LMTimeoutError

from aisr.inference.judge import judge_all
from aisr.lm import rate_limit
from aisr.lm.open import open_lm
from aisr.lm.rate_limit import LESS, PATIENCE, RETRIES, AskedToWait, Pace
from aisr.tasks.track1 import TRACK1
from support.faults import refused
from support.scripted import claim

if TYPE_CHECKING:
    from support.loopback import Asked, Loopback, Reply

BUSY = LMRateLimitError("slow down")


def quick(most: int = 8) -> Pace:
    return Pace(most, first_wait=0.0001)


def saying(*said: LMError | str) -> Callable[[], str]:
    """A call that ends in one of these after the other, and in the last from then on."""
    left = list(said)

    def call() -> str:
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, LMError):
            raise outcome
        return outcome

    return call


def counted(call: Callable[[], str], count: list[int]) -> Callable[[], str]:
    def again() -> str:
        count.append(1)
        return call()

    return again


@pytest.mark.parametrize("error", [BUSY, LMServerError("full", status=503), LMServerError("full", status=529)])
def test_a_refusal_lets_fewer_through_and_answers_more_again(error: LMError) -> None:
    pace = quick(10)
    assert pace.run(saying(error, "fine")) == "fine"
    assert 10 * LESS < pace.limit < 10 * LESS + 1
    for _ in range(40):
        pace.run(saying("fine"))
    assert pace.limit == 10


def test_another_fault_says_nothing_of_the_pace() -> None:
    pace = quick(10)
    assert pace.run(saying(LMTimeoutError("late"), LMServerError("oops", status=500), "fine")) == "fine"
    assert pace.limit == 10


def test_refusals_of_calls_that_were_sent_together_count_once() -> None:
    pace, together = quick(8), threading.Barrier(8)
    told = [False] * 8

    def call(number: int) -> str:
        if not told[number]:
            told[number] = True
            together.wait(10)
            raise BUSY
        return "fine"

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda number: pace.run(lambda: call(number)), range(8))) == {"fine"}
    assert pace.limit > 8 * LESS


@pytest.mark.parametrize(
    ("error", "calls"),
    [(BUSY, PATIENCE + 1), (LMTimeoutError("late"), RETRIES + 1), (LMAuthError("no"), 1)],
)
def test_patience_ends(error: LMError, calls: int) -> None:
    count: list[int] = []
    with pytest.raises(type(error)):
        quick().run(counted(saying(error), count))
    assert len(count) == calls


def test_a_pace_without_retries_makes_one_call() -> None:
    count: list[int] = []
    with pytest.raises(LMRateLimitError):
        Pace(8, retries=0).run(counted(saying(BUSY), count))
    assert len(count) == 1


def test_no_more_are_in_flight_than_the_limit() -> None:
    pace, lock = quick(3), threading.Lock()
    inside, most = 0, 0
    full = threading.Barrier(3)

    def call() -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        full.wait(10)  # passes only when three are in flight
        with lock:
            inside -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: pace.run(call), range(12)))
    assert most == 3


class Clock:
    """Stands still until it is told to go on. `looks` counts who looked at it."""

    def __init__(self) -> None:
        self.now, self.looks, self.looked = 0.0, 0, threading.Condition()

    def monotonic(self) -> float:
        with self.looked:
            self.looks += 1
            self.looked.notify_all()
            return self.now

    def wait_for_looks(self, count: int) -> None:
        with self.looked:
            assert self.looked.wait_for(lambda: self.looks >= count, 30)


def test_nothing_is_sent_before_the_moment_that_the_server_named(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, sent = Clock(), []
    monkeypatch.setattr(rate_limit, "time", clock)
    pace = quick(4)

    def call() -> str:
        sent.append(clock.now)
        if len(sent) == 1:
            raise LMRateLimitError("slow down", retry_after=0.002)
        return "fine"

    with ThreadPoolExecutor(7) as pool:
        first = pool.submit(pace.run, call)
        clock.wait_for_looks(10)  # it is refused, and looks again and again
        others = [pool.submit(pace.run, call) for _ in range(6)]
        clock.wait_for_looks(100)
        assert sent == [0.0]
        clock.now = 0.003
        assert {one.result(30) for one in (first, *others)} == {"fine"}
    assert sent == [0.0, *[0.003] * 7]


def test_a_wait_of_hours_ends_the_run(loopback: "Loopback") -> None:
    loopback.reply = refused(429, "come back tomorrow", Retry_After="80000")
    program = TRACK1.build({})
    given = [program.prepare(claim("Supported", number=k)) for k in range(3)]
    with pytest.raises(AskedToWait, match="asks to wait for 80000 s; run the same command again after that"):
        judge_all(TRACK1, program, given, open_lm("openai/local", api_base=loopback.url, threads=1))
    assert len(loopback.asked) == 1


def test_the_servers_wait_is_heard_over_http(loopback: "Loopback", monkeypatch: pytest.MonkeyPatch) -> None:
    answer, heard = loopback.reply, []
    monkeypatch.setattr(Pace, "hush", lambda pace, seconds: heard.append(seconds))

    def reply(asked: "Asked") -> "Reply":
        return refused(429, "slow down", Retry_After="0.3")(asked) if len(loopback.asked) == 1 else answer(asked)

    loopback.reply = reply
    program = TRACK1.build({})
    given = [program.prepare(claim("Supported", number=k)) for k in range(2)]
    outcomes = judge_all(TRACK1, program, given, open_lm("openai/local", api_base=loopback.url, threads=1))
    assert [outcome.failure for outcome in outcomes] == [None, None]
    assert heard == [0.3]
    assert len(loopback.asked) == 3


def test_coroutines_keep_the_same_pace() -> None:
    pace = quick(10)
    call = saying(BUSY, LMTimeoutError("late"), "fine")

    async def send() -> str:
        return call()

    assert asyncio.run(pace.arun(send)) == "fine"
    assert pace.limit < 10
