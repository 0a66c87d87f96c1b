"""Finds a task by its name, or at its place `package.module:TASK`, and refuses files of another task.

A place is what the user names, never what a file names: program.json holds the name of its task alone.
"""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aisr.base.errors import UserError

if TYPE_CHECKING:
    from aisr.programs.task import Task

TASK_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
TASKS: Mapping[str, str] = MappingProxyType(
    {
        "track1": "aisr.programs.track1:TRACK1",
        "track2": "aisr.programs.track2:TRACK2",
        "averitec": "aisr.programs.averitec:AVERITEC",
        "context24-figures": "aisr.programs.context24_figures:CONTEXT24_FIGURES",
        "context24-text": "aisr.programs.context24_text:CONTEXT24_TEXT",
    }
)


def find_task(name: str) -> "Task":
    """Return the task of a name in `TASKS`, or at a place, whose module is imported. Raises UserError for any other."""
    from aisr.programs.task import Task

    if name not in TASKS and ":" not in name:
        raise UserError(f"task {name[:80]!r}: expected one of: {', '.join(TASKS)}, or package.module:TASK")
    task = import_value(TASKS.get(name, name), "task")
    if not isinstance(task, Task):
        raise UserError(f"task {name}: it is {type(task).__name__}; expected an instance of aisr.task.Task")
    lacking = [one for one in ("name", "record", "program") if not hasattr(task, one)]
    lacking += [f"definitions[{label!r}]" for label in getattr(task, "labels", ()) if label not in task.definitions]
    if lacking:
        raise UserError(f"task {name}: it lacks {lacking[0]}; docs/adding-a-task.md has a whole one")
    if name not in TASKS and (task.name in TASKS or not TASK_NAME.fullmatch(task.name)):
        raise UserError(
            f"task {name}: it calls itself {str(task.name)[:80]!r}; expected at most 40 lower-case letters, digits and "
            f"dashes, and another name than {', '.join(TASKS)}"
        )
    return task


def find_task_for(name: str, *records: Path, predictions: Path | None = None) -> "Task":
    """Return the task of a name, for files of records and one of predictions. Raises UserError for a file whose first
    line is another task's: of those that take it, the one that knows most of its fields."""
    from aisr.base.jsonl import scan

    chosen = find_task(name)
    tasks = {task.name: task for task in (chosen, *map(find_task, TASKS))}
    kinds = dict.fromkeys(records, "record")
    if predictions:
        kinds[predictions] = "prediction"
    for file, kind in kinds.items():
        known: dict[str, int] = {}  # how many fields of the first line each task knows
        for other, task in tasks.items():
            line = next(scan(file, getattr(task, kind), other), None)
            if line and line.record:
                known[other] = len(line.record.model_fields_set)
        best = [other for other, count in known.items() if count == max(known.values())]
        if len(best) == 1 and chosen.name not in best:
            raise UserError(
                f"{file}: its first line is a {kind} of {best[0]}, not of {chosen.name}; is it --task {best[0]}?"
            )
    return chosen


def import_value(place: str, what: str) -> Any:
    """Return the value at `package.module:VALUE`. what: how messages call it. Raises UserError where there is none,
    or its module cannot be imported."""
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(module), name)
    except (Exception, SystemExit) as error:  # whatever a module raises
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        expected = "expected package.module:VALUE, installed or in the current folder"
        raise UserError(f"{what} {place}: {reason}; {expected}") from error
