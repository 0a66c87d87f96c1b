"""Candidates whose demos are chosen anew for each record: the labelled records of train that are nearest to it.

On real records such demos were worth more than any fixed ones and than any rewritten instruction. Which nearness is
better differs from data set to data set, so both ways race.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import dspy

from aisr.optimize.datasets.near_duplicates import near_duplicates
from aisr.optimize.search.demos import affordable
from aisr.programs.judges.contract import ChoosingProgram, Program
from aisr.programs.judges.learnt import hand_over
from aisr.programs.retrieval.knn_demos import TWINS, By, wording
from aisr.programs.task import Task
from aisr.programs.text.units import length

FROM = 200  # records of train: with fewer the nearest is not near


WAYS: tuple[By, ...] = get_args(By)


def fits(task: Task, train: int, demos: int) -> bool:
    """Whether nearest demos suit a data set: some demos are wanted, the task's program can choose them, and train has
    `FROM` records."""
    return demos > 0 and train >= FROM and "nearest_by" in task.option_types


def usual_search(task: Task, train: Path, limit: int | None, demos: int) -> list[str]:
    """The optimizers where nobody names some: nearest demos where they suit a file of train, else drawn ones. limit:
    the most records of it that are taken."""
    with train.open("rb") as lines:
        records = sum(1 for line in lines if line.strip())
    return ["knn"] if fits(task, min(records, limit or records), demos) else ["random-search"]


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


def program(task: Task, student: Program, rows: Sequence[dspy.Example], demos: int, by: By) -> Program:
    """A student with all these rows as demos, of which it shows each record `demos`, the nearest by `by`."""
    options = {**student.options, "nearest": demos, "nearest_by": by}
    made = cast(ChoosingProgram, task.build(options))
    made.ranker = student.ranker
    hand_over(student, made)
    made.near = replace(made.near, apart=cast(ChoosingProgram, student).near.apart)
    for name in ("gallery", "embed"):  # which are no part of a program either
        if hasattr(student, name):
            setattr(made, name, getattr(student, name))
    for predictor, old in zip(made.predictors(), student.predictors(), strict=True):
        predictor.signature = old.signature
    return cast(Program, dspy.LabeledFewShot(k=len(rows)).compile(made, trainset=list(rows), sample=False))
