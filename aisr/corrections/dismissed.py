"""Flags that readers dismissed, in a file beside the draft: they do not come back until their sentence or evidence
changes."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from aisr.base.files import write_whole
from aisr.corrections.files import Found, read
from aisr.corrections.line import Correction
from aisr.programs.errors import UserError

PLACE = Path(".aisr") / "dismissed.jsonl"


def beside(paper: Path) -> Path:
    """Where the dismissed flags of a paper are: in `.aisr/` of its folder. Raises UserError where that leads out of
    it."""
    folder = paper if paper.is_dir() else paper.parent
    file = folder / PLACE
    for one in (file.parent, file):
        if one.is_symlink():
            raise UserError(f"{one}: a link; expected a folder .aisr with a file of its own")
    return file


def known(paper: Path) -> Mapping[str, Correction]:
    """The dismissed flags of a paper by their digests, the latest of each. Raises `BadLine` for a line that is none."""
    file = beside(paper)
    return _latest(read([file])) if file.is_file() and file.stat().st_size else {}


def remember(paper: Path, found: Iterable[Found]) -> tuple[Path, int]:
    """Add what is dismissed in corrections to the file of a paper: where that is, and how many flags are new there. The
    same corrections again change nothing."""
    before = known(paper)
    news = _latest(one for one in found if one.correction.dismissed is not None)
    all_of_them = _latest([*(Found(one, "") for one in before.values()), *(Found(one, "") for one in news.values())])
    lines = [one.model_dump_json(exclude={"record"}, exclude_none=True) + "\n" for one in all_of_them.values()]
    if lines:
        write_whole(beside(paper), "".join(lines))
    return beside(paper), len(news.keys() - before.keys())


def _latest(found: Iterable[Found]) -> dict[str, Correction]:
    latest: dict[str, Correction] = {}
    for one in sorted((one.correction for one in found), key=lambda one: one.when):
        if one.dismissed is not None:
            latest[one.digest] = one
    return latest
