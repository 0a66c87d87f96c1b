"""Answers from the key of the sample paper, in the place of a language model: what its authors planted, and Supported
for the rest. How sure it says to be is made up."""

import json
import re
from typing import Any

import numpy as np

from aisr.programs.probabilities import CONFIDENCE
from aisr.programs.retrieval import bm25
from paper_support import reasons
from paper_support.paths import SAMPLE
from support.scripted import field

FOLDER = SAMPLE / "paper"
PARAGRAPH = re.compile(r"^\[(P\d+)\] (.*)$", re.MULTILINE)
SURE = (92, 84, 71)  # percent, in turn
# Why sentences are flagged, by their beginnings: the fact, where it stands (row and column of a table), and the quote.
REASONS = {
    "Taking out": ("Without the night prior F1 falls by 0.7.", "Table 3", "– night prior", "Change", "-0.7"),
    "At Saltmarsh": ("At Saltmarsh Nightjar has 71.9, TriSpec 71.2.", "Table 2", "Nightjar", "Saltmarsh F1", "71.9"),
    "Foam": ("Windshields were not used.", "P10", "", "", "what windshields are worth remains to be measured"),
    "Learned": ("At Dune Point the threshold is better.", "P17", "Dune Point", "CallNet", "48"),
    "CallNet needs": ("Without labelled calls it was below the threshold.", "P12", "", "", "F1 at Elm Hill was 52"),
}


def faults() -> list[dict[str, Any]]:
    """The injected errors: each with file, line, sentence, kind and label."""
    rows: list[dict[str, Any]] = json.loads((FOLDER / "key.json").read_text(encoding="utf-8"))["faults"]
    return rows


def letters(text: str) -> str:
    """What a sentence is known by, however a reader of LaTeX or PDF sets its blanks and signs."""
    return re.sub(r"[\W_]+", "", text).lower()


def answer(prompt: str) -> str:
    """The answer to a question about the sample paper, as JSON."""
    if reasons.asks_why(prompt):
        return json.dumps({"reasons": [_reason(*one) for one in reasons.flagged(prompt)]})
    sentences = field(prompt, "sentences")
    if sentences is not None:
        labels = [_label("claim", sentence) for sentence in json.loads(sentences)]
        return json.dumps({"sentence_labels": labels, CONFIDENCE: [_sure(k, label) for k, label in enumerate(labels)]})
    claim = field(prompt, "claim") or ""
    label = _label("citation", claim)
    return json.dumps({"label": label, CONFIDENCE: _sure(len(claim), label), "evidence_ids": _nearest(prompt, claim)})


def _reason(number: int, sentence: str) -> dict[str, Any]:
    fact = next((fact for begins, fact in REASONS.items() if sentence.startswith(begins)), ("", "", "", "", ""))
    return reasons.stated(sentence=number, **dict(zip(("says", "item", "row", "column", "quote"), fact, strict=True)))


def _label(kind: str, text: str) -> str:
    """By the beginning: of a citation, what is claimed may be the sentence without its citation."""
    known = letters(text)
    matching = (one for one in faults() if one["kind"] == kind and letters(one["sentence"]).startswith(known[:200]))
    return str(next(matching, {"label": "Supported"})["label"]) if known else "Supported"


def _sure(number: int, label: str) -> str:
    return f"{SURE[number % len(SURE)]}, {'Contradicted' if label == 'Supported' else 'Supported'} 5"


def _nearest(prompt: str, claim: str) -> list[str]:
    passages = PARAGRAPH.findall(field(prompt, "passages") or "")
    scores = bm25(claim, [text for _, text in passages])
    return [passages[int(place)][0] for place in np.argsort(-scores)[:1]]
