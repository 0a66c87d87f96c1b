"""The base classes of records and predictions, and how files of either are read.

A record subclasses `Record`; `SentenceRecord` where its statements are sentences that are judged by one evidence
bundle.

A JSONL file is read as a stream, each line validated as it comes: a record, or what is wrong with it.
"""

import json
import ntpath
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, BinaryIO, ClassVar, Generic, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json

from aisr.base.errors import UserError


def _below_a_folder(path: str | None) -> str | None:
    """Check that a path cannot leave the folder that it is read in, whatever that is."""
    if path is None or path == "":
        return None
    drive, rest = ntpath.splitdrive(path)
    if drive or rest.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path):
        raise UserError(f"{path[:80]!r} leads out of the image folder; expected a path such as images/figure.jpg")
    return path


Text = Annotated[str, Field(min_length=1)]
PicturePath = Annotated[str | None, AfterValidator(_below_a_folder)]


class Record(BaseModel):
    """What the records of all tasks share. `read` sets `id` where the file has none."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    # What makes records of the organisers' files, where these have another form: a module with its arguments, `{file}`
    # for their claims.
    converter: ClassVar[str] = ""

    id: Text

    @property
    def img_paths(self) -> list[str]:
        """The pictures of a record, as paths below the image root."""
        return []

    @property
    def gold(self) -> Any:
        """The gold answer, in the form that the task's score takes; None where it is withheld."""
        return None


def _as_captions(value: Any) -> Any:
    """A caption is a list of strings; a lone string or null is read as such a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


Captions = Annotated[list[str], BeforeValidator(_as_captions)]


class EvidenceItem(BaseModel):
    """One item of an evidence bundle: a paragraph of text, or a picture of a table or figure with its captions."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Literal["text", "table", "image"]
    text: str = ""
    table_caption: Captions = []
    image_caption: Captions = []
    img_path: PicturePath = None

    @property
    def caption(self) -> str:
        """All captions of the item, in one line."""
        return " ".join([*self.table_caption, *self.image_caption])


class SentenceRecord(Record):
    """Sentences that are judged by one evidence bundle; a subclass has them in a field of its own."""

    evidence_bundle: list[EvidenceItem]

    @property
    def img_paths(self) -> list[str]:
        """The pictures of the evidence bundle, as paths below the image root."""
        return [item.img_path for item in self.evidence_bundle if item.img_path]

    @property
    def statements(self) -> list[str]:
        """The sentences."""
        raise NotImplementedError

    @property
    def context(self) -> str:
        """The paragraph that the sentences stand in; empty where these are all of it."""
        return ""


class Prediction(BaseModel):
    """What the prediction lines of all tasks share."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: Text | None = None

    @property
    def answer(self) -> Any:
        """What the line says, in the form that the task's score takes."""
        raise NotImplementedError

    @staticmethod
    def line(answer: Any) -> dict[str, Any]:
        """An answer as the fields of a line; the reverse of `answer`."""
        raise NotImplementedError

    @model_validator(mode="before")
    @classmethod
    def _not_failed(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "failed" in raw:
            raise UserError(f"a failed record ({str(raw['failed'])[:200]}); predict again to have it judged")
        return raw


class LabelPrediction(Prediction):
    """A line of predictions of a task with one label a record."""

    label: str

    @property
    def answer(self) -> str:
        return self.label

    @staticmethod
    def line(answer: str) -> dict[str, Any]:
        return {"label": answer}


def valid_text(text: str) -> str:
    """Return a text with a question mark in the place of each half of a pair of surrogates, such as `"\\ud800"` in the
    JSON of a cut page: a half is no character, and no file can hold it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def valid_texts(value: Any) -> Any:
    """Do the same throughout a JSON value."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list):
        return [valid_texts(one) for one in value]
    if isinstance(value, dict):
        return {valid_text(key): valid_texts(one) for key, one in value.items()}
    return value


RecordT = TypeVar("RecordT", bound=BaseModel)
Observer = Callable[[bytes], object]
LONGEST = 64 * 2**20  # bytes of a line
MOST_FAULTS = 4  # of one line that are listed


class BadLine(UserError):
    """A line that is not what its file should hold: `file:line: field: what is wrong; what was expected`."""


class Line(NamedTuple, Generic[RecordT]):
    """One line of a file, with the record or what is wrong with it."""

    number: int  # from 1, blank lines counted
    record: RecordT | None
    problem: str | None
    numbered: bool = False  # the record had no id and got one


def scan(
    path: str | PathLike[str], model: type[RecordT], prefix: str | None = None, observe: Observer | None = None
) -> Iterator[Line[RecordT]]:
    """Read a JSONL file line by line, good and bad lines alike; blank lines are passed over.

    With a `prefix` ("track1"), a record without an id gets the one that the official preparation gives it: prefix and
    running number from 1, six digits ("track1-000001"). A repeated id is a bad line. `observe` is called with every
    line as it is read, such as the `update` of a digest."""
    first_places: dict[str, int] = {}  # of the ids
    count = 0
    with open(path, "rb") as file:  # bytes: a line that is not UTF-8 is then one bad line, not the end of the file
        for number, line in enumerate(_lines(file, observe or len), start=1):
            if line is not None and not line.strip():
                continue
            count += 1
            try:
                record, numbered = _record(line, model, f"{prefix}-{count:06d}" if prefix else None)
                key = getattr(record, "id", None)
                if isinstance(key, str) and first_places.setdefault(key, number) != number:
                    raise UserError(f"id: {key!r} stands in line {first_places[key]} already; ids must be unique")
                yield Line(number, record, None, numbered)
            except UserError as error:
                yield Line(number, None, f"{path}:{number}: {error}")


def read(
    path: str | PathLike[str], model: type[RecordT], prefix: str | None = None, observe: Observer | None = None
) -> Iterator[RecordT]:
    """Return the records of a JSONL file, one at a time, as `scan` reads it. Raises `BadLine` at the first that is
    none."""
    for line in scan(path, model, prefix, observe):
        if line.record is None:
            hint = " (`aisr check` lists every bad line)" if prefix else ""  # it reads records, not predictions
            raise BadLine(f"{line.problem}{hint}")
        yield line.record


def _lines(file: BinaryIO, observe: Observer) -> Iterator[bytes | None]:
    """The lines of a file; None in the place of one that is too long, of which no more than `LONGEST` is ever held."""
    while line := file.readline(LONGEST + 1):
        observe(line)
        yield line if len(line) <= LONGEST else None
        while len(line) > LONGEST and not line.endswith(b"\n") and (line := file.readline(LONGEST + 1)):
            observe(line)


def _record(line: bytes | None, model: type[RecordT], default_id: str | None) -> tuple[RecordT, bool]:
    """The record of a line, and whether it got the default id. Raises UserError."""
    if line is None:
        raise UserError(f"longer than {LONGEST >> 20} MiB; expected one record")
    try:
        raw = from_json(line.removeprefix(BOM_UTF8))
    except ValueError as error:
        raise UserError(f"not JSON ({str(error)[:120]}); one JSON object a line") from error
    if not isinstance(raw, dict):
        raise UserError(f"a {type(raw).__name__}; expected one JSON object")
    numbered = default_id is not None and raw.get("id") is None
    try:
        return model.model_validate({**raw, "id": default_id} if numbered else raw), numbered
    except ValidationError as error:
        raise UserError(explain(error)) from error


def read_list(path: Path, model: type[RecordT]) -> list[RecordT]:
    """The entries of a JSON list, the form of the organisers' files of related tasks. Raises UserError, naming the
    entry by its place from 0 and the field, for anything else and for an empty list."""
    try:
        raw = valid_texts(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: {error}; expected a JSON list, an entry a claim") from error
    if not isinstance(raw, list) or not raw:
        raise UserError(f"{path}: expected a JSON list with an entry a claim")
    entries = []
    for place, entry in enumerate(raw):
        try:
            entries.append(model.model_validate(entry))
        except ValidationError as error:
            raise UserError(f"{path}: entry {place}: {explain(error)}") from error
    return entries


def explain(error: ValidationError) -> str:
    """Return the first problems of a validation error, in one line: `field: what is wrong; what was expected`."""
    faults = error.errors(include_url=False)
    lines: list[str] = []
    for fault in faults[:MOST_FAULTS]:
        field, (wrong, expected) = _field(fault["loc"]), _wrong(fault)
        again = any(one.endswith(expected) for one in lines)  # the list of labels is long
        lines.append((f"{field}: {wrong}" if field else wrong) + ("" if again else expected))
    more = len(faults) - len(lines)
    return "; ".join(lines) + (f"; and {more} more in this line" if more else "")


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
    if fault["type"] not in ("enum", "literal_error"):
        return fault["msg"].removeprefix("Value error, "), ""
    names = fault.get("ctx", {}).get("expected", "").replace("' or '", ", ").replace("', '", ", ").strip("'")
    what = "label" if {"label", "labels", "types"}.intersection(fault["loc"]) else "value"
    return f"unknown {what} {str(fault['input'])[:80]!r}", f"; one of: {names}"
