"""Programs: what a model reads, and what becomes of its answer."""

from typing import Any

import dspy
import pytest

from aisr.artifact.program import parse, program_text
from aisr.base.jsonl import read
from aisr.lm.client import OpenLM
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.search import Candidate, Search, Settings
from aisr.predict.judge import judge_all
from aisr.programs.demos import DUPLICATES, SOURCE, KnnConfig, nearest
from aisr.programs.program import UnusableAnswer
from aisr.programs.records import Record
from aisr.programs.registry import find_task
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
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


def test_a_sentence_is_a_call_that_shows_its_paragraph_and_fails_it_where_unusable() -> None:
    program, lm = TRACK1.build({"unit": "sentence"}), scripted(right)
    assert answer(program, THREE, lm).sentence_labels == THREE_LABELS
    assert [field(question(request), "sentence") for request in requests(lm)] == THREE.statements
    assert {field(question(request), "paragraph") for request in requests(lm)} == {THREE.claim_text}
    fine, bad = written(JSON, {"sentence_label": "Supported"}), written(JSON, {"sentence_label": "Perhaps"})
    with pytest.raises(UnusableAnswer, match="Perhaps"):
        answer(program, THREE, scripted([fine, bad, bad]))


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
    task = find_task(name)
    record = next(read(SAMPLE / name / "train.jsonl", task.record, name))
    lm = scripted([written(JSON, bad)] * 2)
    with pytest.raises(UnusableAnswer, match=message):
        answer(task.build(options), record, lm)
    assert message in wording(requests(lm)[1])


# --- Labelled demos: few-shot by nearness shows a record those most like it

SOURCES = [k // 4 for k in range(8)]  # the paper of each record of train


def compiled(task: Task, optimizer: str, **options: Any) -> tuple[list[Candidate], OpenLM, list[Any]]:
    """The candidates of an optimizer, its LM, and the examples of dev."""
    student = task.build(options)
    rows = examples(task, student)
    lm = scripted(right)
    work = Search(task, student, rows[:8], rows[8:], lambda: None, Settings(demos=2), lm, lm, print, SOURCES)  # type: ignore[arg-type, return-value]
    return compile_candidates(optimizer, work, []), lm, rows[8:]


def test_a_saved_program_keeps_the_papers_of_its_demos_and_shows_them_to_no_lm() -> None:
    ((_, program), _), lm, dev = compiled(TRACK1, "knn")
    loaded = parse(program_text(TRACK1, program), "a test").program
    assert [demo[SOURCE] for demo in loaded.predictors()[0].demos] == SOURCES
    judge_all(TRACK1, loaded, dev[:1], lm)
    assert SOURCE not in wording(requests(lm)[0])


def test_a_record_is_shown_no_demo_of_its_own_group() -> None:
    demos = [{"claim": text} for text in ("apples are red", "pears are green", "apples and pears", "plums")]
    apart = {"apples are red": frozenset({1}), "pears are green": frozenset({2}), "red apples": frozenset({1, 3})}
    chosen = nearest(demos, "claim", "red apples", KnnConfig(9, excluded=apart))
    assert [demo["claim"] for demo in chosen] == ["plums", "pears are green", "apples and pears"]
    assert demos[0] in nearest(demos, "claim", "red pears", KnnConfig(9, excluded=apart))


def test_two_demos_of_one_paper_are_shown_and_one_of_duplicates() -> None:
    demos = [
        {"claim": "apple one", SOURCE: 1},
        {"claim": "apple two two", SOURCE: 1},
        {"claim": "apple three three three", SOURCE: 1},
        {"claim": "apple apple four of another paper", SOURCE: 2, DUPLICATES: 7},
        {"claim": "apple four of another paper", SOURCE: 3, DUPLICATES: 7},
        {"claim": "plum", SOURCE: 5},
    ]
    chosen = nearest(demos, "claim", "apple", KnnConfig(9))
    assert sum(demo[SOURCE] == 1 for demo in chosen) == 2
    assert [demo.get(DUPLICATES) for demo in chosen].count(7) == 1
