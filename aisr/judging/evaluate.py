"""Scores on labelled records: of a program, by the official score with its interval, with its confidence beside it; of
rankers of paragraphs, by the gold evidence."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from aisr.artifact.manifest import Score
from aisr.artifact.program import Loaded
from aisr.base.errors import UserError, merge_repeats
from aisr.base.jsonl import read
from aisr.base.progress import counted
from aisr.judging.judge import Outcome, judge_all
from aisr.lm.client import OpenLM
from aisr.metrics.intervals import Interval, difference_interval, score_interval
from aisr.metrics.scores import CorpusScore, Floats, MeanScores, Scores
from aisr.programs.case import Case
from aisr.programs.probabilities import Judgement
from aisr.programs.program import Program
from aisr.programs.retrieval import Matcher, fit_passages, paper_tokens, rank
from aisr.programs.task import Answer, Query, Task
from aisr.programs.text import tokens

# --- Confidence

BINS = 10


def probabilities(task: Task, judgement: Judgement) -> dict[str, float] | None:
    """Return the probability of each label for a statement, summing to 1; None for a single vote."""
    return dict(zip(task.labels, judgement.probabilities, strict=True)) if judgement.has_probabilities else None


def record_confidence(task: Task, outcome: Outcome) -> float | None:
    """Return the confidence in a record, in 0-1: that of its least confident label. None where one is a single vote,
    where the record failed, and for a task without labels."""
    if not task.labels:
        return None
    confidences = []
    for judgement in outcome.judgements:
        chances = probabilities(task, judgement)
        if chances is None:
            return None
        confidences.append(chances[judgement.label])
    return min(confidences, default=None)


def confidence_report(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    """Return the judgements that have probabilities, by the source of these: their number, the share of right ones and
    the expected calibration error, both in 0-1. Empty for a task without labels."""
    if not task.labels:
        return {}
    by_source: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for case, outcome in zip(cases, outcomes, strict=True):
        for judgement, allowed in zip(outcome.judgements, task.gold_labels(case.gold), strict=False):
            chances = probabilities(task, judgement)
            if chances is not None:
                by_source[judgement.source].append((chances[judgement.label], judgement.label in allowed))
    report = {}
    for source, judged in by_source.items():
        confidence, right = np.array(judged, dtype=np.float64).T
        report[source] = {
            "judgements": len(judged),
            "accuracy": float(right.mean()),
            "calibration_error": calibration_error(confidence, right),
        }
    return report


def calibration_error(confidence: Floats, right: Floats) -> float:
    """Return the expected calibration error in 0-1: the mean distance between the confidence of judgements and the
    share of them that is right, in ten bins of equal width over 0-1 (Guo et al. 2017, section 2). right: 1 or 0
    each."""
    place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    gaps = np.abs(np.bincount(place, confidence, BINS) - np.bincount(place, right, BINS))
    return float(gaps.sum() / len(confidence))


# --- Scores of programs


@dataclass(frozen=True)
class Result:
    """The scores of a program on a split."""

    scores: Scores  # record by record, weighted to the target where there is one (see `aisr.optimize.target`)
    failures: Mapping[str, str] = field(default_factory=dict)  # record id -> reason
    no_lm: "Result | None" = None  # the no-LM baseline, where there is one
    confidence: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # see `confidence_report`
    group: tuple[int, ...] | None = None  # of each record, where known (see `aisr.metrics.intervals`)

    @cached_property
    def score(self) -> CorpusScore:
        """The official score and its parts: all records count alike."""
        return self.official.corpus_score()

    @property
    def official(self) -> Scores:
        """The scores without weights."""
        return replace(self.scores, weights=None)

    @cached_property
    def interval(self) -> Interval:
        """The official ranking score with its interval."""
        return score_interval(self.official, group=self.group)

    @cached_property
    def at_target(self) -> Interval | None:
        """The ranking score weighted to the target, with its interval; None without a target."""
        return None if self.scores.weights is None else score_interval(self.scores, group=self.group)

    def gain(self, before: "Result") -> Interval:
        """Return the difference from another program's official ranking score on the same records."""
        return difference_interval(self.official, before.official, group=self.group)

    def changed(self, before: "Result") -> int:
        """Return how many records are scored otherwise than by another program."""
        return int((self.official.rows != before.official.rows).any(axis=1).sum())

    def summary(self) -> Score:
        """Return the official scores as a manifest has them."""
        return self._summary(self.score, self.interval)

    def summary_at_target(self) -> Score | None:
        """Return the scores weighted to the target; None without one."""
        return self._summary(self.scores.corpus_score(), self.at_target) if self.at_target else None

    def _summary(self, score: CorpusScore, interval: Interval) -> Score:
        records, failed = len(self.scores), len(self.failures)
        return Score(score=score.score, interval=interval[1:], records=records, failed=failed, **score.parts)

    def report(self) -> dict[str, Any]:
        report = self.score.as_dict()
        report |= {"interval": [self.interval.low, self.interval.high], "records": len(self.scores)}
        if self.at_target:
            report["at_target"] = list(self.at_target)
        report["failures"] = self.failures
        if self.no_lm:
            report["no_lm"] = self.no_lm.report()
        if self.confidence:
            report["confidence"] = self.confidence
        return report


@dataclass(frozen=True)
class Evaluation:
    """An evaluation of a saved program."""

    loaded: Loaded
    program: str  # as the user named it
    data: Path
    lm: OpenLM
    result: Result
    seconds: float  # wall time of judging
    command: str


def evaluate(task: Task, program: Program, cases: Sequence[Case], lm: OpenLM) -> Result:
    """Return the official score of a program on labelled cases, with its interval and its failed records."""
    return score_outcomes(task, cases, judge_all(task, program, cases, lm))


def score_outcomes(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Result:
    """Return the official score of outcomes, and that of the no-LM baseline where the cases have one."""
    group, no_lm = groups_of(cases), None
    baseline = [case.baseline for case in cases]
    if None not in baseline:
        no_lm = Result(score_cases(task, cases, baseline), group=group)
    failures = {}
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.failure is not None:
            failures[case.id] = outcome.failure
    scores = score_cases(task, cases, [outcome.answer for outcome in outcomes])
    return Result(scores, failures, no_lm, confidence_report(task, cases, outcomes), group)


def score_cases(task: Task, cases: Sequence[Case], answers: Sequence[Answer | None]) -> Scores:
    """Return the scores of answers, record by record, each record by its weight; None, of a failed record, earns
    nothing.

    Everything that a compile decides rests on scores that were made here.
    """
    scores = task.score([case.gold for case in cases], answers)
    weights = [case.weight for case in cases]
    return scores if set(weights) <= {1.0} else scores.weighted(weights)


def groups_of(cases: Sequence[Case]) -> tuple[int, ...] | None:
    """Return the group of each case, see `aisr.optimize.leakage`; None where one has none."""
    groups = [case.group for case in cases if case.group is not None]
    return tuple(groups) if len(groups) == len(cases) else None


def check_any_judged(result: Result, split: str) -> None:
    """Raise UserError where every record failed: the server is dead, or the program cannot be used with this LM."""
    if len(result.failures) == len(result.scores):
        raise UserError(f"every record of {split} failed, the first with: {next(iter(result.failures.values()))}")


# --- Scores of rankers

HIT_DEPTHS = (1, 3, 5, 10, 20)  # of Hit@k
COMPARED = ("Hit@1", "Hit@3", "Hit@10", "MRR")  # of two rankers
Measures = Mapping[str, Floats]  # by name, (claims,) each


def claims_with_evidence(task: Task, file: Path) -> list[Query]:
    """Return the claims of a labelled file that have gold evidence. Raises UserError where there are none, naming the
    fields that lack it, or the task retrieves nothing."""
    claims: list[Query] = []
    lacking: list[tuple[str, str]] = []  # the id of each record without gold evidence, and why
    for record in read(file, task.record, task.name):
        query = task.query(record)
        if query is None:
            raise UserError(f"{task.name} retrieves no paragraphs; a task that does is needed here")
        if query.gold:
            claims.append(query)
        else:
            lacking.append((record.id, task.missing_evidence(record)))
    if not claims:
        reasons = "; ".join(merge_repeats(lacking)) or "it is empty"
        raise UserError(f"{file}: no record has gold evidence, which rankings are scored by: {reasons}")
    return claims


def measure_ranker(choose: Callable[[Query], Matcher], claims: Sequence[Query], context_tokens: int) -> Measures:
    """Return the measures of a ranker on claims with gold evidence; their means are its scores.

    They are: whether a gold paragraph is among the first k (Hit@k), the reciprocal rank of the first (MRR), the share
    of the gold paragraphs that a prompt shows within the token budget, and the prompt's tokens as a share of those of
    the paper. choose: returns the matcher for a claim.
    """
    rows = []
    for query in counted(claims, "ranking the paragraphs for claims"):
        claim, paper, gold = query
        ranking = rank(claim, paper, choose(query))
        passages = fit_passages(claim, paper, ranking, context_tokens)
        first = 1 + min(ranking.index(key) for key in gold)
        row = {f"Hit@{depth}": float(first <= depth) for depth in HIT_DEPTHS} | {"MRR": 1 / first}
        row["recall"] = float(np.mean([key in passages.keys for key in gold]))
        row["of tokens"] = tokens(passages.text) / paper_tokens(paper)
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def compare_rankers(after: Measures, before: Measures, claims: Sequence[Query]) -> dict[str, Interval]:
    """Return the gain of a ranker over another on the same claims, in each of `COMPARED`, with the interval over
    papers, whose claims are not independent."""
    papers = [tuple(claim.paragraphs.values()) for claim in claims]
    group = [papers.index(paper) for paper in papers]
    gains = {}
    for name in COMPARED:
        gains[name] = difference_interval(MeanScores(after[name]), MeanScores(before[name]), group)
    return gains
