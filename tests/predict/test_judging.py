"""Running a program over records: nothing is lost, nothing is out of place, nothing fails in silence."""

from typing import TYPE_CHECKING

import pytest
from dspy import lm15
from dspy.utils.exceptions import LMAuthError

from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.predict.judge import judge, judge_all
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from support.scripted import TRACKS, claim, corpus, examples, flat, labels_of, right, scripted

if TYPE_CHECKING:
    from support.loopback import Loopback


@pytest.mark.parametrize("task", TRACKS)
@pytest.mark.parametrize("threads", [1, 8])
def test_every_outcome_stands_where_its_record_does(task: Task, threads: int) -> None:
    program = task.build({})
    records = examples(task, program)
    outcomes = judge_all(task, program, records, scripted(right, threads=threads))
    assert [outcome.failure for outcome in outcomes] == [None] * 12
    assert [labels_of(outcome.answer) for outcome in outcomes] == [
        task.labelled.first_labels(example.gold) for example in records
    ]


def test_a_failed_record_is_recorded_with_its_reason() -> None:
    program = TRACK1.build({})
    refused = lm15.InvalidRequestError("the prompt is too long")
    lm = scripted(["garbage", "still garbage", refused, '{"sentence_labels": ["Contradiction"]}'])
    records = [program.prepare(claim("Contradiction", number=k)) for k in range(3)]
    ticks = []
    first, second, third = judge_all(TRACK1, program, records, lm, lambda: ticks.append(1))
    assert first.answer is None
    assert "UnusableAnswer: unusable answer, also after one repair" in (first.failure or "")
    assert "still garbage" in (first.failure or "")
    assert second.answer is None
    assert "the prompt is too long" in (second.failure or "")
    assert (third.answer, third.failure) == (["Contradiction"], None)
    assert len(ticks) == 3


def test_a_refused_key_stops_the_run_early(loopback: "Loopback") -> None:
    loopback.reply = lambda request: (
        401,
        '{"error": {"message": "Incorrect API key", "type": "invalid_request_error"}}',
    )
    program = TRACK1.build({})
    with pytest.raises(LMAuthError, match="Incorrect API key"):
        judge_all(
            TRACK1,
            program,
            examples(TRACK1, program),
            open_lm(LMConfig("openai/local", api_base=loopback.url, threads=1)),
        )
    assert len(loopback.requests) == 1


def test_a_fault_of_ours_is_not_taken_for_a_failed_record() -> None:
    program = TRACK1.build({})
    example = program.prepare(corpus(TRACK1)[0])
    with pytest.raises(TypeError):
        judge(TRACK1, program, example.with_inputs("evidence"), scripted(flat))
