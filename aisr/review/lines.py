"""Verdicts as lines: `file:line: label: sentence` for editors and terminals, and JSON Lines for programs."""

import json
from typing import Any

from aisr.base.redact import printable
from aisr.review.places import path
from aisr.review.verdicts import NOT_JUDGED, Review, Verdict


def line(review: Review, verdict: Verdict) -> str:
    """One line, as compilers write theirs: `main.tex:12: Contradiction 83 %: The sentence.`. Of a PDF the page stands
    behind the file: `paper.pdf: page 3: …`."""
    place = review.place(verdict)
    where = path(review.draft.folder, place)
    if place.line is not None:
        where += f":{place.line}"
    elif place.page is not None:
        where += f": page {place.page}"
    sure = "" if verdict.confidence is None else f" {verdict.confidence:.0%}".replace("%", " %")
    work = f" [{verdict.work}]" if verdict.work else ""
    why = f" ({verdict.why})" if verdict.why else ""
    label = verdict.label or (f"{verdict.first} at first look, no second one" if verdict.first else NOT_JUDGED)
    words = f"{where}: {label}{sure}{work}{why}: {review.sentence(verdict).text}"
    return printable(" ".join(words.split()))


def as_jsonl(review: Review) -> str:
    """Every verdict, a line each, in the paper's order."""
    return "".join(json.dumps(_object(review, one)) + "\n" for one in review.verdicts)


def _object(review: Review, verdict: Verdict) -> dict[str, Any]:
    place = review.place(verdict)
    return {
        "file": path(review.draft.folder, place),
        "line": place.line,
        "page": place.page,
        "kind": verdict.kind,
        "sentence": review.sentence(verdict).text,
        "statement": verdict.statement,
        "work": verdict.work,
        "label": verdict.label,
        "confidence": None if verdict.confidence is None else round(verdict.confidence, 4),
        "failed": verdict.failure,
        "why": verdict.why or None,
        "level": None if verdict.neutral else verdict.level,
        "first_look": verdict.first,
        "dismissed": verdict.dismissed._asdict() if verdict.dismissed else None,
        "evidence": [
            {"key": piece.key, "text": piece.lines[mark.line], "named": mark.place or None}
            for mark in verdict.marks
            for piece in [verdict.evidence[mark.piece]]
        ],
    }
