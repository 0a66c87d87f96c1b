"""The figures of a paper as pictures of points: PDF and SVG are drawn in a process of its own that is held to limits.

What is drawn is kept in a folder by what it was drawn from, so that it is drawn once. What cannot be drawn is listed.
"""

import base64
import json
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from aisr.base import sandbox
from aisr.base.files import digest_file, digest_text, write_whole
from aisr.paper.draft import Draft, Float, Picture, Unread
from aisr.paper.readers.files import PICTURES, find_main_file
from aisr.programs.errors import UserError

CHILD = "aisr.paper.readers.figure_child"
DRAWN = (".pdf", ".svg")
EDITION = "1"  # of how figures are drawn: what an earlier one drew is drawn again
MOST = 400  # pictures of a paper
NOT_DRAWN = ": not drawn: "
EPS = "EPS is not drawn; save it as PDF or PNG beside it under the same name"


class Limits(NamedTuple):
    """What drawing may take. bytes: of a file; memory: bytes of address space; seconds: of one core, for the figures
    that are drawn together; waiting: seconds that these may take beside other work; whole: the same for all figures of
    a paper; scale: pixels a point at most."""

    bytes: int = 50 * 2**20
    objects: int = 200_000
    pixels: int = 1_200_000
    scale: float = 4.0
    memory: int = 2**30
    seconds: float = 20.0
    waiting: float = 60.0
    whole: float = 180.0


LIMITS = Limits()


class Job(NamedTuple):
    """A picture to be drawn. path: as records name it; kept: where what is drawn is kept."""

    path: str
    picture: Picture
    kept: Path


def draw_pictures(draft: Draft, folder: Path, limits: Limits = LIMITS) -> Draft:
    """The draft with its drawings as pictures of points, which are kept in a folder. Pictures that cannot be drawn are
    left out of its floats and listed. Files that are pictures of points already stay, unlooked at."""
    paths: dict[str, tuple[Picture, Float]] = {}
    for one in draft.floats.values():
        for picture in one.pictures:
            paths.setdefault(picture.path(draft.folder), (picture, one))
    refused: dict[str, str] = {}
    jobs: list[Job] = []
    for number, (path, (picture, _)) in enumerate(paths.items()):
        if picture.file.suffix.lower() in PICTURES:
            continue
        why = f"more than {MOST} pictures" if number >= MOST else _unfit(picture, limits)
        if why:
            refused[path] = why
        else:
            jobs.append(Job(path, picture, folder / f"{_digest(picture)}.png"))
    refused |= _drawn([job for job in jobs if not job.kept.is_file()], limits)
    return replace(
        draft,
        floats={key: _shown(one, draft.folder, refused) for key, one in draft.floats.items()},
        unread=(
            *draft.unread,
            *(Unread(paths[path][1].place, f"{path}{NOT_DRAWN}{why}") for path, why in refused.items()),
        ),
        drawings={job.path: job.kept for job in jobs if job.path not in refused},
    )


def _shown(one: Float, folder: Path, refused: dict[str, str]) -> Float:
    """The float without the pictures that could not be drawn."""
    return one._replace(pictures=tuple(picture for picture in one.pictures if picture.path(folder) not in refused))


def _unfit(picture: Picture, limits: Limits) -> str | None:
    """Why a file is not even tried; None where it is."""
    if picture.file.suffix.lower() not in DRAWN:
        return EPS
    try:
        if not picture.file.is_file():
            return "not a file"
        size = picture.file.stat().st_size
    except OSError as error:
        return str(error.strerror or error)
    return f"larger than {limits.bytes >> 20} MiB" if size > limits.bytes else None


def _digest(picture: Picture) -> str:
    shown = f"{picture.page} {picture.box}{picture.trim or ''}"
    return digest_text(f"{EDITION} {digest_file(picture.file)} {picture.file.suffix.lower()} {shown}")


def _drawn(jobs: Sequence[Job], limits: Limits) -> dict[str, str]:
    """Draw pictures, and say of those that could not be why. A figure that ends its process costs that alone."""
    refused: dict[str, str] = {}
    left, end = list(jobs), time.monotonic() + limits.whole
    while left and time.monotonic() < end:
        answers, why = _answers(left, limits)
        for job, answer in zip(left, answers, strict=False):
            if "png" in answer:
                job.kept.parent.mkdir(parents=True, exist_ok=True)
                write_whole(job.kept, base64.b64decode(answer["png"]))
            else:
                refused[job.path] = answer["refused"]
        left = left[len(answers) :]
        if left and not answers:  # the first of a process has all that it may take for itself
            refused[left.pop(0).path] = why
    return refused | {job.path: f"the figures of this paper take more than {limits.whole:g} seconds" for job in left}


def _answers(jobs: Sequence[Job], limits: Limits) -> tuple[list[dict[str, str]], str]:
    """What a process said of the pictures that it came to, and why it ended at the next one."""
    asked = json.dumps([(str(one.file), one.page, one.box, one.trim) for one in (job.picture for job in jobs)]).encode()
    try:
        done = sandbox.run(CHILD, [], limits._asdict(), asked)
        said, ended = done.stdout, done.returncode
    except subprocess.TimeoutExpired as error:
        said, ended = error.stdout or b"", sandbox.OUT_OF_TIME[0]
    whole = said[: said.rfind(b"\n") + 1].splitlines()  # the last line may be half of one
    why = "broken, or it takes too much memory"
    if ended in sandbox.OUT_OF_TIME:
        why = f"it takes more than {limits.seconds:g} s of a core"
    return [json.loads(line) for line in whole[: len(jobs)]], why


# --- The figures of a paper, seen: drawn from their files, and else taken from the paper as it was set.
#
# A figure that LaTeX draws by code, or whose file cannot be drawn, stands in the PDF that was made of the paper. Where
# that lies beside its main file, the figure of the same number and caption is taken from there.

WORD = re.compile(r"\w{3,}")
ALIKE = 0.6  # of the words of the shorter caption: both are of one figure


def draw_figures(draft: Draft, paper: Path, folder: Path) -> Draft:
    """The draft with its figures as pictures of points, kept in a folder. paper: what it was read from."""
    seen = draw_pictures(draft, folder)
    unseen = [key for key, one in seen.floats.items() if one.kind == "figure" and not any(_pictures(seen, one))]
    if not unseen or paper.suffix.lower() == ".pdf":
        return seen
    made = find_main_file(paper).with_suffix(".pdf").resolve()
    if not made.is_file() or not made.is_relative_to(draft.folder):
        return seen
    try:
        found = _set(made)
    except UserError:
        return seen
    taken = {key: found[one.name] for key in unseen for one in [seen.floats[key]] if _is_same(one, found)}
    moved = {
        key: seen.floats[key]._replace(
            pictures=tuple(picture._replace(file=made) for picture in one.pictures), code_places=()
        )
        for key, one in taken.items()
    }
    places = {place for key in moved for one in _whole(seen, seen.floats[key]) for place in one.code_places}
    floats = {seen.floats[key].place for key in moved}
    unread = tuple(
        one for one in seen.unread if one.place not in places and not (one.place in floats and NOT_DRAWN in one.reason)
    )
    more = draw_pictures(replace(seen, floats={**seen.floats, **moved}, unread=unread), folder)
    return replace(more, drawings={**seen.drawings, **more.drawings})


def _set(made: Path) -> dict[str, Float]:
    """The figures of a PDF by their names."""
    from aisr.paper.readers import pdf

    return {one.name: one for one in pdf.read(made).floats.values() if one.kind == "figure" and one.pictures}


def _is_same(one: Float, found: dict[str, Float]) -> bool:
    if one.name not in found:
        return False
    mine, other = (set(WORD.findall(said.casefold())) for said in (one.caption, found[one.name].caption))
    return len(mine & other) >= ALIKE * min(len(mine), len(other)) > 0


def _whole(draft: Draft, one: Float) -> Iterator[Float]:
    """A figure and its parts."""
    yield from (other for other in draft.floats.values() if other.name[:-1] == one.name or other.name == one.name)


def _pictures(draft: Draft, one: Float) -> Iterator[object]:
    """The pictures of a figure, of its parts, and of the whole that it is a part of."""
    whole = one.name[:-1] if one.name[-1:].isalpha() else one.name
    for other in draft.floats.values():
        if other.name in (whole, one.name) or (other.name[:-1] == whole and other.name[-1:].isalpha()):
            yield from other.pictures
