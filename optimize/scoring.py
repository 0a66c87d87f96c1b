"""Scoring a predictions file against a labelled file."""

from pathlib import Path
from typing import Any

from metrics.matching import Mismatch, match
from metrics.official import score
from optimize.tasks import Task
from programs.records import has_ids, read


def score_files(task: Task, gold: Path, predicted: Path) -> dict[str, Any]:
    """The report of `aisr score`: see `metrics.official.Score.report`.

    Raises BadLine or Mismatch for what the official evaluator refuses, naming file and line.
    """
    numbered = not has_ids(gold)
    ids, right = [], []
    for record in read(gold, task.record, task.name):
        answer = getattr(record, "gold", None)
        if answer is None:
            raise Mismatch(f"{gold}: {record.id} has no labels; the first file must be the labelled one")
        ids.append(record.id)
        right.append(answer)
    lines = list(read(predicted, task.prediction))
    matched = match(ids, lines, [line.id for line in lines], numbered=numbered)
    try:
        return score(task.tally(right, [line.answer for line in matched])).report()
    except ValueError as error:
        raise Mismatch(f"{predicted} against {gold}: {error}") from error
