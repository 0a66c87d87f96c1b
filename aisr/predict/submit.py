"""Predictions files afterwards: checked for a submission, scored against labels, averaged over several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.base.errors import UserError
from aisr.base.files import read_json
from aisr.predict.evaluate import DECIMALS
from aisr.predict.predict import Appender, claim, locked, run_file
from aisr.programs.probabilities import from_vote
from aisr.programs.records import BadLine, explain, read, scan
from aisr.programs.registry import TASKS, find_task
from aisr.programs.task import Answer, Task

PredictionT = TypeVar("PredictionT")
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


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
            answer = task.submission.fallback(record)
            filled.append(record.id)
        problem = task.submission.problem(record, answer)
        if problem:
            problems.append(f"{record.id}: {problem}")
        lines.append({**task.submission.fields(record), **task.prediction.line(answer)})
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
# files carry unique ids; by line where a file carries none at all (train-dev has no ids). The official evaluator goes
# by line as well when ids repeat, which pairs the wrong records in silence: here that is an error.


class Mismatch(UserError):
    """Gold and predictions are not about the same records."""


def score_files(task: Task, gold: Path, predicted: Path) -> dict[str, Any]:
    """The report of `aisr score`: see `aisr.metrics.scores.Report.as_dict`.

    Raises BadLine or Mismatch for what the official evaluator refuses, naming file and line.
    """
    ids, answers, numbered = [], [], set()
    for line in scan(gold, task.record, task.name):
        if line.record is None:
            raise BadLine(str(line.problem))
        answer = line.record.gold
        if answer is None:
            raise Mismatch(f"{gold}: {line.record.id} has no labels; the first file must be the labelled one")
        ids.append(line.record.id)
        answers.append(answer)
        numbered.add(line.numbered)
        if len(numbered) > 1:
            raise Mismatch(
                f"{gold}:{line.number}: some records have an id, others have none; give one to all or to none"
            )
    predictions = list(read(predicted, task.prediction))
    matched = match(ids, predictions, [prediction.id for prediction in predictions], numbered=numbered == {True})
    try:
        return task.score(answers, [prediction.answer for prediction in matched]).report().as_dict()
    except ValueError as error:
        raise Mismatch(f"{predicted} against {gold}: {error}") from error


def match(
    gold_ids: Sequence[str], predictions: Sequence[PredictionT], prediction_ids: Sequence[str | None], *, numbered: bool
) -> list[PredictionT]:
    """The predictions in the order of the gold records.

    Ids are unique on either side. numbered: the gold file has no ids and these are running numbers ("track1-000001");
    predictions that carry none of these, or no id at all, then match by line. Raises `Mismatch` where ids are missing
    on some lines, or the two sets or numbers of records differ.
    """
    ids = [key for key in prediction_ids if key is not None]
    if ids and len(ids) < len(prediction_ids):
        line = prediction_ids.index(None) + 1
        raise Mismatch(f"prediction {line} has no id, others have one; give an id to all of them or to none")
    if not ids or (numbered and set(ids).isdisjoint(gold_ids)):
        if len(predictions) != len(gold_ids):
            raise Mismatch(f"{len(predictions)} predictions for {len(gold_ids)} gold records, matched by line")
        return list(predictions)
    by_id = dict(zip(ids, predictions, strict=True))
    missing = [key for key in gold_ids if key not in by_id]
    unknown = sorted(set(ids).difference(gold_ids))
    if missing or unknown:
        raise Mismatch(
            f"ids differ: {len(missing)} gold records without a prediction{_first(missing)}, "
            f"{len(unknown)} predictions without a gold record{_first(unknown)}"
        )
    return [by_id[key] for key in gold_ids]


def _first(ids: list[str]) -> str:
    return f" (first: {', '.join(ids[:3])})" if ids else ""


# --- Vote: several predictions files of the same records as one, by the weighted mean of their label probabilities
#
# A file's label need not be its likeliest: label weights of a decision layer may lift another one. In such a statement
# the two change places, so that files that agree on a label keep it. A statement without probabilities counts as a
# single vote. The rest of an answer, such as evidence, is that of the file in which the chosen label is likeliest.


class VoteCount(NamedTuple):
    """The number of records, and of those that all files failed."""

    records: int
    failed: int


class _PredictionLine(BaseModel):
    """A line of a predictions file; other fields than these are the answer."""

    model_config = ConfigDict(extra="allow")

    id: str
    failed: str | None = None
    probabilities: list[dict[str, Probability] | None] | None = None


class _Ballot(NamedTuple):
    """A file's answer to a record: its fields, and a probability for each label of each statement."""

    fields: dict[str, Any]
    probabilities: list[list[float]]


def vote(out: Path, files: Sequence[Path], weights: Sequence[float] = ()) -> VoteCount:
    """Write the weighted mean of predictions files into `out`, in the order of the first one.

    weights: one a file, above 0; none: all count the same. A record that a file failed is decided by the others.
    Raises UserError for files of different tasks or records, or without label probabilities.
    """
    if len(files) < 2:
        raise UserError("a vote takes two predictions files or more, and this is one")
    if weights and (len(weights) != len(files) or not (min(weights) > 0 and sum(weights) < inf)):
        listed = ", ".join(f"{weight:g}" for weight in weights)
        raise UserError(f"--weight {listed}: expected one above 0 for each file")
    if out.exists():
        raise UserError(f"{out} exists; choose another name or remove it")
    shares = [weight / sum(weights) for weight in weights] or [1 / len(files)] * len(files)
    task, origin = _same_origin(files)
    ballots = [_read_ballots(task, file) for file in files]
    for file, of_file in zip(files, ballots, strict=True):
        if odd := next(iter(ballots[0].keys() ^ of_file.keys()), None):
            raise UserError(f"{file} and {files[0]}: only one of them has {odd[:80]}; finish them with `aisr predict`")
    lines = []
    failed = 0
    for key, first in ballots[0].items():
        of_record = [(of_file[key], share) for of_file, share in zip(ballots, shares, strict=True)]
        valid = [(ballot, share) for ballot, share in of_record if isinstance(ballot, _Ballot)]
        failed += not valid
        lines.append({"id": key, **(_mean(task, key, valid) if valid else {"failed": first})})
    with locked(out):
        claim(out, {**origin, "vote": {str(file): share for file, share in zip(files, shares, strict=True)}})
        with Appender(out) as written:
            for line in lines:
                written.append(line)
    return VoteCount(len(lines), failed)


def _same_origin(files: Sequence[Path]) -> tuple[Task, dict[str, Any]]:
    """The task of all files, and the input they were predicted from."""
    origins: list[dict[str, Any]] = []
    for file in files:
        if not file.is_file() or not run_file(file).is_file():
            raise UserError(f"{file}: no predictions of `aisr predict` (it needs {run_file(file)} beside it)")
        origins.append({key: read_json(run_file(file)).get(key) for key in ("task", "input")})
        for key, value in origins[-1].items():
            if value != origins[0][key]:
                other, first = str(value)[:80], str(origins[0][key])[:80]
                raise UserError(f"{file}: its {key} is {other}, and {first} in {files[0]}")
    task = str(origins[0]["task"])
    if task not in TASKS:
        raise UserError(f"{run_file(files[0])}: task {task[:80]!r}; one of: {', '.join(TASKS)}")
    return find_task(task), origins[0]


def _read_ballots(task: Task, file: Path) -> dict[str, _Ballot | str]:
    """Record id -> answer, or the reason of a failed one."""
    ballots: dict[str, _Ballot | str] = {}
    any_probabilities = False
    for line in scan(file, _PredictionLine):
        if line.record is None:
            raise UserError(str(line.problem))
        row = line.record
        any_probabilities |= any(one is not None for one in row.probabilities or ())
        ballots[row.id] = row.failed if row.failed is not None else _ballot(task, f"{file}:{line.number}", row)
    if not any_probabilities and any(isinstance(one, _Ballot) for one in ballots.values()):
        raise UserError(
            f"{file}: no label probabilities; compile with -T states=true, or predict with an LM that gives "
            "log-probabilities"
        )
    return ballots


def _ballot(task: Task, where: str, line: _PredictionLine) -> _Ballot:
    labels = task.labelled.labels
    known = task.prediction.model_fields
    fields = {name: value for name, value in (line.model_extra or {}).items() if name in known}
    try:
        task.prediction.model_validate(fields)
    except ValidationError as error:
        raise UserError(f"{where}: no prediction of {task.name}: {explain(error)}") from error
    chosen = _chosen_labels(fields)
    rows = line.probabilities or [None] * len(chosen)
    if len(rows) != len(chosen):
        raise UserError(f"{where}: probabilities: {len(rows)} for {len(chosen)} labels")
    for row in rows:
        if row is not None and (set(row) != set(labels) or not sum(row.values())):
            raise UserError(f"{where}: probabilities: expected one for each of {', '.join(labels)}")
    return _Ballot(fields, [_favour(labels, label, row) for label, row in zip(chosen, rows, strict=True)])


def _chosen_labels(fields: Mapping[str, Any]) -> list[str]:
    return list(fields["labels"]) if "labels" in fields else [fields["label"]]


def _favour(labels: Sequence[str], chosen: str, row: Mapping[str, float] | None) -> list[float]:
    """The probability of each label; the chosen one changes places with the likeliest."""
    if row is None:
        return from_vote(chosen, labels).probabilities
    likeliest = max(labels, key=lambda label: row[label])
    swapped = {chosen: likeliest, likeliest: chosen} if row[chosen] < row[likeliest] else {}
    return [row[swapped.get(label, label)] / sum(row.values()) for label in labels]


def _mean(task: Task, key: str, ballots: Sequence[tuple[_Ballot, float]]) -> dict[str, Any]:
    """The line of a record but for its id; of labels that are as likely, the one of the first file."""
    labels, total = task.labelled.labels, sum(share for _, share in ballots)
    first = ballots[0][0]
    if any(len(ballot.probabilities) != len(first.probabilities) for ballot, _ in ballots):
        raise UserError(f"{key[:80]}: not as many labels in each file")
    chosen, rows = [], []
    for k, before in enumerate(_chosen_labels(first.fields)):
        row = [sum(share * ballot.probabilities[k][j] for ballot, share in ballots) / total for j in range(len(labels))]
        chosen.append(max([before, *labels], key=lambda label: round(row[labels.index(label)], 9)))
        rows.append({label: round(value, DECIMALS) for label, value in zip(labels, row, strict=True)})
    likeliest, _ = max(ballots, key=lambda one: one[0].probabilities[0][labels.index(chosen[0])] if chosen else 0.0)
    decided = {"labels": chosen} if "labels" in first.fields else {"label": chosen[0]}
    answer = task.prediction.model_validate({**likeliest.fields, **decided}).answer
    return {**task.prediction.line(answer), "probabilities": rows}
