"""Corrections, what people say of verdicts, in files that come from strangers' browsers: read a line at a time, and no
more than so much of it."""

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from aisr.base.errors import UserError
from aisr.base.files import DIGEST_LENGTH, loads
from aisr.programs.records import BadLine, explain

# --- One correction: what a person says of one verdict. A line of a JSON Lines file.

MOST_NAMED = 50  # ids of evidence
SKEW = timedelta(days=1)  # by which clocks may differ
CONTROLS = {"Cc", "Cf", "Cs", "Co"}  # not Cn: a character that browsers know already may be newer than Python's tables


def _one_line(text: str) -> str:
    if any(unicodedata.category(sign) in CONTROLS for sign in text):
        raise UserError("control characters; expected one line of printable text")
    return text.strip()


Id = Annotated[str, Field(min_length=1, max_length=1000)]
Name = Annotated[str, AfterValidator(_one_line), Field(min_length=1, max_length=200)]
Digest = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{DIGEST_LENGTH}}}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Judged(_Strict):
    """The verdict that a person was shown."""

    label: Annotated[str, Field(max_length=200)] | None = None  # None where there was none
    program: Annotated[str, Field(max_length=200)] | None = None  # the digest of the program that gave it, if known
    lm: Annotated[str, Field(max_length=500)] | None = None  # that judged, if known


class Correction(_Strict):
    """Either a `label` or `dismissed`: why a flag is not to come back, which is no label."""

    format: Literal[1] = 1
    task: Annotated[str, Field(max_length=100)] | None = None  # its name; None for a flag that no model raised
    record_id: Id | None = None
    statement: Annotated[int, Field(ge=0, le=100_000)] = 0  # its number in the record, from 0
    sentence: Annotated[str, Field(max_length=100_000)]  # its words
    verdict: Judged = Judged()
    label: Annotated[str, Field(min_length=1, max_length=200)] | None = None  # the verdict's own where somebody agrees
    evidence: Annotated[list[Id], Field(max_length=MOST_NAMED)] = []  # ids of what shows the label
    dismissed: Annotated[str, Field(max_length=2000)] | None = None
    who: Name
    when: AwareDatetime
    digest: Digest  # of the sentence and its evidence (`statement_digests`, for a label), to find both again
    record: dict[str, Any] | None = None  # all of it in the task's own format, where it stands nowhere else

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.label is None) == (self.dismissed is None):
            raise UserError("expected either a label, or why the flag is dismissed")
        if self.label is not None and (self.task is None or self.record_id is None):
            raise UserError("a label without task or record_id; expected what it is a label of")
        return self


def _future_error(one: Correction, now: datetime) -> str | None:
    """Why the time of a correction cannot be true: it would be the latest label whatever anybody says later."""
    return f"said at {one.when:%Y-%m-%d}, which is yet to come" if one.when - now > SKEW else None


LONGEST = 16 * 2**20  # bytes of a line, which may hold a whole cited paper
MAX_BYTES = 512 * 2**20
MOST = 100_000  # corrections of one file


class PlacedCorrection(NamedTuple):
    """A correction and where it stands, as `file:line`."""

    correction: Correction
    place: str


def read_corrections(files: Sequence[Path], rejected: list[str] | None = None) -> list[PlacedCorrection]:
    """The corrections of all files, in their order; one that stands there twice is taken once. rejected: takes what is
    wrong with each line that is none; without it, or where no line is a correction, the first is raised as `BadLine`.
    Raises UserError for a file that is too large or holds nothing."""
    corrections: dict[str, PlacedCorrection] = {}
    bad = list[str]()
    for file in files:
        for place, line in _lines(file):
            try:
                one = _parse_correction(line, place)
            except BadLine as error:
                if rejected is None:
                    raise
                bad.append(str(error))
                continue
            corrections.setdefault(one.model_dump_json(), PlacedCorrection(one, place))
    if bad and not corrections:
        raise BadLine(bad[0])
    if rejected is not None:
        rejected += bad
    if not corrections:
        raise UserError(f"{', '.join(map(str, files))}: no corrections in there; expected what a page downloaded")
    return list(corrections.values())


def split_future(corrections: Sequence[PlacedCorrection]) -> tuple[list[PlacedCorrection], list[str]]:
    """The corrections whose time may be true, and what is wrong with the others, each with its place."""
    now = datetime.now(UTC)
    late = [f"{one.place}: {why}" for one in corrections if (why := _future_error(one.correction, now))]
    return [one for one in corrections if not _future_error(one.correction, now)], late


def _lines(file: Path) -> Iterator[tuple[str, bytes]]:
    """Each line with its place; of one that is too long no more than shows it."""
    if not file.is_file():
        raise UserError(f"{file}: no such file; expected what a page downloaded as corrections")
    if file.stat().st_size > MAX_BYTES:
        raise UserError(f"{file}: larger than {MAX_BYTES >> 20} MiB; expected corrections, a line each")
    with file.open("rb") as lines:
        number = 0
        while line := lines.readline(LONGEST + 1):
            number += 1
            if number > MOST:
                raise BadLine(f"{file}:{number}: more than {MOST:,} lines; expected what people said, in several files")
            rest = line
            while len(line) > LONGEST and rest and not rest.endswith(b"\n"):
                rest = lines.readline(LONGEST)
            if line.strip():
                yield f"{file}:{number}", line


def _parse_correction(line: bytes, place: str) -> Correction:
    """The correction of one line. Raises `BadLine`, which names its place."""
    if len(line) > LONGEST:
        raise BadLine(f"{place}: longer than {LONGEST >> 20} MiB; expected one correction")
    try:
        raw = loads(line.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:  # a repeated key among them
        raise BadLine(f"{place}: not JSON ({' '.join(str(error).split())[:120]}); expected one correction") from error
    if not isinstance(raw, dict):
        raise BadLine(f"{place}: a {type(raw).__name__}; expected one JSON object, a correction")
    try:
        return Correction.model_validate(raw)
    except ValidationError as error:
        raise BadLine(f"{place}: {explain(error)}; expected a correction") from error
