"""Calls of an LM at a server: what is sent, charged and kept, and what is said of errors. How often a call is sent
again: `test_faults.py`."""

import json
import math
import sqlite3
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import LMError

from aisr.judging.judge import judge_all
from aisr.lm.client import OpenLM, Unreachable, WaitTooLong
from aisr.lm.config import LMConfig, Price
from aisr.lm.open import open_config
from aisr.programs.track1 import TRACK1
from support import runs
from support.commands import Aisr, run_apart
from support.corpora import read_rows, write
from support.loopback import HttpRequest, Loopback, Reply, add_logprobs, answer_with, hang, judged, refused, serve
from support.scripted import claim

USD = Price(1.0, 10.0)  # a million tokens


def call(lm: OpenLM) -> str:
    return str(lm("Is it so? " * 40))


# --- What is sent


@pytest.mark.parametrize("logprobs", [True, False])
def test_a_server_that_gives_log_probabilities_is_asked_for_them(loopback: Loopback, logprobs: bool) -> None:
    """They are not in what optimizers reflect on: GEPA's question was twenty times as long for them."""
    top = {"Supported": math.log(0.6), "Contradiction": math.log(0.2)}
    spelled = answer_with(lambda body: add_logprobs(body, top))
    loopback.reply = lambda request: spelled(request) if request.body.get("logprobs") else judged(request)
    lm = open_config(LMConfig("openai/local", api_base=loopback.url, logprobs=logprobs))
    program = TRACK1.build({})
    with lm.context(), dspy.context(trace=[]):
        (judgement,) = program(**program.prepare(claim("Supported")).example.inputs()).judgements
        ((_, _, reflected),) = dspy.settings.trace
    assert [request.body.get("top_logprobs") for request in loopback.requests] == [20 if logprobs else None]
    expected = [0.75, 0, 0, 0, 0.25] if logprobs else [1.5 / 3.5, *[0.5 / 3.5] * 4]
    assert judgement.probabilities == pytest.approx(expected)
    assert dict(reflected) == {"sentence_labels": ["Supported"]}


@pytest.mark.parametrize(("model", "at_provider"), [("openai/o3", True), ("openai/gpt-5-mini", False)])
def test_a_model_that_reasons_is_sent_no_setting_that_it_refuses(
    model: str, at_provider: bool, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a temperature, nor a bound on the answer, nor a wish for log-probabilities."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    program = TRACK1.build({})
    with open_config(LMConfig(model, api_base=None if at_provider else loopback.url)).context():
        program(**program.prepare(claim("Supported")).example.inputs())
    assert [set(request.body) - {"model", "messages", "response_format", "n"} for request in loopback.requests] == [
        set()
    ]


@pytest.mark.parametrize("schema", [True, False])
def test_counts_are_left_out_for_a_server_that_refuses_schemas_and_nothing_is_sent_twice_without(
    schema: bool, loopback: Loopback, caplog: pytest.LogCaptureFixture
) -> None:
    """Four calls are under way when the first one is refused."""
    together = threading.Barrier(4)
    refuse = refused(400, "Unsupported: minItems above 1 in a schema")

    def reply(request: HttpRequest) -> Reply:
        if schema and "minItems" not in json.dumps(request.body):
            return judged(request)
        together.wait(10)
        return refuse(request)

    loopback.reply = reply
    records = [claim("Supported", "Contradiction", number=k) for k in range(4)]
    lm = runs.opened(loopback.url, threads=4, timeout=30.0, schema=schema)
    outcomes = judge_all(TRACK1, TRACK1.build({}), records, lm)
    assert [outcome.answer is not None for outcome in outcomes] == [schema] * 4
    assert len(loopback.requests) == lm.ledger.spend.calls == (8 if schema else 4)
    assert caplog.text.count("takes no numbers of items in a schema") == schema


def test_counts_are_left_out_of_a_schema_among_the_options_of_all_calls_too(loopback: Loopback) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    form = {"type": "json_schema", "json_schema": {"name": "form", "schema": schema}}
    refuse = refused(400, "Unsupported: minItems above 1 in a schema")
    loopback.reply = lambda request: refuse(request) if "minItems" in json.dumps(request.body) else '{"a": ["b"]}'
    lm = runs.opened(loopback.url)
    lm.kwargs["response_format"] = form
    assert lm("say b", lists={"a": {"minItems": 2, "maxItems": 2}}) == ['{"a": ["b"]}']
    assert lm("say b", response_format=None) == ['{"a": ["b"]}']


# --- What is charged


WHOLE = {"prompt_tokens": 200, "completion_tokens": 20}
CHARGED: dict[str, tuple[Any, float, int]] = {  # tokens read and written, as the server reports them
    "whole": (answer_with(lambda body: body.update(usage=WHOLE), "yes"), 200, 20),
    "none": (answer_with(lambda body: body.pop("usage"), "yes"), 0, 0),
    "500": (refused(500, "oops"), 0, 0),
    "late": (hang, 0, 0),
}


@pytest.mark.parametrize(("reply", "read", "written"), CHARGED.values(), ids=CHARGED)
def test_a_call_is_charged_by_what_the_server_reports(
    reply: Any, read: float, written: int, loopback: Loopback
) -> None:
    """As often as it is sent. The server counts for itself."""
    loopback.reply = reply
    lm = runs.opened(loopback.url, 8, timeout=0.3, price=USD)
    answer = ""
    with suppress(dspy.LMError):
        answer = call(lm)
    sent = len(loopback.requests)
    assert lm.ledger.spend.calls == sent
    assert lm.ledger.spend.usd == pytest.approx(sent * (read + 10 * written) / 1e6)
    if answer:
        call(lm)
        assert (lm.ledger.spend.cached_calls, lm.ledger.spend.calls, len(loopback.requests)) == (1, 1, 1)


@pytest.fixture
def words(tmp_path: Path, loopback: Loopback) -> list[object]:
    """`aisr predict` of ten records."""
    rows = [claim("Supported", number=number).model_dump(mode="json") for number in range(10)]
    program = runs.save_program(tmp_path / "mine", TRACK1)
    data = write(tmp_path / "in.jsonl", rows)
    return runs.predict_words(TRACK1, program, data, tmp_path / "out.jsonl", loopback.url)


def test_the_same_limit_is_not_spent_twice_and_a_higher_one_goes_on(
    aisr: Aisr, words: list[object], tmp_path: Path, loopback: Loopback
) -> None:
    def spent() -> float:
        return float(json.loads((tmp_path / "out.jsonl.spend.json").read_text())["usd"])

    loopback.reply = lambda request: "no label"
    command = [*words, "-L", "price=1,10", "-L", "threads=1"]
    assert aisr(*command, "--max-usd", 0.002).code == 1
    sent, kept = len(loopback.requests), spent()
    assert 0 < sent < 10
    assert 0.002 <= kept < 0.004
    again = aisr(*command, "--max-usd", 0.002)
    assert len(loopback.requests) == sent
    assert f"{kept:.4f} of them by earlier runs, says out.jsonl.spend.json" in again.out
    loopback.reply = judged
    higher = aisr(*command, "--max-usd", 1)
    assert (higher.code, len(read_rows(tmp_path / "out.jsonl"))) == (0, 10)
    assert spent() > kept


def test_limits_hold_over_two_processes_of_one_output(loopback: Loopback, tmp_path: Path) -> None:
    """Two compiles of one name: the second is refused while the first one spends."""
    few = ["--max-train", 4, "--max-dev", 2, "--max-test", 2, "--optimizer", "labeled", "--no-track"]
    words = ["compile", "--task", "track1", "--data", "sample", "--name", "it", "--artifacts", tmp_path, *few]
    lm = ["--lm", "openai/local", "--api-base", loopback.url]
    is_refused = threading.Event()

    def reply(request: object) -> str:
        is_refused.wait(60)
        return "no label"

    loopback.reply = reply
    limits = ["-L", "price=1,10", "-L", "threads=1", "--max-usd", 0.0009, "--max-calls", 2]
    command = [sys.executable, "-m", "aisr.cli", *map(str, [*words, *lm, *limits])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        while not loopback.requests and first.poll() is None:
            threading.Event().wait(0.05)
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (second.returncode, len(loopback.requests)) == (2, 1)
        assert "another process spends for this output; wait for it" in second.stderr
        is_refused.set()
        first.communicate(timeout=60)
    assert len(loopback.requests) == 2
    (spent,) = (tmp_path / "track1").glob("*.spend.json")
    assert json.loads(spent.read_text()) == {"usd": pytest.approx(0.0008)}


# --- What is kept: DSPy's cache in the user's own folder


def test_a_cache_that_takes_no_more_is_one_warning_at_once(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lm = runs.opened(loopback.url, timeout=5.0)
    loopback.reply = lambda request: "yes"
    lm("Is it so?")

    def full(*args: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("aisr.lm.client._warned", threading.Event())
    monkeypatch.setattr(type(dspy.cache.disk_cache), "set", full)
    assert caplog.text == ""
    assert [lm(f"And {number}?") for number in range(3)] == [["yes"]] * 3
    assert caplog.text.count("will pay for the same answers again") == 1


@pytest.mark.slow
def test_another_process_asks_for_no_answer_twice_and_the_cache_is_at_home(
    words: list[object], loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DSPY_CACHEDIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for number in range(2):
        done = run_apart([[*words, "--out", tmp_path / f"{number}.jsonl"]])
        assert json.loads(done.stdout.splitlines()[-1]) == [0], done.stderr
    assert len(loopback.requests) == 10
    assert (tmp_path / "home" / ".dspy_cache").is_dir()


def test_a_cache_that_cannot_be_written_is_a_warning_with_what_to_do(
    aisr: Aisr, words: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("aisr.lm.client._warned", threading.Event())
    monkeypatch.setattr("aisr.lm.open.DISK_CACHE_DIR", str(tmp_path / "file" / "cache"))
    done = aisr(*words)
    assert done.code == 0, done.err
    assert "will pay for the same answers again. Make room there" in caplog.text


def test_two_servers_that_the_environment_names_never_share_cached_answers(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    for url in (loopback.url, *[loopback.url.replace("/v1", "/other/v1")] * 2):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        call(open_config(LMConfig("openai/local", price=USD)))
    assert [request.path.count("other") for request in loopback.requests] == [0, 1]


# --- What ends a run, and what is said of errors


def test_a_wait_of_minutes_ends_the_run(loopback: Loopback) -> None:
    loopback.reply = refused(429, "come back tomorrow", Retry_After="121")
    program = TRACK1.build({})
    examples = [program.prepare(claim("Supported", number=k)) for k in range(3)]
    with pytest.raises(WaitTooLong, match="asks to wait for 121 s; run the same command again after that"):
        judge_all(TRACK1, program, examples, open_config(LMConfig("openai/local", api_base=loopback.url, threads=1)))
    assert len(loopback.requests) == 1


def test_a_wrong_port_ends_the_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []  # seconds, which nobody waits for
    monkeypatch.setattr("aisr.lm.client.check_stopping", waits.append)
    with serve() as gone:
        pass
    program = TRACK1.build({})
    with pytest.raises(Unreachable, match=f"^openai/local at {gone.url}: .*refused"):
        judge_all(TRACK1, program, [claim("Supported")], open_config(LMConfig("openai/local", api_base=gone.url)))
    assert sum(waits) <= 1


# Who sent the error, its status, the first words of its body, and what may be wrong.
BODIES: dict[str, tuple[int, Any, str]] = {
    "OpenAI's": (400, {"error": {"message": "no such option", "code": "odd"}}, "HTTP 400: no such option"),
    "vLLM's": (400, {"object": "error", "message": "max_tokens is too large", "code": 400}, "HTTP 400: max_tokens is"),
    "Ollama's": (400, {"error": "model not found, pull it"}, "HTTP 400: model not found, pull it"),
    "FastAPI's": (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "HTTP 422: .*field required"),
    "not there": (404, {"detail": "Not Found"}, r"HTTP 404: .*Not Found.* \(is --api-base right\? .*/chat/completions"),
    "a page under status 200": (200, "<html>gateway</html>", "HTTP 200.*<html>gateway</html>"),
    "an error under status 200": (200, {"error": "no such model"}, "no such model"),
}


@pytest.mark.parametrize(("status", "body", "words"), BODIES.values(), ids=BODIES)
def test_an_error_is_told_with_status_and_words_by_the_names_that_were_typed(
    status: int, body: Any, words: str, loopback: Loopback
) -> None:
    loopback.reply = lambda request: (status, body if isinstance(body, str) else json.dumps(body))
    with pytest.raises(LMError, match=f"^openai/local at {loopback.url}: .*{words}") as raised:
        call(runs.opened(loopback.url))
    assert "\n" not in str(raised.value)
    assert "endpoint" not in str(raised.value)
