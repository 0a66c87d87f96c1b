"""From a predictions file to the zip that the evaluation server takes."""

import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from optimize.tasks import TASKS, Answer, Task
from programs.records import explain, read, scan

# Entries of a zip carry a date; a fixed one makes the same predictions give the same file.
DATE = (2026, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Checked:
    """Predictions against the test inputs: lines ready to submit, and what is wrong, one message each."""

    lines: list[dict[str, Any]]
    problems: list[str]
    filled: list[str]  # ids of failed records that were filled in


def check(task: Task, data: Path, predictions: Path, fill_failed: bool) -> Checked:
    """Check ids, numbers of labels, labels and paragraph ids, in the order of the test inputs.

    fill_failed: give a failed record the track's commonest answer instead of counting it as a problem.
    """
    given, problems = _given(task, predictions)
    lines, filled = [], []
    for record in read(data, task.record, task.name):
        if record.id not in given:
            problems.append(f"{record.id}: no prediction")
            continue
        answer = given.pop(record.id)
        if isinstance(answer, str):
            if not fill_failed:
                problems.append(f"{record.id}: failed ({answer}); predict again, or --on-failure fallback fills it in")
                continue
            answer = task.fallback(record)
            filled.append(record.id)
        wrong = task.problem(record, answer)
        if wrong:
            problems.append(f"{record.id}: {wrong}")
        lines.append({"id": record.id, **task.line(answer)})
    problems += [f"{key}: not among the test inputs" for key in given]
    return Checked(lines, problems, filled)


def pack(task: Task, lines: list[dict[str, Any]], out: Path) -> None:
    """Write the flat zip. A zip that is there keeps the other track's file, so that one zip can hold both."""
    content = {task.submission_file: "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()}
    if out.exists():
        others = {other.submission_file for other in TASKS.values()} - {task.submission_file}
        try:
            with zipfile.ZipFile(out) as old:
                content |= {name: old.read(name) for name in old.namelist() if name in others}
        except zipfile.BadZipFile as error:
            raise ValueError(f"{out} is there already and is no zip; choose another --out") from error
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(content):
            file.writestr(zipfile.ZipInfo(name, DATE), content[name], zipfile.ZIP_DEFLATED)
    unfinished.replace(out)


class _Line(BaseModel):
    """Any JSON object. What it says is looked at afterwards: a failed record has other fields than a judged one."""

    model_config = ConfigDict(extra="allow")

    id: Any = None


def _given(task: Task, predictions: Path) -> tuple[dict[str, Answer | str], list[str]]:
    """Record id -> answer, or the reason of a failed one; and what is wrong with the lines."""
    given: dict[str, Answer | str] = {}
    problems = []
    for number, line, problem, _ in scan(predictions, _Line):
        content = line.model_dump() if line else {}
        where = f"{predictions}:{number}"
        if problem:
            problems.append(problem)
        elif not isinstance(content.get("id"), str):
            problems.append(f"{where}: id: missing; every prediction names its record")
        elif isinstance(content.get("failed"), str):
            given[content["id"]] = content["failed"]
        else:
            try:
                given[content["id"]] = task.prediction.model_validate(content).answer
            except ValidationError as error:
                problems.append(f"{where}: {explain(error)}")
    return given, problems
