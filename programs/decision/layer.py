"""From what the model thinks to the label that scores: the second step of every program.

A prompt teaches the annotators' convention in part; the rest is a handful of numbers, fitted on train and dev for the
ranking score (`optimize/decision/fit.py`): how much to trust the model, the wording and the cues, and how readily to
say each label. They are part of the program, saved and loaded with it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.decision.cues import CueWeights
from aisr.programs.decision.text_prior import Wording, softmax
from aisr.programs.decision.weight import Weight
from aisr.programs.errors import UserError
from aisr.programs.retrieval.evidence_list import EvidencePolicy

FLOOR = 1e-4  # the least probability that counts: below it, a distribution only says "no"
LM, WORDING, CUES = "LM", "wording", "cues"  # the names of experts
Opinions = Mapping[str, NDArray[np.float64]]  # for each expert its log-probabilities, (judgements, labels)


class Rule(BaseModel):
    """Weighs experts: the sum of `weights` times their log-probabilities, plus an offset a label.

    votes: by label index, how many models must say a label for it to pass, whatever the sum; none for most.
    """

    model_config = ConfigDict(extra="forbid")
    weights: dict[str, Weight]
    offsets: list[Weight]
    votes: dict[int, int] = {}

    def logits(self, opinions: Opinions) -> NDArray[np.float64]:
        """Shape (judgements, labels)."""
        # In the order of names: a rule from a file must add up to the same, to the last bit.
        rows = len(next(iter(opinions.values())))
        total = np.tile(np.array(self.offsets), (rows, 1))
        for name in sorted(self.weights):
            total += self.weights[name] * opinions[name]
        return total

    def labels(self, opinions: Opinions) -> NDArray[np.int64]:
        """The index of the label of each judgement: of those that pass by votes, or else of all, the highest sum."""
        total = self.logits(opinions)
        if self.votes:
            models = [rows for name, rows in opinions.items() if name not in (WORDING, CUES)]
            said = sum(rows.argmax(axis=1)[:, None] == np.arange(total.shape[1]) for rows in models)
            wanted = np.array([self.votes.get(k, len(models) + 1) for k in range(total.shape[1])])
            passes = np.asarray(said) >= wanted
            total = np.where(passes | ~passes.any(axis=1, keepdims=True), total, -np.inf)
        return np.asarray(total.argmax(axis=1))


class Decision(BaseModel):
    """A fitted decision layer.

    says: the rule whose highest value is the label; means: the rule whose softmax is the probability; majority: the
    commonest label of train and dev; fitted_on: the LM whose thoughts it was fitted on; kept: whether the layer is
    used, or only shown beside the model as it is; ablations: the rules that leave something out, by what they have;
    evidence: how evidence was named where the layer was kept, in programs that were saved when that was part of it.
    """

    model_config = ConfigDict(extra="forbid")
    labels: list[str]
    majority: str
    fitted_on: str = ""
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
            raise UserError(f"a decision layer for other labels than {', '.join(self.labels)}")
        missing = {name for name, expert in ((WORDING, self.wording), (CUES, self.cues)) if expert is None}
        if any(missing & set(rule.weights) for rule in self.rules):
            raise UserError(f"a rule weighs {', '.join(sorted(missing))}, which the decision layer does not have")
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
        opinions = self.opinions(statements, evidence, judgements)
        said = self.says.labels(opinions)
        chances = softmax(self.means.logits(opinions))
        # What was fitted is a distribution, whatever it was fitted on; models that are only pooled stay what they are.
        sources = [judged.source if self.cues is None else "layer" for judged in first]
        return [
            Judgement(self.labels[k], row.tolist(), source)
            for k, row, source in zip(said, chances, sources, strict=True)
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


def pooled(models: Sequence[str], labels: Sequence[str]) -> Decision:
    """The layer that leaves it to several models, each counting the same."""
    rule = as_it_is(models, len(labels))
    return Decision(labels=list(labels), majority=labels[0], kept=True, says=rule, means=rule)


def as_it_is(models: Sequence[str], labels: int) -> Rule:
    """The rule that leaves it to the models, each counting the same."""
    return Rule(weights={name: 1 / len(models) for name in models}, offsets=[0.0] * labels)


def decide(
    decision: Decision | None, statements: Sequence[str], evidence: str, judgements: Mapping[str, Sequence[Judgement]]
) -> list[Judgement]:
    """The final judgement of each statement, from those of the models by their names; that of a single model stands
    where there is no layer, or one that is not kept."""
    if decision is None or (len(judgements) == 1 and not decision.kept):
        return list(next(iter(judgements.values())))
    layer = decision if decision.kept else pooled(list(judgements), decision.labels)
    return layer.decide(statements, evidence, judgements)
