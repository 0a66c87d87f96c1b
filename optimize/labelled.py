"""Labelled records, read as the examples that programs, optimizers and the decision layer work on."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import dspy

from optimize.augment import plant
from optimize.sharing import shared
from optimize.tasks import Task
from programs.records import Record, read


class Labelled(NamedTuple):
    """A labelled record as an example; what it has in common with others (see `sharing.shared`); whether it was made by
    a planted edit."""

    example: dspy.Example
    shares: set[str]
    planted: bool = False


def examples(rows: Sequence[Labelled]) -> list[dspy.Example]:
    """The examples alone."""
    return [row.example for row in rows]


def labelled(task: Task, program: dspy.Module, path: Path, limit: int | None = None) -> list[Labelled]:
    """The records of a file. Raises ValueError where one has no labels or there are none."""
    rows = [_labelled(program, record, path) for record in islice(read(path, task.record, task.name), limit)]
    if not rows:
        raise ValueError(f"{path}: no records")
    return rows


def with_planted(
    task: Task, program: dspy.Module, path: Path, rows: Sequence[Labelled], count: int, density: int, seed: int
) -> list[Labelled]:
    """The rows, which are the first of a file, and behind them up to `count` records with planted edits."""
    if not count:
        return list(rows)
    records = list(islice(read(path, task.record, task.name), len(rows)))
    made = plant(records, count, density, seed)
    return [*rows, *(Labelled(program.prepare(record), shared(record), planted=True) for record in made)]


def _labelled(program: dspy.Module, record: Record, path: Path) -> Labelled:
    example = program.prepare(record)
    if "gold" not in example:
        raise ValueError(f"{path}: {record.id} has no labels; a labelled file is needed here")
    return Labelled(example, shared(record))
