"""Which flags of a review are those that readers dismissed before."""

from collections.abc import Mapping
from dataclasses import replace

from aisr.base.digests import of_file
from aisr.corrections.line import Correction
from aisr.review.verdicts import Dismissed, Piece, Review, Verdict
from aisr.tasks.correctable import digest


def marked(review: Review, known: Mapping[str, Correction]) -> Review:
    """The review with the digest of each flag, and with those marked that were dismissed. known: by these digests."""
    pictures = {
        picture.path(review.draft.folder): of_file(picture.file)
        for one in review.draft.floats.values()
        for picture in one.pictures
        # A part of a PDF page is one of the paper itself, of which any edit changes the file.
        if picture.box is None and picture.file.is_relative_to(review.draft.folder) and picture.file.is_file()
    }
    held: dict[Piece, str] = {}  # one table may be held against many sentences
    return replace(review, verdicts=tuple(_marked(one, pictures, known, held) for one in review.verdicts))


def _marked(
    verdict: Verdict, pictures: Mapping[str, str], known: Mapping[str, Correction], held: dict[Piece, str]
) -> Verdict:
    if verdict.neutral or verdict.label is None:
        return verdict
    shown = [pictures.get(piece.picture, "") for piece in verdict.evidence if piece.picture]
    what = (
        [verdict.subject.digest]
        if verdict.subject
        else [verdict.statement, *(_held(one, held) for one in verdict.evidence)]
    )
    flag = digest([verdict.kind, verdict.work or "", *what, *shown])
    found = known.get(flag)
    gone = Dismissed(found.dismissed or "", found.who, found.when.isoformat()) if found else None
    return verdict._replace(flag=flag, dismissed=gone)


def _held(piece: Piece, held: dict[Piece, str]) -> str:
    if piece not in held:
        held[piece] = digest([piece.key, *piece.lines])
    return held[piece]
