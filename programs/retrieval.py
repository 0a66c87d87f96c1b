"""Which paragraphs of a cited paper a model gets to see for a claim."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import bm25s
import numpy as np
import Stemmer

BYTES_PER_TOKEN = 4  # the usual rule of thumb for English text; only a budget is kept with it, no price is made of it


class Passages(NamedTuple):
    """What is shown of a paper.

    text: the chosen paragraphs in document order, each as `[P12] text`;
    shown: their ids, in document order; ranking: all ids of the paper, best first.
    """

    text: str
    shown: list[str]
    ranking: list[str]


def passages(claim: str, paragraphs: Mapping[str, str], context_tokens: int) -> Passages:
    """The best-ranked paragraphs that fit into `context_tokens` (at least one), or the whole paper where it fits.

    Raises ValueError where context_tokens is not positive.
    """
    if context_tokens < 1:
        raise ValueError(f"context_tokens is {context_tokens}; expected 1 or more")
    ranking = rank(claim, paragraphs)
    chosen: set[str] = set()
    left = context_tokens
    for key in ranking:
        cost = tokens(f"[{key}] {paragraphs[key]}\n")
        if cost <= left or not chosen:
            chosen.add(key)
            left -= cost
    shown = [key for key in paragraphs if key in chosen]
    text = "\n".join(f"[{key}] {' '.join(paragraphs[key].split())}" for key in shown)
    return Passages(text, shown, ranking)


def rank(claim: str, paragraphs: Mapping[str, str]) -> list[str]:
    """All paragraph ids, best first, by BM25 over stemmed words (Robertson et al. 1995); ties in document order."""
    keys = list(paragraphs)
    index = _index(tuple(paragraphs.values()))
    query = bm25s.tokenize(claim, stopwords="en", stemmer=stemmer(), show_progress=False, return_ids=False)[0]
    known = [word for word in query if index is not None and word in index.vocab_dict]
    if index is None or not known:
        return keys
    scores = index.get_scores(known)
    return [keys[k] for k in np.argsort(-scores, kind="stable")]


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)


@lru_cache(maxsize=256)  # many claims cite the same paper
def _index(texts: tuple[str, ...]) -> bm25s.BM25 | None:
    words = bm25s.tokenize(list(texts), stopwords="en", stemmer=stemmer(), show_progress=False)
    if not words.vocab:
        return None  # nothing but stop words or signs: there is nothing to rank by
    index = bm25s.BM25()
    index.index(words, show_progress=False)
    return index


@lru_cache(maxsize=1)
def stemmer() -> Stemmer.Stemmer:
    """The English stemmer, made once."""
    return Stemmer.Stemmer("english")
