"""What nearest demos are, counted on a file."""

import sys
from pathlib import Path

import pytest

from aisr.optimize.studies import nearest_demos
from support.corpora import S, claim, write


def test_it_counts_demos_of_one_source_before_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {
            **claim([S], text=f"Claim {k}."),
            "sentence_label": [{"sentence": f"Fruit {k} of garden{k // 6}.", "types": [S]}],
            "evidence_bundle": [{"type": "text", "text": f"Garden{k // 6} bears fruit of many sorts in every year."}],
        }
        for k in range(24)
    ]
    file = write(tmp_path / "records.jsonl", rows)
    monkeypatch.setattr(sys, "argv", ["study", str(file), "--task", "track1"])
    assert nearest_demos.main() == 0
    found = {
        cells[0]: cells[1:]
        for line in capsys.readouterr().out.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("│ ").split("│")]) == 5
    }
    assert float(found["nearest"][0]) > 0
    assert (found["sparse"][0], found["varied"][0]) == ("0.0", "0.0")
    assert found["sparse"][2] == "100.0"
    monkeypatch.setattr(sys, "argv", ["study", str(tmp_path / "none"), "--task", "track2"])
    with pytest.raises(FileNotFoundError):
        nearest_demos.main()
