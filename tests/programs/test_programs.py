"""Programs: what a model reads, and what becomes of its answer."""

from typing import Any

import dspy
import pytest

from aisr.programs.program import UnusableAnswer
from aisr.programs.records import Record
from aisr.programs.registry import find_task
from aisr.programs.task import Task
from aisr.programs.track2 import TRACK2
from support.scripted import (
    TRACKS,
    citation,
    claim,
    corpus,
    field,
    question,
    requests,
    scripted,
    written,
)

JSON = "Respond with a JSON object"


def answer(program: dspy.Module, record: Any, lm: Any) -> dspy.Prediction:
    with lm.context():
        return program(**program.prepare(record).example.inputs())


@pytest.mark.parametrize("task", TRACKS)
def test_a_withheld_record_gives_the_same_inputs_and_no_gold(task: Task) -> None:
    labelled = corpus(task)[1]
    raw = labelled.model_dump(exclude={"label", "evidence_para_ids", "evidence_texts"})
    for sentence in raw.get("sentence_label", []):
        del sentence["types"]
    program = task.build({})
    known, blind = program.prepare(labelled), program.prepare(task.record.model_validate(raw))
    assert dict(blind.example.inputs()) == dict(known.example.inputs())
    assert not {"label", "sentence_labels", "evidence_ids"} & set(blind.example.keys())
    assert (blind.gold, blind.demo) == (None, None)
    assert known.gold == labelled.gold
    assert "gold" not in known.example


# --- A question to the LM: one repair that says what was wrong, then a failure; never a default

TWO = claim("Supported", "Contradiction")
PAPER = citation("Overstate", "P2", paragraphs=3)
FINE = {"sentence_labels": ["Supported", "Contradiction"]}
FINE_CITATION = {"label": "Overstate", "evidence_ids": ["P2"]}


@pytest.mark.parametrize("adapter", ["json", "chat"])
@pytest.mark.parametrize(
    ("record", "bad", "good", "message"),
    [
        (TWO, {"sentence_labels": ["Supported"]}, FINE, "1 labels where 2 were asked for"),
        (TWO, {"sentence_labels": ["Supported", "Unsuported Entity"]}, FINE, "Unsuported Entity"),
        (PAPER, {**FINE_CITATION, "evidence_ids": ["P2", "P99"]}, FINE_CITATION, "'P99' was not shown; shown were P1"),
        (PAPER, {"evidence_ids": ["P2"]}, FINE_CITATION, "does not hold the fields label"),
    ],
    ids=["too few labels", "unknown label", "unknown id", "missing field"],
)
def test_an_unusable_answer_is_repaired_once_with_its_fault_and_then_fails(
    adapter: str, record: Record, bad: dict[str, Any], good: dict[str, Any], message: str
) -> None:
    task = find_task(record.id.partition("-")[0])
    form = JSON if adapter == "json" else ""
    lm = scripted([written(form, bad), written(form, good)], adapter=adapter)
    prediction = answer(task.build({}), record, lm)
    first, second = map(question, requests(lm))
    assert field(first, "correction") is None
    assert message in (field(second, "correction") or "")
    assert prediction.get("sentence_labels", prediction.get("label")) == next(iter(good.values()))
    lm = scripted([written(form, bad)] * 2, adapter=adapter)
    with dspy.context(trace=[]):
        with pytest.raises(UnusableAnswer, match=message):
            answer(task.build({}), record, lm)
        assert dspy.settings.trace == []
    assert len(requests(lm)) == 2


# --- Labelled demos: few-shot by nearness shows a record those most like it


def test_a_record_is_shown_no_demo_of_its_own_group() -> None:
    demos = [{"claim": text} for text in ("apples are red", "pears are green", "apples and pears", "plums")]
    apart = {"apples are red": frozenset({1}), "pears are green": frozenset({2}), "red apples": frozenset({1, 3})}
    program = TRACK2.build({"demos_per_record": 9})
    program.excluded = apart
    chosen = program.nearest_demos(demos, "red apples")
    assert [demo["claim"] for demo in chosen] == ["plums", "pears are green", "apples and pears"]
    assert demos[0] in program.nearest_demos(demos, "red pears")
