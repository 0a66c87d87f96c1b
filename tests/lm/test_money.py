"""What calls cost: what the server reports of each answer, be it of use or not. The server counts for itself."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import dspy
import pytest

from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig, Price
from aisr.lm.open import open_lm
from aisr.programs.track1 import TRACK1
from support import faults, runs
from support.commands import Aisr
from support.corpora import read_rows, write
from support.loopback import HttpRequest, Loopback, Reply, answer_with, judged
from support.scripted import claim

USD = Price(1.0, 10.0)  # a million tokens
WORDS = "Is it so? " * 40


def call(lm: OpenLM) -> str:
    return str(lm(messages=[{"role": "user", "content": WORDS}]))


def with_usage(usage: Any, text: str = "yes") -> Callable[[HttpRequest], Reply]:
    return answer_with(lambda body: body.update(usage=usage), text)


WHOLE = {"prompt_tokens": 200, "completion_tokens": 20}
CHARGED: dict[str, tuple[Any, float, int]] = {  # tokens read and written, as the server reports them
    "whole": (with_usage(WHOLE), 200, 20),
    "partly cached": (with_usage({**WHOLE, "prompt_tokens_details": {"cached_tokens": 150}}), 200, 20),
    "none": (answer_with(lambda body: body.pop("usage"), "yes"), 0, 0),
    "no choice": (answer_with(lambda body: body.update(choices=[])), 0, 0),
    "500": (faults.refused(500, "oops"), 0, 0),
    "late": (faults.hang, 0, 0),
}


@pytest.mark.parametrize(("reply", "read", "written"), CHARGED.values(), ids=CHARGED)
def test_a_call_is_charged_by_what_the_server_reports(
    reply: Any, read: float, written: int, loopback: Loopback
) -> None:
    """As often as it is sent."""
    loopback.reply = reply
    lm = runs.opened(loopback.url, 8, timeout=0.3, price=USD)
    answer = ""
    with suppress(dspy.LMError):
        answer = call(lm)
    sent = len(loopback.requests)
    assert lm.ledger.spend.calls == sent
    assert lm.ledger.spend.usd == pytest.approx(sent * (read + 10 * written) / 1e6)
    if answer:
        assert "yes" in answer
        call(lm)
        assert (lm.ledger.spend.cached_calls, lm.ledger.spend.calls, len(loopback.requests)) == (1, 1, 1)


def test_two_servers_that_the_environment_names_never_share_cached_answers(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    for url in (loopback.url, *[loopback.url.replace("/v1", "/other/v1")] * 2):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        call(open_lm(LMConfig("openai/local", price=USD)))
    assert [request.path.count("other") for request in loopback.requests] == [0, 1]


# --- A limit is for all runs of a command


def test_the_same_limit_is_not_spent_twice_and_a_higher_one_goes_on(
    aisr: Aisr, tmp_path: Path, loopback: Loopback
) -> None:
    loopback.reply = lambda request: "no label"
    rows = [claim("Supported", number=number).model_dump(mode="json") for number in range(10)]
    data, out = write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    program = runs.save_program(tmp_path / "mine", TRACK1)
    command = runs.predict_words(TRACK1, program, data, out, loopback.url)
    command += ("-L", "price=1,10", "-L", "threads=1")
    assert aisr(*command, "--max-usd", 0.002).code == 1
    sent = len(loopback.requests)
    kept = json.loads((tmp_path / "out.jsonl.spend.json").read_text())["usd"]
    assert 0 < sent < 10
    assert 0.002 <= kept < 0.004
    again = aisr(*command, "--max-usd", 0.002)
    assert len(loopback.requests) == sent
    assert f"{kept:.4f} of them by earlier runs, says out.jsonl.spend.json" in again.out
    loopback.reply = judged
    higher = aisr(*command, "--max-usd", 1)
    assert (higher.code, len(read_rows(out))) == (0, 10)
    assert json.loads((tmp_path / "out.jsonl.spend.json").read_text())["usd"] > kept
