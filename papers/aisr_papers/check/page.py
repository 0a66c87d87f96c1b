"""The page of a checked paper: one HTML file that loads nothing, with its data, style, script and pictures in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from aisr import render_page
from aisr.text import write_whole
from aisr_papers.check.flags import LABELS, Flag, Piece
from aisr_papers.check.review import Review, dismissal_line, left_out, list_recomputed, lost_words

HERE = Path(__file__).parent
FLAG = TypeAdapter(Flag)  # as a line of `paper.jsonl`


def write_page(file: Path, review: Review) -> None:
    """Write the page of a review. Its policy admits its own script, its own style and inlined pictures, and no network.
    Halves of characters, which a PDF may hold, become question marks."""
    html = render_page(
        HERE / "page.html",
        HERE / "page.css",
        (HERE / "paper.js",),
        title=review.draft.title or "A paper without a title",
        data=_content(review),
        lm=review.lm,
        reliability=[*lost_words(review.draft), *review.reliability],
        left_out=[*left_out(review), *list_recomputed(review)],
        flags=bool(review.flags),
    )
    write_whole(file, html.encode("utf-8", "replace"))


def _content(review: Review) -> dict[str, Any]:
    """Return what the script draws; each piece of evidence stands in it once."""
    pieces: dict[Piece, int] = {}
    return {
        "labels": {kind: list(meanings) for kind, meanings in LABELS.items()},
        "paragraphs": [
            {
                "headings": paragraph.headings,
                "sentences": [
                    {"text": one.text, "place": str(one.place), "hidden": one.hidden} for one in paragraph.sentences
                ],
            }
            for paragraph in review.draft.paragraphs
        ],
        "flags": [_page_flag(one, pieces) for one in review.flags],
        "order": review.by_doubt(),
        "pieces": [piece._asdict() for piece in pieces],
        "pictures": _small_pictures(review),
    }


def _page_flag(flag: Flag, pieces: dict[Piece, int]) -> dict[str, Any]:
    """Return the line of a flag, with its place in the draft, and its evidence by the place of that."""
    line: dict[str, Any] = FLAG.dump_python(flag, mode="json")
    return {
        **line,
        "position": flag.position,
        "reasons": [{**data, "mark": one.mark} for data, one in zip(line["reasons"], flag.reasons, strict=True)],
        "meaning": flag.meaning,
        "doubtful": flag.doubtful,
        "folded": flag.folded and not flag.dismissed,
        "evidence": [pieces.setdefault(piece, len(pieces)) for piece in flag.pieces],
        "marks": flag.marks,
        "dismissal": dismissal_line(flag) if flag.label and not flag.neutral and not flag.dismissed else None,
    }


def _small_pictures(review: Review) -> Mapping[str, str]:
    """Small copies of the pictures that flags show, as addresses that hold them, by their paths."""
    paths = {piece.picture for flag in review.flags for piece in flag.pieces if piece.picture}
    if not paths:  # as without a language model, whose packages may be missing then
        return {}
    from aisr.task import ImageFolder, small_copies

    return small_copies(ImageFolder(review.draft.folder, review.draft.drawings), paths)
