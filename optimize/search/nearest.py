"""Candidates whose demos are chosen anew for each record: the labelled records of train that are nearest to it.

On real records of Track 1 such demos were worth more than any fixed ones and than any rewritten instruction, but which
nearness and how many demos are best differs from data set to data set, and so does what they may cost. So they race.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple, cast

import dspy

from aisr.optimize.search.demos import affordable
from aisr.programs.judges.contract import ChoosingProgram, JudgeProgram
from aisr.programs.judges.learnt import hand_over
from aisr.programs.retrieval.knn_demos import By
from aisr.programs.text.tokens import length
from aisr.tasks.task import Task

FROM = 200  # records of train: with fewer the nearest is not near
COUNTS = (4, 8, 16)
BYS: tuple[By, ...] = ("both", "words", "vectors")
SHARE = 0.5  # of a model's context, where that is known, that demos may fill


class Way(NamedTuple):
    """How the demos of a record are chosen, see `aisr.programs.retrieval.knn_demos.Nearness`."""

    demos: int
    by: By
    seats: bool


def ways(most: int) -> list[Way]:
    """The first so many of all 18 ways: every nearness with eight demos, without a seat for rare labels and with; then
    fewer and more demos of each."""
    few, middling, many = COUNTS
    middle = [Way(middling, by, seats) for seats in (False, True) for by in BYS]
    others = [Way(count, by, seats) for by in BYS for seats in (False, True) for count in (few, many)]
    return [*middle, *others][:most]


def races(task: Task, train: int, demos: int) -> bool:
    """Whether such candidates are worth racing: some demos are wanted, the task's program can choose them, and train
    has `FROM` records."""
    return demos > 0 and train >= FROM and "nearest_by" in task.option_types


def pool(rows: Sequence[dspy.Example], fields: Sequence[str], demos: int, budget: int) -> list[dspy.Example]:
    """The rows that may be chosen from: of which `demos` fit into `budget` tokens, whichever they are."""
    return affordable(rows, fields, demos, budget // 2)


def program(task: Task, student: JudgeProgram, rows: Sequence[dspy.Example], way: Way) -> JudgeProgram:
    """A student with all these rows as demos, of which it shows each record some."""
    options = {**student.options, "nearest": way.demos, "nearest_by": way.by, "seats": way.seats}
    made = cast(ChoosingProgram, task.build(options))
    made.ranker = student.ranker
    hand_over(student, made)
    made.near = replace(made.near, apart=cast(ChoosingProgram, student).near.apart)
    for name in ("gallery", "embed"):  # which are no part of a program either
        if hasattr(student, name):
            setattr(made, name, getattr(student, name))
    for predictor, old in zip(made.predictors(), student.predictors(), strict=True):
        predictor.signature = old.signature
    return cast(JudgeProgram, dspy.LabeledFewShot(k=len(rows)).compile(made, trainset=list(rows), sample=False))


def fitting(
    offered: Sequence[Way], rows: Sequence[dspy.Example], fields: Sequence[str], window: int | None
) -> list[Way]:
    """Those ways whose demos a model's context has room for, as far as that is known."""
    if window is None or not rows:
        return list(offered)
    usual = fmean(length(row, fields) for row in rows)
    return [way for way in offered if way.demos * usual <= SHARE * window]
