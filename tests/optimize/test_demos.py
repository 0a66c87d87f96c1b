"""Demos that teach: gold evidence beside what is easily taken for it, and every label among them."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import dspy
import pytest

from aisr.base.errors import UserError
from aisr.corrections.labelled import RECORDS
from aisr.optimize.examples import prepare_all, read_corrected
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.run import compile_program
from aisr.optimize.search import Candidate, Search, Settings
from aisr.programs.track1.record import CLAIM_LABELS, Track1Record
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.record import CITATION_LABELS, Track2Record
from aisr.programs.track2.task import TRACK2
from support.corpora import write
from support.plans import SILENT, plan
from support.scripted import citation, claim, requests, right, scripted, wording


def cited(label: str, number: int) -> Track2Record:
    return citation(label, *([] if label == "Irrelevant" else ["P20"]), number=number, paragraphs=40)


def sets(task: Any, student: Any, train: list[dspy.Example], **settings: Any) -> list[list[dict[str, Any]]]:
    lm = scripted(right)
    work = Search(task, student, train, train, pytest.fail, Settings(**settings), lm, lm, lambda text: None)
    candidates = compile_candidates("labeled", work, [Candidate("uncompiled", student)])
    return [candidate.program.judging.demos for candidate in candidates[1:]]


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


@pytest.mark.parametrize("unit", ["paragraph", "sentence"])
def test_the_neutral_label_is_among_them(unit: str) -> None:
    student = TRACK1.build({"unit": unit})
    faults = [label for label in CLAIM_LABELS if label != "Supported"]
    train = [student.prepare(claim(faults[k % 4], faults[k % 4], number=k)) for k in range(20)]
    train += [student.prepare(claim("Supported", faults[0], number=50))]
    for demos in sets(TRACK1, student, train, demos=5, candidates=4):
        labels = [demo["sentence_label"] if unit == "sentence" else demo["sentence_labels"] for demo in demos]
        assert {label for one in labels for label in ([one] if unit == "sentence" else one)} == set(CLAIM_LABELS)


# --- Labelled records: corrected ones count as train and never reach dev and test; a file without labels is refused


def relabelled(record: Track1Record, *labels: str, **more: Any) -> Track1Record:
    types = [{"sentence": one, "types": [label]} for one, label in zip(record.statements, labels, strict=True)]
    return Track1Record.model_validate({**record.model_dump(), "sentence_label": types, **more})


def test_what_dev_or_test_know_is_left_out_and_said(tmp_path: Path) -> None:
    splits = plan(tmp_path).data
    new, in_train, in_dev = (claim("Supported", "Contradiction", number=number) for number in (900, 51, 31))
    alike = relabelled(in_dev, "Supported", "Supported", id="elsewhere")
    others = (relabelled(one, "Supported", "Supported") for one in (in_train, in_dev))
    taken = relabelled(claim("Supported", number=901), "Supported", id="track1-000052")
    file = write(tmp_path / RECORDS, [one.model_dump_json() for one in (new, *others, alike, taken)])
    corrected = read_corrected(TRACK1, file, splits)
    assert [one.id for one in corrected.records] == [new.id, in_train.id]
    assert corrected.replaced == {in_train.id}
    assert corrected.left_out[in_dev.id] == corrected.left_out["elsewhere"] == "dev has its claim"
    assert "id stands in another record" in corrected.left_out["track1-000052"]
    assert "2 corrected records count as train, 1 of them in the place of train's own; 3 left out" in str(corrected)


def test_a_compile_learns_from_them_and_its_manifest_says_so(tmp_path: Path) -> None:
    compile_plan = plan(tmp_path / "data", decide=False)
    new, in_train = claim("Unsupported Entity", number=900), claim("Supported", "Contradiction", number=51)
    again = relabelled(in_train, "Contradiction", "Contradiction")
    file = write(tmp_path / RECORDS, [one.model_dump_json() for one in (new, again)])
    compile_plan = replace(compile_plan, corrected=read_corrected(TRACK1, file, compile_plan.data), limits={"train": 2})
    lm = scripted(right)
    made = compile_program(compile_plan, lm, lm, tmp_path / "artifacts", SILENT)
    assert made.manifest.corrections is not None
    assert made.manifest.corrections.model_dump(exclude={"digest"}) == {"records": 2, "replaced": 1, "left_out": 0}
    assert made.manifest.data["train"].records == 4  # two of train, and both corrected ones
    assert any("Row 900.1" in wording(request) for request in requests(lm))
    without_test = {name: file for name, file in compile_plan.data.items() if name != "test"}
    with pytest.raises(UserError, match="x was begun with another test data: "):
        compile_program(replace(compile_plan, data=without_test), lm, lm, tmp_path / "artifacts", SILENT)


def test_nothing_is_prepared_behind_a_record_without_labels() -> None:
    records = [citation("Supported", "P1", number=1).without_labels(), citation("Supported", "P1", number=2)]
    prepare = Mock(side_effect=TRACK2.build({}).prepare)
    with pytest.raises(UserError, match="has no labels"):
        prepare_all(TRACK2, prepare, iter(records), Path("dev.jsonl"))
    prepare.assert_called_once_with(records[0])
