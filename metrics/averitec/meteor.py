"""METEOR (Banerjee and Lavie 2005), which AVeriTeC matches evidence by: NLTK's own, fed from caches."""

from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

from aisr.metrics.averitec.synonyms import Within
from aisr.metrics.averitec.words import words


@lru_cache(maxsize=500_000)
def meteor(candidate: str, reference: str) -> float:
    """How much of a reference a candidate says, in its order: 0 to less than 1 (of n equal words: 1 - .5 / n^3)."""
    score, stemmer = _tools()
    within = Within(_stems(reference))
    return float(score(words(reference), words(candidate), preprocess=str, stemmer=stemmer, wordnet=within))


@lru_cache(maxsize=100_000)
def _stems(text: str) -> frozenset[str]:
    """The words of a text as METEOR's last stage meets them: it looks synonyms up for stems, among stems."""
    _, stemmer = _tools()
    return frozenset(stemmer.stem(word) for word in words(text))


@cache
def _tools() -> tuple[Any, Any]:
    """NLTK's score and its stemmer. Got at the first use: NLTK's import takes seconds."""
    from nltk.stem.porter import PorterStemmer
    from nltk.translate.meteor_score import single_meteor_score

    return single_meteor_score, SimpleNamespace(stem=lru_cache(maxsize=100_000)(PorterStemmer().stem))
