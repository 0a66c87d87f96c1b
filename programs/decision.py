"""The decision layer: from the LM's label probabilities to the label that scores, the second step of every judge.

A prompt teaches the annotators' convention in part; the rest is a handful of numbers, fitted on train and dev for the
ranking score (`optimize/decision_fit.py`): how much to trust the LM and two priors, and an offset a label. They are
part of the program, saved and loaded with it.

One prior is a logistic regression on cues, readable signs that a sentence goes beyond its evidence: one small function
each, from sentence and evidence to a number. They are what the errors of Track 1 are made of: of 43 that one team read
again, 17 needed only a look whether each named thing occurs in the evidence, 11 a look at quantifiers, 7 at causal
clauses.

The other sees the wording alone, never the evidence: TF-IDF of words and characters under a logistic regression.
Annotators' conventions show in wording all the same: causal and scope labels are predicted by it at F1 .5 to .9 on the
official data. `optimize/decision_rule.py` fits both.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from aisr.base.errors import UserError
from aisr.programs.probabilities import Judgement
from aisr.programs.retrieval import stemmer

MOST_WEIGHT = 1e6  # fitted weights stay below a hundred; sums of these and their products stay finite
Weight = Annotated[float, Field(ge=-MOST_WEIGHT, le=MOST_WEIGHT, allow_inf_nan=False)]
LM, WORDING, CUE_PRIOR = "LM", "wording", "cues"  # the names of experts

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


def nearest_line(sentence: str, evidence: str) -> str:
    """The line of the evidence that shares most words, by their stems, and numbers with a sentence. Empty where none
    shares any."""
    sought = _stems(sentence) | {*NUMBER.findall(sentence)}

    def shared(line: str) -> int:
        return len(sought & (_stems(line) | {*NUMBER.findall(line)}))

    best = max(evidence.split("\n"), key=shared)
    return best if shared(best) else ""


class CueWeights(BaseModel):
    """A logistic regression on the cues: for each cue, and for the intercept, a value a label."""

    model_config = ConfigDict(extra="forbid")
    intercepts: list[Weight]
    coefficients: dict[str, list[Weight]]

    @model_validator(mode="after")
    def _complete(self) -> "CueWeights":
        if unknown := [name for name in self.coefficients if name not in CUES]:
            raise UserError(
                f"cue {unknown[0][:80]!r} is not one of this version's ({', '.join(CUES)}): compile it anew"
            )
        if any(len(row) != len(self.intercepts) for row in self.coefficients.values()):
            raise UserError(f"a cue with another number of values than {len(self.intercepts)}")
        return self

    def probabilities(self, sentences: Sequence[str], evidence: str) -> NDArray[np.float64]:
        """The probability of each label for each sentence, shape (sentences, labels)."""
        return self.of(np.array([measure(sentence, evidence) for sentence in sentences]))

    def of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same from measured cues, shape (sentences, cues)."""
        none = [0.0] * len(self.intercepts)  # a cue that was added since counts nothing
        coefficients = np.array([self.coefficients.get(name, none) for name in CUES])
        return softmax(values @ coefficients + np.array(self.intercepts))


def _figures(text: str) -> set[tuple[str, str]]:
    return {(kind[:3].lower(), number) for kind, number in FIGURE.findall(text)}


@lru_cache(maxsize=64)  # the sentences of a paragraph share their evidence
def _lines(evidence: str) -> list[frozenset[str]]:
    return [_stems(line) for line in evidence.split("\n")]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stemmer().stemWords(WORD.findall(text.lower())))


# How a text becomes terms: words and pairs of words; three to five characters within a word.
WORDS: dict[str, Any] = {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"}
CHARACTERS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (3, 5)}
FAMILIES = (WORDS, CHARACTERS)
LEAST_IDF = 0.99  # scikit-learn's, which is smoothed, is 1 or more


class Terms(BaseModel):
    """Terms of one family: for each its inverse document frequency, then its coefficient for each label."""

    model_config = ConfigDict(extra="forbid")
    rows: dict[str, list[Weight]]


class Wording(BaseModel):
    """The fitted prior. Families stand in the order of `FAMILIES`; intercepts in that of the labels."""

    model_config = ConfigDict(extra="forbid")
    intercepts: list[Weight]
    families: list[Terms]

    @model_validator(mode="after")
    def _rectangular(self) -> "Wording":
        width = 1 + len(self.intercepts)
        if len(self.families) != len(FAMILIES):
            raise UserError(f"{len(self.families)} families of terms; expected {len(FAMILIES)}")
        if any(len(row) != width for family in self.families for row in family.rows.values()):
            raise UserError(f"a term with another number of values than {width}")
        if any(row[0] < LEAST_IDF for family in self.families for row in family.rows.values()):
            raise UserError("a term whose inverse document frequency is below 1")  # of 0, a text has no length
        return self

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The probability of each label for each text, shape (texts, labels)."""
        logits = np.tile(np.array(self.intercepts), (len(texts), 1))
        for family in self._ready:
            for row, text in enumerate(texts):
                logits[row] += family.logits(text)
        return softmax(logits)

    @cached_property
    def _ready(self) -> list["_Family"]:
        return [_Family(terms, how) for terms, how in zip(self.families, FAMILIES, strict=True) if terms.rows]


class _Family:
    """One family of terms, ready for use. scikit-learn's own `transform` checks so much that it takes a millisecond."""

    def __init__(self, terms: Terms, how: dict[str, Any]) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        self.analyze = CountVectorizer(**how).build_analyzer()
        self.place = {term: k for k, term in enumerate(terms.rows)}
        values = np.array(list(terms.rows.values()))
        self.idf, self.coefficients = values[:, 0], values[:, 1:]

    def logits(self, text: str) -> NDArray[np.float64]:
        """What the terms of a text add for each label: sublinear TF-IDF of length 1, times the coefficients."""
        counts = Counter(self.place[term] for term in self.analyze(text) if term in self.place)
        if not counts:
            return np.zeros(self.coefficients.shape[1])
        rows = sorted(counts)  # in one order, whatever the text's: sums must come out the same to the last bit
        weights = (1 + np.log([counts[row] for row in rows])) * self.idf[rows]
        return np.asarray(weights @ self.coefficients[rows] / np.sqrt(weights @ weights))


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


FLOOR = 1e-4  # the least probability that counts: below it, a distribution only says "no"
Opinions = Mapping[str, NDArray[np.float64]]  # for each expert its log-probabilities, (judgements, labels)


class Rule(BaseModel):
    """Weighs experts: the sum of `weights` times their log-probabilities, plus an offset a label."""

    model_config = ConfigDict(extra="forbid")
    weights: dict[str, Weight]
    offsets: list[Weight]

    def logits(self, opinions: Opinions) -> NDArray[np.float64]:
        """Shape (judgements, labels)."""
        # In the order of names: a rule from a file must add up to the same, to the last bit.
        rows = len(next(iter(opinions.values())))
        total = np.tile(np.array(self.offsets), (rows, 1))
        for name in sorted(self.weights):
            total += self.weights[name] * opinions[name]
        return total

    def labels(self, opinions: Opinions) -> NDArray[np.int64]:
        """The index of the label with the highest sum for each judgement."""
        return np.asarray(self.logits(opinions).argmax(axis=1))


class Decision(BaseModel):
    """A fitted decision layer.

    says: the rule whose highest value is the label; means: the rule whose softmax is the probability; fitted_on: the LM
    whose thoughts it was fitted on; wording, cues: the priors, where the rules weigh them.
    """

    model_config = ConfigDict(extra="forbid")
    labels: list[str]
    fitted_on: str = ""
    says: Rule
    means: Rule
    wording: Wording | None = None
    cues: CueWeights | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Decision":
        priors: dict[str, Wording | CueWeights | None] = {WORDING: self.wording, CUE_PRIOR: self.cues}
        widths = {len(rule.offsets) for rule in (self.says, self.means)}
        widths |= {len(prior.intercepts) for prior in priors.values() if prior is not None}
        if widths != {len(self.labels)}:
            raise UserError(f"a decision layer for other labels than {', '.join(self.labels)}")
        known = {LM, *(name for name, prior in priors.items() if prior is not None)}
        unknown = {*self.says.weights, *self.means.weights} - known
        if unknown:
            raise UserError(f"a rule weighs {', '.join(sorted(unknown))}, which the decision layer does not have")
        return self

    @property
    def weighs_lm(self) -> bool:
        """Whether the LM's opinion counts."""
        return LM in self.says.weights or LM in self.means.weights

    def decide(self, statements: Sequence[str], evidence: str, judgements: Sequence[Judgement]) -> list[Judgement]:
        """The layer's judgement of each statement, from those of the LM."""
        opinions = self.opinions(statements, evidence, judgements)
        labels = self.says.labels(opinions)
        probabilities = softmax(self.means.logits(opinions))
        return [Judgement(self.labels[k], row.tolist(), "layer") for k, row in zip(labels, probabilities, strict=True)]

    def opinions(
        self, statements: Sequence[str], evidence: str, judgements: Sequence[Judgement]
    ) -> dict[str, NDArray[np.float64]]:
        """The log-probabilities of all experts."""
        probabilities = {LM: np.array([judged.probabilities for judged in judgements])}
        if self.wording is not None:
            probabilities[WORDING] = self.wording.probabilities(statements)
        if self.cues is not None:
            probabilities[CUE_PRIOR] = self.cues.probabilities(statements, evidence)
        return {name: logs(rows) for name, rows in probabilities.items()}


def logs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probabilities, none below that of `FLOOR`."""
    return np.asarray(np.log(np.maximum(probabilities, FLOOR)))
