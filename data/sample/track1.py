"""Track 1 records: an evidence bundle of a paper's exhibits and a claim paragraph, half with a planted error."""

from __future__ import annotations

from random import Random
from typing import Any

import wording
from edits import NoRoom, plant
from papers import Exhibit, Paper
from paragraphs import Draft, Sentence, draft, word

MOST_REPORT_WORDS = 70


def report_text(rng: Random, record: Draft) -> str:
    """The text item: the claim's true facts in other words, then what else is reported, 70 words at most."""
    extras = [word(rng, fact, wording.REPORTS) for fact in record.reports.values()]
    room = MOST_REPORT_WORDS - sum(len(text.split()) for text in extras)
    lines: list[str] = []
    facts = [
        s.fact for s in record.sentences if s.fact.kind in wording.REPORTS and s.fact.kind not in ("cause", "wide")
    ]
    for fact in dict.fromkeys(id(f) for f in facts):
        text = word(rng, next(f for f in facts if id(f) == fact), wording.REPORTS)
        if len(text.split()) <= room and text not in lines:
            lines.append(text)
            room -= len(text.split())
    return " ".join(lines + extras)


def build(rng: Random, paper: Paper, labels: tuple[str, ...]) -> tuple[Draft, str]:
    """A paragraph with the wanted errors and its report text; redraws until the paragraph has room for them."""
    while True:
        record = draft(rng, paper)
        try:
            for label in labels:
                plant(rng, record, label)
        except NoRoom:
            continue
        if not 2 <= len(record.sentences) <= 7:
            continue
        text = report_text(rng, record) if record.has_text else ""
        for sentence in record.sentences[1:]:
            if rng.random() < 0.15:
                sentence.text = opened(rng, paper, sentence)
        return record, text


def opened(rng: Random, paper: Paper, sentence: Sentence) -> str:
    """The sentence behind a connective such as `Moreover,`."""
    label, text = sentence.exhibit.label, sentence.text
    openers = [opener for opener in wording.OPENERS if label not in text or "{" not in opener]
    names = (
        *paper.field.systems,
        *paper.field.beds,
        *(metric.name for metric in paper.field.metrics),
        "Table",
        "Figure",
    )
    lower = not text.startswith(names)
    return rng.choice(openers).format(label=label) + (text[0].lower() + text[1:] if lower else text)


def as_record(record: Draft, text: str, paths: dict[Exhibit, str]) -> dict[str, Any]:
    """The draft in the official Track 1 form."""
    bundle: list[dict[str, Any]] = []
    for exhibit in record.exhibits:
        kind = "table" if exhibit.style == "table" else "image"
        bundle.append({"type": kind, f"{kind}_caption": [exhibit.caption], "img_path": paths[exhibit]})
    if text:
        bundle.append({"type": "text", "text": text})
    labels = [{"sentence": s.text, "types": s.types} for s in record.sentences]
    return {
        "claim_text": " ".join(s.text for s in record.sentences),
        "evidence_bundle": bundle,
        "sentence_label": labels,
    }
