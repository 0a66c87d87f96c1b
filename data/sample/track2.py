"""Track 2 records: claims on cited papers: supported, overstated, near in topic only, or about something else."""

from __future__ import annotations

from random import Random
from typing import Any

from cited import Cited, Finding, Slots, draw_cited, for_kind, form

SHARES = {"Supported": 0.45, "Irrelevant": 0.18, "Topical Match": 0.18, "Overstate": 0.19}
# Kinds whose weak form carries a number that can be inflated: slot and factor.
MAGNITUDES = {"gain": "gap", "part": "gap", "subset": "pct", "cost": "save"}
Record = dict[str, Any]


def split_of(rng: Random, size: int, claims_per_paper: int, taken: set[str]) -> list[Record]:
    """`size` records over fresh papers; the shares of the labels are exact up to rounding."""
    counts = {label: round(share * size) for label, share in SHARES.items()}
    counts["Supported"] += size - sum(counts.values())
    labels = [label for label, count in counts.items() for _ in range(count)]
    rng.shuffle(labels)
    papers = [draw_cited(rng, taken) for _ in range(-(-size // claims_per_paper))]
    records: list[Record] = []
    for index, paper in enumerate(papers):
        free = list(paper.findings)
        rng.shuffle(free)
        silent = list(paper.unstudied)
        for label in labels[index * claims_per_paper : (index + 1) * claims_per_paper]:
            records.append(as_record(paper, label, *make(rng, label, paper, papers, free, silent)))
    return records


def make(
    rng: Random, label: str, paper: Cited, papers: list[Cited], free: list[Finding], silent: list[str]
) -> tuple[str, tuple[str, ...]]:
    """A claim with the label and its gold paragraph ids; takes what it uses from `free` and `silent`."""
    if label == "Irrelevant":
        return elsewhere(rng, paper, papers), ()
    if label == "Topical Match":
        kind = silent.pop(rng.randrange(len(silent)))
        place = paper.unstudied[kind]
        return claim(rng, kind, rng.random() < 0.45, paper.slots), (place,) if place else ()
    finding = next(f for f in free if label == "Supported" or not f.strong)
    free.remove(finding)
    if label == "Supported":
        return claim(rng, finding.kind, finding.strong, finding.slots), finding.places
    return overstated(rng, finding), finding.places


def claim(rng: Random, kind: str, strong: bool, slots: Slots) -> str:
    """One wording of a claim."""
    return rng.choice(form(kind, strong).claim).format(**for_kind(kind, slots))


def overstated(rng: Random, finding: Finding) -> str:
    """The weak finding in its strong form, or with its number at least tripled."""
    slots = for_kind(finding.kind, finding.slots)
    slot = MAGNITUDES.get(finding.kind)
    if slot and rng.random() < 0.4:
        fitting = [text for text in form(finding.kind, False).claim if "{" + slot + "}" in text]
        return rng.choice(fitting).format(**(slots | {slot: tripled(slots[slot])}))
    return rng.choice(form(finding.kind, True).claim).format(**slots)


def tripled(amount: str) -> str:
    """`3.1 points` -> `9.3 points`; a bare percentage stays below 95."""
    number, _, unit = amount.partition(" ")
    decimals = len(number.partition(".")[2])
    value = 3 * float(number) if unit else min(95.0, 3 * float(number))
    return f"{value:.{decimals}f} {unit}".strip()


def elsewhere(rng: Random, paper: Cited, papers: list[Cited]) -> str:
    """A claim about another paper's method that this paper nowhere names, on another topic."""
    text = " ".join(paper.paragraphs.values())
    others = [p for p in papers if p.topic != paper.topic and p.slots["m"] not in text]
    near = [p for p in others if p.slots["field"] == paper.slots["field"]]
    other = rng.choice(near if near and rng.random() < 0.4 else others)
    finding = rng.choice(
        [f for f in other.findings if f.kind != "assoc" or other.slots["field"] != paper.slots["field"]]
    )
    if not finding.strong and rng.random() < 0.4:
        return overstated(rng, finding)
    return claim(rng, finding.kind, finding.strong, finding.slots)


def as_record(paper: Cited, label: str, text: str, places: tuple[str, ...]) -> Record:
    """The claim in the official Track 2 form."""
    return {
        "claim_text": text,
        "cited_paper_full_text": [{place: paragraph} for place, paragraph in paper.paragraphs.items()],
        "evidence_para_ids": list(places),
        "evidence_texts": {place: paper.paragraphs[place] for place in places},
        "label": label,
    }
