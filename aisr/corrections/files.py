"""Files of corrections, which come from strangers' browsers: read a line at a time, and no more than so much of it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from aisr.corrections.line import Correction, ahead
from aisr.programs.errors import UserError
from aisr.programs.reading.lines import BadLine, explain
from aisr.programs.reading.strict_json import loads

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
