"""The official scores as counts a record: everything else (score, intervals, credit) is arithmetic on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.credit import Credit, linearise
from aisr.metrics.f1 import FN, FP, TP, LabelScore, f1_scores, ranking_value, ratio
from aisr.metrics.scores import Floats, Report


@dataclass(frozen=True)
class Tally:
    """What each record of a corpus adds to the score (a `aisr.metrics.scores.Scores`).

    counts: int array (records, 3, labels): true positives, false positives and false negatives;
    exact: bool array (records,): paragraph exact match (Track 1), Joint@3 (Track 2);
    exact_name: the name of that part, "pem" or "joint_at_3";
    f1_share: what macro-F1 counts in the ranking score (see `aisr.metrics.f1.ranking_value`).
    """

    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    exact: NDArray[np.bool_]
    exact_name: str
    f1_share: float = 0.5

    def __len__(self) -> int:
        return len(self.exact)

    @cached_property
    def rows(self) -> Floats:
        """Counts and exact match, shape (records, 3 * labels + 1)."""
        return np.column_stack([self.counts.reshape(len(self), 3 * len(self.labels)), self.exact]).astype(np.float64)

    def ranking(self, weights: Floats) -> Floats:
        """The ranking score, where records count as often as `weights` (resamples, records) says; (resamples,)."""
        totals = weights @ self.rows
        counts = totals[:, :-1].reshape(len(weights), *self.counts.shape[1:])
        return np.asarray(ranking_value(f1_scores(counts), totals[:, -1] / weights.sum(axis=1), self.f1_share))

    def credit(self, baseline: Self) -> Floats:
        """The ranking score linearised at the operating point of a baseline on train (see `aisr.metrics.credit`), a
        value a record."""
        return baseline._credit.of(self.counts, self.exact)

    def right(self) -> NDArray[np.bool_]:
        """Exact match: a demo that is right in part teaches what is wrong in it."""
        return self.exact

    def report(self) -> Report:
        """The ranking score with macro-F1, exact match and the score of each label. Raises ValueError for an empty
        corpus."""
        if not len(self):
            raise ValueError("no records: an empty corpus has no score")
        totals = self.counts.sum(axis=0)
        tp, fp, fn = (totals[part] for part in (TP, FP, FN))
        f1 = f1_scores(totals)
        precision, recall = ratio(tp, tp + fp), ratio(tp, tp + fn)
        per_label = {
            label: LabelScore(float(precision[k]), float(recall[k]), float(f1[k]), int(tp[k] + fn[k]))
            for k, label in enumerate(self.labels)
        }
        exact = float(self.exact.mean())
        parts = {"macro_f1": float(f1.mean()), self.exact_name: exact}
        return Report(float(ranking_value(f1, exact, self.f1_share)), parts, per_label)

    @cached_property
    def _credit(self) -> Credit:
        return linearise(self.counts)


def nothing_counted(
    gold: Sequence[object], predicted: Sequence[object], labels: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The counts and exact matches of a corpus before it is counted. Raises ValueError where the numbers of records
    differ."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} gold records; one prediction a record")
    return np.zeros((len(gold), 3, len(labels)), dtype=np.int64), np.zeros(len(gold), dtype=np.bool_)


def known(column: Mapping[str, int], label: str | None, row: int) -> int:
    """The column of a label. Raises ValueError for one that is none, naming the record."""
    if label is None or label not in column:
        raise ValueError(f"record {row + 1}: unknown label {label!r}; one of: {', '.join(column)}")
    return column[label]
