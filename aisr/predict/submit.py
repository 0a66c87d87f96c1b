"""Predictions files afterwards: checked for a submission, scored against labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.base.errors import UserError
from aisr.base.jsonl import BadLine, explain, read, scan
from aisr.programs.records import Prediction
from aisr.programs.task import Answer, Task

# --- Submission: the lines that the evaluation server takes (`Task.submission` writes them)


@dataclass(frozen=True)
class SubmissionCheck:
    """Predictions checked against the test inputs."""

    lines: list[dict[str, Any]]  # ready to submit
    problems: list[str]  # one message each
    filled: list[str]  # ids of failed records that were filled in


def check_submission(task: Task, data: Path, predictions: Path, fill_failed: bool) -> SubmissionCheck:
    """Check ids, numbers of labels, labels and paragraph ids, in the order of the test inputs.

    fill_failed: give a failed record the task's commonest answer instead of counting it as a problem.
    """
    answers, problems = _read_answers(task, predictions)
    lines, filled = [], []
    for record in read(data, task.record, task.name):
        if record.id not in answers:
            problems.append(f"{record.id}: no prediction")
            continue
        answer = answers.pop(record.id)
        if isinstance(answer, str):
            if not fill_failed:
                problems.append(f"{record.id}: failed ({answer}); predict again, or --on-failure fallback fills it in")
                continue
            answer = task.fallback(record)
            filled.append(record.id)
        problem = task.problem(record, answer)
        if problem:
            problems.append(f"{record.id}: {problem}")
        lines.append({**task.submitted_fields(record), **task.prediction.line(answer)})
    problems += [f"{key}: not among the test inputs" for key in answers]
    return SubmissionCheck(lines, problems, filled)


class _AnyLine(BaseModel):
    """Any JSON object. It is validated afterwards: a failed record has other fields than a judged one."""

    model_config = ConfigDict(extra="allow")

    id: Any = None


def _read_answers(task: Task, predictions: Path) -> tuple[dict[str, Answer | str], list[str]]:
    """Record id -> answer, or the reason of a failed one; and the problems of the lines."""
    answers: dict[str, Answer | str] = {}
    problems = []
    for number, line, problem, _ in scan(predictions, _AnyLine):
        content = line.model_dump() if line else {}
        where = f"{predictions}:{number}"
        if problem:
            problems.append(problem)
        elif not isinstance(content.get("id"), str):
            problems.append(f"{where}: id: missing; every prediction names its record")
        elif isinstance(content.get("failed"), str):
            answers[content["id"]] = content["failed"]
        else:
            try:
                answers[content["id"]] = task.prediction.model_validate(content).answer
            except ValidationError as error:
                problems.append(f"{where}: {explain(error)}")
    return answers, problems


# --- Scores against a labelled file
#
# Predictions are matched with gold records as the official evaluator does it, but never by guessing: by id where both
# files carry unique ids; by line where a file carries none at all (train-dev has no ids). A record without an id beside
# others with one has that of its line, as everywhere here. The official evaluator goes by line as well when ids repeat,
# which pairs the wrong records in silence: here that is an error.


def score_files(task: Task, gold: Path, predicted: Path) -> dict[str, Any]:
    """The report of `aisr score`: see `aisr.metrics.scores.Report.as_dict`.

    Raises UserError for what the official evaluator refuses, naming file and line.
    """
    ids, answers, numbered = [], [], set()
    for line in scan(gold, task.record, task.name):
        if line.record is None:
            raise BadLine(str(line.problem))
        answer = line.record.gold
        if answer is None:
            raise UserError(f"{gold}: {line.record.id} has no labels; the first file must be the labelled one")
        ids.append(line.record.id)
        answers.append(answer)
        numbered.add(line.numbered)
    matched = _match(ids, list(read(predicted, task.prediction)), numbered == {True})
    try:
        return task.score(answers, [prediction.answer for prediction in matched]).report().as_dict()
    except ValueError as error:
        raise UserError(f"{predicted} against {gold}: {error}") from error


def _match(gold_ids: Sequence[str], predictions: list[Prediction], numbered: bool) -> list[Prediction]:
    """The predictions in the order of the gold records; ids are unique on either side.

    numbered: the gold file has no ids and these are running numbers ("track1-000001"); predictions that carry none of
    these, or no id at all, then match by line.
    """
    by_id = {prediction.id: prediction for prediction in predictions}
    if None in by_id and len(by_id) > 1:
        line = [prediction.id for prediction in predictions].index(None) + 1
        raise UserError(f"prediction {line} has no id, others have one; give an id to all of them or to none")
    if by_id.keys() <= {None} or (numbered and by_id.keys().isdisjoint(gold_ids)):
        if len(predictions) != len(gold_ids):
            raise UserError(f"{len(predictions)} predictions for {len(gold_ids)} gold records, matched by line")
        return predictions
    missing = [key for key in gold_ids if key not in by_id]
    unknown = sorted(str(key) for key in by_id.keys() - set(gold_ids))
    if missing or unknown:
        raise UserError(
            f"ids differ: {len(missing)} gold records without a prediction{_first(missing)}, "
            f"{len(unknown)} predictions without a gold record{_first(unknown)}"
        )
    return [by_id[key] for key in gold_ids]


def _first(ids: list[str]) -> str:
    return f" (first: {', '.join(ids[:3])})" if ids else ""
