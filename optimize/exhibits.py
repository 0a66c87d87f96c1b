"""The evidence of a record piece by piece, as a person is shown it beside a verdict."""

from collections import Counter

import dspy
from pydantic import BaseModel, ConfigDict

from programs.evidence import KINDS
from programs.records import Citation, CitationRecord, ClaimRecord


class Exhibit(BaseModel):
    """One piece of evidence: an item of a bundle, or a paragraph of a cited paper.

    key: "table 1" or "P12"; picture: the path that the record gives, unchecked; shown: whether the model could read it;
    gold: whether it is gold evidence; chosen: its place in the predicted evidence, from 1, or 0.
    """

    model_config = ConfigDict(extra="forbid")
    key: str
    text: str
    picture: str | None = None
    shown: bool = True
    gold: bool = False
    chosen: int = 0


def of_claim(record: ClaimRecord, example: dspy.Example, answer: list[str] | None) -> list[Exhibit]:
    """The items of an evidence bundle, numbered by kind as the prompt numbers them."""
    numbers: Counter[str] = Counter()
    found = []
    for item in record.evidence_bundle:
        kind = KINDS[item.type]
        numbers[kind] += 1
        words = " ".join(f"{item.text} {item.caption}".split())
        found.append(Exhibit(key=f"{kind} {numbers[kind]}", text=words, picture=item.img_path))
    return found


def of_citation(record: CitationRecord, example: dspy.Example, answer: Citation | None) -> list[Exhibit]:
    """The paragraphs that the model read, that are gold or that were named, in document order. The rest of the paper is
    left out: it is 70 to 90 KB a record."""
    shown = set(example.shown)
    gold = set(record.gold.evidence_para_ids if record.gold else ())
    chosen = {key: rank for rank, key in enumerate(answer.evidence_para_ids if answer else (), start=1)}
    return [
        Exhibit(key=key, text=text, shown=key in shown, gold=key in gold, chosen=chosen.get(key, 0))
        for key, text in record.paragraphs.items()
        if key in shown or key in gold or key in chosen
    ]
