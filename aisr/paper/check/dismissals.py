"""Which flags of a review are those that readers dismissed before."""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aisr.base.files import digest_file, digest_texts
from aisr.corrections.files import Correction
from aisr.paper.check.recomputed import LABELS
from aisr.paper.check.verdicts import EXACT, HIDDEN, Dismissed, Piece, Review, Verdict
from aisr.paper.readers.drawing import Limits
from aisr.programs.errors import UserError
from aisr.programs.labels import IN_DRAFTS

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
    pictures = {path: digest_file(file) for path, file in files.items() if _is_readable(file)}
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
    flag = digest_texts([verdict.kind, verdict.work or "", *what, *shown])
    found = known.get(flag)
    gone = Dismissed(found.dismissed or "", found.who, found.when.isoformat()) if found else None
    return verdict._replace(flag=flag, dismissed=gone)


def _held(piece: Piece, held: dict[Piece, str]) -> str:
    if piece not in held:
        held[piece] = digest_texts([piece.key, *piece.lines])
    return held[piece]


# --- `--fail-on`: which verdicts make the command fail.


def failing_labels(wanted: Sequence[str], known: Sequence[str]) -> set[str]:
    """The labels of --fail-on, whatever their case; `arithmetic` and `quote` are all labels of that
    kind, and a label of the first look stands for that of the second as well. Raises UserError for what is none."""
    found = [label for kind in EXACT for label in LABELS[kind].meanings]
    labels = {label.lower(): {label} for label in [*known, *found, HIDDEN]}
    labels |= {kind: set(LABELS[kind].meanings) for kind in EXACT}
    for first, second in IN_DRAFTS.items():
        if second in known:  # the second look's word for what the first one doubts
            labels.setdefault(first.lower(), set()).add(str(second))
    unknown = [label for label in wanted if label.lower() not in labels]
    if unknown:
        raise UserError(
            f"--fail-on {unknown[0]!r}: no such label; one of: {', '.join([*known, HIDDEN, *EXACT, *found])}"
        )
    return {label for one in wanted for label in labels[one.lower()]}


def failing_verdicts(review: Review, labels: set[str], above: float) -> list[Verdict]:
    """The verdicts with one of the labels whose confidence is at least `above`, in 0-1. One without a known confidence
    counts: a gate that cannot tell does not open. One that a reader dismissed does not."""
    return [
        one
        for one in review.verdicts
        if one.label in labels and not one.dismissed and (one.confidence is None or one.confidence >= above)
    ]
