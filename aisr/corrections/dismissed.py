"""Flags that readers dismissed, in a file beside the draft: they do not come back until their sentence or evidence
changes."""

import stat
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from aisr.base.files import write_whole
from aisr.corrections.files import MOST, Correction, Found, ahead, correction, read
from aisr.programs.errors import UserError
from aisr.programs.records import BadLine

PLACE = Path(".aisr") / "dismissed.jsonl"
MAX_BYTES = 16 * 2**20  # some 30,000 flags


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
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            return Known(passed_over=f"{file}: not read; expected a file of at most {MAX_BYTES >> 20} MiB")
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
