"""Readable signs that a sentence goes beyond its evidence: one small function each, from sentence and evidence to a
number. They are what the errors of this task are made of: of 43 that one team read again, 17 needed only a look whether
each named thing occurs in the evidence, 11 a look at quantifiers, 7 at causal clauses.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from aisr.programs.decision.text_prior import Weight, softmax
from aisr.programs.errors import UserError
from aisr.programs.retrieval.retrievers import stemmer

NAME = re.compile(r"\b(?=\w*[A-Z])(?=\w*(?:[a-z0-9][A-Z]|\d|-))[A-Za-z][\w-]{2,}\b|\b[A-Z][\w]+-[\w-]+\b")
ACRONYM = re.compile(r"\b[A-Z]{2,}[\w-]*\b")
# Possessive: a long run of digits must not be tried again at each of its lengths.
NUMBER = re.compile(r"(?<![\w.,-])\d++(?:\.\d++)?+(?![\w.-]*\d)")
FIGURE = re.compile(r"\b(fig(?:ure)?|tab(?:le)?)s?\.?\s*(\d+)", re.IGNORECASE)
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
MOST = 3.0  # a count beyond this says no more, and no text can make a cue larger


def names_beyond(sentence: str, evidence: str) -> list[str]:
    """Names and acronyms of the sentence that the evidence does not contain, as they stand."""
    known = evidence.lower()
    names = [*NAME.findall(sentence), *ACRONYM.findall(sentence)]
    return [name for name in dict.fromkeys(names) if name.lower() not in known]


def numbers_beyond(sentence: str, evidence: str) -> list[str]:
    """Numbers of the sentence that the evidence does not contain."""
    known = set(NUMBER.findall(evidence))
    return [number for number in dict.fromkeys(NUMBER.findall(sentence)) if number not in known]


def foreign_names(sentence: str, evidence: str) -> float:
    """How many names of the sentence the evidence does not contain, 0 to 3."""
    return min(len(names_beyond(sentence, evidence)), MOST)


def foreign_numbers(sentence: str, evidence: str) -> float:
    """How many numbers of the sentence the evidence does not contain, 0 to 3."""
    return min(len(numbers_beyond(sentence, evidence)), MOST)


def foreign_figures(sentence: str, evidence: str) -> float:
    """Figures and tables that the sentence refers to and the evidence does not contain, 0 to 3."""
    return min(len(_figures(sentence) - _figures(evidence)), MOST)


def quantifiers(sentence: str, evidence: str) -> float:
    """Words of the sentence that claim generality, 0 to 3."""
    return min(len(QUANTIFIER.findall(sentence)), MOST)


def causes(sentence: str, evidence: str) -> float:
    """Causal and mechanistic words of the sentence, 0 to 3."""
    return min(len(CAUSE.findall(sentence)), MOST)


def overlap(sentence: str, evidence: str) -> float:
    """The share of the sentence's words that the best line of the evidence holds, by their stems, 0 to 1."""
    words = _stems(sentence)
    best = max((len(words & line) for line in _lines(evidence)), default=0)
    return best / len(words) if words else 1.0


def numeric_agreement(sentence: str, evidence: str) -> float:
    """The share of the sentence's numbers that the best line of the evidence holds, 0 to 1; 1 where it has none."""
    numbers = set(NUMBER.findall(sentence))
    if not numbers:
        return 1.0
    return max(len(numbers & set(NUMBER.findall(line))) for line in evidence.split("\n")) / len(numbers)


Cue = Callable[[str, str], float]
CUES: Mapping[str, Cue] = MappingProxyType(
    {
        "names that the evidence lacks": foreign_names,
        "numbers that the evidence lacks": foreign_numbers,
        "figures that the evidence lacks": foreign_figures,
        "quantifiers": quantifiers,
        "causal words": causes,
        "word overlap with the best evidence": overlap,
        "numeric agreement with the best evidence": numeric_agreement,
    }
)


def measure(sentence: str, evidence: str) -> list[float]:
    """All cues of a sentence, in the order of `CUES`. evidence: one item or paragraph a line."""
    return [cue(sentence, evidence) for cue in CUES.values()]


def signs(sentence: str, evidence: str) -> dict[str, list[str]]:
    """The words behind the counting cues, by the cue's name, in the sentence's order; cues without any left out."""
    shown = _figures(evidence)
    found = {
        "names that the evidence lacks": names_beyond(sentence, evidence),
        "numbers that the evidence lacks": numbers_beyond(sentence, evidence),
        "figures that the evidence lacks": [
            match[0] for match in FIGURE.finditer(sentence) if (match[1][:3].lower(), match[2]) not in shown
        ],
        "quantifiers": QUANTIFIER.findall(sentence),
        "causal words": CAUSE.findall(sentence),
    }
    return {cue: sorted(set(words), key=sentence.index) for cue, words in found.items() if words}


def nearest_line(sentence: str, evidence: str) -> str:
    """The line of the evidence that shares most words, by their stems, and numbers with a sentence. Empty where none
    shares any."""
    said = _stems(sentence) | {*NUMBER.findall(sentence)}

    def shared(line: str) -> int:
        return len(said & (_stems(line) | {*NUMBER.findall(line)}))

    best = max(evidence.split("\n"), key=shared)
    return best if shared(best) else ""


class CueWeights(BaseModel):
    """A logistic regression on the cues: for each cue, and for the intercept, a value a label."""

    model_config = ConfigDict(extra="forbid")
    intercepts: list[Weight]
    coefficients: dict[str, list[Weight]]

    @model_validator(mode="after")
    def _complete(self) -> "CueWeights":
        if set(self.coefficients) != set(CUES):
            raise UserError(f"cues {', '.join(self.coefficients) or 'none'}; expected {', '.join(CUES)}")
        if any(len(row) != len(self.intercepts) for row in self.coefficients.values()):
            raise UserError(f"a cue with another number of values than {len(self.intercepts)}")
        return self

    def chances(self, sentences: Sequence[str], evidence: str) -> NDArray[np.float64]:
        """The probability of each label for each sentence, shape (sentences, labels)."""
        return self.of(np.array([measure(sentence, evidence) for sentence in sentences]))

    def of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same from measured cues, shape (sentences, cues)."""
        coefficients = np.array([self.coefficients[name] for name in CUES])
        return softmax(values @ coefficients + np.array(self.intercepts))


def _figures(text: str) -> set[tuple[str, str]]:
    return {(kind[:3].lower(), number) for kind, number in FIGURE.findall(text)}


@lru_cache(maxsize=64)  # the sentences of a paragraph share their evidence
def _lines(evidence: str) -> list[frozenset[str]]:
    return [_stems(line) for line in evidence.split("\n")]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stemmer().stemWords(WORD.findall(text.lower())))
