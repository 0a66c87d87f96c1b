"""Predictions files: written, record by record and resumable; checked for a submission; scored against labels.

A predictions file has one line a record: the official fields, or `{"id", "failed"}` with the reason. Lines are appended
as records finish, so that a kill loses little, and at the end they are in the order of the input. Beside it, in the
folder `.aisr`, `<file>.run.json` says which program, LM and input made it, and `<file>.lock` keeps a second process
out.
"""

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.base.errors import UserError, merge_repeats
from aisr.base.files import as_json, digest_file, first_difference, read_json, replacing, write_whole, writing
from aisr.base.jsonl import BadLine, count_lines, explain, read, scan
from aisr.base.progress import counted
from aisr.judging.evaluate import probabilities
from aisr.judging.judge import Outcome, judge, map_ordered, picture_digest
from aisr.lm.budget import BudgetSpent
from aisr.lm.client import FATAL_ERRORS, OpenLM
from aisr.metrics.scores import CorpusScore
from aisr.programs.program import Program
from aisr.programs.records import Prediction, Record, Text
from aisr.programs.task import Task

SIDECAR_DIR = ".aisr"  # the folder of the files that belong to a predictions file
PROBABILITY_DECIMALS = 4  # of a probability


@dataclass
class PredictionSummary:
    """How a run went."""

    records: int  # in the input
    judged: int = 0  # by this run
    failures: dict[str, str] = field(default_factory=dict)  # of these: record id -> reason
    stopped: str | None = None  # the limit that ended the run early
    kept: int = 0  # finished by an earlier run
    # How often each was given, in all records with an answer.
    labels: Counter[str] = field(default_factory=Counter, compare=False)

    @property
    def left(self) -> int:
        """Records without a line."""
        return self.records - self.kept - self.judged


def predict(
    task: Task,
    program: Program,
    lm: OpenLM,
    data: Path,
    out: Path,
    identity: Mapping[str, Any],
    judge_record: Callable[[Record], Outcome] | None = None,
    threads: int | None = None,
) -> PredictionSummary:
    """Predict every record of `data` into `out`. Records that an earlier run finished are kept, and those that failed
    there are tried again.

    identity: what a run that goes on must have in common with the earlier one (task, program digest, LM), beside the
    contents of `data` and of the pictures. A limit of the LM's ledger that is reached ends the run early.
    judge_record: judges a record elsewhere, as `aisr.judging.ray` does, `threads` at a time; default: the threads of
    this process. Raises UserError where the file belongs to another run or another
    process writes it, `CannotWrite`, `BadLine` for a bad input line (all before anything is spent), and the errors that
    would meet every record alike (see `aisr.judging.judge.judge`), after what was under way is written.
    """
    judge_record = judge_record or partial(judge, task, program, lm=lm)
    fatal: list[Exception] = []

    def attempt(record: Record) -> tuple[Record, Outcome | None]:
        try:
            return record, judge_record(record)
        except FATAL_ERRORS as error:
            fatal.append(error)
            return record, None

    with locked(out):
        offsets, pictures = read_ids(task, program, data)
        check_identity(out, {**identity, **pictures, "input": digest_file(data)})
        kept = keep_finished(task, out, offsets)
        summary = PredictionSummary(len(offsets), kept=kept)
        left = (record for record in read(data, task.record, task.name) if offsets.get(record.id) is None)
        judged = map_ordered(attempt, takewhile(lambda _: not fatal, left), threads or lm.threads)
        with out.open("ab", buffering=0) as file:
            for record, outcome in counted(judged, "judging records", summary.left):
                if outcome is None:
                    continue
                offsets[record.id] = append(out, file, _line(task, record, outcome))
                summary.judged += 1
                if outcome.failure is not None:
                    summary.failures[record.id] = outcome.failure
        summary.labels = order_lines(task, out, [offset for offset in offsets.values() if offset is not None])
    if fatal and not isinstance(fatal[0], BudgetSpent):
        raise fatal[0]
    summary.stopped = lm.ledger.stopped if fatal else None
    return summary


# Where the line of each record begins, by its id, in the order of the input; None: it has no line yet.
Offsets = dict[str, int | None]


def read_ids(task: Task, program: Program, data: Path) -> tuple[Offsets, dict[str, str]]:
    """Return the ids of all records, without an offset, and the part of a run's identity that is their pictures. Raises
    `BadLine` for a bad line. No record is kept."""
    offsets: Offsets = {}
    paths: set[str] = set()
    for record in counted(read(data, task.record, task.name), f"checking {data.name}", count_lines(data)):
        offsets[record.id] = None
        if program.shows_pictures:
            paths.update(record.img_paths)
    return offsets, picture_digest(program, paths)


# --- Which run a predictions file belongs to


def sidecar(out: Path, suffix: str) -> Path:
    """Return the file that belongs to `out`: `run.json` says which run made it, `program.txt` by which program, in
    words; a process locks `lock` while it writes."""
    return out.parent / SIDECAR_DIR / f"{out.name}.{suffix}"


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Keep other processes from writing `out` for as long as the block lasts. Raises UserError, `CannotWrite`."""
    path = sidecar(out, "lock")
    with writing(out, path.parent, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, blocking=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise UserError(f"{out}: another process is writing it; wait for it, or choose another --out") from error
    try:
        yield
    finally:
        lock.release()


def check_identity(out: Path, identity: Mapping[str, Any]) -> None:
    """Write the identity of the run beside `out`, or check it. Raises UserError, with the first difference."""
    path = sidecar(out, "run.json")
    if out.exists() and out.stat().st_size and not path.exists():
        raise UserError(f"{out} exists but was not written by aisr; choose another --out")
    if path.exists() and out.exists() and out.stat().st_size:  # an empty file has begun nothing
        if difference := first_difference(read_json(path), identity):
            raise UserError(
                f"{out} was begun with another {difference}; choose another --out, or remove it to start anew"
            )
        return
    write_whole(path, as_json(dict(identity)))


# --- The lines of a predictions file


def _line(task: Task, record: Record, outcome: Outcome) -> bytes:
    """Return a line: the answer, and the probabilities of all labels where they are known; or why the record failed."""
    content: dict[str, Any] = {"id": record.id}
    if outcome.failure is not None:
        content["failed"] = outcome.failure
    else:
        content |= task.prediction.line(outcome.answer)
        if task.labels:
            chances = [probabilities(task, judgement) for judgement in outcome.judgements]
            content["probabilities"] = [
                one and {name: round(one[name], PROBABILITY_DECIMALS) for name in one} for one in chances
            ]
    return json.dumps(content, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"


def keep_finished(task: Task, out: Path, offsets: Offsets) -> int:
    """Leave in `out`, which is made if needed, the lines with a usable answer to a record, enter where each begins, and
    return their number.

    Everything else is left out: failed records, a line that a kill tore, a second line for a record.
    """
    kept = 0
    with replacing(out) as file, out.open("rb") if out.exists() else io.BytesIO() as earlier:
        for line in counted(earlier, f"checking what {out.name} has", count_lines(out) if out.exists() else 0):
            try:
                key = task.prediction.model_validate_json(line).id
            except ValidationError:
                continue
            if line.endswith(b"\n") and key in offsets and offsets[key] is None:
                offsets[key] = file.tell()
                file.write(line)
                kept += 1
    return kept


def append(out: Path, file: BinaryIO, line: bytes) -> int:
    """Write a whole line to `out`, or none where the disk has no room for it; return where it begins. Raises
    `CannotWrite`."""
    end, written = file.seek(0, 2), 0
    with writing(out):
        try:
            while written < len(line):
                written += file.write(line[written:]) or 0
        except OSError:
            file.truncate(end)
            raise
    return end


def order_lines(task: Task, out: Path, offsets: Sequence[int]) -> Counter[str]:
    """Put the lines of `out` that begin at `offsets` in that order; return how often each label stands in them."""
    with replacing(out) as file, out.open("rb") as unordered:

        def lines() -> Iterator[Mapping[str, Any]]:
            for offset in offsets:
                unordered.seek(offset)
                line = unordered.readline()
                file.write(line)
                yield json.loads(line)

        return count_labels(task, lines())


def count_labels(task: Task, lines: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return how often each label stands in some lines, the commonest first; empty for a task without labels."""
    counts = Counter[str]()
    for line in lines:
        for value in line.values():
            said = value if isinstance(value, list) else [value]
            counts.update(label for label in said if label in task.labels)
    return Counter(dict(counts.most_common()))


# --- Submission: the lines that the evaluation server takes (`Task.submission` writes them)


@dataclass(frozen=True)
class SubmissionCheck:
    """Predictions checked against the test inputs."""

    lines: list[dict[str, Any]]  # ready to submit
    problems: list[str]  # one message each, with an id or a line; the same about several once, with their number
    filled: list[str]  # ids of failed records that were filled in

    def count_labels(self, task: Task) -> Counter[str]:
        """Return how often each label of a task is the answer, the commonest first."""
        return count_labels(task, self.lines)


def check_submission(task: Task, data: Path, predictions: Path, fill_failed: bool) -> SubmissionCheck:
    """Check ids, numbers of labels, labels and paragraph ids, in the order of the test inputs.

    fill_failed: give a failed record the task's commonest answer instead of counting it as a problem.
    """
    outcomes, problems = _read_outcomes(task, predictions)
    lines, filled = [], []
    for record in read(data, task.record, task.name):
        outcome = outcomes.pop(record.id, None)
        if outcome is None:
            problems.append((record.id, "no prediction"))
        elif outcome.failure is not None and not fill_failed:
            reason = f"failed ({outcome.failure})"
            problems.append((record.id, f"{reason}; predict again, or --on-failure fallback fills it in"))
        else:
            answer = outcome.answer
            if outcome.failure is not None:
                answer = task.fallback(record)
                filled.append(record.id)
            if problem := task.problem(record, answer):
                problems.append((record.id, problem))
            lines.append({**task.submitted_fields(record), **task.prediction.line(answer)})
    problems += [(key, "not among the test inputs") for key in outcomes]
    return SubmissionCheck(lines, merge_repeats(problems), filled)


class _AnyLine(BaseModel):
    """A line of a failed record, or of a judged one, whose other fields are validated afterwards."""

    model_config = ConfigDict(extra="allow")

    id: Text
    failed: str | None = None  # the reason


def _read_outcomes(task: Task, predictions: Path) -> tuple[dict[str, Outcome], list[tuple[str, str]]]:
    """Return the outcome of each record, by its id; and the problems of the lines, each with its place."""
    outcomes: dict[str, Outcome] = {}
    problems = []
    for number, line, problem, _ in scan(predictions, _AnyLine):
        place = f"{predictions}:{number}"
        if line is None:
            problems.append((place, str(problem).removeprefix(f"{place}: ")))
        elif line.failed is not None:
            outcomes[line.id] = Outcome(None, line.failed)
        else:
            try:
                prediction = task.prediction.model_validate(line.model_dump(exclude_unset=True))
                outcomes[line.id] = Outcome(prediction.answer)
            except ValidationError as error:
                problems.append((place, explain(error)))
    return outcomes, problems


# --- Scores against a labelled file
#
# Predictions are matched with gold records as the official evaluator does it, but never by guessing: by id where both
# files carry unique ids; by line where a file carries none at all (train-dev has no ids). A record without an id beside
# others with one has that of its line, as everywhere here. The official evaluator goes by line as well when ids repeat,
# which pairs the wrong records in silence: here that is an error.


def score_files(task: Task, gold: Path, predicted: Path) -> CorpusScore:
    """Return the official score of a predictions file.

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
        return task.score(answers, [prediction.answer for prediction in matched]).corpus_score()
    except ValueError as error:
        raise UserError(f"{predicted} against {gold}: {error}") from error


def _match(gold_ids: Sequence[str], predictions: list[Prediction], numbered: bool) -> list[Prediction]:
    """Return the predictions in the order of the gold records; ids are unique on either side.

    numbered: the gold file has no ids and these are running numbers ("track1-000001"); predictions that carry none of
    these, or no id at all, then match by line.
    """
    ids = [prediction.id for prediction in predictions]
    has_none = set(ids) <= {None}
    if None in ids and not has_none:
        line = ids.index(None) + 1
        raise UserError(f"prediction {line} has no id, others have one; give an id to all of them or to none")
    if has_none or (numbered and set(ids).isdisjoint(gold_ids)):
        if len(ids) != len(gold_ids):
            raise UserError(f"{len(ids)} predictions for {len(gold_ids)} gold records, matched by line")
        return predictions
    by_id = dict(zip(ids, predictions, strict=True))
    missing = [key for key in gold_ids if key not in by_id]
    unknown = sorted(map(str, set(ids) - set(gold_ids)))
    if missing or unknown:
        first = ", ".join([*missing, *unknown][:3])
        counts = f"{len(missing)} gold records without a prediction, {len(unknown)} predictions without a gold record"
        raise UserError(f"ids differ: {counts} (first: {first})")
    return [by_id[key] for key in gold_ids]
