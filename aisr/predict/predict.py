"""A predictions file while it is being written: whose it is, what of it is finished, and its order.

One line a record: the official fields, or `{"id", "failed"}` with the reason. Lines are appended as records finish, so
that a kill loses what is in flight and nothing else; at the end they are put into the order of the input. Beside it,
in the folder `.aisr`, `<file>.run.json` says which program, LM and input made it, and `<file>.lock` keeps a second
process out. In memory are the ids of the records and a number for each, never the lines.

Predicting a file of records: streamed, resumable, every record accounted for.

However many records there are, a few for each thread are held at a time, and of the others the id and its place. What
is written, and how it survives a kill, is in `aisr.predict.predict`.
"""

import gc
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from dspy.utils.exceptions import LMBillingError
from filelock import FileLock, Timeout
from pydantic import ValidationError

from aisr.base.files import RunningDigest, first_difference, read_json, replacing, write_whole, writing
from aisr.lm.budget import Ledger
from aisr.lm.client import OpenLM
from aisr.predict.evaluate import probabilities
from aisr.predict.judge import Outcome, finished, judge
from aisr.programs.base import Judge
from aisr.programs.errors import UserError
from aisr.programs.lines import read
from aisr.programs.records import Record
from aisr.programs.task import Task

ABSENT = -1
BESIDE = ".aisr"  # the folder of what belongs to the files beside it


class CannotResume(UserError):
    """The predictions file belongs to another run, or another process is writing it."""


class Stored(NamedTuple):
    """A line of the file: where it begins, its bytes, and the id of its record."""

    offset: int
    text: bytes
    id: str
    failed: bool


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Keep other processes from writing `out` for as long as the block lasts. Raises `CannotResume`, `CannotWrite`."""
    place = lock_file(out)
    with writing(out, place.parent, place):
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(place, blocking=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise CannotResume(f"{out}: another process is writing it; wait for it, or choose another --out") from error
    try:
        yield
    finally:
        lock.release()


def claim(out: Path, identity: Mapping[str, Any]) -> None:
    """Write down whose predictions these are, or check it. Raises `CannotResume`, with what differs and both values."""
    beside = run_file(out)
    if out.exists() and out.stat().st_size and not beside.exists():
        raise CannotResume(f"{out} is there already and no run of ours wrote it; choose another --out")
    if beside.exists() and out.exists():
        other = first_difference(read_json(beside), identity)
        if other:
            raise CannotResume(
                f"{out} was begun with another {other}; choose another --out, or remove it to start anew"
            )
        return
    write_whole(beside, json.dumps(identity, indent=1, ensure_ascii=False) + "\n")


def run_file(out: Path) -> Path:
    """Where it stands who made `out`: in a folder beside it."""
    return out.parent / BESIDE / f"{out.name}.run.json"


def lock_file(out: Path) -> Path:
    """What a process holds while it writes `out`."""
    return out.parent / BESIDE / f"{out.name}.lock"


def lines(out: Path) -> Iterator[Stored]:
    """The whole lines of a predictions file. A line that a kill tore, or that is none of ours, is passed over."""
    offset = 0
    with out.open("rb") as file:
        for text in file:
            try:
                content = json.loads(text)
            except (ValueError, RecursionError):
                content = None
            if isinstance(content, dict) and text.endswith(b"\n") and isinstance(content.get("id"), str):
                yield Stored(offset, text, content["id"], "failed" in content)
            offset += len(text)


def keep_finished(task: Task, out: Path, places: Mapping[str, int]) -> bytearray:
    """For each place of the input whether `out` holds a usable answer to its record.

    Whatever else stands in the file is dropped from it: failed records, a torn line, a second line for a record.
    """
    finished = bytearray(len(places))
    if not out.exists():
        return finished
    kept = array("q")
    for line in lines(out):
        place = places.get(line.id, ABSENT)
        if place != ABSENT and not finished[place] and not line.failed and _is_answer(task, line.text):
            finished[place] = 1
            kept.append(line.offset)
    _rewrite(out, kept)
    return finished


def put_in_order(out: Path, places: Mapping[str, int]) -> None:
    """Bring lines that were finished early or late to where their records stand in the input."""
    offsets = array("q", [ABSENT]) * len(places)
    for line in lines(out):
        offsets[places[line.id]] = line.offset
    _rewrite(out, array("q", (offset for offset in offsets if offset != ABSENT)))


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


def _is_answer(task: Task, text: bytes) -> bool:
    try:
        task.prediction.model_validate_json(text)
    except ValidationError:
        return False
    return True


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


Judging = Callable[[Iterable[Record]], Iterator[tuple[Record, Outcome]]]
REASONS = 10  # failed records that a summary names


@dataclass
class Summary:
    """What a run left: records in the input, records judged by this run, how many failed, the first of
    these with their reasons, and the limit that stopped the run before its end."""

    records: int
    judged: int = 0
    failed: int = 0
    reasons: dict[str, str] = field(default_factory=dict)
    stopped: str | None = None
    kept: int = 0  # finished by an earlier run

    @property
    def left(self) -> int:
        """Records without a line."""
        return self.records - self.kept - self.judged

    def add(self, record: Record, outcome: Outcome) -> None:
        self.judged += 1
        if outcome.failure is not None:
            self.failed += 1
            if len(self.reasons) < REASONS:
                self.reasons[record.id] = outcome.failure


def here(task: Task, program: Judge, lm: OpenLM) -> Judging:
    """Judging by the threads of this process."""

    def work(record: Record) -> Outcome:
        return judge(task, program, program.prepare(record), lm)

    return lambda records: finished(records, work, lm.threads)


def predict(
    task: Task,
    judging: Judging,
    data: Path,
    out: Path,
    identity: Mapping[str, Any],
    ledger: Ledger,
    done: Callable[[], None] = lambda: None,
    pictures: Callable[[Set[str]], Mapping[str, str]] = lambda paths: {},
) -> Summary:
    """Predict every record of `data` into `out`. What an earlier run finished is kept, and what
    failed there is tried again.

    judging: what judges records, such as `here`. identity: what makes a run this run (task, program digest, LM);
    pictures: what pictures add to that, from their paths in the whole file.
    ledger: where its calls are entered; a limit that is reached ends the run early. `done` is called for each record
    that is judged. Raises `CannotResume`, `CannotWrite`, `BadLine` for a bad input line (before anything is spent), and
    the errors that would meet every record alike (see `aisr.predict.judge.judge`).
    """
    with locked(out):
        # Twice through the file, for it may be larger than the memory: all is checked before anything is spent.
        checked, judged = RunningDigest(), RunningDigest()
        paths: set[str] = set()
        places: dict[str, int] = {}
        for place, record in enumerate(read(data, task.record, task.name, checked.update)):
            paths.update(record.img_paths)
            places[record.id] = place
        whose = {**identity, **pictures(paths), "input": str(checked)}
        claim(out, whose)
        finished_before = keep_finished(task, out, places)
        summary = Summary(len(places), kept=sum(finished_before))
        again = read(data, task.record, task.name, judged.update)
        # An id that was not there before is judged like the others: the digest tells of it in the end.
        left = (record for record in again if not (record.id in places and finished_before[places[record.id]]))
        gc.freeze()  # or Python's collector walks through all of DSPy again and again: 4 % of the time
        try:
            with Appender(out) as file:
                for record, outcome in judging(left):
                    file.append({"id": record.id, **_said(task, outcome)})
                    summary.add(record, outcome)
                    done()
        except LMBillingError:
            if ledger.stopped is None:  # then it is the provider who wants money
                raise
            summary.stopped = ledger.stopped
        finally:
            gc.unfreeze()
        if summary.stopped is None and str(judged) != str(checked):
            raise UserError(f"{data} was changed while it was read; remove {out} and predict it anew")
        put_in_order(out, places)
    return summary


def _said(task: Task, outcome: Outcome) -> dict[str, Any]:
    """A line but for its id: the answer, and of each label that it holds the probabilities of all, where they are
    known."""
    if outcome.failure is not None:
        return {"failed": outcome.failure}
    line = task.line(outcome.answer)
    return {**line, "probabilities": probabilities(task, outcome)} if task.judgements else line
