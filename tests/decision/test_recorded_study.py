"""Answers that were recorded, held against gold."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from aisr.metrics.judgements import Gold
from aisr.optimize.decision.folds import gather
from aisr.optimize.studies import reanchor, recorded
from aisr.optimize.studies.reanchor_recorded import anchored
from aisr.tasks.track1 import TRACK1
from support.corpora import CONTRA, S, claim, write


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["recorded", *map(str, words)])
    return recorded.main()


def test_reanchor_mends_a_lean_on_folds_that_it_was_not_fitted_on(tmp_path: Path) -> None:
    gold = [(S, CONTRA)[k % 2] for k in range(12)]
    rows = [claim([label], text=f"Claim {k}.", id=f"r{k}") for k, label in enumerate(gold)]
    stated = {S: {S: 0.9, CONTRA: 0.1}, CONTRA: {S: 0.6, CONTRA: 0.4}}
    lines = [{"id": f"r{k}", "sentence_labels": [S], "stated": [stated[label]]} for k, label in enumerate(gold)]
    answers = write(tmp_path / "answers.jsonl", lines)
    judged = recorded.judged(TRACK1, write(tmp_path / "records.jsonl", rows), answers)
    material = gather(TRACK1.labelled, judged, [], range(len(judged)), 0)
    model, right = np.zeros(len(judged), dtype=np.int64), material.gold.first
    for worth in (lambda said, gold: reanchor.right(gold), reanchor.credit):
        assert anchored(TRACK1.labelled, material, model, worth).tolist() == right.tolist()
    assert (
        anchored(TRACK1.labelled, material, right, lambda said, gold: np.ones((len(said), 5))).tolist()
        == right.tolist()
    )


def test_the_credit_of_a_label_that_is_never_said_nor_gold_is_nothing() -> None:
    gold = Gold.of([[[S]], [[S, CONTRA]]], TRACK1.labelled.labels)
    worth = reanchor.credit(np.array([0, 0]), gold)
    assert worth[1].tolist() == pytest.approx([0.5 * (2 - 0.75) / 2 / 5 * 2 / 2 + 0.5, 0, 0, 0, 0.5])


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
