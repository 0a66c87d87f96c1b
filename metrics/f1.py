"""F1 from counts, and the ranking score of the shared task from it: here, and nowhere else."""

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
