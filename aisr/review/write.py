"""The files that a checked paper leaves: the page, SARIF, JSON Lines."""

from pathlib import Path

from aisr.base.files import write_whole
from aisr.report.page import Thumbnail, no_picture
from aisr.review import page
from aisr.review.lines import as_jsonl
from aisr.review.sarif import as_sarif
from aisr.review.verdicts import Review

SARIF, JSONL = "paper.sarif", "paper.jsonl"


def all_files(folder: Path, review: Review) -> list[Path]:
    """Write them into a folder, over those of an earlier run; their paths, the page first."""
    shown = page.write(folder, review, _thumbnails(review))
    write_whole(folder / SARIF, as_sarif(review))
    write_whole(folder / JSONL, as_jsonl(review))
    return [shown, folder / SARIF, folder / JSONL]


def _thumbnails(review: Review) -> Thumbnail:
    """Small copies of the pictures; what makes them loads DSPy, which a paper without any does not need."""
    if not any(piece.picture for verdict in review.verdicts for piece in verdict.evidence):
        return no_picture
    from aisr.report.thumbnails import Thumbnails

    return Thumbnails(review.draft.folder, review.draft.drawn)
