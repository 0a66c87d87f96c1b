"""From what the LM thinks to the label that scores: the second step of every program.

A prompt teaches the annotators' convention in part; the rest is a handful of numbers, fitted on train and dev for the
ranking score (`optimize/decision_fit.py`): how much to trust the LM, the wording and the cues, and how readily to say
each label. They are part of the program, saved and loaded with it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.decision.cues import CueWeights
from aisr.programs.decision.text_prior import Weight, Wording, softmax
from aisr.programs.errors import UserError

FLOOR = 1e-4  # the least probability that counts: below it, a distribution only says "no"
LM, WORDING, CUES = "LM", "wording", "cues"  # the names of experts
Opinions = Mapping[str, NDArray[np.float64]]  # for each expert its log-probabilities, (judgements, labels)


class Rule(BaseModel):
    """Weighs experts: the sum of `weights` times their log-probabilities, plus an offset a label."""

    model_config = ConfigDict(extra="forbid")
    weights: dict[str, Weight]
    offsets: list[Weight]

    def logits(self, opinions: Opinions) -> NDArray[np.float64]:
        """Shape (judgements, labels)."""
        # In the order of names: a rule from a file must add up to the same, to the last bit.
        rows = len(next(iter(opinions.values())))
        total = np.tile(np.array(self.offsets), (rows, 1))
        for name in sorted(self.weights):
            total += self.weights[name] * opinions[name]
        return total

    def labels(self, opinions: Opinions) -> NDArray[np.int64]:
        """The index of the label with the highest sum for each judgement."""
        return np.asarray(self.logits(opinions).argmax(axis=1))


class Decision(BaseModel):
    """A fitted decision layer.

    says: the rule whose highest value is the label; means: the rule whose softmax is the probability; fitted_on: the LM
    whose thoughts it was fitted on; wording, cues: the priors, where the rules weigh them.
    """

    model_config = ConfigDict(extra="forbid")
    labels: list[str]
    fitted_on: str = ""
    says: Rule
    means: Rule
    wording: Wording | None = None
    cues: CueWeights | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Decision":
        priors: dict[str, Wording | CueWeights | None] = {WORDING: self.wording, CUES: self.cues}
        widths = {len(rule.offsets) for rule in (self.says, self.means)}
        widths |= {len(prior.intercepts) for prior in priors.values() if prior is not None}
        if widths != {len(self.labels)}:
            raise UserError(f"a decision layer for other labels than {', '.join(self.labels)}")
        known = {LM, *(name for name, prior in priors.items() if prior is not None)}
        unknown = {*self.says.weights, *self.means.weights} - known
        if unknown:
            raise UserError(f"a rule weighs {', '.join(sorted(unknown))}, which the decision layer does not have")
        return self

    def decide(self, statements: Sequence[str], evidence: str, judgements: Sequence[Judgement]) -> list[Judgement]:
        """The layer's judgement of each statement, from those of the LM."""
        opinions = self.opinions(statements, evidence, judgements)
        said = self.says.labels(opinions)
        chances = softmax(self.means.logits(opinions))
        return [Judgement(self.labels[k], row.tolist(), "layer") for k, row in zip(said, chances, strict=True)]

    def opinions(
        self, statements: Sequence[str], evidence: str, judgements: Sequence[Judgement]
    ) -> dict[str, NDArray[np.float64]]:
        """The log-probabilities of all experts."""
        chances = {LM: np.array([judged.chances for judged in judgements])}
        if self.wording is not None:
            chances[WORDING] = self.wording.chances(statements)
        if self.cues is not None:
            chances[CUES] = self.cues.chances(statements, evidence)
        return {name: logs(rows) for name, rows in chances.items()}


def logs(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probabilities, none below that of `FLOOR`."""
    return np.asarray(np.log(np.maximum(chances, FLOOR)))


def decide(
    decision: Decision | None, statements: Sequence[str], evidence: str, judgements: list[Judgement]
) -> list[Judgement]:
    """The final judgement of each statement: by the layer, or the LM's own where there is none."""
    return judgements if decision is None else decision.decide(statements, evidence, judgements)
