"""From records to a submission in Python, by the functions that the commands call."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import aisr
from aisr.programs.registry import find_task
from aisr.records import read_records
from support.commands import run as run_command
from support.compiled import Compiled, compile_words
from support.corpora import read_rows, write
from support.paths import SAMPLE

ARGUMENTS: dict[str, Any] = {
    "optimizer": "labeled",
    "budget": "light",
    "candidates": 1,
    "max_train": 8,
    "max_dev": 6,
    "max_test": 4,
}


def test_a_compile_goes_on_where_the_command_was_and_its_program_predicts(compiled: Compiled, tmp_path: Path) -> None:
    words = [*compile_words("track1", "labeled", "labeled", compiled.lm), "--no-track"]
    finished = run_command(*words, "--artifacts", tmp_path / "artifacts")
    assert finished.code == 0, finished.err
    command = aisr.load(tmp_path / "artifacts" / "track1" / "labeled")
    lm = aisr.open_lm("openai/gpt-4o-mini", api_base=compiled.address, max_calls=1)  # all are in the cache
    events: list[str] = []
    run = aisr.compile(
        "track1",
        SAMPLE / "track1",
        lm,
        artifacts=tmp_path / "artifacts",
        track=False,
        on_event=lambda event: events.append(f"{event.kind}: {event}"),
        **ARGUMENTS,
    )
    assert run.program.digest == command.digest
    assert (run.spend["calls"], run.folder) == (0, tmp_path / "artifacts" / "track1" / "labeled")
    assert run.test is not None
    assert any(event.startswith("stage: ") for event in events)
    assert any(event.startswith(f"candidate: {run.champion}") for event in events)
    assert "aisr.compile('track1', 'DATA', aisr.open_lm('openai/gpt-4o-mini'), optimizer='labeled'" in (
        run.folder / "PROMPT.md"
    ).read_text("utf-8")
    inputs, out = SAMPLE / "track1" / "test-inputs.jsonl", tmp_path / "p.jsonl"
    with pytest.raises(aisr.NotSubmitted, match=r"no prediction .80 times"):
        aisr.submit("track1", inputs, _empty(out), out=tmp_path / "p.zip")
    lm = aisr.open_lm("openai/gpt-4o-mini", api_base=compiled.address)
    assert aisr.predict(run.program, inputs, lm, out=out).judged == 80
    assert aisr.predict(run.program, inputs, lm, out=out).kept == 80
    assert len(aisr.submit("track1", inputs, out, out=tmp_path / "p.zip").lines) == 80
    assert zipfile.ZipFile(tmp_path / "p.zip").namelist() == ["track1_pred.jsonl"]
    assert 0 < aisr.score("track1", SAMPLE / "track1" / "test.jsonl", out).score < 1


def test_messages_name_arguments_as_python_has_them(compiled: Compiled, tmp_path: Path) -> None:
    lm = aisr.open_lm("openai/gpt-4o-mini", api_base=compiled.address)
    with pytest.raises(aisr.UserError, match=r"^optimizer 'nope': expected one of: labeled, knn"):
        aisr.compile("track1", SAMPLE / "track1", lm, optimizer="nope")
    with pytest.raises(aisr.UserError, match=r"^data .*: no such folder"):
        aisr.compile("track1", tmp_path / "nope", lm)
    with pytest.raises(aisr.UserError, match=r"expected models:/aisr-TASK/VERSION"):
        aisr.promote("models:/aisr-track1@champion", artifacts=compiled.root)


def _empty(file: Path) -> Path:
    file.touch()
    return file


def test_records_are_files_dicts_or_checked_records(compiled: Compiled, tmp_path: Path) -> None:
    lm = aisr.open_lm("openai/gpt-4o-mini", api_base=compiled.address)
    program, rows = aisr.load(compiled.folder("track1")), read_rows(SAMPLE / "track1" / "test.jsonl")[:6]
    checked = read_records(find_task("track1"), rows)
    forms: dict[str, Any] = {"file": write(tmp_path / "r", rows), "dicts": rows, "records": checked, "it": iter(rows)}
    for name, records in forms.items():
        aisr.predict(program, records, lm, out=tmp_path / name)
    (predicted,) = {(tmp_path / name).read_bytes() for name in forms}
    assert aisr.predict(program, rows, lm, out=tmp_path / "dicts").kept == 6
    verdicts = list(program.judge_all(rows, lm))
    score = aisr.score("track1", rows, verdicts)
    assert score == aisr.score("track1", forms["file"], tmp_path / "file")
    assert len(aisr.submit("track1", checked, verdicts, out=tmp_path / "p.zip").lines) == 6
    evaluated = aisr.evaluate(program, rows, lm, output=tmp_path / "scores.json")
    assert evaluated.as_dict()["score"] == score.score == json.loads((tmp_path / "scores.json").read_text())["score"]
    before, after, gain = aisr.compare("uncompiled", program, checked, lm)
    assert gain.value == pytest.approx(after.score.score - before.score.score)
    assert len(predicted.splitlines()) == 6
    for bad in (
        lambda: aisr.predict(program, [*rows[:2], {"claim_text": "x"}], lm, out=tmp_path / "bad"),
        lambda: aisr.split("track1", [*rows[:2], {"claim_text": "x"}], out=tmp_path / "split"),
    ):
        with pytest.raises(aisr.UserError, match=r"^records\[2\]: evidence_bundle: missing"):
            bad()
    assert str(aisr.check("track1", [rows[0], {"claim_text": "x"}, rows[1]])).startswith(
        "records[1]: evidence_bundle: missing; sentence_label: missing\nrecords: 2 good records, 1 bad line\n"
    )
    assert aisr.check("track1", rows, against=checked).comparison is not None


def test_a_compile_of_lists_is_estimated_and_goes_on(compiled: Compiled, tmp_path: Path) -> None:
    lm = aisr.open_lm("openai/gpt-4o-mini", api_base=compiled.address, price=(1, 1))
    data = {part: read_rows(SAMPLE / "track1" / f"{part}.jsonl") for part in ("train", "dev")}
    words: dict[str, Any] = {**ARGUMENTS, "artifacts": tmp_path}
    before = len(compiled.server.requests)
    spend = aisr.estimate("track1", data, lm, **words)
    assert int(spend["calls"] or 0) > 10
    assert float(spend["usd"] or 0) > 0
    assert len(compiled.server.requests) == before
    first = aisr.compile("track1", data, lm, track=False, **words)
    sent = lm.spend["calls"]
    assert aisr.compile("track1", data, lm, track=False, **words).program.digest == first.program.digest
    assert lm.spend["calls"] == sent
    aimed = aisr.compile("track1", data, lm, track=False, target=data["dev"][:12], **{**words, "name": "aimed"})
    assert "\n    weighted to the target: " in str(aimed)
    with pytest.raises(aisr.UserError, match=r"^data: splits train; expected train, dev and maybe test"):
        aisr.compile("track1", {"train": data["train"]}, lm)
