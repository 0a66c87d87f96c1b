"""Label weights: from the LM's label probabilities to the label that scores, the second step of a judge with labels.

A prompt teaches the annotators' convention in part; a few numbers can add to it: how much the LM's log-probabilities
count, and an offset a label. They are fitted on train and dev for the ranking score (`optimize/label_weights.py`), are
part of the program, and are saved and loaded with it.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.special import softmax

from aisr.base.errors import UserError
from aisr.programs.probabilities import Judgement

FLOOR = 1e-4  # the least probability that counts: below it, a distribution only says "no"
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Rule(BaseModel):
    """Sums for each label: `weight` times the LM's log-probability of it, plus its offset."""

    model_config = ConfigDict(extra="forbid")
    weight: Finite
    offsets: list[Finite]  # in the order of the labels

    def logits(self, log_probs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums, shape (judgements, labels), from log-probabilities of that shape."""
        return np.asarray(self.weight * log_probs + np.array(self.offsets))

    def labels(self, log_probs: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the index of the label with the highest sum for each judgement."""
        return np.asarray(self.logits(log_probs).argmax(axis=1))


class LabelWeights(BaseModel):
    """Fitted label weights."""

    model_config = ConfigDict(extra="forbid")
    labels: list[str]  # those of the task, in its order
    fitted_on: str = ""  # identity of the LM whose probabilities they were fitted on
    label_rule: Rule  # its highest sum is the label
    probability_rule: Rule  # the softmax of its sums is the probability

    @model_validator(mode="after")
    def _one_offset_a_label(self) -> "LabelWeights":
        if {len(rule.offsets) for rule in (self.label_rule, self.probability_rule)} != {len(self.labels)}:
            raise UserError(f"another number of offsets than labels: {', '.join(self.labels)}")
        return self

    def apply(self, judgements: Sequence[Judgement]) -> list[Judgement]:
        """Return the final judgement of each statement, from that of the LM."""
        log_probs = logs(np.array([judgement.probabilities for judgement in judgements]))
        labels = self.label_rule.labels(log_probs)
        probabilities = softmax(self.probability_rule.logits(log_probs), axis=1)
        return [
            Judgement(self.labels[k], row.tolist(), "weights") for k, row in zip(labels, probabilities, strict=True)
        ]


def logs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-probabilities, none below that of `FLOOR`."""
    return np.asarray(np.log(np.maximum(probabilities, FLOOR)))
