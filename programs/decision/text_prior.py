"""What the wording alone says: TF-IDF of words and characters under a logistic regression, as numbers in JSON.

It never sees the evidence. Annotators' conventions show in wording all the same: causal and scope labels are found by
it at F1 .5 to .9 on the official data. `optimize/decision_rule.py` fits it.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from aisr.programs.errors import UserError

MOST = 1e6  # fitted weights stay below a hundred; sums of these and their products stay finite
Weight = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
# How a text becomes terms: words and pairs of words; three to five characters within a word.
WORDS: dict[str, Any] = {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"}
CHARACTERS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (3, 5)}
FAMILIES = (WORDS, CHARACTERS)


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
        return self

    def chances(self, texts: Sequence[str]) -> NDArray[np.float64]:
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
