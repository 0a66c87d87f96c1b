"""What an optimizer works on: the student, the records, the settings, the LMs, and the score that it may see.

DSPy's optimizers take the mean of a number an example, and the official score is no such mean. They see its
linearisation at the uncompiled program instead (see `aisr.metrics.scores.Scores.surrogate`).
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import dspy

from aisr.judging.evaluate import score_cases
from aisr.judging.judge import Outcome, judge_all
from aisr.lm.client import OpenLM
from aisr.metrics.scores import Scores
from aisr.programs.case import Case
from aisr.programs.program import Program
from aisr.programs.task import Task

GRADIENT_RECORDS = 100  # of train that the gradient is computed from
LEAST_OF_A_KIND = 3  # of them with each kind of label, where train has so many
MOST_CONFUSIONS = 6  # kinds of mistake in the description of the confusion matrix


@dataclass(frozen=True)
class Settings:
    """The settings of an optimizer. demos: most few-shot examples; demo_tokens: their tokens together, about;
    candidates: how many programs it may try."""

    demos: int = 4
    demo_tokens: int = 3000
    candidates: int = 4
    seed: int = 0


# More demos are not longer ones: each may take 750 tokens.
BUDGETS: Mapping[str, Settings] = {
    "light": Settings(demos=4, demo_tokens=3000, candidates=2),
    "medium": Settings(demos=4, demo_tokens=3000, candidates=4),
    "heavy": Settings(demos=8, demo_tokens=6000, candidates=8),
}


def settings(budget: str, seed: int, **changes: int | None) -> Settings:
    """Return the settings of a budget with some changed; None leaves one as it is."""
    changed = {name: value for name, value in changes.items() if value is not None}
    return replace(BUDGETS[budget], **changed, seed=seed)


class Objective:
    """A metric for DSPy: the surrogate score of one example or, while demos are bootstrapped, whether the answer is
    right enough to be one.

    The baseline is one on train alone; dev and test never reach it. confusion: the baseline's mistakes in words.
    """

    def __init__(self, task: Task, baseline: Scores, confusion: str) -> None:
        self.task = task
        self.baseline = baseline
        self.confusion = confusion

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        scores = score_cases(self.task, [Case.from_metric(example)], [self.task.answer(prediction)])
        # A truthy metric makes a demo: bootstrapping must ask for a right answer, not for a positive surrogate.
        return float(scores.right()[0] if trace is not None else scores.surrogate(self.baseline)[0])

    def with_feedback(self, example: dspy.Example, prediction: dspy.Prediction, *_: Any) -> dspy.Prediction:
        """Return what a reflecting optimizer reads: `score` and, in words, what was wrong. GEPA, which passes five
        arguments, takes it as its metric.

        The score is 1 for a right answer, which GEPA does not reflect on. For another it is 1 less the difference of
        its surrogate from that of the gold answer: a shift of each record, which changes no difference between two
        programs.
        """
        answer = self.task.answer(prediction)
        scores = score_cases(self.task, [Case.from_metric(example)], [answer])
        shortfall = 0.0
        if not scores.right()[0]:
            best = scores.all_right().surrogate(self.baseline)[0]
            shortfall = best - scores.surrogate(self.baseline)[0]
        return dspy.Prediction(score=float(1 - shortfall), feedback=self.task.feedback(example.gold, answer))


class Candidate(NamedTuple):
    """A program that an optimizer left, and where it came from ("random-search 2")."""

    name: str
    program: Program


@dataclass(frozen=True)
class Search:
    """What an optimizer works on."""

    task: Task
    student: Program
    train: Sequence[Case]
    dev: Sequence[Case]
    settings: Settings
    lm: OpenLM
    teacher: OpenLM  # what writes demos and instructions; often the LM itself
    note: Callable[[str], object]

    @cached_property
    def objective(self) -> Objective:
        """The metric that an optimizer averages over records: the official score, linearised at the uncompiled
        program's outcomes on records of train. A label that is rare or often wrong weighs more.

        Its LM calls are made at its first use. Linearising anew at each champion made the choice worse on test-shaped
        paragraphs (Spearman .83 at 200 records, against .95).
        """
        records = gradient_records(self.task, self.train, self.settings.seed)
        self.note(
            f"judging {len(records)} records of train with the uncompiled program, to weigh labels for the optimizer"
        )
        outcomes = judge_all(self.task, self.student, records, self.lm)
        baseline = score_cases(self.task, records, [outcome.answer for outcome in outcomes])
        return Objective(self.task, baseline, describe_confusion(self.task, records, outcomes))

    @cached_property
    def trainset(self) -> list[dspy.Example]:
        """Train as DSPy's optimizers take it: examples, with `gold` beside their fields."""
        return [case.for_metric() for case in self.train]

    @cached_property
    def valset(self) -> list[dspy.Example]:
        """Dev as DSPy's optimizers take it."""
        return [case.for_metric() for case in self.dev]

    @property
    def teacher_settings(self) -> dict[str, Any]:
        """The LM and adapter of the teacher, as DSPy's optimizers take them; empty where it is the LM itself."""
        return {} if self.teacher is self.lm else {"lm": self.teacher, "adapter": self.teacher.adapter}


def gradient_records(task: Task, train: Sequence[Case], seed: int) -> list[Case]:
    """Return the records that the baseline is judged on: `GRADIENT_RECORDS` drawn from train, and more of the labels
    that fewer than `LEAST_OF_A_KIND` of them have. A label without any would weigh nothing."""
    if len(train) <= GRADIENT_RECORDS:
        return list(train)

    chosen: list[int] = []
    counts = Counter[str]()
    for row in random.Random(seed).sample(range(len(train)), len(train)):
        gold = train[row].gold
        labels = {*task.first_labels(gold)} if task.labels else {task.stratify_by(gold)}
        is_rare = any(counts[label] < LEAST_OF_A_KIND for label in labels)
        if len(chosen) < GRADIENT_RECORDS or is_rare:
            chosen.append(row)
            counts.update(labels)
    return [train[row] for row in sorted(chosen)]


def describe_confusion(task: Task, train: Sequence[Case], outcomes: Sequence[Outcome]) -> str:
    """Return which labels are mistaken for others over all of train, in words; empty without labels or mistakes.

    A miss counts against the first gold label of a statement, as in the official score.
    """
    if not task.labels:
        return ""
    gold_counts, predicted_counts = Counter[str](), Counter[str]()
    misses = Counter[tuple[str, str]]()
    for case, outcome in zip(train, outcomes, strict=True):
        for allowed, judgement in zip(task.gold_labels(case.gold), outcome.judgements, strict=False):
            gold_counts[allowed[0]] += 1
            predicted_counts[judgement.label] += 1
            if judgement.label not in allowed:
                misses[allowed[0], judgement.label] += 1
    if not misses:
        return ""
    commonest = sorted(misses, key=lambda pair: (-misses[pair], pair))[:MOST_CONFUSIONS]
    mistakes = [
        f"{gold} was called {label} {misses[gold, label]} of {gold_counts[gold]} times" for gold, label in commonest
    ]
    too_often = [
        f"{label} ({predicted_counts[label]} times, right {gold_counts[label]})"
        for label in task.labels
        if predicted_counts[label] > gold_counts[label]
    ]
    return (
        f"Over all {sum(gold_counts.values())} labels of the training records, under the first instruction: "
        f"{'; '.join(mistakes)}. Said too often: {', '.join(too_often) or 'none'}. "
        "The labels count alike, however rare."
    )
