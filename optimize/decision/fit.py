"""Fitting the decision layer for the ranking score, on train and dev, from judgements that are there already.

No LM call is made. A way to decide is fitted on four of five folds that share nothing and says what it would say of the
fifth; with other folds, ten times over. What it says of a record is what most of the ten say, and the layer that is
made in the end is the mean of all fifty rules: one division into folds finds a gain that its neighbour does not. It is
kept where a paired bootstrap finds it better than the LM as it is; the test split and the records to be predicted are
never seen.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aisr.metrics.intervals import Interval, difference_interval, resampled
from aisr.metrics.judgements import tally
from aisr.metrics.scores import Tally
from aisr.optimize.datasets.apart import grouped
from aisr.optimize.decision import rule as rule_fit
from aisr.optimize.decision.folds import FOLDS, Judged, Material, gather
from aisr.optimize.decision.rule import Blend, averaged, part_way
from aisr.programs.decision.layer import CUES, LM, WORDING, Decision
from aisr.programs.errors import UserError
from aisr.programs.retrieval.evidence_list import EvidencePolicy
from aisr.programs.task import Judgements

# Of the way from the LM as it is to the fit: on 316 real records the half gained 3.3 [1.5, 5.5] under cross-validation
# and the whole nothing that was sure; an LM that hardly ever says a label needs the whole.
SHARES = (0.5, 1.0)
RESAMPLES = 200  # for a standard error
SURE = 1.64  # standard errors that a gain is lowered by before it is believed: one-sided, 95 %
# Ways to decide with their experts, from the least to the most; the first does without the LM, to be compared with.
ALONE, PRIORS, WEIGHTS, BOTH = "LM alone", "wording + cues", "LM + weights", "LM + prior + weights"
WAYS: Mapping[str, Sequence[str]] = MappingProxyType(
    {PRIORS: (WORDING, CUES), WEIGHTS: (LM,), BOTH: (LM, WORDING, CUES)}
)
Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Fitted(NamedTuple):
    """A decision layer, None where none is better than the LM as it is; its cross-validated gain over that (None where
    nothing could be fitted); what a manifest says of it."""

    decision: Decision | None
    gain: Interval | None
    report: dict[str, Any]


def fit(
    labelled: Judgements,
    judged: Sequence[Judged],
    seed: int,
    fitted_on: str = "",
    naming: EvidencePolicy | None = None,
) -> Fitted:
    """The decision layer for judged records of train and dev.

    fitted_on: the LM that judged, to tell it from others later; naming: how evidence is named, in tasks that ask for
    some. With too few records for cross-validation there is no layer. Raises UserError for no records.
    """
    if not judged:
        raise UserError("no judged records: nothing to fit a decision layer on")
    group = grouped([one.row for one in judged])
    known = len(set(group))
    if known < FOLDS:
        why = f"{known} groups of records that share nothing; {FOLDS} are needed"
        return Fitted(None, None, {"kept": None, "why": why})
    # On these small problems the threads of linear algebra wait for each other: on a busy machine two cores took up to
    # four times as long as one.
    with threadpool_limits(1):
        material = gather(labelled, judged, group, seed, naming)
        trials = {way: _cross_validated(labelled, material, way) for way in WAYS}
        alone = Tried(labelled, material, ALONE, material.said)
        choosing = Choosing(alone, [*trials[WEIGHTS], *trials[BOTH]])
        best, gain = choosing.best(), choosing.honest()
        shown = [alone, trials[PRIORS][-1], *(Choosing(alone, trials[way]).best() for way in (WEIGHTS, BOTH))]
    kept = best.blend if gain.low > 0 else None
    report = {
        "kept": best.way if kept else None,
        "gain": list(gain),
        "share": best.share,
        "cross_validated": {way: one.score for way, one in zip((ALONE, *WAYS), shown, strict=True)},
        "records": len(judged),
        "sources": dict(Counter(judgement.source for one in judged for judgement in one.outcome.judgements)),
    }
    if kept is None:
        return Fitted(None, gain, report)
    wording, cues = material.texts.fit(np.ones(len(material.texts.fold), dtype=np.bool_))
    decision = Decision(
        labels=list(labelled.labels),
        fitted_on=fitted_on,
        says=kept.says,
        means=kept.means,
        wording=wording if WORDING in kept.says.weights else None,
        cues=cues if CUES in kept.says.weights else None,
    )
    return Fitted(decision, gain, report)


@dataclass(frozen=True)
class Tried:
    """One way to decide under cross-validation.

    said: the label of each judgement as said by rules that did not see its record; share: how much of the way to the
    fit it goes; blend: what would be kept, None for the LM as it is.
    """

    labelled: Judgements
    material: Material
    way: str
    said: Labels
    share: float = 0.0
    blend: Blend | None = None

    @cached_property
    def scores(self) -> Tally:
        """How it did, record by record."""
        return tally(self.material.gold, self.said, self.material.found, self.labelled.labels)

    @property
    def score(self) -> float:
        """The ranking score, in 0-1."""
        return float(self.scores.ranking(np.ones((1, len(self.scores))))[0])


def _cross_validated(labelled: Judgements, material: Material, way: str) -> list[Tried]:
    """Rules over the experts of a way, fitted on all folds but one and heard on that one, in every repetition; at each
    of `SHARES`.

    The priors' opinions of the other folds come from priors that may have seen this one: a second-order effect that
    refitting them within each fold would remove, at many times the time. The test split is untouched by it.
    """
    names = WAYS[way]
    one = np.eye(len(labelled.labels), dtype=np.int64)
    counts = {share: np.zeros((len(material.said), len(one)), dtype=np.int64) for share in SHARES}
    blends = []
    for folds in material.folds:
        fold = folds[material.gold.record]
        for part in range(FOLDS):
            others, here = fold != part, fold == part
            opinions = {name: material.opinions[name][others] for name in names}
            blends.append(rule_fit.fit(opinions, material.gold[others], material.found_in(others)))
            heard = {name: material.opinions[name][here] for name in names}
            for share in SHARES:
                counts[share][here] += one[part_way(blends[-1].says, share).labels(heard)]
    says, means = averaged([one.says for one in blends]), averaged([one.means for one in blends])
    return [
        Tried(labelled, material, way, counts[share].argmax(axis=1), share, Blend(part_way(says, share), means))
        for share in SHARES
    ]


class Choosing:
    """Chooses among ways by their gain over the LM as it is, less `SURE` standard errors (bootstrap over groups): a way
    that moves much has to gain much, and an expert that adds only noise falls out."""

    def __init__(self, alone: Tried, tried: Sequence[Tried]) -> None:
        self.alone, self.tried = alone, tried
        self.weights = resampled(alone.scores.rows, RESAMPLES, group=alone.material.group)

    def sure_gains(self, kept: Mask | None = None) -> NDArray[np.float64]:
        """The gain of each way less `SURE` standard errors, on the records that a mask keeps."""
        weights = self.weights if kept is None else self.weights * kept
        weights = weights[weights.sum(axis=1) > 0]
        before = self.alone.scores.ranking(weights)
        gains = np.array([one.scores.ranking(weights) - before for one in self.tried])
        return np.asarray(gains[:, 0] - SURE * gains[:, 1:].std(axis=1))

    def best(self, kept: Mask | None = None) -> Tried:
        """The way with the highest of these, if that is above 0; else the LM as it is."""
        sure = self.sure_gains(kept)
        return self.tried[int(sure.argmax())] if sure.max() > 1e-12 else self.alone

    def honest(self) -> Interval:
        """The gain of choosing so, each choice made on the folds that a record is not in: the best of many scores is
        too good to be tested as if it were the only one. In every repetition; what most of them say counts."""
        alone, material = self.alone, self.alone.material
        labels = alone.labelled.labels
        one = np.eye(len(labels), dtype=np.int64)
        counts = 0.5 * one[alone.said]  # of equals, what the LM says
        for folds in material.folds:
            for part in range(FOLDS):
                best = self.best(folds != part)
                here = (folds == part)[material.gold.record]
                counts[here] += one[best.said[here]]
        chosen = tally(material.gold, counts.argmax(axis=1), material.found, labels)
        return difference_interval(chosen, alone.scores, group=material.group)
