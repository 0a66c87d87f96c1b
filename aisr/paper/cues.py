"""Words of a sentence that say what it claims, and the line of the evidence that is nearest to it."""

import re
from functools import lru_cache

from aisr.programs.retrieval import stemmer

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
MOST = 3.0  # a count beyond this says no more


def quantifiers(sentence: str, evidence: str) -> float:
    """Words of the sentence that claim generality, 0 to 3."""
    return min(len(QUANTIFIER.findall(sentence)), MOST)


def causes(sentence: str, evidence: str) -> float:
    """Causal and mechanistic words of the sentence, 0 to 3."""
    return min(len(CAUSE.findall(sentence)), MOST)


def nearest_line(sentence: str, evidence: str) -> str:
    """The line of the evidence that shares most words, by their stems, and numbers with a sentence. Empty where none
    shares any."""
    sought = _stems(sentence) | {*NUMBER.findall(sentence)}

    def shared(line: str) -> int:
        return len(sought & (_stems(line) | {*NUMBER.findall(line)}))

    best = max(evidence.split("\n"), key=shared)
    return best if shared(best) else ""


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stemmer().stemWords(WORD.findall(text.lower())))
