"""Files of records: JSON Lines and JSON lists, each entry validated as it comes, with errors that name it.

A JSONL file is read as a stream: of each line a record, or what is wrong with it.
"""

import codecs
import json
from collections.abc import Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

import jsonlines
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from aisr.base.errors import UserError

RecordT = TypeVar("RecordT", bound=BaseModel)
LONGEST_LINE = 64 * 2**20  # bytes of a line
MOST_FAULTS = 4  # of one line that are listed


class BadLine(UserError):
    """A line that is not what its file should hold: `file:line: field: what is wrong; what was expected`."""


class Line(NamedTuple, Generic[RecordT]):
    """One line of a file, with the record or what is wrong with it."""

    number: int  # from 1, blank lines counted
    record: RecordT | None
    problem: str | None
    numbered: bool = False  # the record had no id and got one


def scan(path: str | PathLike[str], model: type[RecordT], prefix: str | None = None) -> Iterator[Line[RecordT]]:
    """Read a JSONL file line by line, good and bad lines alike; blank lines are passed over.

    With a `prefix` ("track1"), a record without an id gets the one that the official preparation gives it: prefix and
    running number from 1, six digits ("track1-000001"). A repeated id is a bad line. Raises `BadLine` for a JSON list,
    each line of which would be bad."""
    first_places: dict[str, int] = {}  # of the ids
    with open(path, "rb") as file:  # bytes: a line that is not UTF-8 is then one bad line, not the end of the file
        if _is_list(file):
            converter = getattr(model, "converter", "")
            how = f"`aisr {converter.format(file=path)}`, or " if converter else ""
            raise BadLine(f"{path}: this is a JSON list; aisr reads one record a line: {how}`jq -c '.[]' {path}`")
        for count, (number, line) in enumerate(_lines(file), start=1):
            try:
                content = _json_object(line)
                numbered = prefix is not None and content.get("id") is None
                if numbered:
                    content["id"] = f"{prefix}-{count:06d}"
                record = model.model_validate(content)
                key = getattr(record, "id", None)
                if isinstance(key, str) and first_places.setdefault(key, number) != number:
                    raise UserError(f"id: {key!r} stands in line {first_places[key]} already; ids must be unique")
                yield Line(number, record, None, numbered)
            except ValidationError as error:
                yield Line(number, None, f"{path}:{number}: {explain(error)}")
            except UserError as error:
                yield Line(number, None, f"{path}:{number}: {error}")


def read(path: str | PathLike[str], model: type[RecordT], prefix: str | None = None) -> Iterator[RecordT]:
    """Return the records of a JSONL file, one at a time (see `scan`). Raises `BadLine` at the first that is none."""
    for line in scan(path, model, prefix):
        if line.record is None:
            hint = " (`aisr check` lists every bad line)" if prefix else ""  # it reads records, not predictions
            raise BadLine(f"{line.problem}{hint}")
        yield line.record


def count_lines(path: str | PathLike[str], most: int | None = None) -> int:
    """Return how many lines of a file are not blank, `most` at most: how many records it holds if it is sound."""
    with open(path, "rb") as file:
        lines = (line for line in file if not line.isspace())
        return sum(1 for _ in islice(lines, most))


def _is_list(file: BinaryIO) -> bool:
    """Return whether a file, which is read from its beginning afterwards, begins as a JSON list does."""
    beginning = file.read(1024).removeprefix(codecs.BOM_UTF8).lstrip()
    file.seek(0)
    return beginning.startswith(b"[")


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each line that is not blank, and the line; of a long one `LONGEST_LINE` + 1 bytes."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        is_long = len(line) > LONGEST_LINE
        rest = line
        while is_long and rest and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE)
        if is_long or line.strip():
            yield number, line


def _json_object(line: bytes) -> dict[str, Any]:
    """Return the object in a line. Raises UserError where there is none."""
    if len(line) > LONGEST_LINE:
        raise UserError("longer than 64 MiB; expected one record")
    try:
        content: dict[str, Any] = jsonlines.Reader([line], loads=from_json).read(type=dict)
    except jsonlines.InvalidLineError as error:
        reason = f" ({str(error.__cause__)[:120]})" if error.__cause__ else ", but another value"
        raise UserError(f"not a JSON object{reason}; expected one a line") from error
    return content


def read_as(form: Any, path: Path) -> Any:
    """Return the content of a JSON file, validated as a type: the form of the organisers' files of related tasks.
    Raises UserError, naming the place in the file, for anything else."""
    try:
        return TypeAdapter(form).validate_python(valid_texts(json.loads(path.read_text(encoding="utf-8"))))
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error)}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: {error}; expected JSON") from error


def read_list(path: Path, model: type[RecordT]) -> list[RecordT]:
    """Return the entries of a JSON list. Raises UserError as `read_as`, and for an empty list."""
    entries: list[RecordT] = read_as(list[model], path)  # type: ignore[valid-type]
    if not entries:
        raise UserError(f"{path}: expected a JSON list with an entry a claim")
    return entries


# --- Text and values as a file may hold them


def valid_text(text: str) -> str:
    """Return a text with a question mark in the place of each half of a pair of surrogates, such as `"\\ud800"` in the
    JSON of a cut page: a half is no character, and no file can hold it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def valid_texts(value: Any) -> Any:
    """Return a JSON value whose texts are all valid, as `valid_text` has them."""
    return json.loads(valid_text(json.dumps(value, ensure_ascii=False)))


def explain(error: ValidationError) -> str:
    """Return the first problems of a validation error, in one line: `field: what is wrong; what was expected`."""
    faults = error.errors(include_url=False)
    lines: list[str] = []
    listed = set[str]()
    for fault in faults[:MOST_FAULTS]:
        line, expected = _wrong(fault)
        field = _field(fault["loc"])
        if field:
            line = f"{field}: {line}"
        if expected not in listed:  # the list of labels is long
            line += expected
        listed.add(expected)
        lines.append(line)
    more = len(faults) - len(lines)
    if more:
        lines.append(f"and {more} more in this line")
    return "; ".join(lines)


def _field(location: tuple[int | str, ...]) -> str:
    """Return the name of a field as it stands in messages: `sentence_label[2].types`."""
    field = ""
    for part in location:
        if isinstance(part, int):
            field += f"[{part}]"
        elif part not in ("function-before", "constrained-str", "nullable") and "[" not in part:  # pydantic's own words
            field += "." + ascii(part)[1:-1][:80]  # a key of the file's own may be anything
    return field.removeprefix(".")


# What is wrong with a value, by pydantic's name for it; {0} is the value, {ge} and the like the bound that it breaks.
WRONG = {
    "missing": "missing",
    "extra_forbidden": "no such field",
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "{0} is no whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "{0} is no number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "{0} is neither true nor false"),
    "string_type": "{0}; expected a text",
    **dict.fromkeys(("list_type", "tuple_type"), "{0}; expected a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type", "dataclass_type"), "{0}; expected an object"),
    "greater_than_equal": "{0} is too small; expected {ge} or more",
    "greater_than": "{0} is too small; expected more than {gt}",
    "less_than_equal": "{0} is too large; expected at most {le}",
    "less_than": "{0} is too large; expected less than {lt}",
    "too_short": "{0}; expected entries, {min_length} or more",
    "too_long": "{0}; expected at most {max_length} entries",
    "string_too_short": "{0}; expected a text of {min_length} or more characters",
    "string_too_long": "{0}; expected at most {max_length} characters",
}
BOUNDS = ("ge", "gt", "le", "lt", "min_length", "max_length")
TYPE_WORDS = {dict: "an object", list: "a list", tuple: "a list", type(None): "null", bool: "true or false"}


def _wrong(fault: Any) -> tuple[str, str]:
    """Return what is wrong, and what was expected where that is a list of values."""
    value, context = fault["input"], fault.get("ctx", {})
    if fault["type"] in ("enum", "literal_error"):
        names = context.get("expected", "").replace("' or '", ", ").replace("', '", ", ").strip("'")
        what = "label" if {"label", "labels", "types"}.intersection(fault["loc"]) else "value"
        return f"unknown {what} {str(value)[:80]!r}", f"; one of: {names}"
    words = WRONG.get(fault["type"])
    if words is None:
        return fault["msg"].removeprefix("Value error, ").rstrip("."), ""
    shown = TYPE_WORDS.get(type(value)) or repr(value)[:80]
    if value in ("", [], {}):
        shown = "empty"
    bounds = {name: f"{context[name]:.15g}" for name in BOUNDS if name in context}  # 1, not 1.0
    return words.format(shown, **bounds), ""
