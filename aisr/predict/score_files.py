"""Scoring a predictions file against a labelled file.

Which prediction belongs to which gold record is decided as the official evaluator does, but never by guessing: by id
where both files carry unique ids; by line where a file carries none at all (train-dev has no ids). The official
evaluator goes by line as well when ids repeat, which pairs the wrong records in silence: here that is an error.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from aisr.programs.errors import UserError
from aisr.programs.lines import BadLine, read, scan
from aisr.programs.task import Task

PredictionT = TypeVar("PredictionT")


class Mismatch(UserError):
    """Gold and predictions are not about the same records."""


def match(
    gold_ids: Sequence[str], predictions: Sequence[PredictionT], prediction_ids: Sequence[str | None], *, numbered: bool
) -> list[PredictionT]:
    """The predictions in the order of the gold records.

    gold_ids: unique. `numbered` says that the gold file has no ids and these are running numbers ("track1-000001"):
    predictions that carry none of these, or no id at all, then match by line.
    Raises `Mismatch` where ids repeat, are missing on some lines, or the two sets or numbers of records differ.
    """
    given = [key for key in prediction_ids if key is not None]
    if given and len(given) < len(prediction_ids):
        line = prediction_ids.index(None) + 1
        raise Mismatch(f"prediction {line} has no id, others have one; give an id to all of them or to none")
    repeated = len(given) - len(set(given))
    if repeated:
        twice = next(key for key in given if given.count(key) > 1)
        raise Mismatch(f"prediction ids repeat ({repeated} times, the first {twice!r}); every id must be unique")
    if not given or (numbered and set(given).isdisjoint(gold_ids)):
        if len(predictions) != len(gold_ids):
            raise Mismatch(f"{len(predictions)} predictions for {len(gold_ids)} gold records, matched by line")
        return list(predictions)
    by_id = dict(zip(given, predictions, strict=True))
    missing = [key for key in gold_ids if key not in by_id]
    unknown = sorted(set(given).difference(gold_ids))
    if missing or unknown:
        raise Mismatch(
            f"ids differ: {len(missing)} gold records without a prediction{_some(missing)}, "
            f"{len(unknown)} predictions without a gold record{_some(unknown)}"
        )
    return [by_id[key] for key in gold_ids]


def _some(ids: list[str]) -> str:
    return f" (first: {', '.join(ids[:3])})" if ids else ""


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
