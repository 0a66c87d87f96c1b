"""A conditional logit: of the things of one set, one that is right should have the highest sum of weighted features."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def likeliest(tables: Sequence[Values], right: Sequence[NDArray[np.bool_]], penalty: float, start: Values) -> Values:
    """The weights of the highest penalised likelihood that a right thing is picked of each set, shape (features,).

    tables: the features of each set's things, shape (things, features); right: which of them are, (things,), one at
    least; penalty: on the squared distance from `start`, where the weights stay if there are no sets.
    """
    if not tables:
        return start
    stacked = np.concatenate(tables)
    hits = np.concatenate(right)
    sizes = np.array([len(one) for one in right])
    starts, owner = np.concatenate([[0], np.cumsum(sizes)[:-1]]), np.repeat(np.arange(len(sizes)), sizes)

    def loss(weights: Values) -> tuple[float, Values]:
        scores = stacked @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        chances = raised / np.add.reduceat(raised, starts)[owner]
        picked = np.maximum(np.add.reduceat(chances * hits, starts), 1e-300)
        among_right = chances * hits / picked[owner]
        away = weights - start
        value = -np.log(picked).sum() + penalty / 2 * away @ away
        return float(value), (chances - among_right) @ stacked + penalty * away

    from scipy.optimize import minimize  # half a second; most commands have no use for it

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)
