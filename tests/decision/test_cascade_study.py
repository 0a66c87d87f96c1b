"""The study of two LMs behind each other: what a threshold comes to, from files that both have written."""

import sys
from pathlib import Path

import pytest

from aisr.optimize.studies import cascade
from aisr.tasks.track1 import TRACK1
from support.corpora import claim, write

GOLD = [[["Supported"]], [["Contradiction"]], [["Supported"]], [["Contradiction"]]]
RIGHT = [["Supported"], ["Contradiction"], ["Supported"], ["Contradiction"]]
WEAK = [["Supported"], ["Supported"], ["Supported"], ["Supported"]]


def test_the_ends_are_either_lm_and_the_least_sure_are_asked_about_first() -> None:
    points = cascade.curve(TRACK1, GOLD, WEAK, [0.9, 0.2, 0.8, None], RIGHT, (1.0, 10.0))
    first, last = points[0], points[-1]
    assert (first.share, first.price, last.share, last.price) == (0.0, 1.0, 1.0, 11.0)
    assert first.at_random == pytest.approx(first.score)
    assert last.at_random == pytest.approx(last.score)
    assert first.score < last.score
    assert last.behind.value == 0.0
    half = next(one for one in points if one.share == 0.5)  # the two wrong ones: unknown, and 0.2
    assert half.score == last.score > half.at_random
    assert half.price == 6.0
    assert 0.2 < half.below < 0.8


def test_equally_sure_records_go_together() -> None:
    points = cascade.curve(TRACK1, GOLD, WEAK, [0.5, 0.5, 0.5, 0.9], RIGHT, (1.0, 1.0))
    assert {one.share for one in points} == {0.0, 0.75, 1.0}


def study(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["cascade", *map(str, words)])
    return cascade.main()


def test_the_command_prints_the_table_draws_it_and_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = write(tmp_path / "gold.jsonl", [claim(*types, id=f"r{k}") for k, types in enumerate(GOLD)])
    lines = [{"id": f"r{k}", "labels": said, "confidence": 0.1 * k} for k, said in enumerate(WEAK)]
    first = write(tmp_path / "first.jsonl", [*lines[:3], {"id": "r3", "failed": "no answer"}])
    second = write(tmp_path / "second.jsonl", [{"id": f"r{k}", "labels": said} for k, said in enumerate(RIGHT)])
    at = ["--task", "track1", "--prices", "2,3"]
    assert study(monkeypatch, gold, first, second, *at, "--figure", tmp_path) == 0
    told = capsys.readouterr().out
    assert "4 records that both answered, of 4; 1 not known sure" in told
    assert "100.0 %" in told
    assert (tmp_path / "cascade.png").read_bytes().startswith(b"\x89PNG")
    for words, said in (
        ([gold, second, first, *at], "aisr predict --confidence"),
        ([gold, first, second, "--task", "track1", "--prices", "2"], "--prices '2'"),
        ([gold, gold, second, *at], "no prediction of track1"),
    ):
        assert study(monkeypatch, *words) == 2
        assert said in capsys.readouterr().err
