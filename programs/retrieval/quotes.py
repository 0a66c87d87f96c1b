"""The sentence of a paragraph that decided, word for word: what a person looks for beside a verdict."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from aisr.programs.retrieval.retrievers import Matcher, bm25
from aisr.programs.text.sentences import sentences
from aisr.programs.text.table import ROW


def paragraphs_shown(passages: str, shown: Sequence[str]) -> dict[str, str]:
    """The paragraphs of a passages field by their ids, each in one line: one a line after `[id] `, and rows of its
    table on lines behind it."""
    lines = passages.replace(ROW, " | ").split("\n")
    return {key: line.removeprefix(f"[{key}] ") for key, line in zip(shown, lines, strict=True)}


def quoted(
    claim: str,
    ids: Sequence[str],
    named: Mapping[str, str],
    paragraphs: Mapping[str, str],
    best: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """For each id whose paragraph is known, a sentence that stands in it verbatim (but for white space).

    named: what the model quoted, by id; a quote that is not verbatim is passed over, and the paragraph's best sentence
    stands in for it, where nobody said which one that is, the one that matches the claim best.
    """
    found = {}
    for key in ids:
        if key in paragraphs:
            quote = " ".join(named.get(key, "").split())
            verbatim = quote and quote in paragraphs[key]
            found[key] = quote if verbatim else best.get(key) or closest(claim, paragraphs[key])
    return found


def closest(claim: str, paragraph: str, match: Matcher = bm25) -> str:
    """The sentence of a paragraph that matches a claim best; of equals the first, of none an empty one."""
    found = sentences(" ".join(paragraph.split()))
    return found[int(np.argmax(match(claim, found)))] if found else ""
