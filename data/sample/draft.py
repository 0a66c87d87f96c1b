"""Drafts held against themselves: paragraphs of invented result papers, half of them with an error, and their tables."""

from __future__ import annotations

from random import Random
from typing import Any

import edits
import track1
from papers import Exhibit, Paper, draw_paper

SIZES = {"train": 32, "dev": 20, "test": 24}
LABELS = {
    edits.CAUSAL: "Beyond the evidence",
    edits.SCOPE: "Beyond the evidence",
    edits.ENTITY: "Not found",
    edits.CONTRADICTION: "Contradicted",
}
PLANS = ((edits.CONTRADICTION,), (edits.CAUSAL,), (edits.CONTRADICTION,), (edits.ENTITY,), (edits.SCOPE,), (), (), ())


def splits(rng: Random) -> dict[str, list[dict[str, Any]]]:
    """The records of each split, no two of one paper."""
    taken: set[str] = set()
    return {split: [record(rng, PLANS[k % len(PLANS)], taken) for k in range(size)] for split, size in SIZES.items()}


def record(rng: Random, labels: tuple[str, ...], taken: set[str]) -> dict[str, Any]:
    """A paragraph of a paper that has not been drawn yet, with the wanted errors."""
    while True:
        paper = draw_paper(rng)
        title = f"{paper.hero} for {paper.topic}"
        tables = tuple(exhibit for exhibit in paper.exhibits if exhibit.style == "table")
        if title not in taken and any(exhibit.kind == "grid" for exhibit in tables):
            break  # an ablation alone has no room for some errors
    made, text = track1.build(rng, paper._replace(exhibits=tables), labels)
    taken.add(title)
    return as_record(paper, title, made, text)


def as_record(paper: Paper, title: str, made: track1.Draft, text: str) -> dict[str, Any]:
    """In the form of the task: tables with their cells, and what another section reports."""
    evidence = [
        {"type": "table", "table_caption": [exhibit.caption], "text": rows(exhibit)} for exhibit in made.exhibits
    ]
    if text:
        evidence.append({"type": "text", "text": f"Discussion: {text}"})
    sentences = [{"sentence": one.text, "label": LABELS.get(one.types[0], "Supported")} for one in made.sentences]
    return {
        "title": title,
        "headings": ["Results"],
        "before": f"We compare {len(paper.systems)} {paper.field.system_plural}.",
        "paragraph": " ".join(one.text for one in made.sentences),
        "own_results": True,
        "sentences": sentences,
        "evidence_bundle": evidence,
    }


def rows(exhibit: Exhibit) -> str:
    """The cells of a table, a row a line, with tabs between cells."""
    head = ["", *exhibit.columns]
    body = [
        [name, *(f"{value:.{exhibit.metric.decimals}f}" for value in line)]
        for name, line in zip(exhibit.rows, exhibit.cells, strict=True)
    ]
    return "\n".join("\t".join(map(str, line)) for line in [head, *body])
