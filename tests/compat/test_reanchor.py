"""ReAnchor's search by arithmetic comes to what ReAnchor itself comes to."""

from typing import Any, Literal

import dspy
import numpy as np
import pytest
from dspy.teleprompt.reanchor import ReAnchor

from aisr.compat.reanchor import reanchored

LABELS = ["yes", "no", "maybe"]


class Replay:
    """What DSPy sends decision requests to, with known answers."""

    supports_decision_requests = True

    def __init__(self, chances: list[list[float]]) -> None:
        self.chances = chances

    def __call__(self, state: dict[str, Any], questions: dict[str, Any]) -> dict[str, Any]:
        said = dict(zip(LABELS, self.chances[int(state["inputs"]["record"])], strict=True))
        best = max(said, key=lambda label: said[label])
        return {"label": {"choice": best, "confidence": said[best], "probabilities": said}}


def whole(chances: list[list[float]], worth: list[list[float]]) -> list[float]:
    signature = dspy.Signature("record: int -> label: str", "Choose.").with_updated_fields(
        "label", type_=Literal[tuple(LABELS)], desc="the label"
    )

    def metric(example: dspy.Example, said: Any, trace: Any = None) -> float:
        return float(example.worth[LABELS.index(said.label)])

    rows = [dspy.Example(record=k, worth=row).with_inputs("record") for k, row in enumerate(worth)]
    with dspy.context(lm=Replay(chances), trace=None, disable_history=True):
        fitted = ReAnchor(metric, num_threads=1, require_cache=False).compile(dspy.Predict(signature), trainset=rows)
    weights = fitted.fields.get("label", {}).get("weights", {})
    return [float(weights.get(label, 1.0)) for label in LABELS]


@pytest.mark.parametrize(("lean", "right"), [(0.5, 0.4), (0.0, 2.0)])
def test_the_weights_are_those_of_reanchor_itself(lean: float, right: float) -> None:
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 3, 12)
    rough = np.round(rng.dirichlet([1, 1, 1], 12) + right * np.eye(3)[gold] + [lean, 0, 0], 1) + 0.1  # some ties
    chances, worth = (rough / rough.sum(axis=1, keepdims=True)).tolist(), np.eye(3)[gold].tolist()
    weights = reanchored(LABELS, chances, worth)
    assert weights == whole(chances, worth)
    assert (weights != [1.0] * 3) == (right < 1)  # where all is right already, nothing is moved
