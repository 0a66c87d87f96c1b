"""Predicting a file of records: streamed, resumable, every record accounted for.

A predictions file has one line a record: the official fields, or `{"id", "failed"}` with the reason. Lines are appended
as records finish, so that a kill loses only the calls in flight; at the end they are put into the order of the input.
Beside it, in the folder `.aisr`, `<file>.run.json` says which program, LM and input made it, and `<file>.lock` keeps a
second process out. However many records there are, memory holds a few for each thread, and of the others the id and a
number, never the lines.
"""

import gc
import json
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from dspy.utils.exceptions import LMBillingError
from filelock import FileLock, Timeout
from pydantic import ValidationError

from aisr.base.errors import UserError
from aisr.base.files import RunningDigest, first_difference, read_json, replacing, write_whole, writing
from aisr.base.jsonl import read
from aisr.lm.client import OpenLM
from aisr.predict.evaluate import probabilities
from aisr.predict.judge import Outcome, judge, map_unordered
from aisr.predict.prepare import picture_digest
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Task

MOST_REASONS = 10  # failed records that a summary names
ABSENT = -1
BESIDE = ".aisr"  # the folder of the files that belong to a predictions file


class CannotResume(UserError):
    """The predictions file belongs to another run, or another process is writing it."""


@dataclass
class Summary:
    """The result of a run."""

    records: int  # in the input
    judged: int = 0  # by this run
    failed: int = 0  # of these
    reasons: dict[str, str] = field(default_factory=dict)  # of the first failed records, by their ids
    stopped: str | None = None  # the limit that ended the run early
    kept: int = 0  # finished by an earlier run

    @property
    def left(self) -> int:
        """Records without a line."""
        return self.records - self.kept - self.judged

    def add(self, record: Record, outcome: Outcome) -> None:
        self.judged += 1
        if outcome.failure is not None:
            self.failed += 1
            if len(self.reasons) < MOST_REASONS:
                self.reasons[record.id] = outcome.failure


def predict(
    task: Task,
    program: Program,
    lm: OpenLM,
    data: Path,
    out: Path,
    identity: Mapping[str, Any],
    done: Callable[[], None] = lambda: None,
    judge_record: Callable[[Record], Outcome] | None = None,
) -> Summary:
    """Predict every record of `data` into `out`. Records that an earlier run finished are kept, and those that failed
    there are tried again.

    identity: what a run that goes on must have in common with the earlier one (task, program digest, LM), beside the
    contents of `data` and of the pictures. A limit of the LM's ledger that is reached ends the run early. `done`
    is called after each record. judge_record: judges a record elsewhere, as `aisr.predict.ray` does; default: the
    threads of this process. Raises `CannotResume`, `CannotWrite`, `BadLine` for a bad input line (before anything is
    spent), and the errors that would meet every record alike (see `aisr.predict.judge.judge`).
    """
    judge_record = judge_record or partial(judge, task, program, lm=lm)
    with locked(out):
        # Twice through the file, for it may be larger than the memory: all is checked before anything is spent.
        checked, judged = RunningDigest(), RunningDigest()
        pictures: set[str] = set()
        places: dict[str, int] = {}
        for place, record in enumerate(read(data, task.record, task.name, checked.update)):
            pictures.update(record.img_paths)
            places[record.id] = place
        claim(out, {**identity, **picture_digest(program, program.gallery, pictures), "input": str(checked)})
        finished = keep_finished(task, out, places)
        summary = Summary(len(places), kept=sum(finished))
        # A record whose id is new is judged like the others: the digest shows at the end that the file was changed.
        records = read(data, task.record, task.name, judged.update)
        left = (record for record in records if not (record.id in places and finished[places[record.id]]))
        gc.freeze()  # or Python's collector walks through all of DSPy again and again: 4 % of the time
        try:
            with Appender(out) as file:
                for record, outcome in map_unordered(judge_record, left, lm.threads):
                    file.append({"id": record.id, **_line(task, outcome)})
                    summary.add(record, outcome)
                    done()
        except LMBillingError:
            if lm.ledger.stopped is None:  # then it is the provider who wants money
                raise
            summary.stopped = lm.ledger.stopped
        finally:
            gc.unfreeze()
        if summary.stopped is None and str(judged) != str(checked):
            raise UserError(f"{data} was changed while it was read; remove {out} and predict it anew")
        put_in_order(out, places)
    return summary


def _line(task: Task, outcome: Outcome) -> dict[str, Any]:
    """A line but for its id: the answer, and the probabilities of all labels where they are known."""
    if outcome.failure is not None:
        return {"failed": outcome.failure}
    line = task.prediction.line(outcome.answer)
    return {**line, "probabilities": probabilities(task, outcome)} if task.labels else line


# --- Which run a predictions file belongs to


def run_file(out: Path) -> Path:
    """The file beside `out` that says which run made it."""
    return out.parent / BESIDE / f"{out.name}.run.json"


def lock_file(out: Path) -> Path:
    """The file that a process locks while it writes `out`."""
    return out.parent / BESIDE / f"{out.name}.lock"


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Keep other processes from writing `out` for as long as the block lasts. Raises `CannotResume`, `CannotWrite`."""
    path = lock_file(out)
    with writing(out, path.parent, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, blocking=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise CannotResume(f"{out}: another process is writing it; wait for it, or choose another --out") from error
    try:
        yield
    finally:
        lock.release()


def claim(out: Path, identity: Mapping[str, Any]) -> None:
    """Write the identity of the run beside `out`, or check it. Raises `CannotResume`, with the first difference."""
    path = run_file(out)
    if out.exists() and out.stat().st_size and not path.exists():
        raise CannotResume(f"{out} exists but was not written by aisr; choose another --out")
    if path.exists() and out.exists():
        if difference := first_difference(read_json(path), identity):
            raise CannotResume(
                f"{out} was begun with another {difference}; choose another --out, or remove it to start anew"
            )
        return
    write_whole(path, json.dumps(identity, indent=1, ensure_ascii=False) + "\n")


# --- The lines of a predictions file


class StoredLine(NamedTuple):
    """A line of the file: where it begins, its bytes, the id of its record, and whether that failed."""

    offset: int
    text: bytes
    id: str
    failed: bool


def stored_lines(out: Path) -> Iterator[StoredLine]:
    """The whole lines of a predictions file. A line that a kill tore, or that is none of ours, is passed over."""
    offset = 0
    with out.open("rb") as file:
        for text in file:
            try:
                content = json.loads(text)
            except (ValueError, RecursionError):
                content = None
            if isinstance(content, dict) and text.endswith(b"\n") and isinstance(content.get("id"), str):
                yield StoredLine(offset, text, content["id"], "failed" in content)
            offset += len(text)


def keep_finished(task: Task, out: Path, places: Mapping[str, int]) -> bytearray:
    """For each place of the input whether `out` holds a usable answer to its record.

    Everything else is dropped from the file: failed records, a torn line, a second line for a record.
    """
    finished = bytearray(len(places))
    if not out.exists():
        return finished
    kept = array("q")
    for line in stored_lines(out):
        place = places.get(line.id, ABSENT)
        if place != ABSENT and not finished[place] and not line.failed and _is_answer(task, line.text):
            finished[place] = 1
            kept.append(line.offset)
    _rewrite(out, kept)
    return finished


def _is_answer(task: Task, text: bytes) -> bool:
    try:
        task.prediction.model_validate_json(text)
    except ValidationError:
        return False
    return True


def put_in_order(out: Path, places: Mapping[str, int]) -> None:
    """Bring the lines into the order of their records in the input."""
    offsets = array("q", [ABSENT]) * len(places)
    for line in stored_lines(out):
        offsets[places[line.id]] = line.offset
    _rewrite(out, array("q", (offset for offset in offsets if offset != ABSENT)))


def _rewrite(out: Path, offsets: Sequence[int]) -> None:
    """Leave the lines that begin at the offsets, in that order; nothing is done where the file is just that."""
    end = in_place = 0
    with out.open("rb") as old:
        for offset in offsets:
            if offset != end:
                break
            old.seek(offset)
            end += len(old.readline())
            in_place += 1
        if in_place == len(offsets):
            if end < out.stat().st_size:  # a torn line at the end: no copy is needed, for which there may be no room
                with writing(out):
                    os.truncate(out, end)
            return
        with replacing(out) as new:
            for offset in offsets:
                old.seek(offset)
                new.write(old.readline())


class Appender:
    """Appends whole lines to a file; one that the disk has no room for leaves no trace."""

    def __init__(self, out: Path) -> None:
        with writing(out):
            self._file = out.open("ab", buffering=0)
        self._out = out
        self._end = self._file.tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def append(self, content: Mapping[str, Any]) -> None:
        """Write one JSON object as a line. Raises `CannotWrite`."""
        line = json.dumps(content, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
        with writing(self._out):
            try:
                written = 0
                while written < len(line):
                    written += self._file.write(line[written:]) or 0
            except OSError:
                self._file.truncate(self._end)
                raise
        self._end += len(line)
