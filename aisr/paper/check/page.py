"""A paper with its verdicts as one HTML file that loads nothing: the error browser's look, in the paper's own order."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aisr.base.files import write_whole
from aisr.corrections import panel
from aisr.paper.check.verdicts import HIDDEN_MEANS, Piece, Review, Subject, Verdict
from aisr.report.page import HERE as FRAME
from aisr.report.page import Thumbnail, framed, inlined, no_picture

FILE = "paper.html"
HERE = Path(__file__).parent
STYLES = (FRAME / "page.css", HERE / "page.css", panel.STYLE)
SCRIPTS = (FRAME / "elements.js", panel.SCRIPT, HERE / "subjects.js", HERE / "paper.js")


def render(review: Review, thumbnail: Thumbnail = no_picture) -> str:
    """The page. thumbnail: the path of a picture below the draft's folder -> a small copy."""
    paths = {piece.picture for verdict in review.verdicts for piece in verdict.evidence if piece.picture}
    return framed(
        HERE / "page.html",
        review.draft.title or "A paper without a title",
        STYLES,
        SCRIPTS,
        {"review": _content(review), "pictures": inlined(paths, thumbnail)},
        lm=review.lm,
        worth=review.worth,
        more=review.more,
        left_out=left_out(review),
        found=bool(review.verdicts),
        flags=any(one.flag for one in review.verdicts),
        labels=any(one.subject and one.evidence for one in review.verdicts),
    )


def write(folder: Path, review: Review, thumbnail: Thumbnail = no_picture) -> Path:
    """Write the page into a folder; its path. Halves of characters, which a PDF may hold, become question marks."""
    write_whole(folder / FILE, render(review, thumbnail).encode("utf-8", "replace"))
    return folder / FILE


def left_out(review: Review) -> list[dict[str, Any]]:
    """What is not among the verdicts and why, in groups: title and items."""
    works = review.draft.works
    missing = [
        f"{key}{_titled(works[key].title) if key in works else ''}: {count} {_plural(count, 'sentence')}"
        for key, count in review.missing.items()
    ]
    paragraphs = sum(review.skipped.values())
    groups = [
        ("judging was stopped", [review.stopped] if review.stopped else []),
        (f"not read: {len(review.draft.unread)}", [f"{one.place}: {one.reason}" for one in review.draft.unread]),
        (f"cited works without a file: {len(missing)}", missing),
        (
            f"paragraphs not checked: {paragraphs}",
            [f"{why}: {count} {_plural(count, 'paragraph')}" for why, count in review.skipped.items()],
        ),
        (f"pictures not shown: {len(review.pictures)}", [f"{path}: {why}" for path, why in review.pictures.items()]),
    ]
    return [{"title": title, "items": items} for title, items in groups if items]


def _titled(title: str) -> str:
    return f" ({title})" if title else ""


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _content(review: Review) -> dict[str, Any]:
    """What the script draws; each piece of evidence and each bundle of them stands in it once."""
    pieces: dict[Piece, int] = {}
    bundles: dict[tuple[int, ...], int] = {}
    records = {one.subject.record.id: one.subject.record for one in review.verdicts if one.subject}
    places = {key: place for place, key in enumerate(records)}
    verdicts = [
        {**_verdict(review, one, pieces, bundles), "subject": _subject(one.subject, places)} for one in review.verdicts
    ]
    return {
        "labels": {
            kind: {"neutral": one.neutral, "meanings": dict(one.meanings)} for kind, one in review.labels.items()
        },
        "paragraphs": [
            {
                "headings": paragraph.headings,
                "sentences": [
                    {"text": one.text, "place": str(one.place), "hidden": one.hidden} for one in paragraph.sentences
                ],
            }
            for paragraph in review.draft.paragraphs
        ],
        "verdicts": verdicts,
        "order": review.by_doubt(),
        "bundles": list(bundles),
        "pieces": [{"key": one.key, "lines": one.lines, "picture": one.picture} for one in pieces],
        **panel.packed(one.model_dump(mode="json", exclude_none=True) for one in records.values()),
        "tasks": {name: _task(name) for name in sorted({one.subject.task for one in review.verdicts if one.subject})},
        "lm": review.lm,
    }


def _task(name: str) -> dict[str, Any]:
    """What people may say of verdicts of a task: its labels, and how many pieces of evidence they may name."""
    from aisr.programs.registry import TASKS  # loads DSPy, which verdicts without a model do not need

    task = TASKS[name]
    return {"meanings": dict(task.labelled.definitions), "most": task.correctable.most if task.correctable else 0}


def _subject(subject: Subject | None, places: Mapping[str, int]) -> dict[str, Any] | None:
    """What a verdict is about, its record by its place."""
    if subject is None:
        return None
    return {
        **subject._asdict(),
        "record": places[subject.record.id],
        "record_id": subject.record.id,
    }


def _verdict(
    review: Review, verdict: Verdict, pieces: dict[Piece, int], bundles: dict[tuple[int, ...], int]
) -> dict[str, Any]:
    bundle = tuple(pieces.setdefault(piece, len(pieces)) for piece in verdict.evidence)
    return {
        "kind": verdict.kind,
        "paragraph": verdict.paragraph,
        "sentence": verdict.sentence,
        "statement": verdict.statement,
        "label": verdict.label,
        "meaning": HIDDEN_MEANS if verdict.kind == "hidden" else review.meaning(verdict),
        "doubtful": verdict.doubtful,
        "folded": verdict.folded and verdict.dismissed is None,
        "level": verdict.level,
        "first": verdict.first,
        "confidence": None if verdict.confidence is None else round(min(verdict.confidence, 1.0), 4),
        "failure": verdict.failure,
        "why": verdict.why,
        "work": verdict.work,
        "evidence": bundles.setdefault(bundle, len(bundles)),
        "marks": verdict.marks,
        "signs": verdict.signs,
        "flag": verdict.flag,
        "dismissed": verdict.dismissed._asdict() if verdict.dismissed else None,
    }
