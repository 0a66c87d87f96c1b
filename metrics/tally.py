"""The official scores as counts a record: everything else (score, intervals, credit) is arithmetic on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.f1 import FN, FP, TP, Credit, LabelScore, f1_scores, linearise, ranking_value, ratio
from aisr.metrics.scores import Floats, Report, Scores

ENOUGH = 10  # gold statements of a label, from which on its F1 is more than luck


@dataclass(frozen=True)
class Tally:
    """What each record of a corpus adds to the score (a `aisr.metrics.scores.Scores`).

    counts: int array (records, 3, labels): true positives, false positives and false negatives;
    exact: bool array (records,): paragraph exact match (Track 1), Joint@3 (Track 2);
    exact_name: the name of that part, "pem" or "joint_at_3";
    f1_share: what macro-F1 counts in the ranking score (see `aisr.metrics.f1.ranking_value`);
    steady: whether the ranking score is smoothed, for choosing by it (see `steadied`); reports never are.
    """

    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    exact: NDArray[np.bool_]
    exact_name: str
    f1_share: float = 0.5
    steady: bool = False

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
        exact = totals[:, -1] / weights.sum(axis=1)
        by_label = np.minimum(self.support, ENOUGH) if self.steady and self.support.any() else None
        return np.asarray(ranking_value(f1_scores(counts), exact, self.f1_share, by_label))

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """The gold statements of each label, (labels,); of several labels of one, that which was said counts."""
        return np.asarray(self.counts[:, TP].sum(axis=0) + self.counts[:, FN].sum(axis=0))

    @property
    def hardly_there(self) -> dict[str, int]:
        """The labels with fewer than `ENOUGH` gold statements, and how many each has."""
        return {label: int(n) for label, n in zip(self.labels, self.support, strict=True) if n < ENOUGH}

    def credit(self, baseline: Self) -> Floats:
        """The ranking score linearised at the operating point of a baseline on train (see `aisr.metrics.f1`), a
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
        score = float(ranking_value(f1, exact, self.f1_share))
        return Report(score, parts, per_label, self._remarks(f1, exact))

    def _remarks(self, f1: Floats, exact: float) -> tuple[str, ...]:
        """What hangs on labels that are hardly there, in words."""
        if not self.hardly_there:
            return ()
        (first, few), *others = self.hardly_there.items()
        counts = f"{first}: {few} gold statement{'' if few == 1 else 's'} of {self.support.sum()}"
        counts = ", ".join([counts, *(f"{label}: {few}" for label, few in others)])
        alone = "the F1 of each alone" if others else "its F1 alone"
        said = f"{counts}; {alone} moves the score by {100 * self.f1_share / len(self.labels):.1f}"
        rest = self.support >= ENOUGH
        if not rest.any():
            return (said,)
        return (f"{said}; over the other labels {100 * ranking_value(f1[rest], exact, self.f1_share):.1f}",)

    @cached_property
    def _credit(self) -> Credit:
        return linearise(self.counts)


def steadied(scores: Scores) -> Scores:
    """The same scores for choosing between programs: in macro-F1 each label counts by its gold statements, `ENOUGH` of
    them as much as more, so that a lucky hit on a label that occurs once is worth a tenth of what it is worth in the
    official score. Scores without labels are what they are."""
    return replace(scores, steady=True) if isinstance(scores, Tally) else scores


def of_statements(
    gold: Sequence[Sequence[Sequence[str]]],
    predicted: Sequence[Sequence[str] | None],
    labels: tuple[str, ...],
    exact_name: str,
) -> Tally:
    """Records of one or more statements, each with its gold labels, and one predicted label each; exact where all of a
    record are right. Raises ValueError where the numbers of records or statements differ or a label is unknown."""
    counts, exact = nothing_counted(gold, predicted, labels)
    column = {label: k for k, label in enumerate(labels)}
    for row, (types, said) in enumerate(zip(gold, predicted, strict=True)):
        if said is not None and len(said) != len(types):
            raise ValueError(f"record {row + 1}: {len(said)} labels for {len(types)} sentences; one label a sentence")
        tp, fp, fn = counts[row]
        missed = 0
        for k, allowed in enumerate(types):
            label = said[k] if said is not None else None
            if label in allowed:
                tp[known(column, label, row)] += 1
                continue
            missed += 1
            fn[known(column, allowed[0], row)] += 1
            if label is not None:
                fp[known(column, label, row)] += 1
        exact[row] = missed == 0
    return Tally(labels, counts, exact, exact_name)


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
