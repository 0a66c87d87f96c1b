"""Programs: what a model reads, and what becomes of its answer."""

from typing import Any

import dspy
import pytest

from aisr.artifact.program import parse, program_text
from aisr.programs.ask import UnusableAnswer
from aisr.programs.records import Record, read
from aisr.programs.registry import TASKS
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2
from support.paths import SAMPLE
from support.scripted import (
    TRACKS,
    citation,
    claim,
    corpus,
    examples,
    field,
    question,
    requests,
    right,
    scripted,
    wording,
    written,
)

JSON = "Respond with a JSON object"
THREE_LABELS = ["Supported", "Contradiction", "Scope Overgeneralization"]
THREE = claim(*THREE_LABELS)


def answer(program: dspy.Module, record: Any, lm: Any) -> dspy.Prediction:
    with lm.context():
        return program(**program.prepare(record).inputs())


def test_a_sentence_is_a_call_that_shows_its_paragraph() -> None:
    lm = scripted(right)
    prediction = answer(TRACK1.build({"unit": "sentence"}), THREE, lm)
    assert prediction.sentence_labels == THREE_LABELS
    assert [field(question(request), "sentence") for request in requests(lm)] == THREE.statements
    assert {field(question(request), "paragraph") for request in requests(lm)} == {THREE.claim_text}


def test_one_unusable_sentence_fails_the_paragraph() -> None:
    fine, bad = written(JSON, {"sentence_label": "Supported"}), written(JSON, {"sentence_label": "Perhaps"})
    with pytest.raises(UnusableAnswer, match="Perhaps"):
        answer(TRACK1.build({"unit": "sentence"}), THREE, scripted([fine, bad, bad]))


@pytest.mark.parametrize("task", TRACKS)
def test_a_withheld_record_gives_the_same_inputs_and_no_gold(task: Task) -> None:
    labelled = corpus(task)[1]
    raw = labelled.model_dump(exclude={"label", "evidence_para_ids", "evidence_texts"})
    for sentence in raw.get("sentence_label", []):
        del sentence["types"]
    program = task.build({})
    known, blind = program.prepare(labelled), program.prepare(task.record.model_validate(raw))
    assert dict(blind.inputs()) == dict(known.inputs())
    assert not {"gold", "label", "sentence_labels", "evidence_ids"} & set(blind.keys())
    assert "gold" in known
    assert "gold" not in known.inputs()


@pytest.mark.parametrize("adapter", ["json", "chat"])
@pytest.mark.parametrize(
    ("task", "options"),
    [(TRACK1, {"unit": "paragraph"}), (TRACK1, {"unit": "sentence"}), (TRACK2, {"context_tokens": 100})],
    ids=["paragraph", "sentence", "citation"],
)
def test_prompts_with_whole_demos_are_the_same_after_an_artifact_round_trip(
    task: Task, options: dict[str, Any], adapter: str
) -> None:
    """DSPy drops a demo that lacks its outputs, and marks one that lacks an input; neither may happen."""
    program = with_demos(task, options)
    text = program_text(task, program)
    loaded = parse(text, "the text").program
    prompts = []
    for each in (program, loaded):
        lm = scripted(right, adapter=adapter)
        answer(each, corpus(task)[5], lm)
        prompts.append([wording(request) for request in requests(lm)])
    assert prompts[0] == prompts[1]
    assert "Look twice." in prompts[0][0]
    assert prompts[0][0].count("assistant: ") == 3
    assert "not supplied" not in prompts[0][0].lower()


def with_demos(task: Task, options: dict[str, Any]) -> dspy.Module:
    """A program with three labelled demos and an instruction of its own."""
    program = task.build(options)
    rows = [row for example in examples(task, program) for row in program.demo_rows(example)]
    _, predictor = program.named_predictors()[0]
    predictor.demos = rows[:3]
    predictor.signature = predictor.signature.with_instructions(f"{predictor.signature.instructions}\nLook twice.")
    return program


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
    task = TASKS[record.id.partition("-")[0]]
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


@pytest.mark.parametrize(
    ("name", "options", "bad", "message"),
    [
        (
            "averitec",
            {"questions": 0},
            {"pairs": [{"question": "When?", "answer": "In May.", "source": "D99.1"}]},
            "passage id 'D99.1' was not shown",
        ),
        ("context24-figures", {}, {"ranking": ["FIG 99"]}, "label 'FIG 99' was not shown"),
        ("context24-text", {}, {"chosen": ["S999"]}, "sentence id 'S999' was not shown"),
    ],
)
def test_evidence_that_was_not_shown_is_asked_about_again_and_then_fails_the_record(
    name: str, options: dict[str, Any], bad: dict[str, Any], message: str
) -> None:
    task = TASKS[name]
    record = next(read(SAMPLE / name / "train.jsonl", task.record, name))
    lm = scripted([written(JSON, bad)] * 2)
    with pytest.raises(UnusableAnswer, match=message):
        answer(task.build(options), record, lm)
    assert message in wording(requests(lm)[1])
