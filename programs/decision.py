"""From what the model thinks to the label that scores: the second step of every program.

A prompt teaches the annotators' convention in part; the rest is a handful of numbers, fitted on train and dev for the
ranking score (`optimize/decide.py`): how much to trust the model, the wording and the cues, and how readily to say each
label. They are part of the program, saved and loaded with it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from programs.cues import CueWeights
from programs.distribution import Judgement
from programs.fusion import DEFAULT, EvidencePolicy
from programs.wording import Wording, softmax

FLOOR = 1e-4  # the least probability that counts: below it, a distribution only says "no"
LM, WORDING, CUES = "LM", "wording", "cues"  # the names of experts
Opinions = Mapping[str, NDArray[np.float64]]  # for each expert its log-probabilities, (judgements, labels)


class Rule(BaseModel):
    """Weighs experts: the sum of `weights` times their log-probabilities, plus an offset a label."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    weights: dict[str, float]
    offsets: list[float]

    def logits(self, opinions: Opinions) -> NDArray[np.float64]:
        """Shape (judgements, labels)."""
        # In the order of names: a rule from a file must add up to the same, to the last bit.
        rows = len(next(iter(opinions.values())))
        total = np.tile(np.array(self.offsets), (rows, 1))
        for name in sorted(self.weights):
            total += self.weights[name] * opinions[name]
        return total


class Decision(BaseModel):
    """A fitted decision layer.

    says: the rule whose highest value is the label; means: the rule whose softmax is the probability; majority: the
    commonest label of train; kept: whether the layer is used, or only shown beside the model as it is; ablations: the
    rules that leave something out, by what they have.
    """

    model_config = ConfigDict(extra="forbid")
    labels: list[str]
    majority: str
    kept: bool
    says: Rule
    means: Rule
    ablations: dict[str, Rule] = {}
    wording: Wording | None = None
    cues: CueWeights | None = None
    evidence: EvidencePolicy | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Decision":
        widths = {len(rule.offsets) for rule in self.rules}
        widths |= {len(expert.intercepts) for expert in (self.wording, self.cues) if expert is not None}
        if widths != {len(self.labels)} or self.majority not in self.labels:
            raise ValueError(f"a decision layer for other labels than {', '.join(self.labels)}")
        missing = {name for name, expert in ((WORDING, self.wording), (CUES, self.cues)) if expert is None}
        if any(missing & set(rule.weights) for rule in self.rules):
            raise ValueError(f"a rule weighs {', '.join(sorted(missing))}, which the decision layer does not have")
        return self

    @property
    def rules(self) -> list[Rule]:
        """All rules of the layer."""
        return [self.says, self.means, *self.ablations.values()]

    def decide(
        self, statements: Sequence[str], evidence: str, judgements: Mapping[str, Sequence[Judgement]]
    ) -> list[Judgement]:
        """The layer's judgement of each statement, from those of the models (by their names)."""
        first = next(iter(judgements.values()))
        if not self.kept and len(judgements) == 1:
            return list(first)
        opinions = self.opinions(statements, evidence, judgements)
        said = self.says.logits(opinions).argmax(axis=1)
        chances = softmax(self.means.logits(opinions))
        return [
            Judgement(self.labels[k], row.tolist(), judged.source)
            for k, row, judged in zip(said, chances, first, strict=True)
        ]

    def opinions(
        self, statements: Sequence[str], evidence: str, judgements: Mapping[str, Sequence[Judgement]]
    ) -> dict[str, NDArray[np.float64]]:
        """The log-probabilities of all experts."""
        chances = {name: np.array([judged.chances for judged in rows]) for name, rows in judgements.items()}
        if self.wording is not None:
            chances[WORDING] = self.wording.chances(statements)
        if self.cues is not None:
            chances[CUES] = self.cues.chances(statements, evidence)
        return {name: logs(rows) for name, rows in chances.items()}


def logs(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probabilities, none below that of `FLOOR`."""
    return np.asarray(np.log(np.maximum(chances, FLOOR)))


def policy(decision: Decision | None) -> EvidencePolicy:
    """The evidence policy that goes with a decision layer, or with none."""
    kept = decision is not None and decision.kept
    return decision.evidence if kept and decision and decision.evidence else DEFAULT
