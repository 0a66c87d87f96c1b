"""How many calls are in flight, when one is sent again, and when that ends."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import AsyncMock, Mock

import pytest
from dspy.utils.exceptions import LMAuthError, LMError, LMRateLimitError, LMServerError, LMTimeoutError

from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.lm.rate_limit import PATIENCE, RETRIES, RateLimiter, WaitTooLong
from aisr.predict.judge import judge_all
from aisr.programs.track1 import TRACK1
from support.faults import refused
from support.loopback import Loopback
from support.scripted import claim

BUSY = LMRateLimitError("slow down")


def quick(most: int = 8) -> RateLimiter:
    return RateLimiter(most, first_wait=0.0001)


@pytest.mark.parametrize(
    ("error", "retries", "calls"),
    [
        (BUSY, RETRIES, PATIENCE + 1),
        (BUSY, 0, 1),
        (LMTimeoutError("late"), RETRIES, RETRIES + 1),
        (LMAuthError("no"), RETRIES, 1),
    ],
)
def test_patience_ends(error: LMError, retries: int, calls: int) -> None:
    call = Mock(side_effect=error)
    with pytest.raises(type(error)):
        RateLimiter(8, retries=retries, first_wait=0.0001).run(call)
    assert call.call_count == calls


def test_no_more_are_in_flight_than_the_limit() -> None:
    limiter, lock = quick(3), threading.Lock()
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
        list(pool.map(lambda _: limiter.run(call), range(12)))
    assert most == 3


def test_no_more_coroutines_are_in_flight_either() -> None:
    limiter, inside = quick(3), list[int]()
    most = 0

    async def call() -> None:
        nonlocal most
        inside.append(1)
        most = max(most, len(inside))
        for _ in range(5):  # gives all others their turn
            await asyncio.sleep(0)
        inside.pop()

    async def run() -> None:
        await asyncio.gather(*(limiter.arun(call) for _ in range(12)))

    asyncio.run(run())
    assert most == 3


def test_what_the_server_named_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waits.append)
    late = LMRateLimitError("slow down", retry_after=7.0)
    assert quick().run(Mock(side_effect=[late, late, LMServerError("full", status=529), "fine"])) == "fine"
    assert waits[:2] == [7.0, 7.0]
    assert waits[2] < 1


def test_a_wait_of_hours_ends_the_run(loopback: Loopback) -> None:
    loopback.reply = refused(429, "come back tomorrow", Retry_After="80000")
    program = TRACK1.build({})
    examples = [program.prepare(claim("Supported", number=k)) for k in range(3)]
    with pytest.raises(WaitTooLong, match="asks to wait for 80000 s; run the same command again after that"):
        judge_all(TRACK1, program, examples, open_lm(LMConfig("openai/local", api_base=loopback.url, threads=1)))
    assert len(loopback.requests) == 1


def test_coroutines_are_sent_again_too() -> None:
    call = AsyncMock(side_effect=[BUSY, LMTimeoutError("late"), "fine"])
    assert asyncio.run(quick().arun(call)) == "fine"
