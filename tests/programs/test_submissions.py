"""What the server of each task takes, and what is refused before."""

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError
from aisr.programs.averitec import AVERITEC
from aisr.programs.context24_figures import CONTEXT24_FIGURES, Context24FiguresRecord
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2
from support.corpora import CAUSAL, ENTITY, S, read_rows
from support.paths import SAMPLE


def test_one_zip_holds_both_tracks_in_whatever_order_and_nothing_else(tmp_path: Path) -> None:
    claims = [{"id": "a", "labels": [S, CAUSAL]}, {"id": "b", "labels": [ENTITY]}]
    citations = [{"id": "a", "label": "Supported", "evidence_para_ids": ["P2", "P1"]}]
    out, other = tmp_path / "submission.zip", tmp_path / "other.zip"
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("notes/track2_pred.jsonl", "x")
    TRACK2.write_submission(citations, out)
    for path in (out, other):
        TRACK1.write_submission(claims, path)
    TRACK2.write_submission(citations, other)
    with zipfile.ZipFile(out) as file:
        assert file.namelist() == ["track1_pred.jsonl", "track2_pred.jsonl"]
        assert len(file.read("track1_pred.jsonl").splitlines()) == 2
    assert out.read_bytes() == other.read_bytes()


def test_figures_are_a_table_of_stripped_labels_in_order_without_repeats(tmp_path: Path) -> None:
    lines = [{"id": "a", "ranking": ["FIG 2A", " TAB 1 ", "FIG 2A"]}, {"id": "b, c", "ranking": ["FIG 1"]}]
    CONTEXT24_FIGURES.write_submission(lines, tmp_path / "s.csv")
    rows = [*csv.reader((tmp_path / "s.csv").read_text().splitlines())]
    assert rows == [["claimid", "predictions"], ["a", "FIG 2A,TAB 1"], ["b, c", "FIG 1"]]
    # What the evaluator would misread is refused before.
    row = read_rows(SAMPLE / "context24-figures" / "test.jsonl")[0]
    record = Context24FiguresRecord.model_validate({**row, "id": "a"})
    assert CONTEXT24_FIGURES.problem(record, (record.elements[0].label,)) is None
    assert "'FIG 99' is no element of the paper" in str(CONTEXT24_FIGURES.problem(record, ("FIG 99",)))
    assert "no element" in str(CONTEXT24_FIGURES.problem(record, ()))


def test_fact_checks_serve_both_forms_and_stand_in_the_order_of_claim_numbers(tmp_path: Path) -> None:
    out, evidence = tmp_path / "s.json", [{"question": "Q?", "answer": "A.", "url": "https://a.example"}]

    def submitted(*numbers: int | None) -> list[dict[str, Any]]:
        rest = {"label": "Refuted", "evidence": evidence}
        claims = [{"id": f"c{k}", "claim_id": n, "claim": f"Claim {k}.", **rest} for k, n in enumerate(numbers)]
        AVERITEC.write_submission(claims, out)
        rows: list[dict[str, Any]] = json.loads(out.read_text())
        return rows

    for gaps in ((0, 2), (0, 0), (0, None)):
        with pytest.raises(UserError, match="match by position"):
            submitted(*gaps)
        assert not out.exists()
    first, *others = submitted(2, 0, 1)
    labels = {"label": "Refuted", "pred_label": "Refuted"}
    assert first == {"id": "c1", "claim_id": 0, "claim": "Claim 1.", "evidence": evidence, **labels}
    assert [row["claim_id"] for row in others] == [1, 2]
    assert [row["claim_id"] for row in submitted(None, None)] == [0, 1]
