"""Two LMs, one behind the other: the second, stronger and dearer, is asked where the first is not sure."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import dspy

from aisr.inference.confidence import of_record
from aisr.inference.judge import Outcome, finished, judge
from aisr.inference.predict import Judging
from aisr.lm.client import OpenLM
from aisr.programs.judges.contract import Program
from aisr.programs.records.base import Record
from aisr.tasks.task import Task

FIRST, SECOND = "first", "second"  # which of them a line of a predictions file comes from


class Stage(NamedTuple):
    """A program, and the LM that it asks."""

    program: Program
    lm: OpenLM


def is_sure(sure: float | None, below: float) -> bool:
    """Whether an answer stands that is so sure, in 0-1: it is known how sure, and that is no less than `below`."""
    return sure is not None and sure >= below


def cascade(task: Task, first: Stage, second: Stage, below: float) -> Judging:
    """Judging by the first, and by the second what the first is less sure of than `below`, does not say how sure it is
    of, or fails.

    A record is as sure as the least sure of its labels (`aisr.inference.confidence.of_record`). What the second
    fails is failed, however the first answered: asked again, it may well be answered.
    """

    def judging(records: Iterable[Record]) -> Iterator[tuple[Record, Outcome]]:
        return finished(
            records, lambda record: in_turn(task, first, second, below, record)[1], threads(first.lm, second.lm)
        )

    return judging


def in_turn(
    task: Task, first: Stage, second: Stage | None, below: float, record: Record
) -> tuple[dspy.Example, Outcome]:
    """What becomes of one record, as `cascade` says, and the example that the answer is about."""
    example = first.program.prepare(record)
    outcome = judge(task, first.program, example, first.lm)
    if second is None or is_sure(of_record(task, outcome), below):
        return example, replace(outcome, by=FIRST)
    example = second.program.prepare(record)
    asked = judge(task, second.program, example, second.lm)
    failure = None if asked.failure is None else f"second LM: {asked.failure}"
    return example, replace(asked, by=SECOND, failure=failure)


def threads(*lms: OpenLM) -> int:
    """How many records make sense at a time."""
    return max(lm.threads for lm in lms)
