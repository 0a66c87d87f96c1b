"""Fitting label weights for the ranking score, in folds of judged records that share nothing.

No LM call is made beyond the judgements. Rules are fitted on four of five folds and give the labels of the fifth; with
other folds, ten times over. Their label of a record is that of most of the ten, and the final rules are the mean of all
fifty: one division into folds finds a gain that its neighbour does not. They are kept where a paired bootstrap finds
them better than the LM as it is; the test split and the records to be predicted are never seen.

A rule is fitted in two steps: first the weight of the LM's log-probabilities and an offset a label, by likelihood; then
the offsets, by the ranking score itself. The first is smooth and can be fitted on little data, and only the second, one
number a label, climbs the jagged score. A label's offset is shrunk towards 0 when fewer than ten statements have it as
their only gold label: where a label is gold only beside others, saying it more often is right although nobody would
have said it. Averaging rules that were fitted on different parts of the data smooths the rest (Breiman 1996, "Bagging
predictors"): a rule is linear, so the mean of several is one again.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from aisr.base.errors import UserError
from aisr.lm.client import OpenLM
from aisr.metrics.intervals import Interval, difference_interval, resampled
from aisr.metrics.judgements import Gold, raised, tally
from aisr.metrics.scores import Tally
from aisr.optimize.demos import in_prompt
from aisr.optimize.examples import LabeledRecord, group_records
from aisr.optimize.split import fold_of
from aisr.predict.judge import Outcome, judge_all
from aisr.programs.label_weights import LabelWeights, Rule, logs
from aisr.programs.program import Program
from aisr.programs.task import Task

FOLDS = 5
REPEATS = 10  # other folds each time: the result of a single division swings with its seed
# Of the way from the LM as it is to the fit: on 316 real records the half gained 3.3 [1.5, 5.5] under cross-validation
# and the whole nothing that was sure; an LM that hardly ever gives a label needs the whole.
SHARES = (0.5, 1.0)
RESAMPLES = 200  # for a standard error
SURE = 1.64  # standard errors that a gain is lowered by before it is believed: one-sided, 95 %
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
ChooseEvidence = Callable[[str, Sequence[str], Sequence[str]], list[str]]  # `Program.choose_evidence`


class JudgedRecord(NamedTuple):
    """A labelled record, and its outcome from the program without label weights."""

    row: LabeledRecord
    outcome: Outcome


def judge_without_own_demos(
    task: Task, program: Program, rows: Sequence[LabeledRecord], lm: OpenLM, done: Callable[[], None]
) -> list[JudgedRecord]:
    """The judgements of a program, without its label weights, on the records whose answers no prompt holds.

    Left out are records that share something with a demo of a prompt, since the LM has read their answer or one much
    like it, and those that fail.
    """
    group = group_records(rows)
    exposed = {key for key, row in zip(group, rows, strict=True) if in_prompt(program, row.example)}
    fair = [row for key, row in zip(group, rows, strict=True) if key not in exposed]
    unweighted = program.deepcopy()
    unweighted.label_weights = None
    outcomes = judge_all(task, unweighted, [row.example for row in fair], lm, done)
    return [JudgedRecord(row, outcome) for row, outcome in zip(fair, outcomes, strict=True) if outcome.failure is None]


class LabelWeightsFit(NamedTuple):
    """Label weights, None where they are no better than the LM as it is, and their part of the manifest."""

    weights: LabelWeights | None
    report: dict[str, Any]


def fit_label_weights(
    labels: Task,
    judged: Sequence[JudgedRecord],
    seed: int,
    fitted_on: str = "",
    choose_evidence: ChooseEvidence | None = None,
) -> LabelWeightsFit:
    """The label weights for judged records of train and dev.

    fitted_on: the LM that judged, to tell it from others later; choose_evidence: of the program, in tasks that ask for
    some. With too few judged records for cross-validation there are none. Raises UserError for no records.
    """
    if not judged:
        raise UserError("no judged records: nothing to fit label weights on")
    sources = dict(Counter(judgement.source for _, outcome in judged for judgement in outcome.judgements))
    group = group_records([row for row, _ in judged])
    if len(set(group)) < FOLDS:
        why = f"{len(set(group))} groups of records that share nothing; {FOLDS} are needed"
        return LabelWeightsFit(None, {"kept": False, "why": why, "sources": sources})
    judgements = gather(labels, judged, group, seed, choose_evidence)
    alone = CrossValidated(labels, judgements, judgements.lm_labels)
    selection = Selection(alone, cross_validate(labels, judgements))
    best, gain = selection.best(), selection.nested_gain()
    kept = best if gain.low > 0 else alone
    report = {
        "kept": kept is not alone,
        "gain": list(gain),
        "share": kept.share,
        "cross_validated": {"LM alone": alone.score, "with label weights": best.score},
        "records": len(judged),
        "sources": sources,
    }
    if kept.rules is None:
        return LabelWeightsFit(None, report)
    label_rule, probability_rule = kept.rules
    weights = LabelWeights(
        labels=list(labels.labels), fitted_on=fitted_on, label_rule=label_rule, probability_rule=probability_rule
    )
    return LabelWeightsFit(weights, report)


# --- Judged records as arrays.


@dataclass(frozen=True)
class JudgedArrays:
    """Judged records as arrays, a row a judgement."""

    log_probs: Floats  # of the LM, (judgements, labels)
    lm_labels: Ints  # the index of the LM's own label, (judgements,)
    gold: Gold
    folds: Ints  # for each repetition the fold of each record, (REPEATS, records)
    evidence_right: Mask | None  # of the gold label, (judgements,); None where the task asks for none
    group: Sequence[int]  # of each record


def gather(
    labels: Task,
    judged: Sequence[JudgedRecord],
    group: Sequence[int],
    seed: int,
    choose_evidence: ChooseEvidence | None,
) -> JudgedArrays:
    """The arrays of judged records. group: of each record; choose_evidence: as for `fit_label_weights`."""
    gold = [row.example.gold for row, _ in judged]
    strata = [labels.stratify_by(one) for one in gold]
    judgements = [judgement for _, outcome in judged for judgement in outcome.judgements]
    seeds = np.random.default_rng(seed).integers(2**31, size=REPEATS).tolist()
    return JudgedArrays(
        logs(np.array([judgement.probabilities for judgement in judgements], dtype=np.float64)),
        np.array([labels.labels.index(judgement.label) for judgement in judgements], dtype=np.int64),
        Gold.of([labels.gold_labels(one) for one in gold], labels.labels, labels.f1_share),
        np.array([fold_of(strata, group, FOLDS, one) for one in seeds]),
        _evidence_right(labels, judged, choose_evidence),
        group,
    )


def _evidence_right(
    labels: Task, judged: Sequence[JudgedRecord], choose_evidence: ChooseEvidence | None
) -> Mask | None:
    right: list[bool | None] = []
    for row, outcome in judged:
        gold, answer = row.example.gold, outcome.answer
        if labels.names_evidence and choose_evidence is not None:
            label = labels.first_labels(gold)[0]
            answer = labels.label_answer([label], choose_evidence(label, outcome.lm_evidence_ids, outcome.ranking))
        right.append(labels.evidence_right(gold, answer))
    return None if not right or None in right else np.array(right, dtype=np.bool_)


# --- Rules under cross-validation, and the choice among them.


class Rules(NamedTuple):
    """A fitted rule that gives the label, and one that gives the probabilities behind it."""

    label_rule: Rule
    probability_rule: Rule


@dataclass(frozen=True)
class CrossValidated:
    """The LM as it is, or rules under cross-validation."""

    labels: Task
    judgements: JudgedArrays
    predicted: Ints  # the label of each judgement, by rules that did not see its record
    share: float = 0.0  # of the way from the LM as it is to the fit
    rules: Rules | None = None  # what would be kept; None for the LM as it is

    @cached_property
    def tally(self) -> Tally:
        """Its counts, record by record."""
        return tally(self.judgements.gold, self.predicted, self.judgements.evidence_right, self.labels.labels)

    @property
    def score(self) -> float:
        """The ranking score, in 0-1."""
        return float(self.tally.ranking(np.ones((1, len(self.tally))))[0])


def cross_validate(labels: Task, judgements: JudgedArrays) -> list[CrossValidated]:
    """Rules fitted on all folds but one and applied to that one, in every repetition; at each of `SHARES`."""
    right = judgements.evidence_right
    one_hot = np.eye(len(labels.labels), dtype=np.int64)
    votes = {share: np.zeros((len(judgements.lm_labels), len(one_hot)), dtype=np.int64) for share in SHARES}
    fits = []
    for folds in judgements.folds:
        fold = folds[judgements.gold.record]
        for part in range(FOLDS):
            others, here = fold != part, fold == part
            evidence = None if right is None else right[others]
            fits.append(fit_rules(judgements.log_probs[others], judgements.gold[others], evidence))
            for share in SHARES:
                rule = interpolate(fits[-1].label_rule, share)
                votes[share][here] += one_hot[rule.labels(judgements.log_probs[here])]
    label_rule, probability_rule = (mean_rule(rules) for rules in zip(*fits, strict=True))
    return [
        CrossValidated(
            labels,
            judgements,
            votes[share].argmax(axis=1),
            share,
            Rules(interpolate(label_rule, share), interpolate(probability_rule, share)),
        )
        for share in SHARES
    ]


class Selection:
    """Chooses among rules by their gain over the LM as it is, less `SURE` standard errors (bootstrap over groups):
    rules that move much have to gain much."""

    def __init__(self, alone: CrossValidated, candidates: Sequence[CrossValidated]) -> None:
        self.alone, self.candidates = alone, candidates
        self.weights = resampled(alone.tally.rows, RESAMPLES, group=alone.judgements.group)

    def best(self, kept: Mask | None = None) -> CrossValidated:
        """The rules with the highest such gain on the records that a mask keeps, if that is above 0; else the LM as it
        is."""
        weights = self.weights if kept is None else self.weights * kept
        weights = weights[weights.sum(axis=1) > 0]
        before = self.alone.tally.ranking(weights)
        gains = np.array([candidate.tally.ranking(weights) - before for candidate in self.candidates])
        sure = gains[:, 0] - SURE * gains[:, 1:].std(axis=1)
        return self.candidates[int(sure.argmax())] if sure.max() > 1e-12 else self.alone

    def nested_gain(self) -> Interval:
        """The gain of choosing so, each choice made on the folds that a record is not in: the best of many scores is
        too good to be tested as if it were the only one. In every repetition; the label of most of them counts."""
        alone, judgements = self.alone, self.alone.judgements
        one_hot = np.eye(len(alone.labels.labels), dtype=np.int64)
        votes = 0.5 * one_hot[alone.predicted]  # of equals, the LM's label
        for folds in judgements.folds:
            for part in range(FOLDS):
                best = self.best(folds != part)
                here = (folds == part)[judgements.gold.record]
                votes[here] += one_hot[best.predicted[here]]
        nested = CrossValidated(alone.labels, judgements, votes.argmax(axis=1))
        return difference_interval(nested.tally, alone.tally, group=judgements.group)


# --- Fitting a rule.

DECIMALS = 4  # rounded before use, so that what is fitted is what is saved
PENALTY = 5.0  # on the squared distance of each number from "the LM as it is"
ENOUGH = 10  # statements with a label as their only gold one, or all that have it, from which on nothing is shrunk
DOUBT = 1.0  # misses added to each label's: without it a label of one lucky record is worth as much as any other
GRID = np.linspace(-4.0, 4.0, 33)
SWEEPS = 4


def fit_rules(log_probs: Floats, gold: Gold, evidence_right: Mask | None) -> Rules:
    """The rules for these log-probabilities, pulled towards the LM as it is. evidence_right: (judgements,), where the
    score counts evidence."""
    trust = _trust(gold)
    probability_rule = _likeliest(log_probs, gold, trust)
    offsets = _climb(probability_rule.logits(log_probs), gold, evidence_right, trust)
    label_rule = _rounded(probability_rule.weight, np.array(probability_rule.offsets) + offsets)
    return Rules(label_rule, probability_rule)


def interpolate(rule: Rule, share: float) -> Rule:
    """The rule at a share in 0-1 of the way from the LM as it is to this one."""
    return _rounded((1 - share) + share * rule.weight, share * np.array(rule.offsets))


def mean_rule(rules: Sequence[Rule]) -> Rule:
    """The mean of rules."""
    return _rounded(float(np.mean([rule.weight for rule in rules])), np.mean([rule.offsets for rule in rules], axis=0))


def _trust(gold: Gold) -> Floats:
    """The factor of each label's offset, 0-1, shape (labels,): by the statements that have no other gold label."""
    alone = gold.allowed[gold.allowed.sum(axis=1) == 1].sum(axis=0)
    return np.asarray(np.minimum(alone / np.clip(gold.allowed.sum(axis=0), 1, ENOUGH), 1.0))


def _likeliest(log_probs: Floats, gold: Gold, trust: Floats) -> Rule:
    """Weight and offsets of the highest penalised likelihood of an allowed label."""
    from scipy.optimize import minimize

    origin = np.concatenate([[1.0], np.zeros(log_probs.shape[1])])

    def loss(numbers: Floats) -> tuple[float, Floats]:
        probabilities = softmax(numbers[0] * log_probs + trust * numbers[1:], axis=1)
        allowed = probabilities * gold.allowed
        right = np.maximum(allowed.sum(axis=1), 1e-300)
        off = probabilities - allowed / right[:, None]
        gradient = np.concatenate([[(log_probs * off).sum()], trust * off.sum(axis=0)])
        away = numbers - origin
        value = -np.log(right).sum() + PENALTY / 2 * away @ away
        return float(value), gradient + PENALTY * away

    best = minimize(loss, origin, jac=True, method="L-BFGS-B").x
    return _rounded(best[0], trust * best[1:])


def _climb(logits: Floats, gold: Gold, evidence_right: Mask | None, trust: Floats) -> Floats:
    """An offset for each label that raises the ranking score, by coordinate ascent from 0, within `trust` times the
    grid.

    Along each line the score is smoothed over neighbouring values, so that a peak on which a single record sits does
    not win; of equals, the one nearest to where it was.
    """
    offsets = np.zeros(logits.shape[1])
    for _ in range(SWEEPS):
        before = offsets.copy()
        for label in range(len(offsets)):
            grid = trust[label] * GRID
            values = offsets[label] + grid
            others = logits + offsets
            others[:, label] = -np.inf
            moved = logits[:, label] + values[:, None] > others.max(axis=1)
            scores = raised(gold, others.argmax(axis=1), label, moved, evidence_right, DOUBT)
            smooth = np.convolve(np.pad(scores, 1, mode="edge"), np.ones(3) / 3, mode="valid")
            best = np.flatnonzero(smooth >= smooth.max() - 1e-12)
            nearest = best[np.argmin(np.abs(GRID[best]))]
            offsets[label] = before[label] + grid[nearest]
        if np.array_equal(before, offsets):
            break
    return np.asarray(offsets - offsets.mean())


def _rounded(weight: float, offsets: Floats) -> Rule:
    return Rule(weight=round(float(weight), DECIMALS), offsets=[round(float(value), DECIMALS) for value in offsets])
