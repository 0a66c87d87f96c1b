"""A question to the LM: one repair that says what was wrong, then a failure; never a default."""

from typing import Any

import dspy
import pytest

from aisr.programs.asking.ask import UnusableAnswer
from aisr.programs.records.base import Record
from aisr.tasks.all import TASKS
from support.scripted import citation, claim, field, question, requests, scripted, written

ADAPTERS = pytest.mark.parametrize("adapter", ["json", "chat"])
JSON, MARKED = "Respond with a JSON object", ""
TWO_SENTENCES = claim("Supported", "Contradiction")
PAPER = citation("Overstate", "P2", paragraphs=3)

FEW = {"sentence_labels": ["Supported"]}
MANY = {"sentence_labels": ["Supported", "Supported", "Supported"]}
FOREIGN = {"sentence_labels": ["Supported", "Unsuported Entity"]}
FINE = {"sentence_labels": ["Supported", "Contradiction"]}
UNSHOWN = {"label": "Overstate", "evidence_ids": ["P2", "P99"]}
NO_LABEL = {"evidence_ids": ["P2"]}
FOREIGN_CITATION = {"label": "Disputed", "evidence_ids": ["P2"]}
FINE_CITATION = {"label": "Overstate", "evidence_ids": ["P2"]}

UNUSABLE = pytest.mark.parametrize(
    ("record", "bad", "good", "named"),
    [
        pytest.param(TWO_SENTENCES, FEW, FINE, "1 labels where 2 were asked for", id="too few labels"),
        pytest.param(TWO_SENTENCES, MANY, FINE, "3 labels where 2 were asked for", id="too many labels"),
        pytest.param(TWO_SENTENCES, FOREIGN, FINE, "Unsuported Entity", id="unknown claim label"),
        pytest.param(PAPER, UNSHOWN, FINE_CITATION, "evidence id 'P99' was not shown; shown were P1, P2, P3", id="id"),
        pytest.param(PAPER, FOREIGN_CITATION, FINE_CITATION, "Disputed", id="unknown citation label"),
        pytest.param(PAPER, NO_LABEL, FINE_CITATION, "does not hold the fields label", id="missing field"),
    ],
)


def run(record: Record, adapter: str, *answers: dict[str, Any] | str) -> tuple[Any, Any, list[Any]]:
    """The prediction (or the error) for a record, the LM that was asked, and DSPy's trace."""
    form = JSON if adapter == "json" else MARKED
    lm = scripted([a if isinstance(a, str) else written(form, a) for a in answers], adapter=adapter)
    task = TASKS[record.id.partition("-")[0]]
    program = task.build({})
    with lm.context(), dspy.context(trace=[]):
        try:
            found: Any = program(**program.prepare(record).inputs())
        except UnusableAnswer as error:
            found = error
        return found, lm, list(dspy.settings.trace)


@ADAPTERS
@UNUSABLE
def test_an_unusable_answer_is_repaired_once_with_what_was_wrong(
    adapter: str, record: Record, bad: dict[str, Any], good: dict[str, Any], named: str
) -> None:
    prediction, lm, _ = run(record, adapter, bad, good)
    first, second = map(question, requests(lm))
    assert field(first, "correction") is None
    assert named in (field(second, "correction") or "")
    answer = next(iter(good.values()))
    assert prediction.get("sentence_labels", prediction.get("label")) == answer


@ADAPTERS
@UNUSABLE
def test_a_second_unusable_answer_is_a_failure(
    adapter: str, record: Record, bad: dict[str, Any], good: dict[str, Any], named: str
) -> None:
    error, lm, trace = run(record, adapter, bad, bad)
    assert isinstance(error, UnusableAnswer)
    assert named in str(error)
    assert len(requests(lm)) == 2
    assert trace == []


@ADAPTERS
@pytest.mark.parametrize("garbage", ["", "I cannot judge this.", "[1, 2", "null"])
def test_garbage_is_repaired_too(adapter: str, garbage: str) -> None:
    form = JSON if adapter == "json" else MARKED
    prediction, lm, _ = run(TWO_SENTENCES, adapter, garbage, written(form, FINE))
    assert prediction.sentence_labels == FINE["sentence_labels"]
    assert "correction" in question(requests(lm)[1])


@ADAPTERS
def test_a_usable_answer_costs_one_call(adapter: str) -> None:
    prediction, lm, _ = run(TWO_SENTENCES, adapter, FINE)
    assert prediction.sentence_labels == FINE["sentence_labels"]
    assert len(requests(lm)) == 1


@ADAPTERS
@pytest.mark.parametrize("bad", [FEW, FOREIGN])
def test_a_refused_answer_leaves_the_trace(adapter: str, bad: dict[str, Any]) -> None:
    _, _, trace = run(TWO_SENTENCES, adapter, bad, FINE)
    assert [prediction.sentence_labels for _, _, prediction in trace] == [FINE["sentence_labels"]]


def test_the_repair_repeats_the_question_whole() -> None:
    _, lm, _ = run(TWO_SENTENCES, "json", FEW, FINE)
    first, second = map(question, requests(lm))
    for name in ("evidence", "sentences"):
        assert field(first, name) == field(second, name)


def test_the_program_itself_does_not_change_in_a_repair() -> None:
    lm = scripted([written(JSON, FEW), written(JSON, FINE)])
    program = TASKS["track1"].build({})
    before = program.dump_state()
    with lm.context():
        program(**program.prepare(TWO_SENTENCES).inputs())
    assert program.dump_state() == before
