"""An answer has to end: in time, and before it fills the memory."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from aisr.base.errors import NotEmbedded
from aisr.lm import endpoint
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.programs.track1 import TRACK1
from support import embedder, faults
from support.corpora import read_rows, write
from support.loopback import Loopback, answer_with
from support.runs import opened, run
from support.scripted import claim

SHORT, LONG = 0.3, 60.0  # seconds
SMALL = 2**20  # bytes
TOO_LARGE = "an answer of more than 1 MiB, which none is allowed to have"
TOO_LATE = "the answer was not complete after 0.3 s"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MOST_BYTES", SMALL)


@pytest.mark.parametrize(
    ("fault", "timeout", "reason"),
    [
        (faults.endless(b" ", 0.02), SHORT, TOO_LATE),
        (faults.endless(b" " * 2**16, 0.0), LONG, TOO_LARGE),
        (faults.bomb(layers=1, size=2 * SMALL), LONG, TOO_LARGE),
        (faults.bomb(layers=2, size=2 * SMALL), LONG, "an answer that is compressed more than once"),
    ],
    ids=["dripping", "without end", "gzip bomb", "gzip bomb in gzip"],
)
def test_an_answer_that_does_not_end_fails_the_record_the_coroutine_and_the_embedding(
    fault: Any, timeout: float, reason: str, loopback: Loopback, tmp_path: Path
) -> None:
    loopback.reply = fault
    lm = opened(loopback.url, timeout=timeout, retries=0)
    data, out = write(tmp_path / "in.jsonl", [claim("Supported").model_dump(mode="json")]), tmp_path / "out.jsonl"
    summary = run(TRACK1, data, out, lm)
    assert (summary.judged, summary.failed) == (1, 1)
    assert reason in read_rows(out)[0]["failed"]
    if reason == TOO_LARGE:
        assert len(loopback.requests) == 1  # what is too large is not requested again
    with pytest.raises(dspy.LMError, match=reason):
        asyncio.run(lm.lm.acall(messages=[{"role": "user", "content": "Well?"}]))
    embed = embedder.opened(loopback.url, timeout=timeout)
    with pytest.raises(NotEmbedded, match=reason):
        embed(["a text"])


@pytest.mark.parametrize("at_provider", [True, False])
def test_an_answer_that_names_more_ids_than_any_needs_is_not_read(
    at_provider: bool, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    loopback.reply = answer_with(lambda body: None, "[P1]" * (endpoint.MOST_CHARACTERS // 4 + 1))
    lm = open_lm(LMConfig("openai/local", api_base=None if at_provider else loopback.url)).lm
    with pytest.raises(dspy.LMError, match="an answer of more than 1,000,000 characters"):
        lm(messages=[{"role": "user", "content": "Well?"}])
    assert len(loopback.requests) == 1


def test_a_kept_connection_has_all_its_time_again(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(endpoint, "time", SimpleNamespace(monotonic=lambda: now))
    lm = opened(loopback.url, timeout=LONG).lm
    lm.cache = False
    for _ in range(3):
        assert lm(messages=[{"role": "user", "content": "Well?"}])
        now += 2 * LONG
