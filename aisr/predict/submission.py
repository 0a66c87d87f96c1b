"""From a predictions file to what the evaluation server takes (`Task.submission` writes it)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.programs.lines import explain, read, scan
from aisr.programs.task import Answer, Task


@dataclass(frozen=True)
class Checked:
    """Predictions against the test inputs: lines ready to submit, and what is wrong, one message each."""

    lines: list[dict[str, Any]]
    problems: list[str]
    filled: list[str]  # ids of failed records that were filled in


def check(task: Task, data: Path, predictions: Path, fill_failed: bool) -> Checked:
    """Check ids, numbers of labels, labels and paragraph ids, in the order of the test inputs.

    fill_failed: give a failed record the task's commonest answer instead of counting it as a problem.
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
        lines.append({"id": record.id, **task.beside(record), **task.line(answer)})
    problems += [f"{key}: not among the test inputs" for key in given]
    return Checked(lines, problems, filled)


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
