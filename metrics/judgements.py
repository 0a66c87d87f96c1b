"""The ranking score of label indices in arrays, for thousands of rules, and the calibration of confidences.

The scores of the tasks stay the authority; `tests/metrics/test_official.py` compares this one with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.scores import FN, FP, TP, Tally, f1_scores, ranking_value

BINS = 10


def calibration_error(confidence: Sequence[float], right: Sequence[bool]) -> float:
    """The expected calibration error in 0-1: the mean distance between the confidence of judgements and the share of
    them that is right, in ten bins of equal width over 0-1 (Guo et al. 2017, section 2). Raises ValueError for none."""
    if not len(confidence):
        raise ValueError("no judgements: nothing to compare confidence with")
    sure, hit = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    gaps = np.abs(np.bincount(place, sure, BINS) - np.bincount(place, hit, BINS))
    return float(gaps.sum() / len(sure))


@dataclass(frozen=True)
class Gold:
    """The gold labels of a corpus, a row a judgement: a sentence of Track 1, a claim of Track 2."""

    allowed: NDArray[np.bool_]  # (judgements, labels): the labels that count as right
    first: NDArray[np.int64]  # (judgements,): the label that a miss counts against
    record: NDArray[np.int64]  # (judgements,), ascending from 0: the record of a judgement
    f1_share: float = 0.5  # of macro-F1 in the ranking score (see `aisr.metrics.scores.ranking_value`)

    @classmethod
    def of(cls, records: Sequence[Sequence[Sequence[str]]], labels: Sequence[str], f1_share: float = 0.5) -> "Gold":
        """From the gold labels of each judgement of each record."""
        rows = [types for record in records for types in record]
        return cls(
            allowed=np.array([[label in types for label in labels] for types in rows], dtype=np.bool_),
            first=np.array([list(labels).index(types[0]) for types in rows], dtype=np.int64),
            record=np.repeat(np.arange(len(records)), [len(record) for record in records]),
            f1_share=f1_share,
        )

    def __getitem__(self, kept: NDArray[np.bool_]) -> "Gold":
        """The judgements that a mask (judgements,) keeps; it must keep records whole."""
        _, record = np.unique(self.record[kept], return_inverse=True)
        return Gold(self.allowed[kept], self.first[kept], record, self.f1_share)


def raised(
    gold: Gold,
    before: NDArray[np.int64],
    label: int,
    moved: NDArray[np.bool_],
    evidence_right: NDArray[np.bool_] | None,
    doubt: float,
) -> NDArray[np.float64]:
    """The ranking score of several labellings at once, (labellings,): label indices `before` (judgements,), and `label`
    instead where `moved` (labellings, judgements) is true.

    evidence_right: (judgements,), for exact match, where evidence counts; doubt: misses that are added to those of each
    label, so that the F1 of one that was right once, and never wrong, is not taken for 1.
    """
    labels = gold.allowed.shape[1]
    hits = _hit(gold, before), gold.allowed[:, label]
    one = np.eye(labels)
    predicted = one[before], np.broadcast_to(one[label], (len(before), labels))
    old, new = (
        np.stack([which * hit[:, None], which * ~hit[:, None], one[gold.first] * ~hit[:, None]], axis=1)
        for which, hit in zip(predicted, hits, strict=True)
    )
    counts = old.sum(axis=0) + np.tensordot(moved.astype(np.float64), new - old, axes=1)
    counts[:, FN] += doubt
    wrong = ~np.where(moved, hits[1], hits[0])
    if evidence_right is not None:
        wrong |= ~evidence_right
    begins = np.flatnonzero(np.diff(gold.record, prepend=-1))
    exact = (np.add.reduceat(wrong.astype(np.int64), begins, axis=1) == 0).mean(axis=1)
    return np.asarray(ranking_value(f1_scores(counts), exact, gold.f1_share))


def tally(
    gold: Gold, predicted: NDArray[np.int64], evidence_right: NDArray[np.bool_] | None, labels: Sequence[str]
) -> Tally:
    """The counts of each record, as the official scores have them."""
    hit = _hit(gold, predicted)
    right = hit if evidence_right is None else hit & evidence_right
    exact = np.ones(gold.record[-1] + 1, dtype=np.bool_)
    exact[gold.record[~right]] = False
    counts = np.zeros((len(exact), 3, len(labels)), dtype=np.int64)
    for part, rows, column in ((TP, hit, predicted), (FP, ~hit, predicted), (FN, ~hit, gold.first)):
        np.add.at(counts[:, part], (gold.record[rows], column[rows]), 1)
    return Tally(tuple(labels), counts, exact, "exact", gold.f1_share)


def _hit(gold: Gold, predicted: NDArray[np.int64]) -> NDArray[np.bool_]:
    return gold.allowed[np.arange(len(predicted)), predicted]
