"""DSPy's experimental ReAnchor: the weights of a choice's options that it fits for the mean of a metric over records.

Here it is a baseline for the decision layer, on probabilities that are known already: whoever answers replays them.
"""

import io
import logging
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, Literal

import dspy
from dspy.teleprompt.reanchor import ReAnchor

Rows = Sequence[Sequence[float]]


def reanchored(labels: Sequence[str], chances: Rows, worth: Rows) -> list[float]:
    """A factor for the probability of each label.

    chances: of each record, a probability for each label; worth: what it is worth to say each label of it.
    """
    signature = dspy.Signature("record: int -> label: str", "Choose the label.").with_updated_fields(
        "label", type_=Literal[tuple(labels)], desc="the label"
    )
    rows = [dspy.Example(record=k, worth=list(row)).with_inputs("record") for k, row in enumerate(worth)]
    places = {label: k for k, label in enumerate(labels)}

    def metric(example: dspy.Example, said: Any, trace: Any = None) -> float:
        return float(example.worth[places[said.label]])

    logging.getLogger("dspy").setLevel(logging.CRITICAL)
    bars = io.StringIO()  # of progress, for each setting that is tried
    with dspy.context(lm=_Replay(labels, chances), trace=None), redirect_stderr(bars), redirect_stdout(bars):
        fitted = ReAnchor(metric, num_threads=1, require_cache=False).compile(dspy.Predict(signature), trainset=rows)
    weights = fitted.fields.get("label", {}).get("weights", {})
    return [float(weights.get(label, 1.0)) for label in labels]


class _Replay:
    """What DSPy sends decision requests to, with known answers."""

    supports_decision_requests = True

    def __init__(self, labels: Sequence[str], chances: Sequence[Sequence[float]]) -> None:
        self.labels, self.chances = labels, chances

    def __call__(self, state: dict[str, Any], questions: dict[str, Any]) -> dict[str, Any]:
        row = [float(chance) for chance in self.chances[int(state["inputs"]["record"])]]
        said = dict(zip(self.labels, row, strict=True))
        best = max(said, key=lambda label: said[label])
        return {"label": {"choice": best, "confidence": said[best], "probabilities": said}}
