"""How predicted snippets are held against gold ones: the organisers' aggregation, for any likeness of two texts.

Each distinct predicted snippet counts as it matches the gold snippet that it matches best, and their sum is divided by
the number of predicted ones. That is a precision: what is gold and was not found costs nothing, a repeated snippet and
one that is a little worse than the others cost much. One good snippet beats five.
"""

from collections.abc import Callable, Sequence

import numpy as np

from aisr.metrics.scores import Floats

Likeness = Callable[[str, str], Sequence[float]]  # of a predicted and a gold text: one number or several, in 0-1


def matched(predicted: Sequence[str], gold: Sequence[str], likeness: Likeness, numbers: int) -> Floats:
    """How well the snippets of one claim match, shape (numbers,), as many as `likeness` gives of a pair. Nothing is
    earned where nothing was predicted, and where nothing is gold."""
    if not predicted or not gold:
        return np.zeros(numbers)
    best = [np.max([likeness(one, right) for right in gold], axis=0) for one in dict.fromkeys(predicted)]
    return np.asarray(np.sum(best, axis=0) / len(predicted))
