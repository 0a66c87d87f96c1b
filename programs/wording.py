"""What the wording alone says: TF-IDF of words and characters under a logistic regression, as numbers in JSON.

It never sees the evidence. Annotators' conventions show in wording all the same: causal and scope labels are found by
it at F1 .5 to .9 on the official data. `optimize/priors.py` fits it.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

# How a text becomes terms: words and pairs of words; three to five characters within a word.
WORDS: dict[str, Any] = {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"}
CHARACTERS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (3, 5)}
FAMILIES = (WORDS, CHARACTERS)


class Terms(BaseModel):
    """Terms of one family: for each its inverse document frequency, then its coefficient for each label."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    rows: dict[str, list[float]]


class Wording(BaseModel):
    """The fitted prior. Families stand in the order of `FAMILIES`; intercepts in that of the labels."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    intercepts: list[float]
    families: list[Terms]

    @model_validator(mode="after")
    def _rectangular(self) -> "Wording":
        width = 1 + len(self.intercepts)
        if len(self.families) != len(FAMILIES):
            raise ValueError(f"{len(self.families)} families of terms; expected {len(FAMILIES)}")
        if any(len(row) != width for family in self.families for row in family.rows.values()):
            raise ValueError(f"a term with another number of values than {width}")
        return self

    def chances(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The probability of each label for each text, shape (texts, labels)."""
        logits = np.tile(np.array(self.intercepts), (len(texts), 1))
        for vectorizer, coefficients in self._fitted:
            logits += vectorizer.transform(texts) @ coefficients
        return softmax(logits)

    @cached_property
    def _fitted(self) -> list[tuple[Any, NDArray[np.float64]]]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        fitted = []
        for family, how in zip(self.families, FAMILIES, strict=True):
            if not family.rows:
                continue
            vectorizer = TfidfVectorizer(vocabulary=list(family.rows), sublinear_tf=True, **how)
            values = np.array(list(family.rows.values()))
            vectorizer.idf_ = values[:, 0]
            fitted.append((vectorizer, values[:, 1:]))
        return fitted


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))
