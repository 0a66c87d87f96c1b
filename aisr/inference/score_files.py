"""Scoring a predictions file against a labelled file."""

from pathlib import Path
from typing import Any

from aisr.metrics.matching import Mismatch, match
from aisr.programs.reading.lines import BadLine, read, scan
from aisr.tasks.task import Task


def score_files(task: Task, gold: Path, predicted: Path) -> dict[str, Any]:
    """The report of `aisr score`: see `aisr.metrics.scores.Report.as_dict`.

    Raises BadLine or Mismatch for what the official evaluator refuses, naming file and line.
    """
    ids, right, numbered = [], [], set()
    for line in scan(gold, task.record, task.name):
        if line.record is None:
            raise BadLine(str(line.problem))
        answer = line.record.gold
        if answer is None:
            raise Mismatch(f"{gold}: {line.record.id} has no labels; the first file must be the labelled one")
        ids.append(line.record.id)
        right.append(answer)
        numbered.add(line.numbered)
        if len(numbered) > 1:
            raise Mismatch(
                f"{gold}:{line.number}: some records have an id, others have none; give one to all or to none"
            )
    predictions = list(read(predicted, task.prediction))
    matched = match(ids, predictions, [prediction.id for prediction in predictions], numbered=numbered == {True})
    try:
        return task.score(right, [prediction.answer for prediction in matched]).report().as_dict()
    except ValueError as error:
        raise Mismatch(f"{predicted} against {gold}: {error}") from error
