"""A draft held against itself: what a judge of it is shown, and the way from records to predictions."""

import json
from functools import cache
from pathlib import Path

import pytest

from aisr.artifact.manifest import save_files
from aisr.artifact.program import program_text
from aisr_papers.draft_task import DRAFT
from paper_support.golden import CASE, FOLDER
from paper_support.paths import SAMPLE
from support.commands import Aisr
from support.corpora import read_rows
from support.golden_prompts import FORMS, render
from support.loopback import HttpRequest, Loopback
from support.scripted import field, written


@pytest.mark.parametrize("form", FORMS)
def test_prompts_are_what_they_were(form: str) -> None:
    golden = (FOLDER / f"{form}.txt").read_bytes().decode()
    assert render(CASE, FOLDER, form) == golden, "`make golden` writes them anew"


@cache
def gold_labels() -> dict[str, str]:
    rows = read_rows(SAMPLE / "draft" / "test.jsonl")
    return {one["sentence"]: one["label"] for row in rows for one in row["sentences"]}


def by_key(request: HttpRequest) -> str:
    sentences = json.loads(field(request.question, "sentences") or "")
    return written(request.question, {"sentence_labels": [gold_labels()[one] for one in sentences]})


def test_records_are_checked_predicted_scored_and_packed(loopback: Loopback, aisr: Aisr, tmp_path: Path) -> None:
    loopback.reply = by_key
    data, at, out = SAMPLE / "draft", ["--task", "aisr_papers.draft_task:DRAFT"], tmp_path / "predictions.jsonl"
    inputs = ["--data", data / "test-inputs.jsonl"]
    assert "32 good records, 0 bad lines" in aisr("check", data / "train.jsonl", *at).out
    save_files(tmp_path / "mine", {"program.json": program_text(DRAFT, DRAFT.build({}))})
    lm = ["--lm", "openai/local", "--api-base", loopback.url, "--artifacts", tmp_path]
    done = aisr("predict", *at, "--program", tmp_path / "mine", *inputs, "--out", out, *lm)
    assert done.code == 0, done.err
    assert "all sentences of a record right 100.0" in " ".join(aisr("score", data / "test.jsonl", out, *at).out.split())
    packed = aisr("submit", *at, *inputs, "--predictions", out, "--out", tmp_path / "s.zip")
    assert packed.code == 0, packed.err
