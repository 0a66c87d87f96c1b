"""Candidates whose demos are chosen anew for each record: the labelled records of train that are nearest to it.

On real records such demos were worth more than any fixed ones and than any rewritten instruction. Which nearness is
better differs from data set to data set, so both ways race.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

import dspy

from aisr.optimize.datasets.near_duplicates import near_duplicates
from aisr.optimize.search.demos import affordable
from aisr.programs.base import Judge
from aisr.programs.demos import DUPLICATES, Similarity, wording
from aisr.programs.task import Task
from aisr.programs.text.units import length

FROM = 200  # records of train: with fewer the nearest is not near


WAYS: tuple[Similarity, ...] = get_args(Similarity)


def fits(train: int, demos: int) -> bool:
    """Whether nearest demos suit a data set: some demos are wanted, and train has `FROM` records."""
    return demos > 0 and train >= FROM


def usual_search(train: Path, limit: int | None, demos: int) -> list[str]:
    """The optimizers where nobody names some: nearest demos where they suit a file of train, else drawn ones. limit:
    the most records of it that are taken."""
    with train.open("rb") as lines:
        records = sum(1 for line in lines if line.strip())
    return ["knn"] if fits(min(records, limit or records), demos) else ["random-search"]


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
    return [row.copy(**{DUPLICATES: key}) if key in many else row for row, key in zip(rows, group, strict=True)]


def program(task: Task, student: Judge, rows: Sequence[dspy.Example], demos: int, by: Similarity) -> Judge:
    """A student with all these rows as demos, of which it shows each record `demos`, the nearest by `by`."""
    options = {**student.options.as_dict(), "nearest": demos, "nearest_by": by}
    made = task.build(options)
    made.ranker = student.ranker
    made.fitted = student.fitted
    made.copy_context(student)
    for predictor, old in zip(made.predictors(), student.predictors(), strict=True):
        predictor.signature = old.signature
    return cast(Judge, dspy.LabeledFewShot(k=len(rows)).compile(made, trainset=list(rows), sample=False))
