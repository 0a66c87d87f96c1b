"""Scores of a corpus: what bootstrap, race, champion and optimizers ask of a task's official score, and its two forms.

`MeanScores` is the mean of one number a record (nDCG, ROUGE). `Tally` counts labels: its ranking score is the mean of
macro-F1 and exact match (guidelines, section 2, "Metrics").

An optimizer that averages over examples sees the per-record surrogate. Macro-F1 is no mean over records, so no
per-record value has it as its mean. Its first-order expansion at a baseline has. With t_k the baseline's F1 of label k
and n_k the mean number of gold items of label k a record,

    d F1_k / d TP_k = (2 - t_k) / (2 n_k)      d F1_k / d FP_k = -t_k / (2 n_k)

(F1 = 2 TP / (2 TP + FP + FN) with TP + FN = n_k fixed, so that the denominator is TP + FP + n_k; at the operating
point of a baseline that predicts a label as often as it occurs it is 2 n_k.) The surrogate score of a record is

    0.5 / K * sum_k ((2 - t_k) TP_k - t_k FP_k) / (2 n_k) + 0.5 * exact

where t_k is not the baseline's F1 alone but the mean of it and 1/2. Between any two programs F - F' = (dN - t dD) / D
holds exactly, with N = 2 TP, D = 2 TP + FP + FN, and t and D the means of the two: the baseline's own t fits its near
copies only, and at t_k = 0 false alarms would cost nothing. 1/2 is a guess at the other program's F1; anything from .3
to .7 serves as well (`python -m benchmarks.objective` measures both forms).

Its mean rises and falls with the ranking score near the baseline (Koyejo et al. 2014; Narasimhan et al. 2015). It is
no score: it can leave 0-1, and labels that never occur in `gold` carry no weight.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from aisr.base.files import pluralize

Floats = NDArray[np.float64]
TP, FP, FN = 0, 1, 2
ENOUGH = 10  # gold statements of a label, from which on its F1 is more than luck
PRIOR_F1 = 0.5


class LabelScores(NamedTuple):
    """Precision, recall and F1 in 0-1; support is the number of gold items counted for the label."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class CorpusScore:
    """A ranking score and its parts, all in 0-1."""

    score: float
    parts: Mapping[str, float]  # by name, in the order in which they are printed ("macro_f1", "pem")
    per_label: Mapping[str, LabelScores] = field(default_factory=dict)  # where answers are labels
    remarks: tuple[str, ...] = ()  # what a person should read beside the score, in words

    def as_dict(self) -> dict[str, Any]:
        """Return what `aisr score` writes: the parts, `score`, and `per_label` and `remarks` where there are some."""
        fields: dict[str, Any] = {**self.parts, "score": self.score}
        if self.per_label:
            fields["per_label"] = {label: part._asdict() for label, part in self.per_label.items()}
        if self.remarks:
            fields["remarks"] = list(self.remarks)
        return fields


@dataclass(frozen=True, kw_only=True)
class Scores(ABC):
    """How a corpus of answers did under a task's official score, record by record.

    weights: how much each record counts, above 0, (records,); None where all count alike, as in the official score.
    Numbers of gold statements, by which labels are called rare, are never weighted.
    """

    weights: Floats | None = None

    def weighted(self, weights: Sequence[float]) -> Self:
        """Return the same scores, in which each record counts as much as its weight says."""
        return replace(self, weights=np.array(weights, dtype=np.float64))

    @cached_property
    def weight(self) -> Floats:
        """The weight of each record, 1 where all count alike, (records,)."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    @abstractmethod
    def values_of_records(self) -> Floats:
        """What each record adds to the ranking score, unweighted, shape (records, numbers)."""

    @cached_property
    def rows(self) -> Floats:
        """What each record adds, by its weight, and the weight itself where there are some, shape (records, numbers):
        the ranking score depends on their sums alone, so records with equal rows can take each other's place."""
        if self.weights is None:
            return self.values_of_records
        return np.column_stack([self.weights, self.values_of_records * self.weights[:, None]])

    def times_weight(self, values: Floats) -> Floats:
        """Return values of the records, (..., records), times their weights."""
        return values * self.weight

    @abstractmethod
    def ranking(self, resamples: Floats) -> Floats:
        """Return the ranking score in 0-1, where each record stands as often in a corpus as `resamples` (resamples,
        records) says, and counts by its weight; shape (resamples,)."""

    @abstractmethod
    def surrogate(self, baseline: Self) -> Floats:
        """Return what an optimizer that takes means may see of each record, by its weight, shape (records,): the
        ranking score, linearised at the baseline; the value itself where the ranking score is a mean."""

    @abstractmethod
    def right(self) -> NDArray[np.bool_]:
        """Return which answers are right enough to be demos, shape (records,)."""

    @abstractmethod
    def all_right(self) -> Self:
        """Return the scores of the same records, had each answer been the gold one."""

    @abstractmethod
    def corpus_score(self) -> CorpusScore:
        """Return the ranking score and its parts. Raises ValueError for an empty corpus."""

    def smoothed(self) -> Self:
        """Return the scores that programs are chosen by; see `Tally.smoothed`."""
        return self

    def mean(self, values: NDArray[Any]) -> Any:
        """Return the mean of some values of the records, (records, ...), by their weights."""
        return np.average(values, axis=0, weights=self.weights)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.values_of_records)


def value(scores: Scores) -> float:
    """Return the ranking score of a corpus, in 0-1. Raises ValueError for an empty one."""
    return float(scores.ranking(np.ones((1, records_of(scores))))[0])


def records_of(scores: Scores) -> int:
    """Return the number of records. Raises ValueError where there are none."""
    if not len(scores):
        raise ValueError("no records: an empty corpus has no score")
    return len(scores)


def check_pairs(gold: Sequence[object], predicted: Sequence[object]) -> None:
    """Check that there is a prediction for each gold record. Raises ValueError where their numbers differ."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} gold records; one prediction a record")


@dataclass(frozen=True)
class MeanScores(Scores):
    """A ranking score that is the mean of a number a record."""

    values: Floats  # of each record, in 0-1, (records,)
    demo_from: ClassVar[float] = 1.0  # the value from which an answer may be a demo

    @property
    def values_of_records(self) -> Floats:
        return self.values[:, None]

    def ranking(self, resamples: Floats) -> Floats:
        weights = self.times_weight(resamples)
        return np.asarray(weights @ self.values / weights.sum(axis=1))

    def surrogate(self, baseline: Self) -> Floats:
        return self.times_weight(self.values)

    def right(self) -> NDArray[np.bool_]:
        """Return whether a value reaches `demo_from`."""
        return self.values >= self.demo_from

    def all_right(self) -> Self:
        return replace(self, values=np.ones_like(self.values))

    def corpus_score(self) -> CorpusScore:
        records_of(self)
        return CorpusScore(float(self.mean(self.values)), {})


def ranking_value(f1: NDArray[Any], exact: Any, weights: NDArray[Any] | None = None) -> Any:
    """Return the ranking score, in 0-1: the mean of macro-F1 and exact match. f1: of each label, shape (..., labels);
    exact: the share of exact matches, shape (...); weights: of each label in macro-F1; officially all are equal."""
    return (np.average(f1, axis=-1, weights=weights) + exact) / 2


def f1_scores(totals: NDArray[Any]) -> NDArray[np.float64]:
    """Return F1 of each label, (..., labels), 0 where nothing was counted. totals: (..., 3, labels). scikit-learn's
    `f1_score(labels=…, average=None, zero_division=0)` gives the same numbers of one corpus; intervals need those of
    hundreds at once."""
    tp, fp, fn = totals[..., TP, :], totals[..., FP, :], totals[..., FN, :]
    return ratio(2 * tp, 2 * tp + fp + fn)


def ratio(top: NDArray[Any], bottom: NDArray[Any]) -> NDArray[np.float64]:
    """Return `top` over `bottom`, and 0 where that is 0."""
    quotient: NDArray[np.float64] = np.zeros(np.shape(bottom), dtype=np.float64)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient


@dataclass(frozen=True)
class Surrogate:
    """The linearised ranking score. `t` and `n` have one entry a label (see the module)."""

    t: NDArray[np.float64]
    n: NDArray[np.float64]

    def of(self, counts: NDArray[np.int64], exact: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the surrogate score of each record, (records,). counts: (records, 3, labels); exact: (records,)."""
        weight = np.divide(0.5 / len(self.n), 2 * self.n, out=np.zeros_like(self.n), where=self.n > 0)
        tp, fp = counts[:, TP, :], counts[:, FP, :]
        return np.asarray((((2 - self.t) * tp - self.t * fp) * weight).sum(axis=1) + 0.5 * exact)


@dataclass(frozen=True)
class Tally(Scores):
    """A corpus of labels as counts a record; score, intervals and surrogate are arithmetic on them."""

    labels: tuple[str, ...]
    counts: NDArray[np.int64]  # (records, 3, labels): true positives, false positives and false negatives
    exact: NDArray[np.bool_]  # (records,): paragraph exact match (Track 1), Joint@3 (Track 2)
    exact_name: str  # the name of that part, "pem" or "joint_at_3"
    smooth: bool = False  # whether the ranking score is smoothed, for choosing by it; reports never are

    @cached_property
    def values_of_records(self) -> Floats:
        """Counts and exact match, shape (records, 3 * labels + 1)."""
        counts = self.counts.reshape(len(self.exact), 3 * len(self.labels))
        return np.column_stack([counts, self.exact]).astype(np.float64)

    def ranking(self, resamples: Floats) -> Floats:
        weights = self.times_weight(resamples)
        totals = weights @ self.values_of_records
        counts = totals[:, :-1].reshape(len(weights), *self.counts.shape[1:])
        exact = totals[:, -1] / weights.sum(axis=1)
        by_label = np.minimum(self.support, ENOUGH) if self.smooth and self.support.any() else None
        return np.asarray(ranking_value(f1_scores(counts), exact, by_label))

    def smoothed(self) -> Self:
        """Return a copy that weights each label by min(gold statements, `ENOUGH`) in macro-F1. For choosing only: one
        lucky hit on a rare label must not decide."""
        return replace(self, smooth=True)

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """The gold statements of each label, (labels,); of several labels of one, the predicted one counts."""
        return np.asarray(self.counts[:, TP].sum(axis=0) + self.counts[:, FN].sum(axis=0))

    @property
    def rare_labels(self) -> dict[str, int]:
        """The labels with fewer than `ENOUGH` gold statements, and how many each has."""
        return {label: int(n) for label, n in zip(self.labels, self.support, strict=True) if n < ENOUGH}

    @property
    def ceiling(self) -> float:
        """The highest ranking score that these records allow, in 0-1: the F1 of a label without a gold statement is 0
        whatever a program answers. A label that is gold only beside others counts as present where it was predicted."""
        return 1 - 0.5 * float((self.support == 0).mean())

    def surrogate(self, baseline: Self) -> Floats:
        return self.times_weight(baseline.linearised.of(self.counts, self.exact))

    @cached_property
    def totals(self) -> Floats:
        """True positives, false positives and false negatives of each label, by the weights of records, (3, labels)."""
        return np.tensordot(self.weight, self.counts, axes=1)

    @cached_property
    def linearised(self) -> Surrogate:
        """The surrogate at this operating point: that of a baseline on train, never on dev or test."""
        totals = self.totals
        n = (totals[TP] + totals[FN]) / max(float(self.weight.sum()), 1.0)
        return Surrogate(t=(f1_scores(totals) + PRIOR_F1) / 2, n=n.astype(np.float64))

    def right(self) -> NDArray[np.bool_]:
        """Return exact match: a demo that is right in part teaches what is wrong in it."""
        return self.exact

    def all_right(self) -> Self:
        counts = np.zeros_like(self.counts)
        counts[:, TP] = self.counts[:, TP] + self.counts[:, FN]
        return replace(self, counts=counts, exact=np.ones_like(self.exact))

    def corpus_score(self) -> CorpusScore:
        """Return the score with macro-F1, exact match and each label's scores. Raises ValueError for no records."""
        records_of(self)
        tp, fp, fn = self.totals
        f1, exact = f1_scores(self.totals), float(self.mean(self.exact))
        precision, recall = ratio(tp, tp + fp), ratio(tp, tp + fn)
        per_label = {}
        for k, label in enumerate(self.labels):
            per_label[label] = LabelScores(float(precision[k]), float(recall[k]), float(f1[k]), int(self.support[k]))
        parts = {"macro_f1": float(f1.mean()), self.exact_name: exact}
        score = float(ranking_value(f1, exact))
        return CorpusScore(score, parts, per_label, self._remarks(f1, exact))

    def _remarks(self, f1: Floats, exact: float) -> tuple[str, ...]:
        """Return in words that all answers are alike, and how much of the score rests on rare labels."""
        answers = self.counts[:, [TP, FP]].sum(axis=(0, 1))  # of each label
        remarks = []
        if answers.max() == answers.sum() >= ENOUGH and (self.support > 0).sum() > 1:
            remarks.append(f"all {answers.sum()} answers are {self.labels[answers.argmax()]}")
        if not self.rare_labels:
            return tuple(remarks)
        (first, few), *others = self.rare_labels.items()
        counts = [f"{first}: {pluralize(few, 'gold statement')} of {self.support.sum()}"]
        counts += [f"{label}: {few}" for label, few in others]
        alone = "the F1 of each alone" if others else "its F1 alone"
        remark = f"{', '.join(counts)}; {alone} moves the score by {50 / len(self.labels):.1f}"
        if self.ceiling < 1:
            remark += f", and no program can score more than {100 * self.ceiling:.1f} here"
        rest = self.support >= ENOUGH
        if rest.any():
            remark += f"; over the other labels {100 * ranking_value(f1[rest], exact):.1f}"
        return (*remarks, remark)


def tally_statements(
    gold: Sequence[Sequence[Sequence[str]]],
    predicted: Sequence[Sequence[str] | None],
    labels: tuple[str, ...],
    exact_name: str = "exact",
) -> Tally:
    """Return the scores of records of one or more statements: the mean of macro-F1 over `labels` and of exact match,
    where all statements of a record are right, as the official evaluator counts them.

    gold: of each record, of each of its statements, the gold labels, the primary one first. predicted: of each record,
    a label a statement; None is a record that failed: it earns nothing, and its gold labels are missed. exact_name: of
    exact match among the parts of the score. Raises ValueError where numbers differ or a label is unknown.
    """
    check_pairs(gold, predicted)
    column = {label: k for k, label in enumerate(labels)}
    counts = np.zeros((len(gold), 3, len(labels)), dtype=np.int64)
    exact = np.zeros(len(gold), dtype=np.bool_)
    for row, (types, answer) in enumerate(zip(gold, predicted, strict=True)):
        if answer is not None and len(answer) != len(types):
            raise ValueError(f"record {row + 1}: {len(answer)} labels for {len(types)} sentences; one label a sentence")
        try:
            if answer is None:
                for allowed in types:
                    counts[row, FN, column[allowed[0]]] += 1
                continue
            exact[row] = True
            for allowed, label in zip(types, answer, strict=True):
                if label in allowed:
                    counts[row, TP, column[label]] += 1
                else:
                    counts[row, FN, column[allowed[0]]] += 1
                    counts[row, FP, column[label]] += 1
                    exact[row] = False
        except KeyError as unknown:
            raise ValueError(f"record {row + 1}: unknown label {unknown}; one of: {', '.join(labels)}") from None
    return Tally(labels, counts, exact, exact_name)
