"""Prediction by a batch API: the file asks what a live run would ask, and its answers go the same way."""

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2
from support.commands import sets
from support.corpora import beginning, read_rows, write
from support.loopback import Loopback, add_logprobs, answer_with
from support.paths import SAMPLE
from support.runs import predict_words, save_program

Row = dict[str, Any]


def inputs(folder: Path, task: Task, records: int = 6) -> Path:
    return beginning(SAMPLE / task.name / "test-inputs.jsonl", records, folder / "inputs.jsonl")


def answered(server: Loopback, requests: Iterable[Row]) -> list[Row]:
    """What a batch API gives back: each request posted to the server as it stands, in an order of its own."""
    answers = []
    for line in requests:
        address = server.url.removesuffix("/v1") + line["url"]
        sent = Request(address, json.dumps(line["body"]).encode(), {"Content-Type": "application/json"})
        with urlopen(sent, timeout=10) as reply:
            response = {"status_code": reply.status, "request_id": "r", "body": json.loads(reply.read())}
        answers.append({"id": "batch_req", "custom_id": line["custom_id"], "response": response, "error": None})
    random.Random(0).shuffle(answers)
    return answers


@pytest.fixture
def words(aisr: Any, tmp_path: Path, loopback: Loopback) -> Callable[..., Any]:
    """Runs `aisr predict` with one program and one LM."""

    def run(task: Task, program: Path, out: str, *more: object) -> Any:
        return aisr(*predict_words(task, program, tmp_path / "inputs.jsonl", tmp_path / out, loopback.url), *more)

    return run


@pytest.mark.parametrize(
    ("task", "options", "form"),
    [(TRACK1, {}, ()), (TRACK1, {"unit": "sentence"}, ()), (TRACK2, {}, sets("lm.schema=false"))],
    ids=["track1", "track1 by sentence", "track2, fields"],
)
def test_the_file_asks_what_a_live_run_asks_and_predicts_the_same(
    task: Task, options: Row, form: tuple[str, ...], tmp_path: Path, words: Callable[..., Any], loopback: Loopback
) -> None:
    if task is TRACK2:
        text = "[[ ## label ## ]]\nOverstate\n\n[[ ## evidence_ids ## ]]\n[]\n\n[[ ## completed ## ]]"
        loopback.reply = answer_with(lambda body: add_logprobs(body, {"Overstate": -0.6, "Supported": -0.9}), text)
    program = save_program(tmp_path / "program", task, task.build(options))
    inputs(tmp_path, task)
    exported = words(task, program, "requests.jsonl", "--batch", "export", *form)
    assert exported.code == 0, exported.err
    assert loopback.requests == []
    requests = read_rows(tmp_path / "requests.jsonl")
    assert f"{len(requests)} requests of 6 records" in exported.out

    write(tmp_path / "answers.jsonl", answered(loopback, requests))
    loopback.requests.clear()
    arguments = ("--batch", "import", "--answers", tmp_path / "answers.jsonl")
    imported = words(task, program, "imported.jsonl", *arguments, *form)
    assert imported.code == 0, imported.out + imported.err
    assert "LM calls" not in imported.out  # none was sent
    assert loopback.requests == []

    live = words(task, program, "live.jsonl", *form)
    assert live.code == 0, live.err
    assert (tmp_path / "imported.jsonl").read_bytes() == (tmp_path / "live.jsonl").read_bytes()
    if task is TRACK2:  # read from the log-probabilities
        (row,) = read_rows(tmp_path / "live.jsonl")[0]["probabilities"]
        assert row["Supported"] == pytest.approx(0.4256, abs=1e-3)
    sent = sorted(json.dumps(request.body, sort_keys=True) for request in loopback.requests)
    assert sent == sorted(json.dumps(line["body"], sort_keys=True) for line in requests)


def break_answers(answers: list[Row]) -> None:
    """What may come back in place of the first four answers."""
    fine = answers[0]["response"]["body"]
    unusable = {"choices": [{**fine["choices"][0], "message": {"role": "assistant", "content": "I cannot say."}}]}
    error = {"error": {"code": "rate_limit_exceeded", "message": "slow down, at http://10.0.0.1/v1"}}
    answers[0]["response"] = {"status_code": 429, "body": error}
    answers[1] |= {"response": None, "error": {"code": "batch_expired", "message": "not run in time"}}
    answers[2]["response"] = {"status_code": 200, "body": {**fine, **unusable}}
    del answers[3]


def test_what_was_not_answered_is_a_failed_record_and_the_next_run_asks_for_it(
    tmp_path: Path, words: Callable[..., Any], loopback: Loopback
) -> None:
    program = save_program(tmp_path / "program", TRACK2)
    inputs(tmp_path, TRACK2)
    words(TRACK2, program, "requests.jsonl", "--batch", "export")
    by_id = {line["custom_id"]: line for line in answered(loopback, read_rows(tmp_path / "requests.jsonl"))}
    answers = [by_id[line["custom_id"]] for line in read_rows(tmp_path / "requests.jsonl")]
    whole = write(tmp_path / "later.jsonl", answers)
    break_answers(answers)
    path = write(tmp_path / "answers.jsonl", answers)
    arguments = ("--batch", "import", "--max-usd", 1, "--answers")  # no limit for answers that are paid for

    imported = words(TRACK2, program, "out.jsonl", *arguments, path)
    assert imported.code == 1, imported.err
    rows = read_rows(tmp_path / "out.jsonl")
    reasons = (
        "the batch answered with status 429: rate_limit_exceeded slow down, at <address>",
        "the batch answered with batch_expired not run in time",
        "nobody to ask again",
        "answers.jsonl holds no answer to this request",
    )
    for row, reason in zip(rows, reasons, strict=False):
        assert reason in row["failed"]
    assert not any("failed" in row for row in rows[4:])

    # The same file again helps nothing; answers that come later do; so does a live run.
    assert words(TRACK2, program, "out.jsonl", *arguments, path).code == 1
    loopback.requests.clear()
    later = words(TRACK2, program, "out.jsonl", *arguments, whole)
    assert later.code == 0, later.out
    assert loopback.requests == []
    assert words(TRACK2, program, "live.jsonl").code == 0
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "live.jsonl").read_bytes()


def test_answers_of_another_program_are_answers_to_nothing(
    tmp_path: Path, words: Callable[..., Any], loopback: Loopback
) -> None:
    inputs(tmp_path, TRACK1)
    program = TRACK1.build({})
    words(TRACK1, save_program(tmp_path / "one", TRACK1, program), "requests.jsonl", "--batch", "export")
    path = write(tmp_path / "answers.jsonl", answered(loopback, read_rows(tmp_path / "requests.jsonl")))
    program.main_predictor.signature = program.main_predictor.signature.with_instructions("Program otherwise.")
    other = save_program(tmp_path / "other", TRACK1, program)
    done = words(TRACK1, other, "out.jsonl", "--batch", "import", "--answers", path)
    assert done.code == 1
    assert "was it exported with the same program, LM and data?" in done.out


def test_an_export_needs_no_key_and_overwrites_nothing(aisr: Any, tmp_path: Path) -> None:
    program, data = save_program(tmp_path / "program", TRACK1), inputs(tmp_path, TRACK1)
    out = tmp_path / "requests.jsonl"
    at = ["--task", "track1", "--program", program, "--data", data, "--out", out, "--artifacts", tmp_path]
    words = ["predict", *at, "--lm", "openai/gpt-4o-mini", "--batch", "export"]
    with_ray = aisr(*words, "--ray", "local")
    assert (with_ray.code, "leave one of them out" in with_ray.err) == (2, True)
    assert aisr(*words).code == 0
    assert {line["body"]["model"] for line in read_rows(out)} == {"gpt-4o-mini"}
    before = out.read_bytes()
    again = aisr(*words)
    assert again.code == 2
    assert "exists; choose another --out" in again.err
    assert out.read_bytes() == before
    assert not list(tmp_path.glob(".requests*"))
