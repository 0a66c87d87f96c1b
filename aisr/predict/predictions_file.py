"""A predictions file while it is being written: whose it is, what of it is finished, and its order.

One line a record: the official fields, or `{"id", "failed"}` with the reason. Lines are appended as records finish, so
that a kill loses what is in flight and nothing else; at the end they are put into the order of the input. Beside it,
in the folder `.aisr`, `<file>.run.json` says which program, LM and input made it, and `<file>.lock` keeps a second
process out. In memory are the ids of the records and a number for each, never the lines.
"""

import json
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from filelock import FileLock, Timeout
from pydantic import ValidationError

from aisr.base.files import difference, read_json, replacing, write_whole, writing
from aisr.programs.errors import UserError
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
        other = difference(read_json(beside), identity)
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
