"""What can be said of a task without any LM: its floor, and what its gold questions find."""

from typing import Any

import pytest

from aisr.optimize.studies import floor, questions
from support.paths import SAMPLE

FILE = str(SAMPLE / "averitec" / "test.jsonl")


def ran(module: Any, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", [module.__name__, *words])
    code: int = module.main()
    return code


def test_the_floor_of_the_sample(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(floor, monkeypatch, FILE, "--task", "averitec") == 0
    said = capsys.readouterr().out
    assert "6 records, answered without any LM" in said
    assert "ranking score 50.0" in said
    assert "label accuracy 50.0" in said


def test_gold_questions_find_the_gold_pages_of_the_sample(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(questions, monkeypatch, FILE, "--task", "averitec", "--retrievers", "bm25") == 0
    assert capsys.readouterr().out.count("100.0") == 3


@pytest.mark.parametrize("module", [floor, questions])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((FILE, "--task", "nosuch"), "--task 'nosuch'"),
        ((str(SAMPLE / "averitec" / "test-inputs.jsonl"), "--task", "averitec"), "labelled"),
    ],
)
def test_bad_words_are_told(
    module: Any,
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ran(module, monkeypatch, *words) == 2
    assert message in capsys.readouterr().err
