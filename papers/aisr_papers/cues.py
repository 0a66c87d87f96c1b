"""Cues of what a sentence claims: its numbers, causes and generality, and the line of its evidence that is nearest."""

import re
from functools import lru_cache

from Stemmer import Stemmer

# Possessive: a long run of digits must not be tried again at each of its lengths.
NUMBER = re.compile(r"(?<![\w.,-])\d++(?:\.\d++)?+(?![\w.-]*\d)")
QUANTIFIER = re.compile(
    r"\b(?:all|any|every\w*|always|never|none|no|each|entire\w*|across|universal\w*|consistent\w*|invariabl\w*|"
    r"regardless|in general|generally|without exception)\b",
    re.IGNORECASE,
)
CAUSE = re.compile(
    r"\b(?:because|due to|owing to|thanks to|since|as a result|caus\w+|driv\w+|thereby|therefore|hence|explain\w*|"
    r"attribut\w+|stems? from|result\w* from|mechanism\w*|leads? to|enabl\w+|suggest\w*|impl(?:y|ies|ying))\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[a-z]{3,}", re.IGNORECASE)


def names_cause(sentence: str) -> bool:
    """Whether a sentence has causal or mechanistic words."""
    return CAUSE.search(sentence) is not None


def is_general(sentence: str) -> bool:
    """Whether a sentence has words that claim generality."""
    return QUANTIFIER.search(sentence) is not None


def nearest_line(sentence: str, evidence: str) -> str:
    """Return the line of the evidence that shares most words, by their stems, and numbers with a sentence. Empty where
    none shares any."""
    sought = _stems(sentence) | {*NUMBER.findall(sentence)}

    def shared(line: str) -> int:
        return len(sought & (_stems(line) | {*NUMBER.findall(line)}))

    best = max(evidence.split("\n"), key=shared)
    return best if shared(best) else ""


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stemmer().stemWords(WORD.findall(text.lower())))


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer:
    return Stemmer("english")
