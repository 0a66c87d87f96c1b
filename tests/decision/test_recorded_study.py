"""Answers that were recorded, held against gold."""

import json
import sys
from pathlib import Path

import pytest

from aisr.optimize.studies import recorded
from support.corpora import CONTRA, S, claim, write


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["recorded", *map(str, words)])
    return recorded.main()


def test_it_says_how_good_answers_are_and_how_honest_their_chances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [claim([S], [CONTRA], text=f"Claim {k}.", id=f"r{k}") for k in range(4)]
    records = write(tmp_path / "records.jsonl", rows)
    said = [[S, CONTRA], [S, CONTRA], [S, S], [S, CONTRA]]
    lines = [
        {"id": f"r{k}", "sentence_labels": labels, "stated": [{labels[0]: 0.9, CONTRA: 0.1}, {labels[1]: 0.6}]}
        for k, labels in enumerate(said)
    ]
    answers = write(tmp_path / "answers.jsonl", [*lines, {**lines[0], "id": "of another file"}])
    assert run(monkeypatch, records, answers, "--task", "track1", "--layer") == 0
    printed = capsys.readouterr()
    assert "4 of 5 answers are to records of" in printed.out
    row, _ = [line for line in printed.out.splitlines() if "75.0" in line]
    assert [cell.strip() for cell in row.strip("│ ").split("│")][1:5] == ["4", "75.0", "87.5", "75.0"]
    assert "too few groups" in printed.out
    write(answers, [json.dumps({**lines[0], "id": "unknown"})])
    assert run(monkeypatch, records, answers, "--task", "track1") == 2
    assert "no answer to a record of" in capsys.readouterr().err
