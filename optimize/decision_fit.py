"""What a decision layer is fitted on: judged records of train and dev, as arrays, in folds that share nothing.

Fitting the decision layer for the ranking score, on train and dev, from judgements that are there already.

No LM call is made. A way to decide is fitted on four of five folds that share nothing and says what it would say of the
fifth; with other folds, ten times over. What it says of a record is what most of the ten say, and the layer that is
made in the end is the mean of all fifty rules: one division into folds finds a gain that its neighbour does not. It is
kept where a paired bootstrap finds it better than the LM as it is; the test split and the records to be predicted are
never seen.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aisr.lm.client import OpenLM
from aisr.metrics.intervals import Interval, difference_interval, resampled
from aisr.metrics.judgements import Gold, tally
from aisr.metrics.scores import Tally
from aisr.optimize.decision_rule import Blend, Counted, averaged, count, fit_cues, fit_wording, part_way
from aisr.optimize.decision_rule import fit as fit_rule
from aisr.optimize.demos import in_prompt
from aisr.optimize.examples import Labelled, examples, grouped
from aisr.optimize.split import fold_of
from aisr.predict.judge import Outcome, judge_all
from aisr.programs.base import Judge
from aisr.programs.decision import CUE_PRIOR, LM, WORDING, CueWeights, Decision, Opinions, Wording, logs, measure
from aisr.programs.errors import UserError
from aisr.programs.ranker import EvidencePolicy
from aisr.programs.task import Judgements, Task

FOLDS = 5
REPEATS = 10  # other folds each time: what a single division finds swings with its seed


class Judged(NamedTuple):
    """A labelled record, and what the program without a decision layer made of it."""

    row: Labelled
    outcome: Outcome


@dataclass(frozen=True)
class Texts:
    """What the priors learn from, a row a judgement."""

    statements: list[str]
    counted: list[Counted]
    cues: NDArray[np.float64]
    first: NDArray[np.int64]
    fold: NDArray[np.int64]
    labels: int

    def fit(self, kept: NDArray[np.bool_]) -> tuple[Wording, CueWeights]:
        """The priors of the judgements that a mask keeps."""
        return (
            fit_wording(self.counted, kept, self.first, self.labels),
            fit_cues(self.cues[kept], self.first[kept], self.labels),
        )


@dataclass(frozen=True)
class Material:
    """Judged records as arrays, a row a judgement.

    opinions: log-probabilities (judgements, labels) of the LM, and of priors that did not see the record's fold; said:
    the label that the LM itself gave, int (judgements,); folds: for each repetition the fold of each record, int
    (REPEATS, records); found: whether the evidence that goes with the gold label is right, bool (judgements,), where
    the task asks for some; group: of each record.
    """

    opinions: Opinions
    said: NDArray[np.int64]
    gold: Gold
    folds: NDArray[np.int64]
    found: NDArray[np.bool_] | None
    texts: Texts
    group: Sequence[int]

    def found_in(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """`found` of the judgements that a mask keeps."""
        return None if self.found is None else self.found[kept]


def gather(
    labelled: Judgements, judged: Sequence[Judged], group: Sequence[int], seed: int, naming: EvidencePolicy | None
) -> Material:
    """The arrays of judged records. group: of each record (see `aisr.optimize.leakage.grouped`); naming: how
    evidence is named, in tasks that ask for some."""
    rows = [one.row for one in judged]
    strata = [labelled.fault(row.example.gold) for row in rows]
    texts = _texts(labelled, rows, fold_of(strata, group, FOLDS, seed))
    chances = [judgement.chances for one in judged for judgement in one.outcome.judgements]
    opinions = {LM: logs(np.array(chances, dtype=np.float64))}
    wording, cues = np.empty_like(opinions[LM]), np.empty_like(opinions[LM])
    for part in range(FOLDS):
        prior, weights = texts.fit(texts.fold != part)
        here = np.flatnonzero(texts.fold == part)
        wording[here] = logs(prior.chances([texts.statements[k] for k in here]))
        cues[here] = logs(weights.of(texts.cues[here]))
    said = [labelled.labels.index(judgement.label) for one in judged for judgement in one.outcome.judgements]
    seeds = np.random.default_rng(seed).integers(2**31, size=REPEATS).tolist()
    return Material(
        {**opinions, WORDING: wording, CUE_PRIOR: cues},
        np.array(said, dtype=np.int64),
        Gold.of([labelled.allowed(row.example.gold) for row in rows], labelled.labels, labelled.f1_share),
        np.array([fold_of(strata, group, FOLDS, one) for one in seeds]),
        _evidence_right(labelled, judged, naming),
        texts,
        group,
    )


def _texts(labelled: Judgements, rows: Sequence[Labelled], folds: NDArray[np.int64]) -> Texts:
    statements, cues, first, fold = [], [], [], []
    for row, part in zip(rows, folds.tolist(), strict=True):
        for statement, label in zip(labelled.statements(row.example), labelled.said(row.example.gold), strict=True):
            statements.append(statement)
            cues.append(measure(statement, labelled.grounds(row.example)))
            first.append(labelled.labels.index(label))
            fold.append(part)
    return Texts(statements, count(statements), np.array(cues), np.array(first), np.array(fold), len(labelled.labels))


def _evidence_right(
    labelled: Judgements, judged: Sequence[Judged], naming: EvidencePolicy | None
) -> NDArray[np.bool_] | None:
    if labelled.answer_right is not None:
        right = [labelled.answer_right(one.row.example.gold, one.outcome.answer) for one in judged]
    elif labelled.evidence_right is not None and naming is not None:
        right = []
        for row, outcome in judged:
            (label,) = labelled.said(row.example.gold)
            ids = naming.choose(label, outcome.named, outcome.ranking)
            right.append(labelled.evidence_right(row.example.gold, ids))
    else:
        return None
    return np.array(right, dtype=np.bool_)


def opinions(
    task: Task, program: Judge, rows: Sequence[Labelled], lm: OpenLM, done: Callable[[], None]
) -> list[Judged]:
    """The judgements of a program, without its decision layer, on records that it can be asked fairly.

    Left out are records that share something with a demo of a prompt, since the LM has read their answer or one much
    like it, and those that fail.
    """
    group = grouped(rows)
    read = {key for key, row in zip(group, rows, strict=True) if in_prompt(program, row.example)}
    fair = [row for key, row in zip(group, rows, strict=True) if key not in read]
    outcomes = judge_all(task, program.without_decision(), examples(fair), lm, done)
    return [Judged(row, outcome) for row, outcome in zip(fair, outcomes, strict=True) if outcome.failure is None]


# Of the way from the LM as it is to the fit: on 316 real records the half gained 3.3 [1.5, 5.5] under cross-validation
# and the whole nothing that was sure; an LM that hardly ever says a label needs the whole.
SHARES = (0.5, 1.0)
RESAMPLES = 200  # for a standard error
SURE = 1.64  # standard errors that a gain is lowered by before it is believed: one-sided, 95 %
# Ways to decide with their experts, from the least to the most; the first does without the LM, to be compared with.
ALONE, PRIORS, WEIGHTS, BOTH = "LM alone", "wording + cues", "LM + weights", "LM + prior + weights"
WAYS: Mapping[str, Sequence[str]] = MappingProxyType(
    {PRIORS: (WORDING, CUE_PRIOR), WEIGHTS: (LM,), BOTH: (LM, WORDING, CUE_PRIOR)}
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
        cues=cues if CUE_PRIOR in kept.says.weights else None,
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
            blends.append(fit_rule(opinions, material.gold[others], material.found_in(others)))
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
