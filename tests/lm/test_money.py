"""What calls cost: what the server reports of each answer, be it of use or not. The server counts for itself."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import LMBillingError

from aisr.base.errors import NotEmbedded, UserError
from aisr.lm.budget import Ledger, Limits
from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig, Price
from aisr.lm.open import open_lm
from aisr.programs.track1 import TRACK1
from support import embedder, faults, runs
from support.commands import Aisr
from support.corpora import read_rows, write
from support.loopback import HttpRequest, Loopback, Reply, answer_with, judged
from support.scripted import claim

USD = Price(1.0, 10.0)  # a million tokens
WORDS = "Is it so? " * 40


@pytest.fixture
def provider(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server as LiteLLM finds it in the environment, for an LM without an address."""
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def call(lm: OpenLM) -> str:
    return str(lm.lm(messages=[{"role": "user", "content": WORDS}]))


def with_usage(usage: Any, text: str = "yes") -> Callable[[HttpRequest], Reply]:
    return answer_with(lambda body: body.update(usage=usage), text)


WHOLE = {"prompt_tokens": 200, "completion_tokens": 20}
CHARGED: dict[str, tuple[Any, float, int]] = {  # tokens read and written, as the server reports them
    "whole": (with_usage(WHOLE), 200, 20),
    "partly cached": (with_usage({**WHOLE, "prompt_tokens_details": {"cached_tokens": 150}}), 200, 20),
    "none": (answer_with(lambda body: body.pop("usage"), "yes"), 0, 0),
    "no choice": (answer_with(lambda body: body.update(choices=[])), 200, 20),
    "no JSON": (lambda request: (200, "<html>It works!</html>"), 0, 0),
    "400": (faults.refused(400, "no"), 0, 0),
    "401": (faults.refused(401, "no"), 0, 0),
    "500": (faults.refused(500, "oops"), 0, 0),
    "gone": (faults.hang_up, 0, 0),
    "late": (faults.hang, 0, 0),
    "429": (faults.refused(429, "not run"), 0, 0),
}
BY_LITELLM = ("whole", "none", "400", "500", "429")


@pytest.mark.parametrize(
    ("case", "by_litellm"), [*((case, False) for case in CHARGED), *((case, True) for case in BY_LITELLM)]
)
def test_a_call_is_charged_by_what_the_server_reports(
    loopback: Loopback, provider: None, case: str, by_litellm: bool
) -> None:
    """As often as it is sent."""
    loopback.reply, read, written = CHARGED[case]
    lm = runs.opened(None if by_litellm else loopback.url, 8, timeout=5.0 if by_litellm else 0.3, price=USD)
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


def test_a_price_that_is_not_known_leaves_the_cost_unknown(loopback: Loopback) -> None:
    lm = runs.opened(loopback.url, timeout=5.0)
    call(lm)
    assert lm.ledger.spend.usd is None


# --- Servers of the environment, and embeddings


@pytest.mark.parametrize("spec", ["openai/local", "embeddings"])
def test_two_servers_that_the_environment_names_never_share_cached_answers(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    if spec == "embeddings":
        loopback.reply = lambda request: (200, embedder.embed_letters(request))
    for url in (loopback.url, *[loopback.url.replace("/v1", "/other/v1")] * 2):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        if spec == "embeddings":
            embedder.opened(None)(["a wren"])
        else:
            call(open_lm(LMConfig(spec, price=USD)))
    assert [request.path.count("other") for request in loopback.requests] == [0, 1]


@pytest.mark.parametrize("at_provider", [False, True])
@pytest.mark.parametrize(
    ("status", "body", "tokens"),
    [(200, {}, 0), (200, {"usage": {"prompt_tokens": 90}, "data": []}, 90), (500, {}, 0)],
    ids=str,
)
def test_embeddings_are_charged_whatever_their_answer_is(
    loopback: Loopback, provider: None, status: int, body: Any, tokens: float, at_provider: bool
) -> None:
    data = [{"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}]
    loopback.reply = lambda request: (status, json.dumps({"object": "list", "model": "x", "data": data, **body}))
    ledger = Ledger()
    embed = embedder.opened(None if at_provider else loopback.url, ledger, embedding_price=1.0)
    with suppress(NotEmbedded):
        embed([WORDS])
    assert ledger.spend.calls == len(loopback.requests) > 0
    assert ledger.spend.usd == pytest.approx(tokens / 1e6)


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


@pytest.mark.parametrize("content", ["", "[]", '{"usd": -1}', '{"usd": NaN}', "\xff"])
def test_a_file_that_says_no_spend_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "out.spend.json").write_text(content, encoding="latin-1")
    with pytest.raises(UserError, match=r"out.spend.json: expected .*remove it to begin at 0"):
        Ledger.for_output(tmp_path / "out", Limits(usd=1.0))


def test_nothing_more_is_sent_once_the_spend_cannot_be_kept(loopback: Loopback, tmp_path: Path) -> None:
    ledger = Ledger.for_output(tmp_path / "runs" / "out", Limits(usd=1.0))
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url, price=USD), ledger)
    (tmp_path / "runs").write_text("no folder")
    call(lm)
    with pytest.raises(LMBillingError, match=r"out.spend.json: cannot be written"):
        lm.lm("another")
    assert len(loopback.requests) == 1
