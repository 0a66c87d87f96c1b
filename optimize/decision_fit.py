"""Fitting the decision layer for the ranking score, on the judgements of train and dev, in folds that share nothing.

No LM call is made beyond those judgements. A way to decide is fitted on four of five folds and gives the labels of the
fifth; with other folds, ten times over. Its label of a record is that of most of the ten, and the final layer is the
mean of all fifty rules: one division into folds finds a gain that its neighbour does not. The layer is kept where a
paired bootstrap finds it better than the LM as it is; the test split and the records to be predicted are never seen.

One way goes without the LM. It is fitted on all of train and dev, also on records that the LM did not judge. It decides
where the LM, with its layer if it has one, scores no better on the records that both judged: such an LM is not worth
its calls.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aisr.base.errors import UserError
from aisr.lm.client import OpenLM
from aisr.metrics.intervals import Interval, difference_interval, resampled
from aisr.metrics.judgements import Gold, tally
from aisr.metrics.scores import Tally
from aisr.optimize.decision_rule import Counted, Rules, count, fit_cues, fit_rules, fit_wording, interpolate, mean_rule
from aisr.optimize.demos import in_prompt
from aisr.optimize.examples import LabeledRecord, examples, group_records
from aisr.optimize.split import fold_of
from aisr.predict.judge import Outcome, judge_all
from aisr.programs.base import Judge
from aisr.programs.decision import CUE_PRIOR, LM, WORDING, CueWeights, Decision, Opinions, Wording, logs, measure
from aisr.programs.probabilities import Judgement, from_vote
from aisr.programs.task import LabelTask, Task

FOLDS = 5
REPEATS = 10  # other folds each time: the result of a single division swings with its seed
# Of the way from the LM as it is to the fit: on 316 real records the half gained 3.3 [1.5, 5.5] under cross-validation
# and the whole nothing that was sure; an LM that hardly ever gives a label needs the whole.
SHARES = (0.5, 1.0)
RESAMPLES = 200  # for a standard error
SURE = 1.64  # standard errors that a gain is lowered by before it is believed: one-sided, 95 %
# Ways to decide with their experts, from the least to the most.
ALONE, NO_LM, WEIGHTS, BOTH = "LM alone", "no LM", "LM + weights", "LM + prior + weights"
WAYS: Mapping[str, Sequence[str]] = MappingProxyType(
    {NO_LM: (WORDING, CUE_PRIOR), WEIGHTS: (LM,), BOTH: (LM, WORDING, CUE_PRIOR)}
)
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
ChooseEvidence = Callable[[str, Sequence[str], Sequence[str]], list[str]]  # `Judge.choose_evidence`


class JudgedRecord(NamedTuple):
    """A labelled record, and its outcome from the program without a decision layer."""

    row: LabeledRecord
    outcome: Outcome


def _unjudged(row: LabeledRecord) -> JudgedRecord:
    """A record that the LM did not judge."""
    return JudgedRecord(row, Outcome(None, ranking=row.example.get("ranking", ())))


def judge_fairly(
    task: Task, program: Judge, rows: Sequence[LabeledRecord], lm: OpenLM, done: Callable[[], None]
) -> list[JudgedRecord]:
    """The judgements of a program, without its decision layer, on the records whose answers no prompt holds.

    Left out are records that share something with a demo of a prompt, since the LM has read their answer or one much
    like it, and those that fail.
    """
    group = group_records(rows)
    exposed = {key for key, row in zip(group, rows, strict=True) if in_prompt(program, row.example)}
    fair = [row for key, row in zip(group, rows, strict=True) if key not in exposed]
    outcomes = judge_all(task, program.with_decision(None), examples(fair), lm, done)
    return [JudgedRecord(row, outcome) for row, outcome in zip(fair, outcomes, strict=True) if outcome.failure is None]


class DecisionFit(NamedTuple):
    """A decision layer, None where none is better than the LM as it is; its cross-validated gain over that (None where
    nothing could be fitted); its part of the manifest; the layer that goes without the LM (None where the judge's
    answers need one), which may be the same."""

    decision: Decision | None
    gain: Interval | None
    report: dict[str, Any]
    without_lm: Decision | None = None


def fit_decision(
    labels: LabelTask,
    judged: Sequence[JudgedRecord],
    seed: int,
    fitted_on: str = "",
    choose_evidence: ChooseEvidence | None = None,
    labelled: Sequence[LabeledRecord] = (),
) -> DecisionFit:
    """The decision layer for judged records of train and dev.

    fitted_on: the LM that judged, to tell it from others later; choose_evidence: of the program, in tasks that ask
    for some; labelled: records for the classifiers, which take those that the LM did not judge as well. With too few
    judged records for cross-validation there is no layer. Raises UserError for no records.
    """
    if not judged:
        raise UserError("no judged records: nothing to fit a decision layer on")
    known = {id(row) for row, _ in judged}
    others = [row for row in labelled if id(row) not in known and "failure" not in row.example]
    every = [*judged, *map(_unjudged, others)]
    group = group_records([row for row, _ in every])
    if len(set(group[: len(judged)])) < FOLDS:
        why = f"{len(set(group[: len(judged)]))} groups of records that share nothing; {FOLDS} are needed"
        return DecisionFit(None, None, {"kept": None, "why": why})
    # On these small problems the threads of linear algebra wait for each other: on a busy machine two cores took up to
    # four times as long as one.
    with threadpool_limits(1):
        whole = gather(labels, every, group, seed, choose_evidence)
        material = whole.first(len(judged))
        alone = Trial(labels, material, ALONE, material.lm_labels)
        trials = {way: _cross_validate(labels, material, way) for way in (WEIGHTS, BOTH)}
        no_lm = _without_lm(labels, whole, every, choose_evidence).first(material)
        selection = Selection(alone, [*trials[WEIGHTS], *trials[BOTH]])
        best, gain = selection.best(), selection.nested_gain()
        reported = [alone, no_lm, *(Selection(alone, trials[way]).best() for way in (WEIGHTS, BOTH))]
    kept = best if gain.low > 0 else alone
    if labels.judge.can_go_without_lm and no_lm.score >= kept.score:
        kept, gain = no_lm, difference_interval(no_lm.tally, alone.tally, group=material.group)
    report = {
        "kept": None if kept is alone else kept.way,
        "gain": list(gain),
        "share": kept.share,
        "cross_validated": {way: trial.score for way, trial in zip((ALONE, *WAYS), reported, strict=True)},
        "records": len(judged),
        "classifier_records": len(every),
        "sources": dict(Counter(judgement.source for _, outcome in judged for judgement in outcome.judgements)),
    }
    priors = whole.texts.fit(np.ones(len(whole.texts.fold), dtype=np.bool_))
    return DecisionFit(
        _decision(labels, kept, priors, "" if kept is no_lm else fitted_on),
        gain,
        report,
        _decision(labels, no_lm, priors, "") if labels.judge.can_go_without_lm else None,
    )


def _decision(labels: LabelTask, trial: "Trial", priors: tuple[Wording, CueWeights], fitted_on: str) -> Decision | None:
    """The layer of a way to decide; None for the LM as it is."""
    if trial.rules is None:
        return None
    wording, cues = priors
    says, means = trial.rules
    return Decision(
        labels=list(labels.labels),
        fitted_on=fitted_on,
        says=says,
        means=means,
        wording=wording if WORDING in says.weights else None,
        cues=cues if CUE_PRIOR in says.weights else None,
    )


# --- Judged records as arrays.


@dataclass(frozen=True)
class Texts:
    """What the priors are fitted on, a row a judgement: its statement, the terms in it, its cues, its first gold label,
    and the fold of its record."""

    statements: list[str]
    counted: list[Counted]
    cues: NDArray[np.float64]
    first: Ints
    fold: Ints
    labels: int

    def fit(self, kept: Mask) -> tuple[Wording, CueWeights]:
        """The priors of the judgements that a mask keeps."""
        return (
            fit_wording(self.counted, kept, self.first, self.labels),
            fit_cues(self.cues[kept], self.first[kept], self.labels),
        )


@dataclass(frozen=True)
class Material:
    """Labelled records as arrays, a row a judgement; those that the LM did not judge stand behind the others.

    opinions: log-probabilities (judgements, labels) of the LM, and of priors that did not see the record's fold;
    lm_labels: the index of the LM's own label, (judgements,); folds: for each repetition the fold of each record,
    (REPEATS, records); evidence_right: whether the evidence that goes with the gold label is right, (judgements,), None
    where the task asks for none; group: of each record.
    """

    opinions: Opinions
    lm_labels: Ints
    gold: Gold
    folds: Ints
    evidence_right: Mask | None
    texts: Texts
    group: Sequence[int]

    def first(self, records: int) -> "Material":
        """The first records alone; the texts that priors are fitted on stay."""
        kept = self.gold.record < records
        return replace(
            self,
            opinions={name: rows[kept] for name, rows in self.opinions.items()},
            lm_labels=self.lm_labels[kept],
            gold=self.gold[kept],
            folds=self.folds[:, :records],
            evidence_right=None if self.evidence_right is None else self.evidence_right[kept],
            group=self.group[:records],
        )


def gather(
    labels: LabelTask,
    judged: Sequence[JudgedRecord],
    group: Sequence[int],
    seed: int,
    choose_evidence: ChooseEvidence | None,
) -> Material:
    """The arrays of judged records. group: of each record; choose_evidence: as for `fit_decision`."""
    rows = [row for row, _ in judged]
    strata = [labels.stratum(row.example.gold) for row in rows]
    texts = _texts(labels, rows, fold_of(strata, group, FOLDS, seed))
    judgements = [judgement for one in judged for judgement in _judgements(labels, one)]
    lm = logs(np.array([judgement.probabilities for judgement in judgements], dtype=np.float64))
    wording, cues = np.empty_like(lm), np.empty_like(lm)
    for part in range(FOLDS):
        prior, weights = texts.fit(texts.fold != part)
        here = np.flatnonzero(texts.fold == part)
        wording[here] = logs(prior.probabilities([texts.statements[k] for k in here]))
        cues[here] = logs(weights.of(texts.cues[here]))
    seeds = np.random.default_rng(seed).integers(2**31, size=REPEATS).tolist()
    return Material(
        {LM: lm, WORDING: wording, CUE_PRIOR: cues},
        np.array([labels.labels.index(judgement.label) for judgement in judgements], dtype=np.int64),
        Gold.of([labels.gold_labels(row.example.gold) for row in rows], labels.labels, labels.f1_share),
        np.array([fold_of(strata, group, FOLDS, one) for one in seeds]),
        _evidence_right(labels, judged, choose_evidence),
        texts,
        group,
    )


def _judgements(labels: LabelTask, judged: JudgedRecord) -> Sequence[Judgement]:
    """Those of the LM, or votes that stand in where it did not judge."""
    statements = labels.statements(judged.row.example)
    return judged.outcome.judgements or [from_vote(labels.neutral, labels.labels) for _ in statements]


def _texts(labels: LabelTask, rows: Sequence[LabeledRecord], folds: Ints) -> Texts:
    statements, cues, first, fold = [], [], [], []
    for row, part in zip(rows, folds.tolist(), strict=True):
        for statement, label in zip(labels.statements(row.example), labels.first_labels(row.example.gold), strict=True):
            statements.append(statement)
            cues.append(measure(statement, labels.evidence(row.example)))
            first.append(labels.labels.index(label))
            fold.append(part)
    return Texts(statements, count(statements), np.array(cues), np.array(first), np.array(fold), len(labels.labels))


def _evidence_right(
    labels: LabelTask, judged: Sequence[JudgedRecord], choose_evidence: ChooseEvidence | None
) -> Mask | None:
    right: list[bool | None] = []
    for row, outcome in judged:
        gold = row.example.gold
        if labels.names_evidence and choose_evidence is not None:
            ids = choose_evidence(labels.first_labels(gold)[0], outcome.named, outcome.ranking)
            right.append(labels.evidence_right(gold, ids))
        else:
            right.append(labels.answer_right(gold, outcome.answer))
    return None if not right or None in right else np.array(right, dtype=np.bool_)


# --- Ways to decide under cross-validation, and the choice among them.


@dataclass(frozen=True)
class Trial:
    """One way to decide under cross-validation.

    predicted: the label of each judgement by rules that did not see its record; share: how much of the way to the fit
    it goes; rules: what would be kept, None for the LM as it is.
    """

    labels: LabelTask
    material: Material
    way: str
    predicted: Ints
    share: float = 0.0
    rules: Rules | None = None

    @cached_property
    def tally(self) -> Tally:
        """Its counts, record by record."""
        return tally(self.material.gold, self.predicted, self.material.evidence_right, self.labels.labels)

    @property
    def score(self) -> float:
        """The ranking score, in 0-1."""
        return float(self.tally.ranking(np.ones((1, len(self.tally))))[0])

    def first(self, material: Material) -> "Trial":
        """The same on the first records, those of `material`."""
        kept = self.material.gold.record < len(material.group)
        right = self.material.evidence_right
        own = replace(material, evidence_right=None if right is None else right[kept])
        return replace(self, material=own, predicted=self.predicted[kept])


def _cross_validate(labels: LabelTask, material: Material, way: str) -> list[Trial]:
    """Rules over the experts of a way, fitted on all folds but one and applied to that one, in every repetition; at
    each of `SHARES`.

    The priors' opinions of the other folds come from priors that may have seen this one: a second-order effect that
    refitting them within each fold would remove, at many times the time. The test split is untouched by it.
    """
    names, right = WAYS[way], material.evidence_right
    one_hot = np.eye(len(labels.labels), dtype=np.int64)
    votes = {share: np.zeros((len(material.lm_labels), len(one_hot)), dtype=np.int64) for share in SHARES}
    fits = []
    for folds in material.folds:
        fold = folds[material.gold.record]
        for part in range(FOLDS):
            others, here = fold != part, fold == part
            opinions = {name: material.opinions[name][others] for name in names}
            fits.append(fit_rules(opinions, material.gold[others], None if right is None else right[others]))
            held_out = {name: material.opinions[name][here] for name in names}
            for share in SHARES:
                votes[share][here] += one_hot[interpolate(fits[-1].says, share).labels(held_out)]
    says, means = mean_rule([rules.says for rules in fits]), mean_rule([rules.means for rules in fits])
    return [
        Trial(labels, material, way, votes[share].argmax(axis=1), share, Rules(interpolate(says, share), means))
        for share in SHARES
    ]


def _without_lm(
    labels: LabelTask, whole: Material, every: Sequence[JudgedRecord], choose_evidence: ChooseEvidence | None
) -> Trial:
    """The way that goes without the LM, on all records; of evidence it names what the ranker has."""
    right = _evidence_right(labels, [_unjudged(row) for row, _ in every], choose_evidence)
    return _cross_validate(labels, replace(whole, evidence_right=right), NO_LM)[-1]


class Selection:
    """Chooses among ways by their gain over the LM as it is, less `SURE` standard errors (bootstrap over groups): a way
    that moves much has to gain much, and an expert that adds only noise falls out."""

    def __init__(self, alone: Trial, trials: Sequence[Trial]) -> None:
        self.alone, self.trials = alone, trials
        self.weights = resampled(alone.tally.rows, RESAMPLES, group=alone.material.group)

    def best(self, kept: Mask | None = None) -> Trial:
        """The way with the highest such gain on the records that a mask keeps, if that is above 0; else the LM as it
        is."""
        weights = self.weights if kept is None else self.weights * kept
        weights = weights[weights.sum(axis=1) > 0]
        before = self.alone.tally.ranking(weights)
        gains = np.array([trial.tally.ranking(weights) - before for trial in self.trials])
        sure = gains[:, 0] - SURE * gains[:, 1:].std(axis=1)
        return self.trials[int(sure.argmax())] if sure.max() > 1e-12 else self.alone

    def nested_gain(self) -> Interval:
        """The gain of choosing so, each choice made on the folds that a record is not in: the best of many scores is
        too good to be tested as if it were the only one. In every repetition; the label of most of them counts."""
        alone, material = self.alone, self.alone.material
        one_hot = np.eye(len(alone.labels.labels), dtype=np.int64)
        votes = 0.5 * one_hot[alone.predicted]  # of equals, the LM's label
        for folds in material.folds:
            for part in range(FOLDS):
                best = self.best(folds != part)
                here = (folds == part)[material.gold.record]
                votes[here] += one_hot[best.predicted[here]]
        nested = Trial(alone.labels, material, "", votes.argmax(axis=1))
        return difference_interval(nested.tally, alone.tally, group=material.group)
