"""The figures of a paper as pictures of points: PDFs are drawn in a process of its own that is held to limits.

Each drawing is kept in a folder by the digest of its source, so that it is drawn once. What cannot be drawn is listed.
"""

import base64
import json
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from aisr import UserError
from aisr.files import digest_file, digest_text, write_whole
from aisr_papers import sandbox
from aisr_papers.draft import Draft, Float, Picture, Unread
from aisr_papers.readers.files import PICTURES, find_main_file
from aisr_papers.readers.word_archive import read_picture

CHILD = "aisr_papers.readers.figure_child"
EDITION = "1"  # of how figures are drawn: what an earlier one drew is drawn again
MOST = 400  # pictures of a paper
NOT_DRAWN = ": not drawn: "


class Limits(NamedTuple):
    """What drawing may take."""

    bytes: int = 50 * 2**20  # of a file
    objects: int = 200_000  # of a page
    pixels: int = 1_200_000
    scale: float = 4.0  # pixels a point at most
    memory: int = 2**30  # bytes of address space
    seconds: float = 20.0  # of one core, for the figures that are drawn together
    waiting: float = 60.0  # seconds that these may take beside other work
    whole: float = 180.0  # the same for all figures of a paper


LIMITS = Limits()


class Job(NamedTuple):
    """A picture to be drawn."""

    path: str  # as records name it
    picture: Picture
    png: Path


def draw_pictures(draft: Draft, folder: Path, limits: Limits = LIMITS) -> Draft:
    """The draft with its drawings as pictures of points, which are kept in a folder. Pictures that cannot be drawn are
    left out of its floats and listed. Files that are pictures of points already stay, and are not opened."""
    paths: dict[str, tuple[Picture, Float]] = {}
    for one in draft.floats.values():
        for picture in one.pictures:
            paths.setdefault(picture.path(draft.folder), (picture, one))
    reasons: dict[str, str] = {}  # of those that are not drawn
    jobs: list[Job] = []
    for number, (path, (picture, _)) in enumerate(paths.items()):
        if picture.file.suffix.lower() in PICTURES:
            continue
        why = f"more than {MOST} pictures" if number >= MOST else _reason_to_skip(picture, limits)
        if why is None:
            kept = folder / f"{_digest(picture)}{Path(picture.member).suffix.lower() or '.png'}"
            why = _unpack(picture, kept) if picture.member and not kept.is_file() else None
            jobs.append(Job(path, picture, kept))
        if why is not None:
            reasons[path] = why
    reasons |= _draw([job for job in jobs if job.path not in reasons and not job.png.is_file()], limits)
    floats = {
        key: one._replace(
            pictures=tuple(picture for picture in one.pictures if picture.path(draft.folder) not in reasons)
        )
        for key, one in draft.floats.items()
    }
    notes = (Unread(paths[path][1].place, f"{path}{NOT_DRAWN}{why}") for path, why in reasons.items())
    drawings = {job.path: job.png for job in jobs if job.path not in reasons}
    return replace(draft, floats=floats, unread=(*draft.unread, *notes), drawings=drawings)


def _reason_to_skip(picture: Picture, limits: Limits) -> str | None:
    """Why a file is not even tried; None where it is."""
    suffix = picture.file.suffix.lower()
    if suffix != ".pdf" and not picture.member:
        return f"{suffix[1:].upper()} is not drawn; save it as PDF or PNG beside it under the same name"
    return f"larger than {limits.bytes >> 20} MiB" if picture.file.stat().st_size > limits.bytes else None


def _unpack(picture: Picture, kept: Path) -> str | None:
    """Keep a picture of a Word file; why that cannot be, None where it could."""
    try:
        content = read_picture(picture)
    except UserError as error:
        return str(error)
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_whole(kept, content)
    return None


def _digest(picture: Picture) -> str:
    part = f"{picture.page} {picture.box}{picture.member}"
    return digest_text(f"{EDITION} {digest_file(picture.file)} {picture.file.suffix.lower()} {part}")


def _draw(jobs: Sequence[Job], limits: Limits) -> dict[str, str]:
    """Draw pictures; the reasons, by path, of those that could not be. A figure that ends its process costs that
    alone."""
    reasons: dict[str, str] = {}
    left, end = list(jobs), time.monotonic() + limits.whole
    while left and time.monotonic() < end:
        answers, why = _run(left, limits)
        for job, answer in zip(left, answers, strict=False):
            if "png" in answer:
                job.png.parent.mkdir(parents=True, exist_ok=True)
                write_whole(job.png, base64.b64decode(answer["png"]))
            else:
                reasons[job.path] = answer["refused"]
        left = left[len(answers) :]
        if left and not answers:  # the first of a process has all that it may take for itself
            reasons[left.pop(0).path] = why
    return reasons | {job.path: f"the figures of this paper take more than {limits.whole:g} seconds" for job in left}


def _run(jobs: Sequence[Job], limits: Limits) -> tuple[list[dict[str, str]], str]:
    """The answers of a process to the pictures that it came to, and why it ended at the next one."""
    pictures = (job.picture for job in jobs)
    stdin = json.dumps([(str(one.file), one.page, one.box) for one in pictures]).encode()
    try:
        process = sandbox.run(CHILD, [], limits._asdict(), stdin)
        output, code = process.stdout, process.returncode
    except subprocess.TimeoutExpired as error:
        output, code = error.stdout or b"", sandbox.OUT_OF_TIME[0]
    lines = output[: output.rfind(b"\n") + 1].splitlines()  # the last line may be half of one
    why = "broken, or it takes too much memory"
    if code in sandbox.OUT_OF_TIME:
        why = f"it takes more than {limits.seconds:g} s of a core"
    return [json.loads(line) for line in lines[: len(jobs)]], why


# --- Figures that LaTeX draws by code, or whose file cannot be drawn: they stand in the PDF that was made of the paper.
# Where that lies beside its main file, the figure of the same number and caption is taken from there.

WORD = re.compile(r"\w{3,}")
ALIKE = 0.6  # of the words of the shorter caption: both are of one figure


def draw_figures(draft: Draft, paper: Path, folder: Path) -> Draft:
    """The draft with its figures as pictures of points, kept in a folder. paper: what it was read from."""
    result = draw_pictures(draft, folder)
    missing = [one for one in result.floats.values() if one.kind == "figure" and not _has_picture(result, one)]
    if not missing or paper.suffix.lower() == ".pdf":
        return result
    pdf_file = find_main_file(paper).with_suffix(".pdf").resolve()
    if not pdf_file.is_file() or not pdf_file.is_relative_to(draft.folder):
        return result
    from aisr_papers.readers import pdf

    try:
        pdf_floats = pdf.read(pdf_file).floats.values()
    except UserError:
        return result
    figures = {one.name: one for one in pdf_floats if one.kind == "figure" and one.pictures}
    changes: dict[str, Float] = {}
    for one in missing:
        if one.name in figures and _is_same(one, figures[one.name]):
            pictures = tuple(picture._replace(file=pdf_file) for picture in figures[one.name].pictures)
            changes[one.key] = one._replace(pictures=pictures, code_places=())
    # What is no longer missing is not listed.
    places = {one.place for one in changes.values()}
    code_places = {
        place
        for figure in changes.values()
        for one in result.floats.values()
        if figure.name in (one.name, one.name[:-1])
        for place in one.code_places
    }
    unread = tuple(
        one
        for one in result.unread
        if one.place not in code_places and not (one.place in places and NOT_DRAWN in one.reason)
    )
    more = draw_pictures(replace(result, floats={**result.floats, **changes}, unread=unread), folder)
    return replace(more, drawings={**result.drawings, **more.drawings})


def _is_same(one: Float, other: Float) -> bool:
    words, other_words = (set(WORD.findall(caption.casefold())) for caption in (one.caption, other.caption))
    return len(words & other_words) >= ALIKE * min(len(words), len(other_words)) > 0


def _has_picture(draft: Draft, one: Float) -> bool:
    """Whether a figure, one of its parts, or the whole that it is a part of has a picture."""
    whole = one.name[:-1] if one.name[-1:].isalpha() else one.name
    return any(
        other.pictures
        for other in draft.floats.values()
        if other.name in (whole, one.name) or (other.name[:-1] == whole and other.name[-1:].isalpha())
    )
