"""F1 from counts, the ranking score of the shared task from it, and that score linearised: the credit of a record.

An optimizer that averages over examples sees the credit of each. Macro-F1 is no mean over records, so no per-record
value has it as its mean. Its first-order expansion at a baseline has. With t_k the baseline's F1 of label k and n_k the
mean number of gold items of label k a record,

    d F1_k / d TP_k = (2 - t_k) / (2 n_k)      d F1_k / d FP_k = -t_k / (2 n_k)

(F1 = 2 TP / (2 TP + FP + FN) with TP + FN = n_k fixed, so that the denominator is TP + FP + n_k; at the operating
point of a baseline that predicts a label as often as it occurs it is 2 n_k.) The credit of a record is

    0.5 / K * sum_k ((2 - t_k) TP_k - t_k FP_k) / (2 n_k) + 0.5 * exact

where t_k is not the baseline's F1 alone but the mean of it and 1/2. Between any two programs F - F' = (dN - t dD) / D
holds exactly, with N = 2 TP, D = 2 TP + FP + FN, and t and D the means of the two: the baseline's own t fits its near
copies only, and at t_k = 0 false alarms would cost nothing. 1/2 is a guess at the other program's F1; anything from .3
to .7 serves as well (`python -m benchmarks.objective` measures both forms).

Its mean rises and falls with the ranking score near the baseline (Koyejo et al. 2014; Narasimhan et al. 2015). It is
no score: it can leave 0-1, and labels that never occur in `gold` carry no weight.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

TP, FP, FN = 0, 1, 2


class LabelScore(NamedTuple):
    """Precision, recall and F1 in 0-1; support is the number of gold items counted for the label."""

    precision: float
    recall: float
    f1: float
    support: int


def ranking_value(f1: NDArray[Any], exact: Any, f1_share: float = 0.5, weights: NDArray[Any] | None = None) -> Any:
    """The ranking score, in 0-1: the mean of macro-F1 and exact match (guidelines, section 2, "Metrics").

    f1: of each label, shape (..., labels); exact: the share of records that match exactly, shape (...); f1_share: what
    macro-F1 counts, in 0-1, for a task where that is not half; weights: what each label counts in macro-F1, all the
    same as the official score has it.
    """
    return (2 * f1_share * np.average(f1, axis=-1, weights=weights) + 2 * (1 - f1_share) * exact) / 2


def f1_scores(totals: NDArray[Any]) -> NDArray[np.float64]:
    """F1 of each label. `totals` has shape (..., 3, labels); the answer (..., labels), 0 where nothing was counted."""
    tp, fp, fn = totals[..., TP, :], totals[..., FP, :], totals[..., FN, :]
    return ratio(2 * tp, 2 * tp + fp + fn)


def ratio(top: NDArray[Any], bottom: NDArray[Any]) -> NDArray[np.float64]:
    """`top` over `bottom`, and 0 where that is 0."""
    found: NDArray[np.float64] = np.zeros(np.shape(bottom), dtype=np.float64)
    np.divide(top, bottom, out=found, where=bottom != 0)
    return found


PRIOR_F1 = 0.5


@dataclass(frozen=True)
class Credit:
    """The linearised ranking score. `t` and `n` have one entry a label (see the module)."""

    t: NDArray[np.float64]
    n: NDArray[np.float64]

    def of(self, counts: NDArray[np.int64], exact: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The credit of each record, shape (records,). counts: (records, 3, labels); exact: (records,)."""
        weight = np.divide(0.5 / len(self.n), 2 * self.n, out=np.zeros_like(self.n), where=self.n > 0)
        tp, fp = counts[:, TP, :], counts[:, FP, :]
        return np.asarray((((2 - self.t) * tp - self.t * fp) * weight).sum(axis=1) + 0.5 * exact)


def linearise(counts: NDArray[np.int64]) -> Credit:
    """The credit at the operating point of a baseline, by its counts (records, 3, labels) on train, never on dev or
    test."""
    totals = counts.sum(axis=0)
    n = (totals[TP] + totals[FN]) / max(len(counts), 1)
    return Credit(t=(f1_scores(totals) + PRIOR_F1) / 2, n=n.astype(np.float64))
