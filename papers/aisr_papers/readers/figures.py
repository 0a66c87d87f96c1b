"""The figures of a paper as pictures of points: PDFs are drawn in processes of their own that are held to limits.

Each drawing is kept in a folder by the digest of its source, so that it is drawn once. What cannot be drawn is listed.
"""

import json
import time
from dataclasses import replace
from pathlib import Path

from aisr import UserError
from aisr.text import digest_file, digest_text, write_whole
from aisr_papers.draft import Draft, Float, Picture, Unread
from aisr_papers.readers import pdf_process
from aisr_papers.readers.files import PICTURES
from aisr_papers.readers.pdf_process import Limits, run_child
from aisr_papers.readers.word import read_picture

EDITION = "1"  # of how figures are drawn: what an earlier one drew is drawn again
MOST = 400  # pictures of a paper
NOT_DRAWN = ": not drawn: "
LIMITS = pdf_process.LIMITS._replace(seconds=20.0, waiting=60.0)  # of a figure
SECONDS = 180.0  # for all figures of a paper


def draw_pictures(draft: Draft, folder: Path, limits: Limits = LIMITS) -> Draft:
    """Return the draft with its drawings as pictures of points, which are kept in a folder. Pictures that cannot be
    drawn are left out of its floats and listed. Files that are pictures of points already stay, and are not opened."""
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
    """Return the file in a folder that holds a drawing as points, drawn once. end: when drawing ends. Raises
    UserError."""
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
