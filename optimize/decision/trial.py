"""Trying ways to decide by repeated cross-validation, and choosing one of them without being taken in by luck.

A way is fitted on four of five folds and says what it would say of the fifth; with other folds, ten times over. What it
says of a record is what most of the ten say, and the layer that is made in the end is the mean of all fifty rules: one
division into folds finds a gain that its neighbour does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.confidence import Interval, difference_interval, resampled
from aisr.metrics.judgements import tally
from aisr.metrics.tally import Tally
from aisr.optimize.decision import rule as rule_fit
from aisr.optimize.decision.folds import FOLDS, Material
from aisr.optimize.decision.rule import Blend, averaged, between
from aisr.programs.decision.layer import Rule
from aisr.tasks.task import Judgements

RESAMPLES = 200  # for a standard error
SURE = 1.64  # standard errors that a gain is lowered by before it is believed: one-sided, 95 %
Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Tried:
    """One way to decide under cross-validation.

    share: how far from the models as they are it goes, 0-1; said: the label of each judgement as said by rules that did
    not see its record; found: whether the evidence that goes with it was right, where the task asks for some; rule:
    what would be kept.
    """

    labelled: Judgements
    material: Material
    way: str
    share: float
    said: Labels
    found: Mask | None
    rule: Rule

    @cached_property
    def scores(self) -> Tally:
        """How it did, record by record."""
        return tally(self.material.gold, self.said, self.found, self.labelled.labels)

    @property
    def score(self) -> float:
        """The ranking score, in 0-1."""
        return float(self.scores.ranking(np.ones((1, len(self.scores))))[0])


@dataclass(frozen=True)
class Trial:
    """A way with the mean of its rules, and what it says at each share of the distance from the models as they are."""

    blend: Blend
    tried: list[Tried]


def as_they_are(labelled: Judgements, material: Material, way: str, start: Rule) -> Tried:
    """The models without a layer: what a single one says, or the most likely label of several together."""
    said = material.said if material.said is not None else start.labels(material.opinions)
    return Tried(labelled, material, way, 0.0, said, material.found, start)


def cross_validated(
    labelled: Judgements,
    material: Material,
    way: str,
    names: Sequence[str],
    start: Rule,
    shares: Sequence[float],
    votes: bool = False,
) -> Trial:
    """Rules over some experts, fitted on all folds but one and heard on that one, in every repetition.

    votes: whether rare labels may pass with few votes. The priors' opinions of the other folds come from priors that
    may have seen this one: a second-order effect that refitting them within each fold would remove, at many times the
    time. The test split is untouched by it.
    """
    one = np.eye(len(labelled.labels), dtype=np.int64)
    counts = {share: np.zeros((len(material.fold), len(one)), dtype=np.int64) for share in shares}
    blends = []
    for folds in material.folds:
        fold = folds[material.gold.record]
        for part in range(FOLDS):
            others, here = fold != part, fold == part
            blends.append(_fit(labelled, material, names, start, others, votes))
            opinions = {name: rows[here] for name, rows in material.opinions.items()}
            for share in shares:
                counts[share][here] += one[between(start, blends[-1].says, share).labels(opinions)]
    blend = Blend(averaged([one.says for one in blends]), averaged([one.means for one in blends]))
    if votes:
        blend = blend._replace(
            says=_with_votes(labelled, material, blend.says, np.ones(len(material.fold), dtype=np.bool_))
        )
    return Trial(
        blend,
        [
            Tried(
                labelled,
                material,
                way,
                share,
                counts[share].argmax(axis=1),
                material.found,
                between(start, blend.says, share),
            )
            for share in shares
        ],
    )


class Choosing:
    """Chooses among ways by their gain over the models as they are, less `SURE` standard errors (bootstrap over
    groups): a way that moves much has to gain much, and an expert that adds only noise falls out."""

    def __init__(self, alone: Tried, tried: Sequence[Tried]) -> None:
        self.alone, self.tried = alone, tried
        rows = alone.scores.rows
        self.weights = resampled(rows, RESAMPLES, group=alone.material.group)

    def sure_gains(self, kept: Mask | None = None) -> NDArray[np.float64]:
        """The gain of each way less `SURE` standard errors, on the records that a mask keeps."""
        weights = self.weights if kept is None else self.weights * kept
        weights = weights[weights.sum(axis=1) > 0]
        before = self.alone.scores.ranking(weights)
        gains = np.array([one.scores.ranking(weights) - before for one in self.tried])
        return np.asarray(gains[:, 0] - SURE * gains[:, 1:].std(axis=1))

    def best(self, kept: Mask | None = None) -> Tried:
        """The way with the highest of these, if that is above 0; else the models as they are."""
        sure = self.sure_gains(kept)
        return self.tried[int(sure.argmax())] if sure.max() > 1e-12 else self.alone

    def honest(self) -> Interval:
        """The gain of choosing so, each choice made on the folds that a record is not in: the best of many scores is
        too good to be tested as if it were the only one. In every repetition; what most of them say counts."""
        alone, material = self.alone, self.alone.material
        labels = alone.labelled.labels
        one = np.eye(len(labels), dtype=np.int64)
        counts = 0.5 * one[alone.said]  # of equals, what the models say
        for folds in material.folds:
            for part in range(FOLDS):
                best = self.best(folds != part)
                here = (folds == part)[material.gold.record]
                counts[here] += one[best.said[here]]
        chosen = tally(material.gold, counts.argmax(axis=1), alone.found, labels)
        return difference_interval(chosen, alone.scores, group=material.group)


def _fit(labelled: Judgements, material: Material, names: Sequence[str], start: Rule, kept: Mask, votes: bool) -> Blend:
    """The rule over some experts, from the judgements that a mask keeps."""
    opinions = {name: material.opinions[name][kept] for name in names}
    origin = Rule(weights={name: start.weights.get(name, 0.0) for name in names}, offsets=start.offsets)
    blend = rule_fit.fit(opinions, material.gold[kept], material.found_in(kept), origin)
    return blend._replace(says=_with_votes(labelled, material, blend.says, kept)) if votes else blend


def _with_votes(labelled: Judgements, material: Material, rule: Rule, kept: Mask) -> Rule:
    gold = material.gold[kept]
    common = np.bincount(gold.first, minlength=len(labelled.labels)).argmax()
    minority = [k for k in range(len(labelled.labels)) if k != common]
    opinions = {name: rows[kept] for name, rows in material.opinions.items()}
    return rule_fit.with_votes(rule, opinions, gold, material.found_in(kept), len(material.models), minority)
