"""What calls cost: what the server reports of each answer, be it of use or not. The server counts for itself."""

import asyncio
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
from support.loopback import HttpRequest, Loopback, Reply, add_logprobs, answer_with, judged
from support.scripted import claim

USD = Price(1.0, 10.0)  # a million tokens
WORDS = "Is it so? " * 40
NOT_RUN = (401, 402, 404, 429, 503, 529)  # a server that says so has run no model


@pytest.fixture
def provider(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server as LiteLLM finds it in the environment, for an LM without an address."""
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def opened(
    url: str | None, limits: Limits | None = None, timeout: float = 5.0, retries: int = 0, **config: Any
) -> OpenLM:
    return runs.opened(url, 8, limits, timeout, retries, price=USD, **config)


def call(lm: OpenLM, asynchronous: bool = False) -> Any:
    messages = [{"role": "user", "content": WORDS}]
    if asynchronous:
        return asyncio.run(lm.lm.acall(messages=messages))
    return lm.lm(messages=messages)


def with_usage(usage: Any, text: str = "yes") -> Callable[[HttpRequest], Reply]:
    return answer_with(lambda body: body.update(usage=usage), text)


def judgement_of(lm: OpenLM) -> Any:
    """How the LM judges a record of one sentence."""
    program = TRACK1.build({})
    with lm.context():
        (judgement,) = program(**program.prepare(claim("Supported")).inputs()).judgements
    return judgement


@pytest.mark.parametrize(
    ("top", "chosen", "source", "by_litellm"),
    [
        (float("-inf"), -0.1, "logprobs", False),
        (float("-inf"), -0.1, "logprobs", True),
        (None, -0.1, "logprobs", False),
        ("low", -0.1, "logprobs", False),
        (-(10**400), -0.1, "logprobs", False),
        (-2.0, None, "vote", False),
        (-2.0, float("-inf"), "vote", False),
        (-2.0, float("-inf"), "vote", True),
    ],
    ids=str,
)
def test_odd_log_probabilities_are_none_and_their_answer_is_used_and_paid_once(
    loopback: Loopback, provider: None, tmp_path: Path, top: Any, chosen: Any, source: str, by_litellm: bool
) -> None:
    """They come from servers that constrain what is written."""
    loopback.reply = answer_with(lambda body: add_logprobs(body, {"Supported": -0.1, "Contradiction": top}, chosen))
    data = write(tmp_path / "in.jsonl", [claim("Supported").model_dump(mode="json")])
    lm = opened(None if by_litellm else loopback.url)
    summary = runs.run(TRACK1, data, tmp_path / "out.jsonl", lm)
    assert (summary.judged, summary.failed) == (1, 0)
    judgement = judgement_of(lm)
    assert judgement.source == source
    assert all(0 <= one <= 1 for one in judgement.probabilities)
    assert lm.ledger.spend.usd == pytest.approx((200 * 1 + 20 * 10) / 1e6)
    assert len(loopback.requests) == 1


USED: dict[str, tuple[Any, float, int]] = {  # the answer is "yes", whatever its usage
    "whole": (with_usage({"prompt_tokens": 200, "completion_tokens": 20}), 200, 20),
    "odd": (with_usage({"prompt_tokens": 200, "completion_tokens": 20, "prompt_tokens_details": 3}), 200, 20),
    "none": (answer_with(lambda body: body.pop("usage"), "yes"), 0, 0),
    "negative": (with_usage({"prompt_tokens": -5, "completion_tokens": -5}), 0, 0),
    "words": (with_usage({"prompt_tokens": "many", "completion_tokens": 20}), 0, 20),
}
CHARGED: dict[str, tuple[Any, float, int]] = {  # tokens read and written, as the server reports them
    **USED,
    "no list": (answer_with(lambda body: body.update(choices={"no": "list"})), 200, 20),
    "no JSON": (lambda request: (200, "<html>It works!</html>"), 0, 0),
    "error": (lambda request: (200, '{"error": {"message": "no"}}'), 0, 0),
    "500": (faults.refused(500, "oops"), 0, 0),
    "gone": (faults.hang_up, 0, 0),
    "late": (faults.hang, 0, 0),
    **{str(status): (faults.refused(status, "not run"), 0, 0) for status in NOT_RUN},
}
BY_LITELLM = ("whole", "none", "negative", "no JSON", "500", "gone", "429")


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("case", "by_litellm"), [*((case, False) for case in CHARGED), *((case, True) for case in BY_LITELLM)]
)
def test_a_call_is_charged_by_what_the_server_reports(
    loopback: Loopback, provider: None, case: str, by_litellm: bool, asynchronous: bool
) -> None:
    loopback.reply, read, written = CHARGED[case]
    lm = opened(None if by_litellm else loopback.url, timeout=5.0 if by_litellm else 0.3)
    answer = ""
    with suppress(dspy.LMError):
        answer = str(call(lm, asynchronous))
    assert lm.ledger.spend.usd == pytest.approx((read + 10 * written) / 1e6)
    if case in USED:
        assert "yes" in answer
        call(lm, asynchronous)
        assert lm.ledger.spend.cached_calls == 1
    assert lm.ledger.spend.calls == len(loopback.requests) == 1


def test_a_server_that_is_not_there_costs_nothing() -> None:
    lm = opened("http://127.0.0.1:9/v1")
    with pytest.raises(dspy.LMError):
        call(lm)
    assert lm.ledger.spend.usd == 0


# --- Servers of the environment, and embeddings


@pytest.mark.parametrize(
    ("variable", "spec"),
    [
        ("OPENAI_BASE_URL", "openai/local"),
        ("OPENAI_API_BASE", "openai/local"),
        ("OPENAI_BASE_URL", "embeddings"),
    ],
)
def test_two_servers_that_the_environment_names_never_share_cached_answers(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch, variable: str, spec: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    if spec == "embeddings":
        loopback.reply = lambda request: (200, embedder.embed_letters(request))
    for url in (loopback.url, *[loopback.url.replace("/v1", "/other/v1")] * 2):
        monkeypatch.setenv(variable, url)
        if spec == "embeddings":
            embedder.opened(None)(["a wren"])
        else:
            judgement_of(open_lm(LMConfig(spec, price=USD)))
    assert [request.path.count("other") for request in loopback.requests] == [0, 1]


@pytest.mark.parametrize("at_provider", [False, True])
@pytest.mark.parametrize(
    ("status", "body", "tokens"),
    [
        (200, {"usage": {"prompt_tokens": -1_000_000, "total_tokens": -1_000_000}}, 0),
        (200, {"usage": {"prompt_tokens": "many"}}, 0),
        (200, {}, 0),
        (200, {"usage": {"prompt_tokens": 90}, "data": []}, 90),
        (500, {}, 0),
    ],
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
    assert len(loopback.requests) == 1
    assert ledger.spend.usd == pytest.approx(tokens / 1e6)


# --- a limit is for all runs of a command


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


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"usd": -1}',
        '{"usd": NaN}',
        '{"usd": "0"}',
        "[" * 10_000,
        '{"usd": 1' + "0" * 400 + "}",
        '{"usd": true}',
        "\xff",
    ],
)
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
        lm.lm(messages=[{"role": "user", "content": "another"}])
    assert len(loopback.requests) == 1
