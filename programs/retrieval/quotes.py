"""The sentence of a paragraph that decided, word for word: what a person looks for beside a verdict."""

from collections.abc import Mapping, Sequence

import numpy as np

from programs.retrieval.bm25 import bm25
from programs.text.sentences import sentences


def paragraphs_shown(passages: str, shown: Sequence[str]) -> dict[str, str]:
    """The paragraphs of a passages field by their ids: one a line, each after `[id] `."""
    lines = passages.split("\n")
    return {key: line.removeprefix(f"[{key}] ") for key, line in zip(shown, lines, strict=True)}


def quoted(claim: str, ids: Sequence[str], named: Mapping[str, str], paragraphs: Mapping[str, str]) -> dict[str, str]:
    """For each id whose paragraph is known, a sentence that stands in it verbatim (but for white space).

    named: what the model quoted, by id; a quote that is not verbatim is passed over, and the paragraph's sentence that
    matches the claim best stands in for it.
    """
    found = {}
    for key in ids:
        if key in paragraphs:
            quote = " ".join(named.get(key, "").split())
            found[key] = quote if quote and quote in paragraphs[key] else closest(claim, paragraphs[key])
    return found


def closest(claim: str, paragraph: str) -> str:
    """The sentence of a paragraph that matches a claim best by BM25; of equals the first, of none an empty one."""
    found = sentences(paragraph)
    return found[int(np.argmax(bm25(claim, found)))] if found else ""
