"""Which flags of a review are those that readers dismissed before."""

import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aisr.base.digests import of_file, of_texts
from aisr.corrections.line import Correction
from aisr.paper.drawing import Limits
from aisr.review.verdicts import Dismissed, Piece, Review, Verdict

MOST_BYTES = Limits().bytes  # of a picture; none that is larger is shown to a model


def marked(review: Review, known: Mapping[str, Correction]) -> Review:
    """The review with the digest of each flag, and with those marked that were dismissed. known: by these digests.

    Of the pictures those are read that a flag shows, also where nothing is dismissed yet: a flag is dismissed by the
    digest that the page of its first review has.
    """
    shown = {piece.picture for one in review.verdicts if _is_flag(one) for piece in one.evidence if piece.picture}
    files = {
        path: picture.file
        for one in review.draft.floats.values()
        for picture in one.pictures
        # A part of a PDF page is one of the paper itself, of which any edit changes the file.
        if picture.box is None and picture.file.is_relative_to(review.draft.folder)
        if (path := picture.path(review.draft.folder)) in shown
    }
    pictures = {path: of_file(file) for path, file in files.items() if _is_readable(file)}
    held: dict[Piece, str] = {}  # one table may be held against many sentences
    return replace(review, verdicts=tuple(_marked(one, pictures, known, held) for one in review.verdicts))


def _is_flag(verdict: Verdict) -> bool:
    return not verdict.neutral and verdict.label is not None


def _is_readable(file: Path) -> bool:
    """Whether it is a file, and one that could be a figure by its size."""
    try:
        found = file.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES


def _marked(
    verdict: Verdict, pictures: Mapping[str, str], known: Mapping[str, Correction], held: dict[Piece, str]
) -> Verdict:
    if not _is_flag(verdict):
        return verdict
    shown = [pictures.get(piece.picture, "") for piece in verdict.evidence if piece.picture]
    what = (
        [verdict.subject.digest]
        if verdict.subject
        else [verdict.statement, *(_held(one, held) for one in verdict.evidence)]
    )
    flag = of_texts([verdict.kind, verdict.work or "", *what, *shown])
    found = known.get(flag)
    gone = Dismissed(found.dismissed or "", found.who, found.when.isoformat()) if found else None
    return verdict._replace(flag=flag, dismissed=gone)


def _held(piece: Piece, held: dict[Piece, str]) -> str:
    if piece not in held:
        held[piece] = of_texts([piece.key, *piece.lines])
    return held[piece]
