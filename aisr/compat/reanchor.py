"""DSPy's experimental ReAnchor: the weights of a choice's options that it fits for the mean of a metric over records.

Here it is a baseline for the decision layer, on probabilities that are known already. `ReAnchor.compile` runs the
program over all records for each of some 200 settings, at 0.7 ms of CPU a record: 80 s for 550 judgements of five
labels. Its search takes any function that scores a setting, so that it is given arithmetic instead.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from dspy.teleprompt.reanchor.calibrate import _fit_weights, _select

Rows = Sequence[Sequence[float]]


def reanchored(labels: Sequence[str], chances: Rows, worth: Rows) -> list[float]:
    """A factor for the probability of each label.

    chances: of each record, a probability for each label; worth: what it is worth to say each label of it.
    """
    given, worths = np.asarray(chances, dtype=np.float64), np.asarray(worth, dtype=np.float64)
    place, unweighted = np.arange(len(given)), given.argmax(axis=1)
    config: dict[str, Any] = {"weights": {}}

    def scores() -> list[float]:
        weighted = given * [config["weights"].get(label, 1.0) for label in labels]
        tied = weighted[place, unweighted] == weighted.max(axis=1)  # then the likeliest without weights
        said = np.where(tied, unweighted, weighted.argmax(axis=1))
        return [float(value) for value in worths[place, said]]

    predict: Any = SimpleNamespace(fields={"label": config})
    kind: Any = SimpleNamespace(criteria=lambda: dict.fromkeys(labels))
    evidence = [{"probabilities": dict(zip(labels, map(float, row), strict=True))} for row in chances]
    before = scores()
    weights, fitted, *_ = _fit_weights(predict, "label", kind, evidence, scores, before)
    if _select(before, [(fitted, (), None)])[0] is None:  # what is no better than the model as it is is not kept
        return [1.0] * len(labels)
    return [float(weights[label]) for label in labels]
