"""Labelled records, read as the examples that programs, optimizers and the decision layer work on."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

import dspy

from aisr.optimize.datasets.leakage import Common, all_keys, common, groups
from aisr.programs.errors import UserError
from aisr.programs.records import Record, read
from aisr.programs.task import Task


class Prepares(Protocol):
    """What makes an example of a record: a program, mostly."""

    def prepare(self, record: Record) -> dspy.Example:
        """The record as the example that the program is called with."""


class Labelled(NamedTuple):
    """A labelled record, and as an example; what it may have in common with others."""

    record: Record
    example: dspy.Example
    common: Common


def examples(rows: Sequence[Labelled]) -> list[dspy.Example]:
    """The examples alone."""
    return [row.example for row in rows]


def labelled(task: Task, program: Prepares, path: Path, limit: int | None = None) -> list[Labelled]:
    """The records of a file. Raises UserError where one has no labels or there are none."""
    return rows_of(task, program, islice(read(path, task.record, task.name), limit), path)


def rows_of(task: Task, program: Prepares, records: Iterable[Record], path: Path) -> list[Labelled]:
    """The same for records that were read from a file. Their examples say which of them share something: `group`, a
    number."""
    rows = [_labelled(task, program, record, path) for record in records]
    if not rows:
        raise UserError(f"{path}: no records")
    for row, group in zip(rows, groups(all_keys([row.common for row in rows])), strict=True):
        row.example.group = group
    return rows


def row_of(task: Task, program: Prepares, record: Record) -> Labelled:
    """A record as the example that a program is called with."""
    return Labelled(record, program.prepare(record), common(task, record))


def _labelled(task: Task, program: Prepares, record: Record, path: Path) -> Labelled:
    row = row_of(task, program, record)
    if "gold" not in row.example:
        raise UserError(f"{path}: {record.id} has no labels; a labelled file is needed here")
    return row
