"""Files of corrections, which come from strangers' browsers: read a line at a time, and no more than so much of it.

Flags that readers dismissed, in a file beside the draft: they do not come back until their sentence or evidence
changes.
"""

import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from aisr.base.files import DIGEST_LENGTH, write_whole
from aisr.programs.errors import UserError
from aisr.programs.records import BadLine, explain, loads

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
    """The verdict that a person was shown: its label, None where there was none; the digest of the program that gave
    it and the LM that was asked, where these are known."""

    label: Annotated[str, Field(max_length=200)] | None = None
    program: Annotated[str, Field(max_length=200)] | None = None
    lm: Annotated[str, Field(max_length=500)] | None = None


class Correction(_Strict):
    """Either `label`, which is the verdict's own where somebody agrees, with the ids of the `evidence` that shows it;
    or `dismissed`, why a flag is not to come back, which is no label.

    task: its name; None for a flag that no model raised; record_id and statement: the record and the number of its
    statement, from 0; sentence: the words of that; digest: of these and the evidence (`Correctable.digests`, for a
    label), by which both are known again; record: the whole record in the task's own format, where it stands nowhere
    else.
    """

    format: Literal[1] = 1
    task: Annotated[str, Field(max_length=100)] | None = None
    record_id: Id | None = None
    statement: Annotated[int, Field(ge=0, le=100_000)] = 0
    sentence: Annotated[str, Field(max_length=100_000)]
    verdict: Judged = Judged()
    label: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    evidence: Annotated[list[Id], Field(max_length=MOST_NAMED)] = []
    dismissed: Annotated[str, Field(max_length=2000)] | None = None
    who: Name
    when: AwareDatetime
    digest: Digest
    record: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.label is None) == (self.dismissed is None):
            raise UserError("expected either a label, or why the flag is dismissed")
        if self.label is not None and (self.task is None or self.record_id is None):
            raise UserError("a label without task or record_id; expected what it is a label of")
        return self


def ahead(said: Correction, now: datetime) -> str | None:
    """Why the time of a correction cannot be true: it would have the last word whatever anybody says later."""
    return f"said at {said.when:%Y-%m-%d}, which is yet to come" if said.when - now > SKEW else None


LONGEST = 16 * 2**20  # bytes of a line, which may hold a whole cited paper
MAX_BYTES = 512 * 2**20
MOST = 100_000  # corrections of one file


class Found(NamedTuple):
    """A correction and where it stands, as `file:line`."""

    correction: Correction
    place: str


def read(files: Sequence[Path], left_out: list[str] | None = None) -> list[Found]:
    """The corrections of all files, in their order; one that stands there twice is taken once. left_out: takes what is
    wrong with each line that is none; without it, or where no line is a correction, the first is raised as `BadLine`.
    Raises UserError for a file that is too large or holds nothing."""
    found, bad = [], list[str]()
    for file in files:
        for place, line in _lines(file):
            try:
                found.append(Found(correction(line, place), place))
            except BadLine as error:
                if left_out is None:
                    raise
                bad.append(str(error))
    if bad and not found:
        raise BadLine(bad[0])
    if left_out is not None:
        left_out += bad
    if not found:
        raise UserError(f"{', '.join(map(str, files))}: no corrections in there; expected what a page downloaded")
    once: dict[str, Found] = {}
    for one in found:
        once.setdefault(one.correction.model_dump_json(), one)
    return list(once.values())


def in_time(found: Sequence[Found]) -> tuple[list[Found], list[str]]:
    """The corrections whose time may be true, and what is wrong with the others, each with its place."""
    now = datetime.now(UTC)
    late = [f"{one.place}: {why}" for one in found if (why := ahead(one.correction, now))]
    return [one for one in found if not ahead(one.correction, now)], late


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


def correction(line: bytes, place: str) -> Correction:
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


PLACE = Path(".aisr") / "dismissed.jsonl"
MOST_DISMISSED_BYTES = 16 * 2**20  # some 30,000 flags


class Known(NamedTuple):
    """flags: by their digests, the latest of each; passed_over: what of the file does not count, and why, in a
    sentence; None where all of it does."""

    flags: Mapping[str, Correction] = {}
    passed_over: str | None = None


def beside(paper: Path) -> Path:
    """Where the dismissed flags of a paper are: in `.aisr/` of its folder. Raises UserError where that leads out of
    it."""
    file = (paper if paper.is_dir() else paper.parent) / PLACE
    for one in (file.parent, file):
        if one.is_symlink():
            raise UserError(f"{one}: a link; expected a folder .aisr with a file of its own")
    return file


def known(paper: Path) -> Known:
    """The dismissed flags of a paper. The file may be a stranger's, and whatever it is stops no check: what is no
    dismissed flag is passed over."""
    try:
        file = beside(paper)
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_DISMISSED_BYTES:
            return Known(passed_over=f"{file}: not read; expected a file of at most {MOST_DISMISSED_BYTES >> 20} MiB")
        return _leniently(file)
    except UserError as error:
        return Known(passed_over=f"{error}; it was not read")
    except (FileNotFoundError, NotADirectoryError):
        return Known()
    except OSError as error:
        return Known(passed_over=f"{paper}: its dismissed flags were not read ({error.strerror})")


def _leniently(file: Path) -> Known:
    good, bad, now = list[Found](), list[str](), datetime.now(UTC)
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if number > MOST:
                bad.append(f"{file}:{number}: more than {MOST:,} lines")
                break
            if not line.strip():
                continue
            place = f"{file}:{number}"
            try:
                one = correction(line, place)
            except BadLine as error:
                bad.append(str(error))
                continue
            if why := ahead(one, now):
                bad.append(f"{place}: {why}")
            good += [] if why else [Found(one, place)]
    told = f"lines passed over, which are no dismissed flags: {len(bad)}, the first {bad[0]}" if bad else None
    return Known(_latest(good), told)


def remember(paper: Path, found: Iterable[Found]) -> tuple[Path, int]:
    """Add what is dismissed in corrections to the file of a paper: where that is, and how many flags are new there. The
    same corrections again change nothing."""
    file = beside(paper)
    before = _latest(read([file])) if file.is_file() and file.stat().st_size else {}
    news = _latest(one for one in found if one.correction.dismissed is not None)
    all_of_them = _latest([*(Found(one, "") for one in before.values()), *(Found(one, "") for one in news.values())])
    lines = [one.model_dump_json(exclude={"record"}, exclude_none=True) + "\n" for one in all_of_them.values()]
    if lines:
        write_whole(file, "".join(lines))
    return file, len(news.keys() - before.keys())


def _latest(found: Iterable[Found]) -> dict[str, Correction]:
    latest: dict[str, Correction] = {}
    for one in sorted((one.correction for one in found), key=lambda one: one.when):
        if one.dismissed is not None:
            latest[one.digest] = one
    return latest
