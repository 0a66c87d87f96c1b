"""From records to a submission in Python, by the functions that the commands call."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

import aisr
from support.compiled import Compiled
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
    command = aisr.load(compiled.folder("track1"))
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


def test_an_estimate_sends_nothing(compiled: Compiled) -> None:
    lm = aisr.open_lm("openai/gpt-4o-mini", api_base=compiled.address, price=(1, 1))
    before = len(compiled.server.requests)
    spend = aisr.estimate("track1", SAMPLE / "track1", lm, **ARGUMENTS)
    assert int(spend["calls"] or 0) > 10
    assert float(spend["usd"] or 0) > 0
    assert len(compiled.server.requests) == before


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
