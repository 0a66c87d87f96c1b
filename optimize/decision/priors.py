"""Fitting what needs no model: the wording prior and the cues, by logistic regression (scikit-learn, whose import takes
over a second: inside the functions, for commands that only read programs)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from aisr.programs.decision import CUES, FAMILIES, CueWeights, Terms, Wording

MOST_TERMS = 6000  # of each family, the commonest: beyond that macro-F1 moves by chance only and the artifact swells
DECIMALS = 4  # rounded before use, so that what is fitted is what is saved
ABSENT = -9.0  # the intercept of a label that never occurs


class Counted(NamedTuple):
    """How often each term of a family stands in each text; terms in alphabetical order, counts (texts, terms)."""

    terms: NDArray[np.object_]
    counts: csr_matrix


def count(texts: Sequence[str]) -> list[Counted]:
    """The terms of texts, once for all folds: counting takes longer than fitting."""
    return [_counted(texts, how) for how in FAMILIES]


def _counted(texts: Sequence[str], how: dict[str, Any]) -> Counted:
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(min_df=2, **how)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # scikit-learn: no term is left
        return Counted(np.array([], dtype=object), csr_matrix((len(texts), 0)))
    return Counted(vectorizer.get_feature_names_out(), counts)


def fit_wording(counted: Sequence[Counted], kept: NDArray[np.bool_], first: NDArray[np.int64], labels: int) -> Wording:
    """The wording prior of the texts that a mask keeps, whose label indices are `first`. A label counts the same
    however rare it is.

    Texts without a term that occurs twice give a prior that says the same to everything.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    terms, idf, columns = [], [], []
    for family in counted:
        counts = family.counts[kept]
        texts_with = np.diff(counts.tocsc().indptr)
        enough = np.flatnonzero(texts_with >= 2)
        often = np.argsort(-np.asarray(counts.sum(axis=0)).ravel()[enough], kind="stable")[:MOST_TERMS]
        chosen = np.sort(enough[often])
        weigh = TfidfTransformer(sublinear_tf=True)
        columns.append(weigh.fit_transform(counts[:, chosen]) if len(chosen) else csr_matrix((counts.shape[0], 0)))
        terms.append(family.terms[chosen])
        idf.append(weigh.idf_ if len(chosen) else np.zeros(0))
    intercepts, coefficients = _regress(hstack(columns).tocsr(), first[kept], labels, strength=10.0)
    rows = iter(coefficients)
    return Wording(
        intercepts=_rounded(intercepts),
        families=[
            Terms(rows={str(term): _rounded([weight, *next(rows)]) for term, weight in zip(*family, strict=True)})
            for family in zip(terms, idf, strict=True)
        ],
    )


def fit_cues(values: NDArray[np.float64], first: NDArray[np.int64], labels: int) -> CueWeights:
    """The weights of cues, whose values (judgements, cues) belong to labels `first`."""
    spread = np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)
    intercepts, coefficients = _regress(csr_matrix(values / spread), first, labels, strength=1.0)
    scaled = coefficients / spread[:, None]
    rows = {name: _rounded(row) for name, row in zip(CUES, scaled, strict=True)}
    return CueWeights(intercepts=_rounded(intercepts), coefficients=rows)


def _regress(
    features: csr_matrix, first: NDArray[np.int64], labels: int, strength: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intercepts (labels,) and coefficients (features, labels) of a class-weighted logistic regression.

    strength: the inverse of the penalty.
    """
    from sklearn.linear_model import LogisticRegression

    intercepts, coefficients = np.full(labels, ABSENT), np.zeros((features.shape[1], labels))
    present = np.unique(first)
    intercepts[present] = 0.0
    if len(present) == 1 or not features.shape[1]:
        return intercepts, coefficients
    model = LogisticRegression(C=strength, class_weight="balanced", max_iter=2000).fit(features, first)
    if len(present) == 2:  # scikit-learn gives one row, for the second of the two
        intercepts[present[1]], coefficients[:, present[1]] = model.intercept_[0], model.coef_[0]
    else:
        intercepts[present], coefficients[:, present] = model.intercept_, model.coef_.T
    return intercepts, coefficients


def _rounded(values: Sequence[float] | NDArray[np.float64]) -> list[float]:
    return [round(float(value), DECIMALS) for value in values]
