"""A key in the environment goes into the header of a request, and nowhere else: no file, no output, no error."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aisr.lm.config import LMConfig
from aisr.lm.open import open_config
from aisr.tracking.runs import MOST_TRACES
from aisr.tracking.store import open_store
from support.commands import Aisr, run_apart
from support.corpora import beginning
from support.loopback import HttpRequest, Loopback, completion, judged
from support.paths import SAMPLE

KEY = "sk-planted-5e8d07"
FEW = ("--max-train", "8", "--max-dev", "6", "--max-test", "4")


def talkative(request: HttpRequest) -> Any:
    """Every third answer is an error that repeats the request's header and address; every fifth repeats them in its
    text."""
    text = f"Incorrect call with {request.authorization} at http://127.0.0.1:9{request.path}"
    if len(request.question) % 3 == 0:
        return 400, json.dumps({"error": {"message": text, "type": "invalid_request_error"}})
    return 200, completion(request, text if len(request.question) % 5 == 0 else judged(request))


def commands(server: Loopback, folder: Path) -> list[list[object]]:
    """All commands that use an LM, on a few records of the sample."""
    lm = ["--lm", "openai/gpt-4o-mini", "--api-base", server.url, "--artifacts", folder / "artifacts"]
    at = ["--task", "track2"]
    program = [*at, "--program", folder / "artifacts" / "track2" / "mine"]
    data = ["--data", beginning(SAMPLE / "track2" / "test.jsonl", 12, folder / "inputs.jsonl")]
    return [
        ["compile", *at, "--data", SAMPLE / "track2", "--optimizer", "labeled", "--name", "mine", *FEW, *lm],
        ["evaluate", *program, *data, "--output", folder / "report.json", *lm],
        ["predict", *program, *data, "--out", folder / "out.jsonl", *lm],
        ["evaluate", *program, "--data", folder / "nosuch.jsonl", *lm],
    ]


@pytest.mark.slow
def test_no_process_writes_or_prints_the_key(artifacts: Path, loopback: Loopback) -> None:
    """With a response cache, logs and temporary files of its own, where they are for a user."""
    loopback.reply = talkative
    folder = artifacts.parent
    (folder / "tmp").mkdir()
    kept = {name: value for name, value in os.environ.items() if name != "DSPY_CACHEDIR"}
    own = {"OPENAI_API_KEY": KEY, "TMPDIR": str(folder / "tmp"), "HOME": str(folder)}
    done = run_apart(commands(loopback, folder), {**kept, **own})
    assert {request.authorization for request in loopback.requests} == {f"Bearer {KEY}"}
    assert json.loads(done.stdout.splitlines()[-1]) == [1, 1, 1, 2]
    assert "<OPENAI_API_KEY>" in done.stdout  # the error stands there, without the key
    assert "Traceback" not in done.stderr
    assert KEY not in done.stdout + done.stderr
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {"mlflow.db", "program.json", "manifest.json", "out.jsonl", "report.json"} <= {file.name for file in files}
    assert any(".dspy_cache" in file.parts for file in files)
    for file in files:
        assert KEY.encode() not in file.read_bytes(), file
    client = open_store(artifacts).MlflowClient()
    traces = client.search_traces([experiment.experiment_id for experiment in client.search_experiments()])
    assert len(traces) == 2 * MOST_TRACES  # of the compile and the evaluation, all there when the process ended


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        ({"OPENAI_API_KEY": "sk-openai-1"}, "Bearer sk-openai-1"),
        ({"OPENAI_API_KEY": "sk-openai-1", "AISR_API_KEY": "sk-own-22"}, "Bearer sk-own-22"),
        ({}, "Bearer none"),
    ],
)
def test_a_server_of_ones_own_is_sent_its_own_key(
    keys: dict[str, str], sent: str, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AISR_API_KEY", raising=False)
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    open_config(LMConfig("openai/local", api_base=loopback.url))("Hello?")
    assert [request.authorization for request in loopback.requests] == [sent]


def test_neither_a_message_nor_a_record_can_steer_a_terminal(aisr: Aisr, tmp_path: Path) -> None:
    line = {"id": "\x1b[31mred", "claim_text": "\x1b]0;owned\x07", "sentence_label": [], "\x1b[2J": 1}
    data = tmp_path / "records.jsonl"
    data.write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = aisr("check", data, "--task", "track1")
    assert done.code == 2
    assert "\x1b" not in done.out + done.err
