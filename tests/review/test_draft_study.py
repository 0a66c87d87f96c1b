"""The study of what `check-paper` finds of planted faults."""

import json
from pathlib import Path
from typing import Any

import pytest

from aisr.optimize.studies import draft
from support import source
from support.scripted import field, question, requests, scripted, written


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    return source.write(tmp_path / "paper")


def rows(said: str) -> dict[str, list[str]]:
    """The table of faults, by its first column."""
    cells = [
        [cell.strip() for cell in line.strip("│ ").split("│")] for line in said.splitlines() if line.startswith("│")
    ]
    return {row[0]: row[1:] for row in cells}


def test_without_a_model_the_arithmetic_has_a_recall(
    paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(paper), "--lm", "none", "--seeds", "4", "--faults", "4", "--artifacts", str(tmp_path / "artifacts")]
    assert draft.main(words) == 0
    said = capsys.readouterr().out
    found = rows(said)
    assert found["all"][0] == "16"
    assert int(found["difference"][3]) == int(found["difference"][0]) > 0  # an amount that no two cells give
    assert found["scope"][2] == "0"
    # That Lark outperforms Wren was wrong before: the one flag among the untouched.
    untouched = int(said.partition("of ")[2].partition(" untouched")[0])
    assert f"of 100: {100 * 4 / untouched:.1f} errors, 0.0 warnings, 0.0 notes" in said
    assert "missed: scope (Table 1) main.tex:" in said
    assert "seed 4: 4 faults planted" in said


def suspicious(request: Any) -> str:
    """A reader who knows that a rise of scope is none of the paper's, and takes one sound sentence for a fault."""
    said = json.loads(field(question(request), "sentences") or "[]")
    labels = [
        "Scope Overgeneralization" if "regardless" in str(one) or "shows what" in str(one) else "Supported"
        for one in said
    ]
    return written(question(request), {"sentence_labels": labels})


def test_with_a_model_its_verdicts_are_counted_and_what_they_came_to(
    paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lm = scripted(suspicious)
    monkeypatch.setattr("aisr.lm.open.opened_lm", lambda *given, **more: lm)
    words = [str(paper), "--lm", "openai/scripted", "--seeds", "1", "--faults", "2"]
    assert draft.main([*words, "--artifacts", str(tmp_path / "artifacts")]) == 0
    assert requests(lm)
    assert "untouched sentences that were looked at" in capsys.readouterr().out


def test_a_paper_without_tables_has_no_place_for_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "paper.md").write_text("# Wrens\n\nWe listened on 72 nights.\n")
    assert draft.main([str(tmp_path / "paper.md"), "--lm", "none", "--artifacts", str(tmp_path / "artifacts")]) == 0
    assert "nothing can be planted" in capsys.readouterr().out


def test_a_paper_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draft.main([str(tmp_path / "no.tex"), "--lm", "none", "--artifacts", str(tmp_path / "artifacts")]) == 2
    assert "no such file" in capsys.readouterr().err
