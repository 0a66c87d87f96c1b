"""The two programs: what a model reads, and what becomes of its answer."""

from typing import Any

import dspy
import pytest

from aisr.artifact.program import parse, program_text
from aisr.programs.ask import UnusableAnswer
from aisr.programs.records import Record
from aisr.programs.registry import TASKS
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2
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


def test_only_shown_paragraphs_stand_in_the_prompt() -> None:
    lm = scripted(right)
    program = TRACK2.build({"context_tokens": 20})
    record = citation("Irrelevant", paragraphs=6)
    answer(program, record, lm)
    passages = field(question(requests(lm)[0]), "passages") or ""
    assert [line.split("]")[0].strip("[") for line in passages.splitlines()] == program.prepare(record).candidates


@pytest.mark.parametrize("adapter", ["json", "chat"])
@pytest.mark.parametrize(
    ("task", "options"),
    [(TRACK1, {"unit": "paragraph"}), (TRACK1, {"unit": "sentence"}), (TRACK2, {"context_tokens": 100})],
    ids=["paragraph", "sentence", "citation"],
)
def test_prompts_are_the_same_after_an_artifact_round_trip(task: Task, options: dict[str, Any], adapter: str) -> None:
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


@pytest.mark.parametrize("adapter", ["json", "chat"])
@pytest.mark.parametrize(
    ("task", "options"), [(TRACK1, {}), (TRACK1, {"unit": "sentence"}), (TRACK2, {})], ids=["1p", "1s", "2"]
)
def test_demos_lack_nothing(task: Task, options: dict[str, Any], adapter: str) -> None:
    """DSPy drops a demo that lacks its outputs, and marks one that lacks an input; neither may happen."""
    program = with_demos(task, options)
    lm = scripted(right, adapter=adapter)
    answer(program, corpus(task)[5], lm)
    prompt = wording(requests(lm)[0])
    assert "Not supplied" not in prompt
    assert "some input or output fields are not supplied" not in prompt
    for demo in program.named_predictors()[0][1].demos:
        assert set(program.named_predictors()[0][1].signature.fields) <= set(demo.keys())


def with_demos(task: Task, options: dict[str, Any]) -> dspy.Module:
    """A program with three labelled demos and an instruction of its own."""
    program = task.build(options)
    rows = [row for example in examples(task, program) for row in program.demo_rows(example)]
    _, predictor = program.named_predictors()[0]
    predictor.demos = rows[:3]
    predictor.signature = predictor.signature.with_instructions(f"{predictor.signature.instructions}\nLook twice.")
    return program


# --- A question to the LM: one repair that says what was wrong, then a failure; never a default

ADAPTERS = pytest.mark.parametrize("adapter", ["json", "chat"])
MARKED = ""
TWO_SENTENCES = claim("Supported", "Contradiction")
PAPER = citation("Overstate", "P2", paragraphs=3)

FEW = {"sentence_labels": ["Supported"]}
FOREIGN = {"sentence_labels": ["Supported", "Unsuported Entity"]}
FINE = {"sentence_labels": ["Supported", "Contradiction"]}
UNSHOWN = {"label": "Overstate", "evidence_ids": ["P2", "P99"]}
NO_LABEL = {"evidence_ids": ["P2"]}
FINE_CITATION = {"label": "Overstate", "evidence_ids": ["P2"]}

UNUSABLE = pytest.mark.parametrize(
    ("record", "bad", "good", "named"),
    [
        pytest.param(TWO_SENTENCES, FEW, FINE, "1 labels where 2 were asked for", id="too few labels"),
        pytest.param(TWO_SENTENCES, FOREIGN, FINE, "Unsuported Entity", id="unknown claim label"),
        pytest.param(PAPER, UNSHOWN, FINE_CITATION, "evidence id 'P99' was not shown; shown were P1, P2, P3", id="id"),
        pytest.param(PAPER, NO_LABEL, FINE_CITATION, "does not hold the fields label", id="missing field"),
    ],
)


def run(record: Record, adapter: str, *answers: dict[str, Any] | str) -> tuple[Any, Any, list[Any]]:
    """The prediction (or the error) for a record, the LM of it, and DSPy's trace."""
    form = JSON if adapter == "json" else MARKED
    lm = scripted([a if isinstance(a, str) else written(form, a) for a in answers], adapter=adapter)
    task = TASKS[record.id.partition("-")[0]]
    program = task.build({})
    with lm.context(), dspy.context(trace=[]):
        try:
            prediction: Any = program(**program.prepare(record).inputs())
        except UnusableAnswer as error:
            prediction = error
        return prediction, lm, list(dspy.settings.trace)


@ADAPTERS
@UNUSABLE
def test_an_unusable_answer_is_repaired_once_with_what_was_wrong_and_then_fails(
    adapter: str, record: Record, bad: dict[str, Any], good: dict[str, Any], named: str
) -> None:
    prediction, lm, _ = run(record, adapter, bad, good)
    first, second = map(question, requests(lm))
    assert field(first, "correction") is None
    assert named in (field(second, "correction") or "")
    assert prediction.get("sentence_labels", prediction.get("label")) == next(iter(good.values()))
    error, lm, trace = run(record, adapter, bad, bad)
    assert isinstance(error, UnusableAnswer)
    assert named in str(error)
    assert len(requests(lm)) == 2
    assert trace == []
