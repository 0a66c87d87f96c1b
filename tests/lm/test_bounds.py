"""An answer has to end: in time, and before it fills the memory."""

import asyncio
from pathlib import Path
from typing import Any

import dspy
import pytest

from aisr.compat import transport
from aisr.lm.embeddings import Embeddings
from aisr.lm.rate_limit import RateLimiter
from aisr.programs.errors import NotEmbedded
from aisr.tasks.track1 import TRACK1
from support import faults
from support.corpora import read_rows, write
from support.loopback import Loopback
from support.runs import opened, run
from support.scripted import claim

SHORT, LONG = 0.3, 60.0  # seconds
SMALL = 2**20  # bytes
TOO_LARGE = "an answer of more than 1 MiB, which none is allowed to have"
TOO_LATE = "the answer was not complete after 0.3 s"
BAD = pytest.mark.parametrize(
    ("fault", "timeout", "reason"),
    [
        (faults.dripping, SHORT, TOO_LATE),
        (faults.without_end, LONG, TOO_LARGE),
        (faults.bomb(layers=1, size=2 * SMALL), LONG, TOO_LARGE),
        (faults.bomb(layers=2, size=2 * SMALL), LONG, "an answer that is compressed more than once"),
    ],
    ids=["dripping", "without end", "gzip bomb", "gzip bomb in gzip"],
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MOST_BYTES", SMALL)


@BAD
def test_an_answer_that_does_not_end_fails_the_record(
    fault: Any, timeout: float, reason: str, loopback: Loopback, tmp_path: Path
) -> None:
    loopback.reply = fault
    lm = opened(loopback.url, timeout=timeout)
    lm.lm.limiter = RateLimiter(1, retries=0)
    data, out = write(tmp_path / "in.jsonl", [claim("Supported").model_dump(mode="json")]), tmp_path / "out.jsonl"
    found = run(TRACK1, data, out, lm)
    assert (found.judged, found.failed) == (1, 1)
    assert reason in read_rows(out)[0]["failed"]


@BAD
def test_coroutines_are_bounded_as_well(fault: Any, timeout: float, reason: str, loopback: Loopback) -> None:
    loopback.reply = fault
    lm = opened(loopback.url, timeout=timeout).lm
    lm.limiter = RateLimiter(1, retries=0)
    with pytest.raises(dspy.LMError, match=reason):
        asyncio.run(lm.acall(messages=[{"role": "user", "content": "Well?"}]))


@BAD
def test_embeddings_are_bounded_as_well(fault: Any, timeout: float, reason: str, loopback: Loopback) -> None:
    loopback.reply = fault
    embed: Any = Embeddings(address=loopback.url, timeout=timeout).of("openai/embedder")
    embed.limiter.retries = 0
    with pytest.raises(NotEmbedded, match=reason):
        embed(["a text"])


def test_what_is_too_large_is_not_asked_for_again(loopback: Loopback) -> None:
    loopback.reply = faults.without_end
    lm = opened(loopback.url, timeout=LONG).lm
    with pytest.raises(dspy.LMError, match=TOO_LARGE):
        lm(messages=[{"role": "user", "content": "And?"}])
    assert len(loopback.asked) == 1
