"""The files that a checked paper leaves, and its lines in the terminal: the page, JSON Lines, and SARIF."""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from aisr.files import write_whole
from aisr.text import printable
from aisr_papers.check.dismissed import dismissal_line
from aisr_papers.check.flags import HIDDEN_MEANS, Flag, Piece, file_path, label_words
from aisr_papers.check.page import Thumbnail, inline_pictures, no_picture, render_page, thumbnails
from aisr_papers.check.review import NOT_JUDGED, Review, left_out, list_recomputed, lost_words, shorten
from aisr_papers.check.sarif import as_sarif

PAGE, SARIF, JSONL = "paper.html", "paper.sarif", "paper.jsonl"
FLAG = TypeAdapter(Flag)


def write_files(folder: Path, review: Review) -> list[Path]:
    """Write them into a folder, over those of an earlier run; their paths, the page first."""
    small = thumbnails(review.draft.folder, review.draft.drawings)
    files = [write_page(folder, review, small), folder / SARIF, folder / JSONL]
    write_whole(folder / SARIF, as_sarif(review))
    write_whole(folder / JSONL, as_jsonl(review))
    return files


# --- The page: one HTML file that loads nothing, in the paper's own order.


def write_page(folder: Path, review: Review, thumbnail: Thumbnail = no_picture) -> Path:
    """Write the page into a folder; its path. thumbnail: the path of a picture below the draft's folder -> a small
    copy. Halves of characters, which a PDF may hold, become question marks."""
    paths = {piece.picture for flag in review.flags for piece in flag.pieces if piece.picture}
    page = render_page(
        review.draft.title or "A paper without a title",
        {"review": _content(review), "pictures": inline_pictures(paths, thumbnail)},
        lm=review.lm,
        reliability=[*lost_words(review.draft), *review.reliability],
        left_out=[*left_out(review), *list_recomputed(review)],
        flags=bool(review.flags),
    )
    write_whole(folder / PAGE, page.encode("utf-8", "replace"))
    return folder / PAGE


def _content(review: Review) -> dict[str, Any]:
    """What the script draws; each piece of evidence and each bundle of them stands in it once."""
    pieces: dict[Piece, int] = {}
    bundles: dict[tuple[int, ...], int] = {}
    flags = [_page_flag(review, one, pieces, bundles) for one in review.flags]
    return {
        "labels": {kind: list(labels.meanings) for kind, labels in review.labels.items()},
        "paragraphs": [
            {
                "headings": paragraph.headings,
                "sentences": [
                    {"text": one.text, "place": str(one.place), "hidden": one.hidden} for one in paragraph.sentences
                ],
            }
            for paragraph in review.draft.paragraphs
        ],
        "flags": flags,
        "order": review.by_doubt(),
        "bundles": list(bundles),
        "pieces": [piece._asdict() for piece in pieces],
    }


def _page_flag(
    review: Review,
    flag: Flag,
    pieces: dict[Piece, int],
    bundles: dict[tuple[int, ...], int],
) -> dict[str, Any]:
    """The line of a flag, with its place in the draft, and its evidence by the place of that."""
    line = flag_line(flag)
    bundle = tuple(pieces.setdefault(piece, len(pieces)) for piece in flag.pieces)
    return {
        **line,
        "position": flag.position,
        "reasons": [{**data, "mark": one.mark} for data, one in zip(line["reasons"], flag.reasons, strict=True)],
        "meaning": HIDDEN_MEANS if flag.kind == "hidden" else review.meaning(flag),
        "doubtful": flag.doubtful,
        "folded": flag.folded and not flag.dismissed,
        "evidence": bundles.setdefault(bundle, len(bundles)),
        "marks": flag.marks,
        "dismissal": dismissal_line(flag) if flag.digest and not flag.dismissed else None,
    }


# --- Flags as lines: `file:line: label: sentence` for editors and terminals, and JSON Lines for programs.


def format_line(flag: Flag) -> str:
    """One line, as compilers write theirs: `main.tex:12: Contradicted 83 %: The sentence.`. Of a PDF the page stands
    behind the file: `paper.pdf: page 3: …`."""
    where = flag.file
    if flag.line is not None:
        where += f":{flag.line}"
    elif flag.within:
        where += f": {flag.within}"
    work = f" [{flag.work}]" if flag.work else ""
    why = f" ({flag.why})" if flag.why else ""
    words = f"{where}: {label_words(flag) or NOT_JUDGED}{work}{why}: {flag.sentence}"
    return printable(" ".join(words.split()))


def flag_line(flag: Flag) -> dict[str, Any]:
    """A flag as its line of `paper.jsonl` has it."""
    line: dict[str, Any] = FLAG.dump_python(flag, mode="json")
    return line


def as_jsonl(review: Review) -> str:
    """Every flag, a line each, in the paper's order; then, of kind "recomputed", what was without a fault.
    Where much of the paper could not be read, the first line says so."""
    lost, coverage = lost_words(review.draft), review.draft.coverage
    rows: list[dict[str, Any]] = []
    if lost and coverage:
        rows.append({"kind": "coverage", "share": round(coverage.share, 4), "why": lost})
    rows += [flag_line(one) for one in review.flags]
    for one in review.recomputed:
        if not one.fact.wrong:
            sentence = review.draft.paragraphs[one.paragraph].sentences[one.sentence]
            place = sentence.place
            row = {
                "kind": "recomputed",
                "file": file_path(review.draft.folder, place),
                "line": place.line,
                "page": place.page,
                "paragraph": place.paragraph or None,
                "statement": shorten(sentence.text),
                "label": one.fact.outcome,
                "why": one.fact.computed,
            }
            rows.append(row)
    return "".join(json.dumps(row) + "\n" for row in rows)
