"""The ways to rank a paper's paragraphs for a claim, by their names: one small interface, and what is built on it.

A matcher takes a claim and the paragraphs and gives each a score, higher being better; scores of different matchers
are not comparable, so they are fused by rank.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.programs.errors import UserError
from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.embeddings import BUILT_IN, Embed, built_in, dense

Scores = NDArray[np.float64]
Matcher = Callable[[str, Sequence[str]], Scores]

DEFAULT = "bm25"
RANK_CONSTANT = 60  # of reciprocal rank fusion (Cormack et al. 2009)
NAME_OR_NUMBER = re.compile(r"\b(?=\w*[A-Z])[\w-]{2,}\b|\d+(?:\.\d+)?")
SPEC = re.compile(r"([a-z0-9-]+)(?::([A-Za-z0-9][\w./-]*))?")


class _Way(NamedTuple):
    """make: the matcher, given what embeds texts; embeds: whether it uses that."""

    make: Callable[[Embed], Matcher]
    embeds: bool = False


def order(scores: Scores) -> NDArray[np.int64]:
    """Places of the texts, best first; equals in document order."""
    return np.argsort(-scores, kind="stable")


def fused(*matchers: Matcher) -> Matcher:
    """Reciprocal rank fusion: a text counts by its places in all rankings."""

    def match(claim: str, texts: Sequence[str]) -> Scores:
        return np.asarray(sum(1 / (RANK_CONSTANT + 1 + _places(one(claim, texts))) for one in matchers))

    return match


def names_and_numbers(matcher: Matcher) -> Matcher:
    """The same for the names and numbers of the claim alone; for the whole claim where it has none."""

    def match(claim: str, texts: Sequence[str]) -> Scores:
        return matcher(" ".join(NAME_OR_NUMBER.findall(claim)) or claim, texts)

    return match


WAYS: dict[str, _Way] = {
    "bm25": _Way(lambda embed: bm25),
    "dense": _Way(lambda embed: partial(dense, embed=embed), embeds=True),
    "hybrid": _Way(lambda embed: fused(bm25, partial(dense, embed=embed)), embeds=True),
}


def matcher(spec: str, embed: Embed | None = None) -> Matcher:
    """The matcher of a spec: a name of `WAYS`, with an embedding model behind a colon where it uses one
    (`hybrid:openai/text-embedding-3-small`; without, the built-in one).

    embed: what asks that model, if it is not the built-in one. Raises UserError for any other spec, and where nobody
    asks the model.
    """
    return _parsed(spec)[0].make(embedder(spec, embed))


def embedder(spec: str, embed: Embed | None = None) -> Embed:
    """What embeds texts for a spec: `embed` where that names a model, else the built-in one. Raises UserError where it
    names one and nobody asks it."""
    model = _parsed(spec)[1]
    if model and embed is None:
        raise UserError(f"retriever {spec!r}: nobody was said to ask {model}; see aisr/lm/embeddings.py")
    return embed if embed is not None and model else built_in


def embedding_model(spec: str) -> str | None:
    """The embedding model that has to be asked for a spec; None where there is none, or it is the built-in one. Raises
    ValueError for what is no spec."""
    return _parsed(spec)[1]


def _parsed(spec: str) -> tuple[_Way, str | None]:
    found = SPEC.fullmatch(spec)
    way = WAYS.get(found[1]) if found else None
    if found is None or way is None:
        raise UserError(f"retriever {spec!r}; one of: {', '.join(WAYS)}; those that embed take a model, hybrid:MODEL")
    if found[2] and not way.embeds:
        raise UserError(f"retriever {spec!r}: {found[1]} embeds nothing, so no model belongs behind it")
    return way, None if found[2] == BUILT_IN else found[2]


def _places(scores: Scores) -> NDArray[np.int64]:
    """The place of each text in the ranking, from 0."""
    places = np.empty(len(scores), dtype=np.int64)
    places[order(scores)] = np.arange(len(scores))
    return places
