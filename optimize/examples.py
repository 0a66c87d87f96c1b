"""Labelled records as the examples that programs, optimizers and label weights work on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import dspy

from aisr.base.errors import UserError
from aisr.base.jsonl import read
from aisr.optimize.leakage import Fingerprint, Leak, all_keys, fingerprint, groups, leak
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Task

Prepare = Callable[[Any], dspy.Example]  # `Program.prepare`, mostly


class LabeledRecord(NamedTuple):
    """A labelled record, the same as an example, and what it may share with others."""

    record: Record
    example: dspy.Example
    fingerprint: Fingerprint


def read_labeled(task: Task, program: Program, path: Path, limit: int | None = None) -> list[LabeledRecord]:
    """The records of a file. Raises UserError where one has no labels or there are none."""
    return prepare_all(task, program.prepare, islice(read(path, task.record, task.name), limit), path)


def prepare_all(task: Task, prepare: Prepare, records: Iterable[Record], path: Path) -> list[LabeledRecord]:
    """The same for records that were read from a file. Examples of records that share something have the same number
    as their `group`."""
    rows = []
    for record in records:
        rows.append(LabeledRecord(record, prepare(record), fingerprint(task, record)))
        if "gold" not in rows[-1].example:
            raise UserError(f"{path}: {record.id} has no labels; a labelled file is needed here")
    if not rows:
        raise UserError(f"{path}: no records")
    for row, group in zip(rows, group_records(rows), strict=True):
        row.example.group = group
    return rows


def group_records(rows: Sequence[LabeledRecord]) -> list[int]:
    """The group of each record; records of different groups share nothing (see `aisr.optimize.leakage`)."""
    return groups(all_keys([row.fingerprint for row in rows]))


def cross_split_leakage(splits: Mapping[str, Sequence[LabeledRecord]]) -> dict[str, Leak]:
    """What the records of each other split share with those of train."""
    train = splits["train"]
    return {
        name: leak(all_keys([row.fingerprint for row in (*train, *rows)]), range(len(train)))
        for name, rows in splits.items()
        if name != "train"
    }
