"""The study of which records to label first, on answers whose doubts tell the errors."""

import sys
from pathlib import Path

import pytest

from aisr.optimize.studies import corrections
from support.corpora import CONTRA, S, claim, write

WORDS = ("apples", "pears", "plums", "figs", "dates", "limes")


def study(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["study", *map(str, words), "--task", "track1", "--repeats", "1"])
    monkeypatch.setattr(corrections, "COUNTS", (5, 10))
    return corrections.main()


def cells(printed: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("│ ").split("│")] for line in printed.splitlines() if "│" in line]


def test_errors_that_an_lm_doubts_are_found_first_and_the_score_is_that_of_other_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = [[CONTRA] if k % 4 == 0 else [S] for k in range(40)]
    rows = [
        {
            **claim(types, text=f"{WORDS[k % 6]} in soil{k}.", id=f"r{k}"),
            "sentence_label": [{"sentence": f"{WORDS[k % 6]} grow {k} times in soil{k}.", "types": types}],
            "evidence_bundle": [{"type": "text", "text": f"Of {WORDS[k % 5]} in soil{k} there are {k}."}],
        }
        for k, types in enumerate(gold)
    ]
    records = write(tmp_path / "records.jsonl", rows)
    # The model calls everything supported, and says less surely so where that is wrong.
    lines = [
        {"id": f"r{k}", "sentence_labels": [S], "stated": [{S: 0.55, CONTRA: 0.4} if k % 4 == 0 else {S: 0.95}]}
        for k in range(40)
    ]
    answers = write(tmp_path / "answers.jsonl", lines)
    assert study(monkeypatch, records, "--answers", answers) == 0
    told = cells(capsys.readouterr().out)
    assert ["10", "2.5 [0, 5]", "10.0", "10.0"] in told
    weighted = {row[1]: row[2:] for row in told if row[0] == "LM + weights"}
    assert set(weighted) == {"5", "10"}
    assert "nearest labelled, no LM" in {row[0] for row in told}


def test_without_answers_a_program_of_a_few_records_is_corrected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [claim([CONTRA if k % 3 == 0 else S], text=f"Of place{k}.", id=f"r{k}") for k in range(30)]
    for k, row in enumerate(rows):
        row["sentence_label"][0]["sentence"] = f"{WORDS[k % 6]} {'fell' if k % 3 == 0 else 'rose'} in place{k}."
        row["evidence_bundle"][0]["text"] = f"It rose in place{k}."
    file = write(tmp_path / "records.jsonl", rows)
    assert study(monkeypatch, file, "--start", "8") == 0
    counts = {row[1] for row in cells(capsys.readouterr().out) if row[0] == "wording + cues, no LM"}
    assert counts == {"0", "5", "10"}
    unlabelled = write(tmp_path / "unlabelled.jsonl", [claim(None)])
    assert study(monkeypatch, unlabelled) == 2
    assert "no labels" in capsys.readouterr().err
