"""The study of rare labels: what it prints, and that no record is answered by what shares evidence with it."""

import sys
from pathlib import Path

import numpy as np
import pytest

from aisr.optimize.studies import rare_labels
from support.corpora import read_rows, write
from support.paths import SAMPLE


def test_ways_and_demos_are_set_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = read_rows(SAMPLE / "averitec" / "train.jsonl")
    monkeypatch.setattr(sys, "argv", ["rare", str(write(tmp_path / "a.jsonl", rows)), "--task", "averitec"])
    assert rare_labels.main() == 0
    said = capsys.readouterr().out
    assert "12 records in 10 groups" in said
    assert "labels without an LM" in said
    assert "own label among that of 6 demos" in said


def test_a_file_of_paragraphs_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["rare", str(SAMPLE / "track1" / "dev.jsonl"), "--task", "track1"])
    assert rare_labels.main() == 2
    assert "one label each" in capsys.readouterr().err


def test_nearest_claims_share_nothing_with_the_own() -> None:
    texts = ["the tram was late", "the tram was late again", "a bridge was closed"]
    (first, second, _) = rare_labels.ranked(texts, np.array([0, 0, 1]), "bm25")
    assert first.tolist() == second.tolist() == [2]


def test_f1_is_that_of_the_label() -> None:
    gold, said = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert rare_labels.f1_of(np.ones((1, 4)), gold, said).tolist() == [0.5]
    assert rare_labels.f1_of(np.ones((1, 4)), ~gold & gold, said & gold & ~said).tolist() == [0.0]
