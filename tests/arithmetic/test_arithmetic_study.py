"""The study of how often the arithmetic finds something."""

import json
from pathlib import Path

import pytest

from aisr.optimize.studies import arithmetic
from support.paths import ROOT


def test_papers_and_labelled_tables_are_counted_with_every_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ["At Bog, Wren reaches an F1 of 64.0.", "At Bog, Wren reaches an F1 of 61.0."]
    rows = "F1 of two birds.\n| Bird | Bog F1 |\n|---|---|\n| Wren | 61.0 |\n| Lark | 58.5 |"
    record = {
        "id": "r1",
        "claim_text": " ".join(said),
        "evidence_bundle": [{"type": "text", "text": rows}],
        "sentence_label": [
            {"sentence": said[0], "types": ["Contradiction"]}, {"sentence": said[1], "types": ["Supported"]},
        ],
    }  # fmt: skip
    file = tmp_path / "some.jsonl"
    file.write_text(json.dumps(record) + "\n")
    monkeypatch.setattr("sys.argv", ["study", str(ROOT / "data/sample/paper/main.tex"), str(file)])
    assert arithmetic.main() == 0
    told = capsys.readouterr().out
    assert "main.tex: 66 sentences, 5 tables: " in told
    assert "[unlabelled] Wrong order: is ahead of Nightjar: TriSpec, Saltmarsh, F1: 71.2" in told
    assert "some.jsonl: 2 sentences, 1 tables: 2 statements hold, 1 findings" in told
    assert "[Contradiction] Other number in the table: " in told
    monkeypatch.setattr("sys.argv", ["study", "nowhere.tex"])
    assert arithmetic.main() == 2
