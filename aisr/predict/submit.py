"""From a predictions file to what the evaluation server takes (`Task.submission` writes it).

Scoring a predictions file against a labelled file.

Which prediction belongs to which gold record is decided as the official evaluator does, but never by guessing: by id
where both files carry unique ids; by line where a file carries none at all (train-dev has no ids). The official
evaluator goes by line as well when ids repeat, which pairs the wrong records in silence: here that is an error.

Several predictions files of the same records as one: the weighted mean of their label probabilities.

A label is chosen that need not be the likeliest: label weights of a decision layer may lift another one. In such a
statement the two change places, so that files that agree on a label keep it. A statement without probabilities counts
as a single vote. The rest of an answer, such as evidence, is that of the file in which the chosen label is likeliest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.base.files import read_json
from aisr.predict.evaluate import DECIMALS
from aisr.predict.predict import Appender, claim, locked, run_file
from aisr.programs.asking.label_probabilities import from_vote
from aisr.programs.errors import UserError
from aisr.programs.lines import BadLine, explain, read, scan
from aisr.programs.registry import TASKS
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


Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Voted(NamedTuple):
    """How many records there are, and how many of them all files failed."""

    records: int
    failed: int


class _Predicted(BaseModel):
    """A line of a predictions file; what is no field here is the answer."""

    model_config = ConfigDict(extra="allow")

    id: str
    failed: str | None = None
    probabilities: list[dict[str, Probability] | None] | None = None


class _Answer(NamedTuple):
    """What a file says of a record: the fields of its answer, and of each statement a probability for each label."""

    fields: dict[str, Any]
    probabilities: list[list[float]]


def vote(out: Path, files: Sequence[Path], weights: Sequence[float] = ()) -> Voted:
    """Write the weighted mean of predictions files into `out`, in the order of the first one.

    weights: one a file, above 0; none: all count the same. A record that a file failed is decided by the others.
    Raises UserError for files of different tasks or records, or without label probabilities.
    """
    if len(files) < 2:
        raise UserError(f"{len(files)} predictions files; a vote takes two or more")
    if weights and (len(weights) != len(files) or not all(0 < one < inf for one in weights)):
        raise UserError(f"--weight {', '.join(f'{one:g}' for one in weights)}: expected one above 0 for each file")
    if out.exists():
        raise UserError(f"{out} is there already; choose another name or remove it")
    shares = list(weights or [1.0] * len(files))
    task, origin = _same_origin(files)
    read = [_read(task, file) for file in files]
    for file, lines in zip(files, read, strict=True):
        if odd := next(iter(read[0].keys() ^ lines.keys()), None):
            raise UserError(f"{file} and {files[0]}: only one of them has {odd[:80]}; finish them with `aisr predict`")
    failed = 0
    with locked(out):
        claim(out, {**origin, "vote": {str(file): share for file, share in zip(files, shares, strict=True)}})
        with Appender(out) as written:
            for key, first in read[0].items():
                given = [(lines[key], share) for lines, share in zip(read, shares, strict=True)]
                answers = [(line, share) for line, share in given if isinstance(line, _Answer)]
                failed += not answers
                written.append({"id": key, **(_mean(task, key, answers) if answers else {"failed": first})})
    return Voted(len(read[0]), failed)


def _same_origin(files: Sequence[Path]) -> tuple[Task, dict[str, Any]]:
    """The task of all files, and what they were predicted from."""
    origins: list[dict[str, Any]] = []
    for file in files:
        if not file.is_file() or not run_file(file).is_file():
            raise UserError(f"{file}: no predictions of `aisr predict` (it needs {run_file(file)} beside it)")
        origins.append({key: read_json(run_file(file)).get(key) for key in ("task", "input")})
        for key, value in origins[-1].items():
            if value != origins[0][key]:
                raise UserError(f"{file}: its {key} is {value}, and {origins[0][key]} in {files[0]}")
    if origins[0]["task"] not in TASKS:
        raise UserError(f"{run_file(files[0])}: task {origins[0]['task']!r}; one of: {', '.join(TASKS)}")
    return TASKS[origins[0]["task"]], origins[0]


def _read(task: Task, file: Path) -> dict[str, _Answer | str]:
    """Record id -> answer, or why it failed."""
    found: dict[str, _Answer | str] = {}
    known = 0
    for line in scan(file, _Predicted):
        if line.record is None:
            raise UserError(str(line.problem))
        one = line.record
        known += sum(row is not None for row in one.probabilities or ())
        found[one.id] = one.failed if one.failed is not None else _answer(task, f"{file}:{line.number}", one)
    if not known and any(isinstance(one, _Answer) for one in found.values()):
        raise UserError(
            f"{file}: no label probabilities; compile with -T states=true, or predict with an LM that gives "
            "log-probabilities"
        )
    return found


def _answer(task: Task, where: str, line: _Predicted) -> _Answer:
    labels = task.labelled.labels
    fields = dict(line.model_extra or {})
    try:
        task.prediction.model_validate(fields)
    except ValidationError as error:
        raise UserError(f"{where}: no prediction of {task.name}: {explain(error)}") from error
    said = _labels(fields)
    rows = line.probabilities or [None] * len(said)
    if len(rows) != len(said):
        raise UserError(f"{where}: probabilities: {len(rows)} for {len(said)} labels")
    for row in rows:
        if row is not None and (set(row) != set(labels) or not sum(row.values())):
            raise UserError(f"{where}: probabilities: expected one for each of {', '.join(labels)}")
    return _Answer(fields, [_likeliest_first(labels, label, row) for label, row in zip(said, rows, strict=True)])


def _labels(fields: Mapping[str, Any]) -> list[str]:
    return list(fields["labels"]) if "labels" in fields else [fields["label"]]


def _likeliest_first(labels: Sequence[str], said: str, row: Mapping[str, float] | None) -> list[float]:
    """The probability of each label, the one that was said being the likeliest."""
    if row is None:
        return from_vote(said, labels).chances
    likeliest = max(labels, key=lambda label: row[label])
    swapped = {said: likeliest, likeliest: said} if row[said] < row[likeliest] else {}
    return [row[swapped.get(label, label)] / sum(row.values()) for label in labels]


def _mean(task: Task, key: str, given: Sequence[tuple[_Answer, float]]) -> dict[str, Any]:
    """The line of a record but for its id; of labels that are as likely, the one that the first file says."""
    labels, total = task.labelled.labels, sum(share for _, share in given)
    first = given[0][0]
    if any(len(answer.probabilities) != len(first.probabilities) for answer, _ in given):
        raise UserError(f"{key[:80]}: not as many labels in each file")
    chosen, rows = [], []
    for k, before in enumerate(_labels(first.fields)):
        row = [sum(share * answer.probabilities[k][j] for answer, share in given) / total for j in range(len(labels))]
        chosen.append(max([before, *labels], key=lambda label: round(row[labels.index(label)], 9)))
        rows.append({label: round(value, DECIMALS) for label, value in zip(labels, row, strict=True)})
    likeliest, _ = max(given, key=lambda one: one[0].probabilities[0][labels.index(chosen[0])] if chosen else 0.0)
    decided = {"labels": chosen} if "labels" in first.fields else {"label": chosen[0]}
    answer = task.prediction.model_validate({**likeliest.fields, **decided}).answer
    return {**task.line(answer), "probabilities": rows}
