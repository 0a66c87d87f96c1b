"""What a finished predictions file says: the answer to each record, and how sure of it the program was."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.programs.errors import UserError
from aisr.programs.reading.lines import explain, scan
from aisr.tasks.task import Task


class _Line(BaseModel):
    model_config = ConfigDict(extra="allow")

    id: str
    confidence: float | None = Field(default=None, ge=0, le=1)


def answers(task: Task, path: Path) -> dict[str, tuple[Any, float | None]]:
    """Record id -> answer (None: failed) and how sure it is, in 0-1. Raises UserError for a line that is none."""
    found: dict[str, tuple[Any, float | None]] = {}
    for _, line, problem, _ in scan(path, _Line):
        if line is None:
            raise UserError(problem or f"{path}: a line that is no prediction")
        content = line.model_dump()
        if isinstance(content.get("failed"), str):
            found[line.id] = (None, None)
            continue
        try:
            found[line.id] = (task.prediction.model_validate(content).answer, line.confidence)
        except ValidationError as error:
            raise UserError(f"{path}: {line.id[:80]}: no prediction of {task.name}: {explain(error)}") from error
    return found
