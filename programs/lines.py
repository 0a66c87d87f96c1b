"""Files of records, read line by line, with nothing passed over in silence.

Text of strangers that can be written again: half of a pair of surrogates is no character, and no file holds one.

JSON from outside, of which nothing is passed over in silence: a key twice in one object is no JSON of ours.

Most parsers take the last of two equal keys, some the first; whoever checks a file and whoever uses it could see two
different ones.

JSONL files read as a stream, each line validated as it comes: a record, or what is wrong with it.
"""

import re
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

import jsonlines
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from aisr.programs.errors import UserError


def whole(text: str) -> str:
    """The text with a question mark in the place of each half, such as `"\\ud800"` in the JSON of a cut page."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def all_whole(value: Any) -> Any:
    """The same throughout what a JSON text is of."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [all_whole(one) for one in value]
    if isinstance(value, dict):
        return {whole(key): all_whole(one) for key, one in value.items()}
    return value


SIGN = re.compile(r'("(?:[^"\\]++|\\.)*+"?)(\s*+:)?+|[{}\[\]]', re.DOTALL)


class RepeatedKey(ValueError):
    """line: where the key stands again, from 1."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(f"key {ascii(key)[:80]} stands twice in one object; expected once, as parsers differ in which")
        self.line = line


def loads(text: str | bytes) -> Any:
    """The value that a JSON text is of. Raises `RepeatedKey`, and ValueError for what is no JSON."""
    value = from_json(text)
    _check_keys(text if isinstance(text, str) else text.decode())
    return value


def _check_keys(text: str) -> None:
    """Raises `RepeatedKey`. text: JSON."""
    inside: list[set[str]] = []
    for found in SIGN.finditer(text):
        sign = found[0]
        if found[2]:
            key = found[1]
            key = str(from_json(key)) if "\\" in key else key[1:-1]
            if key in inside[-1]:
                raise RepeatedKey(key, text.count("\n", 0, found.start()) + 1)
            inside[-1].add(key)
        elif sign in "{[":
            inside.append(set())
        elif sign in "}]":
            inside.pop()


RecordT = TypeVar("RecordT", bound=BaseModel)
Heard = Callable[[bytes], object]
MOST_FAULTS = 4  # of one line that are listed


LONGEST = 64 * 2**20  # bytes of a line


class BadLine(UserError):
    """A line that is not what its file should hold: `file:line: field: what is wrong; what was expected`."""


class Line(NamedTuple, Generic[RecordT]):
    """One line of a file: its number (from 1, blank lines counted), and the record or what is wrong with it."""

    number: int
    record: RecordT | None
    problem: str | None
    numbered: bool = False  # the record had no id and was given one


def scan(
    path: str | PathLike[str], model: type[RecordT], prefix: str | None = None, heard: Heard | None = None
) -> Iterator[Line[RecordT]]:
    """Read a JSONL file line by line, good and bad lines alike; blank lines are passed over.

    With a `prefix` ("track1"), a record without an id gets the one that the official preparation gives it:
    prefix and running number from 1, six digits ("track1-000001"). A repeated id is a bad line. `heard` is called with
    every line as it is read, such as the `update` of a digest.
    """
    seen: dict[str, int] = {}
    count = number = longer = 0

    def filled(file: BinaryIO) -> Iterator[bytes]:
        """The lines but for those without anything, of which a file may have millions; nothing of one too long."""
        nonlocal number, longer
        while line := file.readline(LONGEST + 1):
            number += 1
            longer = number if len(line) > LONGEST else longer
            rest = line
            while rest:
                if heard is not None:
                    heard(rest)
                rest = file.readline(LONGEST) if longer == number and not rest.endswith(b"\n") else b""
            if longer == number:
                yield b""
            elif not line.isspace():
                yield line

    with open(path, "rb") as file:  # bytes: a line that is not UTF-8 is then one bad line, not the end of the file
        reader = jsonlines.Reader(filled(file), loads=loads)
        while True:
            try:
                raw = reader.read(allow_none=True)
            except EOFError:
                return
            except jsonlines.InvalidLineError as error:
                if number == longer:
                    count += 1
                    yield Line(number, None, f"{path}:{number}: longer than {LONGEST >> 20} MiB; expected one record")
                    continue
                if not error.line.strip():
                    continue
                count += 1
                if isinstance(error.__cause__, RepeatedKey):
                    yield Line(number, None, f"{path}:{number}: {error.__cause__}")
                    continue
                yield Line(number, None, f"{path}:{number}: not JSON ({_first_line(error)}); one JSON object a line")
                continue
            count += 1
            yield _line(path, number, raw, model, seen, f"{prefix}-{count:06d}" if prefix else None)


def read(
    path: str | PathLike[str], model: type[RecordT], prefix: str | None = None, heard: Heard | None = None
) -> Iterator[RecordT]:
    """The records of a JSONL file, one at a time, as `scan` reads it. Raises `BadLine` at the first that is not one."""
    for line in scan(path, model, prefix, heard):
        if line.record is None:
            hint = " (`aisr check` lists every bad line)" if prefix else ""  # it reads records, not predictions
            raise BadLine(f"{line.problem}{hint}")
        yield line.record


def _line(
    path: str | PathLike[str], number: int, raw: Any, model: type[RecordT], seen: dict[str, int], default_id: str | None
) -> Line[RecordT]:
    where = f"{path}:{number}"
    if not isinstance(raw, dict):
        return Line(number, None, f"{where}: a {type(raw).__name__}; expected one JSON object")
    numbered = bool(default_id) and raw.get("id") is None
    if numbered:
        raw = {**raw, "id": default_id}
    try:
        record = model.model_validate(raw)
    except ValidationError as error:
        return Line(number, None, f"{where}: {explain(error)}")
    key = getattr(record, "id", None)
    if isinstance(key, str) and key in seen:
        return Line(number, None, f"{where}: id: {key!r} stands in line {seen[key]} already; ids must be unique")
    if isinstance(key, str):
        seen[key] = number
    return Line(number, record, None, numbered)


def explain(error: ValidationError) -> str:
    """The first problems of a validation error, in one line: `field: what is wrong; what was expected`."""
    faults = error.errors(include_url=False)
    said: list[str] = []
    for fault in faults[:MOST_FAULTS]:
        field, (wrong, expected) = _field(fault["loc"]), _wrong(fault)
        again = any(one.endswith(expected) for one in said)  # the list of labels is long
        said.append((f"{field}: {wrong}" if field else wrong) + ("" if again else expected))
    more = len(faults) - len(said)
    return "; ".join(said) + (f"; and {more} more in this line" if more else "")


def _field(location: tuple[int | str, ...]) -> str:
    field = ""
    for part in location:
        if part in ("function-before", "constrained-str", "nullable") or (isinstance(part, str) and "[" in part):
            continue  # pydantic's own words for a step inside a field
        name = ascii(str(part))[1:-1][:80]  # a key of the file's own may be anything
        field += f"[{part}]" if isinstance(part, int) else f".{name}" if field else name
    return field


def _wrong(fault: Any) -> tuple[str, str]:
    """What is wrong, and what was expected where that is a list."""
    if fault["type"] != "enum":
        return fault["msg"].removeprefix("Value error, "), ""
    names = fault.get("ctx", {}).get("expected", "").replace("' or '", ", ").replace("', '", ", ").strip("'")
    return f"unknown label {str(fault['input'])[:80]!r}", f"; one of: {names}"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:120]
