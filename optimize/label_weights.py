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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from aisr.judging.judge import Outcome, judge_all
from aisr.lm.client import OpenLM
from aisr.metrics.intervals import Interval, difference_interval
from aisr.metrics.scores import FN, Floats, Tally, f1_scores, ranking_value, tally_statements, value
from aisr.optimize.demos import in_prompt
from aisr.optimize.race import resampled
from aisr.optimize.split import fold_of
from aisr.programs.case import Case
from aisr.programs.probabilities import LabelWeights, Rule, logs
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
Mask = NDArray[np.bool_]


class JudgedRecord(NamedTuple):
    """A labelled record, and its outcome from the program without label weights."""

    case: Case
    group: int  # records of different groups share nothing
    outcome: Outcome


def judge_without_own_demos(
    task: Task, program: Program, cases: Sequence[Case], lm: OpenLM, done: Callable[[], None]
) -> list[JudgedRecord]:
    """The judgements of a program, without its label weights, on the records whose answers no prompt holds.

    Left out are records that share something with a demo of a prompt, since the LM has read their answer or one much
    like it, and those that fail.
    """
    exposed = {case.group for case in cases if in_prompt(program, case)}
    fair = [(case, case.group) for case in cases if case.group is not None and case.group not in exposed]
    unweighted = program.deepcopy()
    unweighted.label_weights = None
    outcomes = judge_all(task, unweighted, [case for case, _ in fair], lm, done)
    return [JudgedRecord(*one, outcome) for one, outcome in zip(fair, outcomes, strict=True) if outcome.failure is None]


class LabelWeightsFit(NamedTuple):
    """Label weights, None where they are no better than the LM as it is, and their part of the manifest."""

    weights: LabelWeights | None
    report: dict[str, Any]


def fit_label_weights(
    task: Task, program: Program, judged: Sequence[JudgedRecord], seed: int, fitted_on: str = ""
) -> LabelWeightsFit:
    """The label weights of a program for the records of train and dev that it judged.

    fitted_on: the LM that judged, to tell it from others later. With too few judged records for cross-validation there
    are none.
    """
    sources = dict(Counter(judgement.source for one in judged for judgement in one.outcome.judgements))
    groups = len({one.group for one in judged})
    if groups < FOLDS:
        why = f"{groups} groups of records that share nothing; {FOLDS} are needed"
        return LabelWeightsFit(None, {"kept": False, "why": why, "sources": sources})
    validation = CrossValidation(task, program, judged, seed)
    alone, best, gain = validation.alone, validation.best(), validation.nested_gain()
    kept = best if gain.low > 0 else alone
    report = {
        "kept": kept is not alone,
        "gain": list(gain),
        "share": kept.share,
        "cross_validated": {"LM alone": value(alone.tally), "with label weights": value(best.tally)},
        "records": len(judged),
        "sources": sources,
    }
    if kept.rules is None:
        return LabelWeightsFit(None, report)
    weights = LabelWeights(labels=list(task.labels), fitted_on=fitted_on, **kept.rules._asdict())
    return LabelWeightsFit(weights, report)


# --- Rules under cross-validation, and the choice among them.


class Rules(NamedTuple):
    """A fitted rule that gives the label, and one that gives the probabilities behind it."""

    label_rule: Rule
    probability_rule: Rule


class CrossValidated(NamedTuple):
    """The LM as it is, or rules under cross-validation."""

    predicted: Ints  # the label of each judgement, by rules that did not see its record
    tally: Tally  # its counts, record by record
    share: float = 0.0  # of the way from the LM as it is to the fit
    rules: Rules | None = None  # what would be kept; None for the LM as it is


class CrossValidation:
    """Judged records in folds, in several repetitions; rules fitted on all folds but one and applied to that one; and
    the choice among them by their gain over the LM as it is, less `SURE` standard errors (bootstrap over groups): rules
    that move much have to gain much."""

    def __init__(self, task: Task, program: Program, judged: Sequence[JudgedRecord], seed: int) -> None:
        self.task, self.group = task, [one.group for one in judged]
        gold = [one.case.gold for one in judged]
        said = [judgement for one in judged for judgement in one.outcome.judgements]
        self.gold_labels = [task.gold_labels(one) for one in gold]
        self.evidence_right = np.array([_evidence_right(task, program, one) for one in judged], dtype=np.bool_)
        self.judgements = Judgements.of(
            [judgement.probabilities for judgement in said], self.gold_labels, self.evidence_right, task
        )
        seeds = np.random.default_rng(seed).integers(2**31, size=REPEATS).tolist()
        strata = [task.stratify_by(one) for one in gold]
        self.folds = [fold_of(strata, self.group, FOLDS, one) for one in seeds]  # of each record, in every repetition
        self.alone = self._validated(np.array([task.labels.index(judgement.label) for judgement in said]))
        self.fitted = self._fit()
        self.resamples = resampled(self.alone.tally.rows, RESAMPLES, group=self.group)

    def best(self, kept: Mask | None = None) -> CrossValidated:
        """The rules with the highest such gain on the records that a mask keeps, if that is above 0; else the LM as it
        is."""
        weights = self.resamples if kept is None else self.resamples * kept
        weights = weights[weights.sum(axis=1) > 0]
        before = self.alone.tally.ranking(weights)
        gains = np.array([candidate.tally.ranking(weights) - before for candidate in self.fitted])
        sure = gains[:, 0] - SURE * gains[:, 1:].std(axis=1)
        return self.fitted[int(sure.argmax())] if sure.max() > 1e-12 else self.alone

    def nested_gain(self) -> Interval:
        """The gain of choosing so, each choice made on the folds that a record is not in: the best of many scores is
        too good to be tested as if it were the only one. In every repetition; the label of most of them counts."""
        one_hot = np.eye(len(self.task.labels), dtype=np.int64)
        votes = 0.5 * one_hot[self.alone.predicted]  # of equals, the LM's label
        for folds in self.folds:
            for part in range(FOLDS):
                best, here = self.best(folds != part), (folds == part)[self.judgements.record]
                votes[here] += one_hot[best.predicted[here]]
        nested = self._validated(votes.argmax(axis=1))
        return difference_interval(nested.tally, self.alone.tally, group=self.group)

    def _fit(self) -> list[CrossValidated]:
        """Rules at each of `SHARES`."""
        judgements = self.judgements
        one_hot = np.eye(len(self.task.labels), dtype=np.int64)
        votes = {share: np.zeros_like(judgements.allowed, dtype=np.int64) for share in SHARES}
        fits = []
        for folds in self.folds:
            fold = folds[judgements.record]
            for part in range(FOLDS):
                fits.append(fit_rules(judgements[fold != part]))
                here = fold == part
                for share in SHARES:
                    rule = interpolate(fits[-1].label_rule, share)
                    votes[share][here] += one_hot[rule.labels(judgements.log_probs[here])]
        means = [mean_rule(rules) for rules in zip(*fits, strict=True)]
        return [
            self._validated(votes[share].argmax(axis=1), share, Rules(*(interpolate(rule, share) for rule in means)))
            for share in SHARES
        ]

    def _validated(self, predicted: Ints, share: float = 0.0, rules: Rules | None = None) -> CrossValidated:
        names, places = np.array(self.task.labels)[predicted], np.flatnonzero(np.diff(self.judgements.record)) + 1
        answers = [row.tolist() for row in np.split(names, places)]
        tally = tally_statements(self.gold_labels, answers, self.task.labels)
        tally = replace(tally, exact=tally.exact & self.evidence_right, f1_share=self.task.f1_share)
        return CrossValidated(predicted, tally, share, rules)


def _evidence_right(task: Task, program: Program, judged: JudgedRecord) -> bool:
    """Whether a record would be right if its label were; so are all of a task that asks for no evidence."""
    gold, outcome = judged.case.gold, judged.outcome
    answer = outcome.answer
    if task.names_evidence:
        label = task.first_labels(gold)[0]
        answer = task.label_answer([label], program.choose_evidence(label, outcome.lm_evidence_ids, outcome.ranking))
    return task.evidence_right(gold, answer) is not False


# --- Fitting a rule.

DECIMALS = 4  # rounded before use, so that what is fitted is what is saved
PENALTY = 5.0  # on the squared distance of each number from "the LM as it is"
ENOUGH = 10  # statements with a label as their only gold one, or all that have it, from which on nothing is shrunk
DOUBT = 1.0  # misses added to each label's: without it a label of one lucky record is worth as much as any other
GRID = np.linspace(-4.0, 4.0, 33)
SWEEPS = 4


@dataclass(frozen=True)
class Judgements:
    """Judgements as arrays, a row each: a sentence of Track 1, a claim of Track 2."""

    log_probs: Floats  # of the LM, (judgements, labels)
    allowed: Mask  # the labels that count as right, (judgements, labels)
    first: Ints  # the label that a miss counts against, (judgements,)
    record: Ints  # the number of the record, ascending from 0, (judgements,)
    evidence_right: Mask  # whether it would be right if its label were, (judgements,)
    f1_share: float  # of macro-F1 in the ranking score (see `aisr.metrics.scores.ranking_value`)

    @classmethod
    def of(
        cls,
        probabilities: Sequence[Sequence[float]],
        gold_labels: Sequence[Sequence[Sequence[str]]],
        evidence_right: Mask,
        task: Task,
    ) -> "Judgements":
        """From the label probabilities of each judgement, and gold labels and evidence of each record."""
        rows = [types for record in gold_labels for types in record]
        record = np.repeat(np.arange(len(gold_labels)), [len(record) for record in gold_labels])
        return cls(
            log_probs=logs(np.array(probabilities, dtype=np.float64)),
            allowed=np.array([[label in types for label in task.labels] for types in rows], dtype=np.bool_),
            first=np.array([task.labels.index(types[0]) for types in rows], dtype=np.int64),
            record=record,
            evidence_right=evidence_right[record],
            f1_share=task.f1_share,
        )

    def __getitem__(self, kept: Mask) -> "Judgements":
        """Those that a mask (judgements,) keeps; it must keep records whole."""
        _, record = np.unique(self.record[kept], return_inverse=True)
        return Judgements(
            self.log_probs[kept],
            self.allowed[kept],
            self.first[kept],
            record,
            self.evidence_right[kept],
            self.f1_share,
        )

    @cached_property
    def trust(self) -> Floats:
        """The factor of each label's offset, 0-1, (labels,): by the statements that have no other gold label."""
        alone = self.allowed[self.allowed.sum(axis=1) == 1].sum(axis=0)
        return np.asarray(np.minimum(alone / np.clip(self.allowed.sum(axis=0), 1, ENOUGH), 1.0))

    def ranking(self, before: Ints, label: int, moved: Mask, doubt: float = DOUBT) -> Floats:
        """The ranking score of several labellings at once, (labellings,): label indices `before` (judgements,), and
        `label` instead where `moved` (labellings, judgements) is true.

        doubt: misses that are added to those of each label, so that the F1 of one that was right once, and never wrong,
        is not taken for 1.
        """
        one = np.eye(self.allowed.shape[1])
        hits = self.allowed[np.arange(len(before)), before], self.allowed[:, label]
        predicted = one[before], np.broadcast_to(one[label], (len(before), len(one)))
        old, new = (
            np.stack([which * hit[:, None], which * ~hit[:, None], one[self.first] * ~hit[:, None]], axis=1)
            for which, hit in zip(predicted, hits, strict=True)
        )
        counts = old.sum(axis=0) + np.tensordot(moved.astype(np.float64), new - old, axes=1)
        counts[:, FN] += doubt
        wrong = ~(np.where(moved, hits[1], hits[0]) & self.evidence_right)
        begins = np.flatnonzero(np.diff(self.record, prepend=-1))
        exact = (np.add.reduceat(wrong.astype(np.int64), begins, axis=1) == 0).mean(axis=1)
        return np.asarray(ranking_value(f1_scores(counts), exact, self.f1_share))


def fit_rules(judgements: Judgements) -> Rules:
    """The rules for some judgements, pulled towards the LM as it is."""
    probability_rule = _likeliest(judgements)
    offsets = _climb(probability_rule.logits(judgements.log_probs), judgements)
    label_rule = _rounded(probability_rule.weight, np.array(probability_rule.offsets) + offsets)
    return Rules(label_rule, probability_rule)


def interpolate(rule: Rule, share: float) -> Rule:
    """The rule at a share in 0-1 of the way from the LM as it is to this one."""
    return _rounded((1 - share) + share * rule.weight, share * np.array(rule.offsets))


def mean_rule(rules: Sequence[Rule]) -> Rule:
    """The mean of rules."""
    return _rounded(float(np.mean([rule.weight for rule in rules])), np.mean([rule.offsets for rule in rules], axis=0))


def _likeliest(judgements: Judgements) -> Rule:
    """Weight and offsets of the highest penalised likelihood of an allowed label."""
    from scipy.optimize import minimize

    log_probs, trust = judgements.log_probs, judgements.trust
    origin = np.concatenate([[1.0], np.zeros(log_probs.shape[1])])

    def loss(numbers: Floats) -> tuple[float, Floats]:
        probabilities = softmax(numbers[0] * log_probs + trust * numbers[1:], axis=1)
        allowed = probabilities * judgements.allowed
        right = np.maximum(allowed.sum(axis=1), 1e-300)
        off = probabilities - allowed / right[:, None]
        gradient = np.concatenate([[(log_probs * off).sum()], trust * off.sum(axis=0)])
        away = numbers - origin
        penalised = -np.log(right).sum() + PENALTY / 2 * away @ away
        return float(penalised), gradient + PENALTY * away

    best = minimize(loss, origin, jac=True, method="L-BFGS-B").x
    return _rounded(best[0], trust * best[1:])


def _climb(logits: Floats, judgements: Judgements) -> Floats:
    """An offset for each label that raises the ranking score, by coordinate ascent from 0, within `trust` times the
    grid.

    Along each line the score is smoothed over neighbouring values, so that a peak on which a single record sits does
    not win; of equals, the one nearest to where it was.
    """
    offsets = np.zeros(logits.shape[1])
    for _ in range(SWEEPS):
        before = offsets.copy()
        for label in range(len(offsets)):
            grid = judgements.trust[label] * GRID
            values = offsets[label] + grid
            others = logits + offsets
            others[:, label] = -np.inf
            moved = logits[:, label] + values[:, None] > others.max(axis=1)
            scores = judgements.ranking(others.argmax(axis=1), label, moved)
            smooth = np.convolve(np.pad(scores, 1, mode="edge"), np.ones(3) / 3, mode="valid")
            best = np.flatnonzero(smooth >= smooth.max() - 1e-12)
            nearest = best[np.argmin(np.abs(GRID[best]))]
            offsets[label] = before[label] + grid[nearest]
        if np.array_equal(before, offsets):
            break
    return np.asarray(offsets - offsets.mean())


def _rounded(weight: float, offsets: Floats) -> Rule:
    return Rule(weight=round(float(weight), DECIMALS), offsets=[round(float(offset), DECIMALS) for offset in offsets])
