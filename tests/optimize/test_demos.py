"""Demos that teach: gold evidence beside what is easily taken for it, and every label among them."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import dspy
import pytest

from aisr.base.errors import UserError
from aisr.optimize.examples import prepare_all
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.search import Candidate, Search, Settings
from aisr.programs.track2 import CITATION_LABELS, TRACK2, Track2Record
from support.scripted import citation, right, scripted


def cited(label: str, number: int) -> Track2Record:
    return citation(label, *([] if label == "Irrelevant" else ["P20"]), number=number, paragraphs=40)


def sets(task: Any, student: Any, train: list[dspy.Example], **settings: Any) -> list[list[dict[str, Any]]]:
    lm = scripted(right)
    work = Search(task, student, train, train, pytest.fail, Settings(**settings), lm, lm, lambda text: None)
    candidates = compile_candidates("labeled", work, [Candidate("uncompiled", student)])
    return [candidate.program.main_predictor.demos for candidate in candidates[1:]]


def test_every_set_has_all_labels_and_evidence_where_there_is_some() -> None:
    student = TRACK2.build({})
    rare = [cited(label, 4 * k + n) for k in range(3) for n, label in enumerate(CITATION_LABELS)]
    train = [student.prepare(record) for record in [*(cited("Supported", 100 + k) for k in range(20)), *rare]]
    demo_sets = sets(TRACK2, student, train, demos=4, candidates=3)
    assert len(demo_sets) == 3
    for demos in demo_sets:
        assert {demo["label"] for demo in demos} == set(CITATION_LABELS)
        for demo in demos:
            assert demo["evidence_ids"] == ([] if demo["label"] == "Irrelevant" else ["P20"])
            assert all(f"[{key}] " in demo["passages"] for key in demo["evidence_ids"])
            assert demo["passages"].count("Model") < 40


# --- A file without labels is refused


def test_nothing_is_prepared_behind_a_record_without_labels() -> None:
    records = [citation("Supported", "P1", number=number) for number in (1, 2)]
    records[0] = records[0].model_copy(update={"label": None, "evidence_para_ids": None})
    prepare = Mock(side_effect=TRACK2.build({}).prepare)
    with pytest.raises(UserError, match="has no labels"):
        prepare_all(TRACK2, prepare, iter(records), Path("dev.jsonl"))
    prepare.assert_called_once_with(records[0])
