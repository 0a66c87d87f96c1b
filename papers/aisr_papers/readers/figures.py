"""The figures of a paper as pictures of points: PDFs are drawn in processes of their own that are held to limits.

Each drawing is kept in a folder by the digest of its source, so that it is drawn once. What cannot be drawn is listed.
"""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

from aisr import UserError
from aisr.text import digest_file, digest_text, write_whole
from aisr_papers.draft import Draft, Float, Picture, Unread
from aisr_papers.readers import pdf_process
from aisr_papers.readers.files import PICTURES, find_main_file
from aisr_papers.readers.pdf_process import Limits, run_child
from aisr_papers.readers.word import read_picture

EDITION = "1"  # of how figures are drawn: what an earlier one drew is drawn again
MOST = 400  # pictures of a paper
NOT_DRAWN = ": not drawn: "
LIMITS = pdf_process.LIMITS._replace(seconds=20.0, waiting=60.0)  # of a figure
SECONDS = 180.0  # for all figures of a paper


def draw_pictures(draft: Draft, folder: Path, limits: Limits = LIMITS) -> Draft:
    """The draft with its drawings as pictures of points, which are kept in a folder. Pictures that cannot be drawn are
    left out of its floats and listed. Files that are pictures of points already stay, and are not opened."""
    paths: dict[str, tuple[Picture, Float]] = {}
    for one in draft.floats.values():
        for picture in one.pictures:
            paths.setdefault(picture.path(draft.folder), (picture, one))
    drawings: dict[str, Path] = {}
    reasons: dict[str, str] = {}  # of those that are not drawn
    end = time.monotonic() + SECONDS
    for number, (path, (picture, _)) in enumerate(paths.items()):
        if picture.file.suffix.lower() in PICTURES:
            continue
        try:
            if number >= MOST:
                raise UserError(f"more than {MOST} pictures")
            drawings[path] = _keep(picture, folder, limits, end)
        except UserError as error:
            reasons[path] = str(error)
    floats = {
        key: one._replace(
            pictures=tuple(picture for picture in one.pictures if picture.path(draft.folder) not in reasons)
        )
        for key, one in draft.floats.items()
    }
    notes = (Unread(paths[path][1].place, f"{path}{NOT_DRAWN}{why}") for path, why in reasons.items())
    return replace(draft, floats=floats, unread=(*draft.unread, *notes), drawings=drawings)


def _keep(picture: Picture, folder: Path, limits: Limits, end: float) -> Path:
    """The file in a folder that holds a drawing as points, drawn once. end: when drawing ends. Raises UserError."""
    suffix = picture.file.suffix.lower()
    if suffix != ".pdf" and not picture.member:
        raise UserError(f"{suffix[1:].upper()} is not drawn; save it as PDF or PNG beside it under the same name")
    if picture.file.stat().st_size > limits.bytes:
        raise UserError(f"larger than {limits.bytes >> 20} MiB")
    if time.monotonic() > end:
        raise UserError(f"the figures of this paper take more than {SECONDS:g} seconds")
    part = f"{picture.page} {picture.box}{picture.member}"
    digest = digest_text(f"{EDITION} {digest_file(picture.file)} {suffix} {part}")
    kept = folder / f"{digest}{Path(picture.member).suffix.lower() or '.png'}"
    if not kept.is_file():
        arguments = [str(picture.file), str(picture.page), json.dumps(picture.box)]
        content = read_picture(picture) if picture.member else run_child(arguments, limits)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, content)
    return kept


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
