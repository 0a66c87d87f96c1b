"""Small damages that extracted papers carry: split decimals, stray words, spaced-out LaTeX, odd minus signs."""

from __future__ import annotations

import re
from random import Random
from typing import Any

Record = dict[str, Any]
SUPPORTED = ["Supported"]
LATEX = (
    " $\\mathbf { B o l d }$ : best value.",
    " Mean of $n = 3$ runs ( $\\sigma < 0 . 4$ ).",
    " $\\dagger$ : $p < 0 . 0 5$ .",
    " All runs with $\\mathrm { s e e d } = 1 7$ .",
)


def soil(rng: Random, record: Record) -> None:
    """Damages the record in place, in one drawn way; labels stay right."""
    rng.choice((split_decimal, lone_word, latex_caption, odd_minus))(rng, record)
    record["claim_text"] = " ".join(item["sentence"] for item in record["sentence_label"])


def split_decimal(rng: Random, record: Record) -> None:
    """Cuts one supported sentence inside a decimal number: `… at 74.` / `2, with …`."""
    labels = record["sentence_label"]
    places = [
        (i, m)
        for i, item in enumerate(labels)
        if item["types"] == SUPPORTED
        for m in [re.search(r"\d\.(?=\d)", item["sentence"])]
        if m
    ]
    if places:
        index, match = rng.choice(places)
        text = labels[index]["sentence"]
        halves = (text[: match.end()], text[match.end() :])
        labels[index : index + 1] = [{"sentence": half, "types": list(SUPPORTED)} for half in halves]


def lone_word(rng: Random, record: Record) -> None:
    """Puts a one-word or reference sentence in front of a sentence."""
    captions = [
        text for item in record["evidence_bundle"] for text in item.get("table_caption", item.get("image_caption", []))
    ]
    lone = rng.choice(("Notably,", "Overall,", captions[0].split(":")[0] + "."))
    place = rng.randint(1, len(record["sentence_label"]) - 1)
    record["sentence_label"].insert(place, {"sentence": lone, "types": list(SUPPORTED)})


def latex_caption(rng: Random, record: Record) -> None:
    """Adds letter-spaced LaTeX to a caption."""
    item = record["evidence_bundle"][0]
    item[f"{item['type']}_caption"][0] += rng.choice(LATEX)


def odd_minus(rng: Random, record: Record) -> None:
    """Writes hyphens inside names and numbers of one sentence as a unicode minus or, rarer, as a control character."""
    labels = [item for item in record["sentence_label"] if re.search(r"\w-\d", item["sentence"])]
    if labels:
        item, minus = rng.choice(labels), rng.choice(("\u2212", "\u2212", "\x02"))
        item["sentence"] = re.sub(r"(?<=\w)-(?=\d)", minus, item["sentence"])
