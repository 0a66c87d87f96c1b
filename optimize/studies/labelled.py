"""The labelled records that a study measures on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aisr.programs.errors import UserError
from aisr.programs.reading.lines import read
from aisr.programs.records.base import Record
from aisr.tasks.task import Task


def labelled(task: Task, files: Sequence[Path]) -> list[Any]:
    """The records of all files. Raises UserError where one is not labelled, or there are none."""
    records: list[Record] = [record for file in files for record in read(file, task.record, f"{task.name}-{file.stem}")]
    if not records or any(record.gold is None for record in records):
        raise UserError(f"{', '.join(map(str, files))}: expected labelled records, all of them")
    return records
