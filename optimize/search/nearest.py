"""Candidates whose demos are chosen anew for each record: the labelled records of train that are nearest to it.

On real records of Track 1 such demos were worth more than any fixed ones and than any rewritten instruction, but which
nearness and how many demos are best differs from data set to data set, and so does what they may cost. So they race.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple, cast

import dspy

from aisr.optimize.datasets.near_duplicates import near_duplicates
from aisr.optimize.search.demos import affordable
from aisr.programs.asking.stated import FIELD, in_form
from aisr.programs.judges.contract import ChoosingProgram, JudgeProgram
from aisr.programs.judges.learnt import hand_over
from aisr.programs.retrieval.knn_demos import TWINS, By, wording
from aisr.programs.text.tokens import length
from aisr.tasks.task import Task

FROM = 200  # records of train: with fewer the nearest is not near
SHARE = 0.5  # of a model's context, where that is known, that demos may fill


class Way(NamedTuple):
    """How the demos of a record are chosen, see `aisr.programs.retrieval.knn_demos.Nearness`. sure: they say how likely
    the program itself, which had not seen them, stated their labels to be, where it was right; else none says that."""

    demos: int
    by: By
    seats: bool = False
    sure: bool = False


# Six were worth more than eight with seats on real records, so others have to show that they are better.
WAYS = (
    Way(6, "words"),
    Way(6, "varied"),
    Way(6, "both"),
    Way(6, "words", sure=True),
    Way(6, "words", seats=True),
    Way(6, "vectors"),
    Way(8, "words"),
    Way(4, "words"),
    Way(6, "both", seats=True),
    Way(8, "both"),
    Way(4, "both"),
    Way(6, "vectors", seats=True),
    Way(8, "words", seats=True),
    Way(8, "vectors"),
    Way(4, "vectors"),
    Way(4, "words", seats=True),
)


def ways(most: int, labels: bool = True, stated: bool = True) -> list[Way]:
    """The first so many of all ways. labels: whether the task has some, without which there are no seats; stated:
    whether the program states how likely they are."""
    return [way for way in WAYS if (labels or not way.seats) and (stated or not way.sure)][:most]


def races(task: Task, train: int, demos: int) -> bool:
    """Whether such candidates are worth racing: some demos are wanted, the task's program can choose them, and train
    has `FROM` records."""
    return demos > 0 and train >= FROM and "nearest_by" in task.option_types


def pool(rows: Sequence[dspy.Example], fields: Sequence[str], demos: int, budget: int) -> list[dspy.Example]:
    """The rows that may be chosen from: of which `demos` fit into `budget` tokens, whichever they are. Those that would
    be too long are cut to what they are in brief, where they say."""
    most = budget / max(demos, 1)
    cut = [row.copy(**row.brief) if "brief" in row and length(row, fields) > most else row for row in rows]
    return affordable(cut, fields, demos, budget // 2)


def marked(rows: Sequence[dspy.Example], statement: str) -> list[dspy.Example]:
    """The rows, those whose statements are nearly the same with the number of their group."""
    group = near_duplicates([wording(row.get(statement)) for row in rows])
    many = {key for key, count in Counter(group).items() if count > 1}
    return [row.copy(**{TWINS: key}) if key in many else row for row, key in zip(rows, group, strict=True)]


def with_stated(rows: Sequence[dspy.Example], said: Sequence[str], outputs: Collection[str]) -> list[dspy.Example]:
    """The demos of a record, a row a call, with what is said of each of its labels."""
    if len(rows) == len(said) > 1:
        return [row.copy(**{FIELD: one}) for row, one in zip(rows, said, strict=True)]
    return [row.copy(**{FIELD: in_form(row, outputs, said)}) for row in rows]


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
